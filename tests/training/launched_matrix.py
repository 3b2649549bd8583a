"""Started in several processes by the tests: many short runs, one after the other, in one process group."""

import json
import sys
from pathlib import Path

from lyricsim_models.config import Recipe
from lyricsim_models.datafiles import read_splits
from lyricsim_models.job import Job
from lyricsim_models.run import run
from lyricsim_models.workers import Workers


def main() -> None:
    plan = json.loads(Path(sys.argv[1]).read_text())
    with Workers() as workers:
        for settings in plan["runs"]:
            splits = read_splits(settings["dataset"], None)
            recipe = Recipe(**settings["recipe"])
            job = Job(plan["model"], settings["dataset"], None, Path(settings["output"]), recipe)
            run(job, splits, workers)
        if workers.is_main:
            Path(plan["report"]).write_text(json.dumps({"processes": workers.world}))


if __name__ == "__main__":
    main()
