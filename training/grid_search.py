"""The paper's grid search (section 5.3), shared by any number of workers on any number of machines.

Start the same command once for each GPU or machine: all workers of a storage share one study. Each run is
made by one worker; the runs of a worker that dies are made again by another; a run that fails is recorded
and the search goes on. The choice is made by the development score alone.
"""

import argparse
import shlex
import shutil
import signal
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tqdm import tqdm

from lyricsim_models.grid import (
    BATCH_SIZES,
    LEARNING_RATES,
    WEIGHT_DECAYS,
    GridRun,
    given_up,
    grid_runs,
    points_of,
    precisions,
    refuse_bad_search,
    refuse_other_precision,
    summarise,
)
from lyricsim_models.grid_report import COLUMNS, as_json, best_command, draw_grid, table_row
from lyricsim_models.registry import canonical_name, paper_models
from lyricsim_models.study import Claim, GridStudy
from lyricsim_models.study_storage import is_journal
from lyricsim_models.subruns import (
    discard_weights,
    failure_of,
    lost_its_port,
    read_precision,
    read_scores,
    run_logged,
)
from lyricsim_tools.errors import UserError, explained
from lyricsim_tools.tables import print_json, print_table

FINETUNE = Path(__file__).resolve().parent / "finetune.py"
EXAMPLES = """examples:
  python training/grid_search.py --dataset lyricsim --output grid                 all eight models, 24 points
  python training/grid_search.py --dataset lyricsim --output grid --models maria-base --seeds 1 2 3
  python training/grid_search.py --dataset lyricsim --output grid \\
      --storage postgresql://user@host/grid --launcher 'accelerate launch --config_file my-gpus.yaml'
  CUDA_VISIBLE_DEVICES=0,1 python training/grid_search.py --dataset lyricsim --output grid \\
      --launcher 'accelerate launch --num_processes 2 --main_process_port 0'      one of several on a machine
  python training/grid_search.py --output grid --table
  python training/grid_search.py --output grid --best --models maria-base
  python training/grid_search.py --dataset lyricsim --output grid -- --max-length 256   options of finetune.py
"""


@dataclass(frozen=True)
class Worker:
    """What one worker needs to make runs.

    Args:
        command: program and first arguments of every run, up to the run's own options.
        output: folder for run folders and logs.
        poll: seconds between two looks for runs that other workers may lose.
        discard_weights: remove the weights of a finished run, which the scores do not need.
    """

    command: tuple[str, ...]
    output: Path
    poll: float
    discard_weights: bool


class Interrupted(Exception):  # noqa: N818 - a signal is no error
    """The worker was asked to stop."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Work on the grid, or report on it."""
    options = parse(arguments)
    try:
        reporting = options.table or options.best or options.plot
        check_options(options, reporting)
        study = GridStudy(
            options.storage, options.study, options.interval, options.grace, options.max_attempts
        )
        report(study, options) if reporting else search(study, options)
    except (UserError, OSError) as error:
        sys.exit(f"error: {explained(error)}")


def check_options(options: argparse.Namespace, reporting: bool) -> None:
    """Refuse what cannot work before the storage is touched, and a run counts as failed for ever.

    Raises:
        UserError: see above.
    """
    for name, least in (("interval", 1), ("grace", 1 + options.interval), ("max_attempts", 1)):
        if getattr(options, name) < least:
            raise UserError(
                f"--{name.replace('_', '-')} {getattr(options, name)}",
                f"at least {least}" + (" (more than --interval)" if name == "grace" else ""),
                "pass another value",
            )
    if reporting and is_journal(options.storage) and not Path(options.storage).exists():
        raise UserError(
            f"there is no search in {options.storage}",
            "the journal of a search that was begun",
            "begin one with --dataset, or correct --output or --storage",
        )
    program = launcher_of(options)[:1]
    if not reporting and not (program and shutil.which(program[0])):
        raise UserError(
            f"--launcher {options.launcher!r} names no program",
            "a program of this machine, with its first arguments",
            "install it, or correct the name",
        )


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line; what follows ``--`` goes to the training script."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    place = given.index("--") if "--" in given else len(given)
    options = _parser().parse_args(given[:place])
    options.finetune = given[place + 1 :]
    options.storage = options.storage or str(options.output / "journal.log")
    if not (options.table or options.best or options.plot) and options.dataset is None:
        _parser().error("--dataset is needed to work on the grid")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--models", nargs="+", help="registry names, Hub ids or folders (default: the paper's eight)"
    )
    parser.add_argument("--dataset", help="dataset folder, Hub id or file of pairs")
    parser.add_argument("--config", default="filtered", help="configuration (default: %(default)s)")
    parser.add_argument("--output", type=Path, required=True, help="folder for runs, logs and the journal")
    parser.add_argument(
        "--storage", help="database address, or path of a journal file (default: OUTPUT/journal.log)"
    )
    parser.add_argument("--study", default="lyricsim-grid", help="name in the storage (default: %(default)s)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[42], help="default: 42")
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=BATCH_SIZES, help="default: 8 16 32")
    parser.add_argument(
        "--weight-decays", type=float, nargs="+", default=WEIGHT_DECAYS, help="default: 0.1 0.01"
    )
    parser.add_argument(
        "--learning-rates", type=float, nargs="+", default=LEARNING_RATES, help="default: 1e-5 2e-5 3e-5 5e-5"
    )
    parser.add_argument(
        "--launcher",
        help="program that starts training/finetune.py (default: accelerate launch); several workers of "
        "several processes on one machine need --main_process_port 0, since all would take port 29500",
    )
    parser.add_argument(
        "--interval", type=int, default=30, help="seconds between signs of life (default: 30)"
    )
    parser.add_argument(
        "--grace",
        type=int,
        default=120,
        help="seconds of silence after which a worker is dead (default: 120)",
    )
    parser.add_argument(
        "--max-attempts", type=int, default=3, help="give a run up that so many workers died of (default: 3)"
    )
    parser.add_argument("--discard-weights", action="store_true", help="keep the scores of each run only")
    parser.add_argument("--table", action="store_true", help="print all points, best first, and stop")
    parser.add_argument(
        "--plot", type=Path, help="draw development scores into this PNG, PDF or SVG, and stop"
    )
    parser.add_argument("--best", action="store_true", help="print the command of the best point, and stop")
    parser.add_argument("--json", action="store_true", help="the table as JSON")
    return parser


def launcher_of(options: argparse.Namespace) -> list[str]:
    """The program that starts training, with its first arguments."""
    if options.launcher is None:
        return [sys.executable, "-m", "accelerate.commands.launch"]
    return shlex.split(options.launcher)


def best_launcher(given: str | None, found: Collection[str]) -> list[str]:
    """What to start the winner's training with: the launcher given, in the precision of the search."""
    words = ["accelerate", "launch"] if given is None else shlex.split(given)
    is_silent = "accelerate" in " ".join(words) and not any(w.startswith("--mixed_precision") for w in words)
    return words + [word for p in found if is_silent and p != "no" for word in ("--mixed_precision", p)]


def models_of(options: argparse.Namespace) -> list[str]:
    """The models that were asked for, each by one name; a registry name, title and Hub id are one model.

    Raises:
        UserError: no such model, or one twice.
    """
    names = [canonical_name(model) for model in options.models or ()]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(f"--models names {', '.join(repeated)} twice", "each model once", "drop one of them")
    return names


def search(study: GridStudy, options: argparse.Namespace) -> None:
    """Make runs until none is left, waiting for those of other workers, which may die."""
    models = models_of(options) or [entry.name for entry in paper_models()]
    points = points_of(options.batch_sizes, options.weight_decays, options.learning_rates)
    refuse_bad_search(points, options.seeds)
    runs = grid_runs(models, points, options.seeds)
    shared = ["--dataset", options.dataset, "--config", options.config, *options.finetune]
    study.agree_on({"options": shared})
    command = (*launcher_of(options), str(FINETUNE), *shared)
    worker = Worker(command, options.output, min(5.0, options.interval), options.discard_weights)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _interrupt)
    try:
        work(study, runs, worker)
    except Interrupted:
        sys.exit("stopped; what is finished is kept, and the same command goes on")
    report(study, options)


def work(study: GridStudy, runs: Sequence[GridRun], worker: Worker) -> None:
    """Claim and make runs; returns when every run has ended."""
    with tqdm(total=len(runs), desc="runs of all workers", unit="run") as bar:
        while True:
            claim = study.claim(runs)
            attempts = study.attempts()
            bar.n = len({a.run for a in attempts if a.state in ("complete", "failed")} & set(runs))
            bar.refresh()
            if claim:
                make_run(study, claim, worker)
            elif study.is_over(runs, attempts):
                return
            else:
                time.sleep(worker.poll)


def make_run(study: GridStudy, claim: Claim, worker: Worker) -> None:
    """Train one model; its scores or its failure go into the study.

    Raises:
        UserError: another launch on this machine holds the run's port, or the run was made in another
            precision than those before it; it is given back.
        Interrupted: likewise given back.
    """
    name = f"{claim.number:04d}_{claim.run.key}"
    folder, log = worker.output / "runs" / name, worker.output / "logs" / f"{name}.log"
    command = [*worker.command, *claim.run.options(), "--output", str(folder)]
    try:
        with study.beating(claim):
            status = run_logged(command, log)
            if lost_its_port(status, log):
                raise _port_is_taken(log)
            scores = read_scores(folder) if status == 0 else None
            if scores is None:
                known = study.fail(claim, failure_of(status, log))
            else:
                precision = read_precision(folder)
                refuse_other_precision(study.attempts(), precision)
                known = study.complete(claim, *scores, str(folder), precision)
    except (Interrupted, UserError):
        study.release(claim)
        raise
    if not known:
        tqdm.write(
            f"{name} took so long without a sign of life that another worker has it; result left aside"
        )
    if worker.discard_weights and scores:
        discard_weights(folder)


def _port_is_taken(log: Path) -> UserError:
    return UserError(
        f"another launch on this machine holds the port of this worker's runs: {log}",
        "a port of its own for each worker; the run is given back",
        "start this worker again with --launcher 'accelerate launch --main_process_port 0 …'",
    )


def report(study: GridStudy, options: argparse.Namespace) -> None:
    """Print the table or the winner's command, or draw the plot."""
    models = models_of(options)
    chosen = [a for a in study.attempts() if not models or a.run.model in models]
    rows = summarise(chosen)
    if options.plot:
        draw_grid(rows, options.plot)
        print(f"drawn: {options.plot}", file=sys.stderr)
    if options.best:
        launcher = best_launcher(options.launcher, precisions(chosen))
        print(best_command(rows, study.search().get("options", []), options.output, launcher))
    elif options.json:
        print_json([as_json(row) for row in rows])
    elif not options.plot or options.table:
        print_table("Grid search, best development score first", COLUMNS, [table_row(row) for row in rows])
        for attempt in chosen:
            if attempt.state == "failed":
                print(f"failed: {attempt.run.key}\n  {attempt.failure}", file=sys.stderr)
        for run in given_up(chosen, options.max_attempts):
            print(f"given up, since its workers died (--max-attempts): {run.key}", file=sys.stderr)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise Interrupted


if __name__ == "__main__":
    main()
