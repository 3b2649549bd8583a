"""Small steps on files that ``atomic`` does not cover: flush a tree, link or copy into place."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from lyricsim_tools.atomic import atomic_file, flush_to_disk, umask_mode
from lyricsim_tools.errors import UserError


def flush_tree(folder: Path) -> None:
    """Send every file below a folder, and the folder's entries, to the disk."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            flush_to_disk(path)
    _flush_entries(folder)


def set_usual_modes(folder: Path) -> None:
    """Give files and folders the modes that the caller's umask asks for; some writers leave 0600."""
    for path in folder.rglob("*"):
        path.chmod(umask_mode(executable=path.is_dir()))
    folder.chmod(umask_mode(executable=True))


def place(source: Path, target: Path) -> None:
    """Put a copy of a file at ``target`` atomically, without a second copy of its bytes where links work."""
    with atomic_file(target) as partial:
        partial.unlink()
        with contextlib.suppress(OSError):
            os.link(source, partial)
        if not partial.exists():
            shutil.copyfile(source, partial)


@contextlib.contextmanager
def only_writer(lock: Path, target: Path) -> Iterator[None]:
    """Hold a target for one process at a time, at once or not at all; a killed process lets go by itself.

    Args:
        lock: file that stands for the right to write; it is made, with its folder, and left.
        target: what is written, for the message.

    Raises:
        UserError: another process holds it.
    """
    lock.parent.mkdir(parents=True, exist_ok=True)
    holder = FileLock(lock)
    try:
        holder.acquire(timeout=0)
    except Timeout as error:
        raise UserError(
            f"another run is writing into {target}",
            "one run at a time",
            "wait for it, or choose another --output",
        ) from error
    try:
        yield
    finally:
        holder.release()


def _flush_entries(folder: Path) -> None:
    # Windows opens no folders.
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
