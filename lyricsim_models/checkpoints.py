"""Checkpoints that are whole or not there: save, find, restore, prune."""

import contextlib
import dataclasses
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lyricsim_models.evaluation import Selection
from lyricsim_tools.atomic import write_json
from lyricsim_tools.errors import UserError
from lyricsim_tools.files import flush_tree, set_usual_modes

if TYPE_CHECKING:
    from lyricsim_models.workers import Workers

FOLDER = "checkpoints"
_POSITION = "position.json"
_STEP = re.compile(r"step-(\d{8})")
_BEST = re.compile(r"best-(\d{8})")
# What a kill leaves of a checkpoint or an exported model that was being written.
_PARTIAL = re.compile(r"\.(step-\d{8}|best-\d{8}\.\w{8})\.partial")


@dataclass(frozen=True)
class Position:
    """Where a run stands.

    Args:
        step: optimizer steps taken.
        world: processes that wrote the checkpoint.
        selection: the best checkpoint so far.
        seconds: training time so far.
        topology: how they were arranged, by Accelerate's name; None where it was not recorded.
    """

    step: int = 0
    world: int = 1
    selection: Selection = dataclasses.field(default_factory=Selection)
    seconds: float = 0.0
    topology: str | None = None


def step_folder(run: Path, step: int) -> Path:
    """The folder of the checkpoint after ``step`` optimizer steps."""
    return run / FOLDER / f"step-{step:08d}"


def best_folder(run: Path, step: int) -> Path:
    """The exported model that was best after ``step`` optimizer steps."""
    return run / FOLDER / f"best-{step:08d}"


def save(workers: "Workers", run: Path, position: Position) -> None:
    """Write a checkpoint beside the earlier one, then make it the one to resume from, then prune.

    A kill or a full disk at any moment leaves the earlier checkpoint as it was.

    Args:
        workers: all processes; each writes its part into one folder.
        run: the run's folder, the same for all processes.
        position: what this checkpoint stands for.

    Raises:
        UserError: the disk is full, or writing fails in another way.
    """
    final = step_folder(run, position.step)
    partial = final.with_name(f".{final.name}.partial")
    # PyTorch reports a full disk as a RuntimeError, safetensors as an error of its own.
    with explained(workers, run, f"the checkpoint of step {position.step}", Exception):
        workers.together(lambda: partial.mkdir(parents=True, exist_ok=True))
        workers.together(lambda: workers.save_state(partial))
        workers.together(lambda: _publish(partial, final, position) if workers.is_main else None)
    if workers.is_main:
        prune(run, position)


def _publish(partial: Path, final: Path, position: Position) -> None:
    write_json(partial / _POSITION, dataclasses.asdict(position))
    set_usual_modes(partial)
    flush_tree(partial)
    if final.exists():
        shutil.rmtree(final)
    partial.rename(final)


@contextlib.contextmanager
def explained(workers: "Workers", run: Path, what: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn a failure to write into a message that says what is still usable.

    Args:
        workers: all processes.
        run: the run's folder.
        what: what the block writes.
        kinds: errors that mean such a failure.

    Raises:
        UserError: one of them came; what was half-written is removed, which frees its space.
    """
    try:
        yield
    except UserError:
        raise
    except kinds as error:
        # The others must leave it alone: the main process may be giving it its name just now.
        if workers.is_main:
            remove_partial(run)
        earlier = latest(run)
        usable = f"the checkpoint of step {read_position(earlier).step} is" if earlier else "the data is"
        raise UserError(
            f"{what} could not be written: {error}",
            "enough space and the right to write there",
            f"free some space, then run the same command with --resume; {usable} untouched",
        ) from error


def latest(run: Path) -> Path | None:
    """The newest whole checkpoint of a run; None if there is none."""
    whole = [p for p in _matching(run, _STEP) if (p / _POSITION).is_file()]
    return max(whole, default=None, key=lambda p: p.name)


def read_position(checkpoint: Path) -> Position:
    """What a checkpoint stands for."""
    stored = json.loads((checkpoint / _POSITION).read_text("utf-8"))
    return Position(**{**stored, "selection": Selection(**stored["selection"])})


def prune(run: Path, position: Position) -> None:
    """Remove what the newest checkpoint makes superfluous; only folders that we named."""
    kept = {step_folder(run, position.step), best_folder(run, position.selection.step)}
    for folder in [*_matching(run, _STEP), *_matching(run, _BEST)]:
        if folder not in kept:
            shutil.rmtree(folder, ignore_errors=True)


def remove_partial(run: Path) -> None:
    """Remove what a killed write left behind."""
    for folder in _matching(run, _PARTIAL):
        shutil.rmtree(folder, ignore_errors=True)


def remove_all(run: Path) -> None:
    """Remove all checkpoints of a run; what we did not name stays."""
    for name in (_STEP, _BEST, _PARTIAL):
        for folder in _matching(run, name):
            shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        (run / FOLDER).rmdir()


def is_ours(name: str) -> bool:
    """Whether a folder of this name, among the checkpoints, is one that runs write."""
    return any(pattern.fullmatch(name) for pattern in (_STEP, _BEST, _PARTIAL))


def _matching(run: Path, name: re.Pattern[str]) -> list[Path]:
    folder = run / FOLDER
    return sorted(p for p in folder.iterdir() if name.fullmatch(p.name)) if folder.is_dir() else []
