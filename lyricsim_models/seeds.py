"""Several runs of one recipe, summed up."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lyricsim_models.evaluation import SCORE_KEYS, mean_and_deviation
from lyricsim_tools.atomic import write_json
from lyricsim_tools.errors import UserError

SUMMARY_FILE = "summary.json"


def summarise(results: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Scores of every seed, and mean and sample standard deviation over them.

    Args:
        results: seed → split → scores.
    """
    splits = next(iter(results.values()))
    means = {
        split: {key: mean_and_deviation([run[split][key] for run in results.values()]) for key in SCORE_KEYS}
        for split in splits
    }
    return {"seeds": {str(seed): dict(metrics) for seed, metrics in results.items()}, "mean": means}


def refuse_foreign_summary(folder: Path) -> None:
    """Refuse to write where a file of the summary's name lies that is none.

    Raises:
        UserError: it has other keys than a summary.
    """
    path = folder / SUMMARY_FILE
    if path.exists() and not _is_summary(path):
        raise UserError(
            f"{path} is not the summary of seeds",
            "no such file, or one that several seeds wrote",
            "move the file away, then run the same command with --resume; the file was not changed",
        )


def _is_summary(path: Path) -> bool:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.keys() == {"seeds", "mean"}


def write_summary(folder: Path, results: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Write and return the summary of several seeds.

    Raises:
        UserError: a file that is not ours has its place.
    """
    refuse_foreign_summary(folder)
    summary = summarise(results)
    write_json(folder / SUMMARY_FILE, summary)
    return summary
