"""A run's output folder: who may write into it, what in it is ours, and its log."""

import contextlib
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from lyricsim_models import checkpoints
from lyricsim_tools.atomic import MANIFEST_NAME, sha256_of, write_json, write_text
from lyricsim_tools.errors import UserError
from lyricsim_tools.files import only_writer

RUN_FILE, LOG_FILE, LOCK_FILE = "run.json", "metrics.jsonl", ".lock"
TRACKER_FOLDER = "trackers"
#: Holds the runs of a cross-validation, each with a list of its own files.
BLOCKS = "blocks"
# What TensorBoard, the only tracker that writes into a run's folder, calls its files there.
_TRACKED = re.compile(r"events\.out\.tfevents\..+|hparams\.yml")
_FROM_THE_START = (RUN_FILE, LOG_FILE, LOCK_FILE, MANIFEST_NAME)
# What a kill leaves of a file that was being written (``lyricsim_tools.atomic``).
_UNFINISHED = re.compile(r"\.(.+)\.\w{8}\.partial")
_INDIFFERENT = ("recipe", "per_device_batch_size", "dataset", "config")
# Settings that earlier runs did not record.
_RECORDED_SINCE = ("mixed_precision",)

State = Literal["new", "interrupted", "complete"]


def locked(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Hold a run's folder for one run at a time; a killed run lets go by itself.

    Raises:
        UserError: another run is writing there.
    """
    return only_writer(folder / LOCK_FILE, folder)


def claim(folder: Path, settings: Mapping[str, Any], *, resume: bool, overwrite: bool) -> State:
    """Make a folder this run's own, and say where the run stands.

    Args:
        folder: the output folder, existing or not.
        settings: what decides the run's result, as plain JSON values.
        resume: go on with a run of the same settings; a folder without a run starts one.
        overwrite: replace what an earlier run wrote.

    Raises:
        UserError: there is something and neither option was given; it holds files that are not ours; or
            the run in it has other settings.
    """
    folder.mkdir(parents=True, exist_ok=True)
    present = {p for p in folder.rglob("*") if p.is_file() and p != folder / LOCK_FILE}
    if present and resume and (folder / RUN_FILE).is_file():
        return _continue(folder, settings)
    if present:
        _refuse_foreign(folder, present, overwrite or _nothing_done(folder, present))
        _remove_ours(folder, present)
    write_manifest(folder, ())
    write_json(folder / RUN_FILE, {"status": "running", "settings": dict(settings)})
    return "new"


def _continue(folder: Path, settings: Mapping[str, Any]) -> State:
    status, before = _read_story(folder / RUN_FILE)
    now = decisive(json.loads(json.dumps(settings)))
    unknown = {key for key in _RECORDED_SINCE if key not in before}
    changed = [key for key in sorted({*before, *now} - unknown) if before.get(key) != now.get(key)]
    if changed:
        shown = "; ".join(f"{key} was {before.get(key)!r}, is {now.get(key)!r}" for key in changed)
        raise UserError(
            f"the run in {folder} has other settings: {shown}",
            "the same settings for --resume",
            "repeat its command, or choose another --output",
        )
    if status == "complete":
        # A kill may have come between the last file and the removal of what it replaced.
        drop_checkpoints(folder)
        return "complete"
    checkpoints.remove_partial(folder)
    for path in folder.rglob(".*.partial"):
        if path.is_file() and _UNFINISHED.fullmatch(path.name) and _is_ours(folder, path):
            path.unlink()
    return "interrupted"


def _read_story(path: Path) -> tuple[str, dict[str, Any]]:
    """Status and decisive settings of the run that is there."""
    try:
        run = json.loads(path.read_text("utf-8"))
        return run["status"], decisive(run["settings"])
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path} is not the story of a run",
            "run.json as a run writes it",
            "choose another --output, or move the file away; nothing was changed",
        ) from error


def decisive(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that decide a run's result, flat: how rows are spread and where data lay do not."""
    flat = {**settings, **settings["recipe"]}
    return {key: value for key, value in flat.items() if key not in _INDIFFERENT}


def _refuse_foreign(folder: Path, present: set[Path], overwrite: bool) -> None:
    foreign = sorted(p.relative_to(folder).as_posix() for p in present if not _is_ours(folder, p))
    if foreign:
        raise UserError(
            f"{folder} exists and holds files that no run wrote: {', '.join(foreign[:5])}",
            "no folder, an empty one, or one that a run wrote",
            "choose another --output; nothing was changed",
        )
    if not overwrite:
        raise UserError(
            f"{folder} holds an earlier run",
            "no folder or an empty one",
            "pass --resume to go on with it, --overwrite to replace it, or another --output",
        )


def _nothing_done(folder: Path, present: set[Path]) -> bool:
    """Whether the run that is there was refused before its first step, so that nothing can be lost."""
    log = folder / LOG_FILE
    started = {folder / name for name in _FROM_THE_START}
    return present <= started and not (log.exists() and log.stat().st_size)


def _is_ours(folder: Path, path: Path) -> bool:
    if unfinished := _UNFINISHED.fullmatch(path.name):
        return unfinished[1] in _FROM_THE_START or _is_ours(folder, path.with_name(unfinished[1]))
    parts = path.relative_to(folder).parts
    manifest = read_manifest(folder)
    if "/".join(parts) in manifest or (manifest and _is_made_on_the_way(parts)):
        return True
    in_block = parts[0] == BLOCKS and len(parts) > 2
    return in_block and (parts[2:] == (LOCK_FILE,) or _is_ours(folder / BLOCKS / parts[1], path))


def _is_made_on_the_way(parts: Sequence[str]) -> bool:
    """Whether a run makes files of this name without listing them."""
    if parts[0] == checkpoints.FOLDER:
        return len(parts) > 2 and checkpoints.is_ours(parts[1])
    return parts[0] == TRACKER_FOLDER and _TRACKED.fullmatch(parts[-1]) is not None


def _remove_ours(folder: Path, present: set[Path]) -> None:
    # A kill on the way must leave a folder that is still known as ours: the lists of files go last.
    ranks = {MANIFEST_NAME: 2, RUN_FILE: 1}
    for path in sorted(present, key=lambda p: (ranks.get(p.name, 0), -len(p.parts))):
        path.unlink()
    for inner in sorted((p for p in folder.rglob("*") if p.is_dir()), reverse=True):
        with contextlib.suppress(OSError):
            inner.rmdir()


def read_manifest(folder: Path) -> set[str]:
    """Names of the files in a folder that runs wrote; empty for a folder of no run."""
    path = folder / MANIFEST_NAME
    return {*json.loads(path.read_text("utf-8")), *_FROM_THE_START} if path.is_file() else set()


def write_manifest(folder: Path, names: Sequence[str]) -> None:
    """Say which files are ours, before they are written."""
    write_json(folder / MANIFEST_NAME, sorted({*names, *_FROM_THE_START, *read_manifest(folder)}))


def drop_checkpoints(folder: Path) -> None:
    """Remove the checkpoints of a run that is complete."""
    checkpoints.remove_all(folder)


def mark(folder: Path) -> None:
    """Give the run that begins or goes on here a mark that no other folder has."""
    path = folder / RUN_FILE
    write_json(path, {**json.loads(path.read_text("utf-8")), "mark": secrets.token_hex(8)})


def fingerprint_of(folder: Path) -> str | None:
    """What tells a marked folder from every other one; None without a run."""
    # Opened without a look at it first: a network file system may answer that from memory.
    with contextlib.suppress(FileNotFoundError):
        return sha256_of(folder / RUN_FILE)
    return None


class Log:
    """``metrics.jsonl``: one JSON object a step and an evaluation.

    Args:
        folder: of the run.
        step: lines of later steps are dropped, since a resumed run writes them again.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self._path = folder / LOG_FILE
        kept = [line for line in self._lines() if line["step"] <= step]
        write_text(self._path, "".join(json.dumps(line) + "\n" for line in kept))

    def _lines(self) -> list[dict[str, Any]]:
        if not self._path.is_file():
            return []
        found = []
        for line in self._path.read_text("utf-8").splitlines():
            # A kill may have torn the last line; it belongs to a step that is done again.
            with contextlib.suppress(json.JSONDecodeError):
                found.append(json.loads(line))
        return found

    def add(self, **values: object) -> None:
        """Append one line and hand it to the system at once."""
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(values) + "\n")
