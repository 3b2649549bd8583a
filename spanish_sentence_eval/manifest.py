"""Which files the tasks read, and what upstream's hold: paths, sizes and hashes only."""

import functools
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lyricsim_tools.atomic import sha256_of
from lyricsim_tools.errors import UserError
from lyricsim_tools.pinned import PinnedFile, difference

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
    missing = [path for path in wrong if not (folder / path).is_file()]
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


def _difference(folder: Path, path: str) -> str | None:
    pin = pinned_files().get(path)
    return difference(folder / path, pin) if pin else f"{folder / path} is not a file of the pinned commit"
