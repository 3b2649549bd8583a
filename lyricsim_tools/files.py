"""Small steps on files that ``atomic`` does not cover: flush a tree, link or copy into place."""

import contextlib
import os
import shutil
from pathlib import Path

from lyricsim_tools.atomic import atomic_file, umask_mode


def flush_tree(folder: Path) -> None:
    """Send every file below a folder, and the folder's entries, to the disk."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            _flush(path)
    _flush(folder)


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


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
