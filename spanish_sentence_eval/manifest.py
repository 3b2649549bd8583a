"""Which files the tasks read, and what upstream's hold: paths, sizes and hashes only."""

import functools
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lyricsim_tools.atomic import sha256_of
from lyricsim_tools.errors import UserError
from lyricsim_tools.pinned import PinnedFile, difference
from spanish_sentence_eval.task import Task

REPOSITORY = "OpenCENIA/Spanish-Sentence-Evaluation"
COMMIT = "810e44e77ceb550483c0e8a6c3a0b98b4391e827"
DATA_FOLDERS = ("senteval", "discoeval")


@functools.cache
def pinned_files() -> Mapping[str, PinnedFile]:
    """Every data file of the pinned commit by its path below the data folder.

    Files of 4 MiB and more are known by their git blob id alone: size and SHA-256 are None.
    """
    rows = files("spanish_sentence_eval").joinpath("manifest.tsv").read_text("utf-8").splitlines()[1:]
    fields = [row.split("\t") for row in rows]
    return {
        path: PinnedFile(path, size=int(size) if size else None, sha256=sha256 or None, git_blob_sha1=blob)
        for path, size, blob, sha256 in fields
    }


def data_folder(given: Path) -> Path:
    """The folder that holds ``senteval/`` and ``discoeval/``: the given one, or ``data`` inside it.

    Raises:
        UserError: neither is there.
    """
    for folder in (given, given / "data"):
        if any((folder / name).is_dir() for name in DATA_FOLDERS):
            return folder
    raise UserError(
        f"no data in {given}",
        "a folder with senteval/ or discoeval/ in it",
        f"give the right one with --data, or run: spanish-senteval fetch --data {given}",
    )


def files_of(task: Task) -> list[str]:
    """The paths of a task's files below the data folder."""
    folder = f"{task.package}/{task.folder}"
    paths = [path for path in pinned_files() if path.rpartition("/")[0] == folder]
    exact = [f"{folder}/{name}" for name in task.files]
    # Some records name parts of file names (NLI's columns, STS's subsets): every file of the folder is meant.
    return exact if set(exact) <= set(paths) else paths


@dataclass(frozen=True)
class TaskFiles:
    """The files of one task as they lie on this machine.

    Args:
        hashes: SHA-256 by path below the data folder.
        pinned: whether every file is upstream's, byte for byte.
    """

    hashes: Mapping[str, str]
    pinned: bool

    @property
    def digest(self) -> str:
        """One SHA-256 over all paths and hashes."""
        lines = "".join(f"{path} {value}\n" for path, value in sorted(self.hashes.items()))
        return hashlib.sha256(lines.encode()).hexdigest()


def check_files(folder: Path, task: str, paths: Iterable[str], any_data: bool = False) -> TaskFiles:
    """Hash a task's files and hold them against the manifest.

    Args:
        folder: holds ``senteval/`` and ``discoeval/``.
        task: for the message.
        paths: below ``folder``.
        any_data: accept files that are not upstream's, such as one's own data in the same format.

    Raises:
        UserError: a file is missing, or is not upstream's and ``any_data`` is False.
    """
    wrong = {path: _difference(folder, path) for path in paths}
    missing = missing_files(folder, wrong)
    faults = [fault for fault in wrong.values() if fault]
    if missing:
        raise UserError(
            f"{task}: {len(missing)} of {len(wrong)} files are missing below {folder}: {', '.join(missing)}",
            "every file of the task",
            f"run: spanish-senteval fetch --data {folder} --tasks {task}",
        )
    if faults and not any_data:
        raise UserError(
            f"{task}: {'; '.join(faults)}",
            f"the files of {REPOSITORY} at {COMMIT[:7]}",
            f"run: spanish-senteval fetch --data {folder} --tasks {task}; for data of your own: --any-data",
        )
    return TaskFiles({path: sha256_of(folder / path) for path in wrong}, pinned=not faults)


def missing_files(folder: Path, paths: Iterable[str]) -> list[str]:
    """Those of the paths below ``folder`` that have no file."""
    return [path for path in paths if not (folder / path).is_file()]


def shorter_files(folder: Path, paths: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """Path, size and upstream's size, in bytes, of the files below ``folder`` that lack something."""
    for path in paths:
        expected = pinned_files()[path].size
        size = (folder / path).stat().st_size
        if expected is not None and size < expected:
            yield path, size, expected


def state_of_files(folder: Path, paths: list[str]) -> str:
    """In words, whether a task's files are there and upstream's."""
    missing = missing_files(folder, paths)
    if missing:
        return f"{len(missing)} of {len(paths)} missing"
    return "other than upstream's" if any(_difference(folder, path) for path in paths) else "complete"


def _difference(folder: Path, path: str) -> str | None:
    pin = pinned_files().get(path)
    return difference(folder / path, pin) if pin else f"{folder / path} is not a file of the pinned commit"
