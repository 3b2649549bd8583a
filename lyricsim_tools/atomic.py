"""Files and folders that are either whole or not there at all."""

import contextlib
import glob
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock

from lyricsim_tools.errors import UserError

MANIFEST_NAME = ".lyricsim-files.json"


def umask_mode(executable: bool = False) -> int:
    """The mode a plain ``open(path, "w")`` would give under the caller's umask."""
    mask = os.umask(0)
    os.umask(mask)
    return (0o777 if executable else 0o666) & ~mask


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path`` that replaces it once the block ends without an error.

    A full disk, an exception or a kill leaves the previous content of ``path`` untouched.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        partial.chmod(umask_mode())
        flush_to_disk(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text, line ends as given, atomically."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Write bytes atomically."""
    with atomic_file(path) as partial:
        partial.write_bytes(content)


def write_json(path: Path, value: object) -> None:
    """Write indented, key-ordered-as-given JSON atomically; NaN is refused, since JSON has none."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file, read in blocks."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextlib.contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder that becomes ``target`` once the block ends without an error.

    An existing ``target`` is replaced only if it is empty or holds nothing but files that an earlier
    call wrote (their names stand in a hidden manifest inside it). Two builds of one target wait for
    each other.

    A link to a folder stays one: what it leads to is replaced.

    Raises:
        UserError: ``target`` is a file, the folder that this process is in, or holds files that are not ours,
            when the block begins or ends.
    """
    target = Path(target).resolve()
    _refuse_current_folder(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.parent / f".{target.name}.lock"):
        _restore_interrupted_swap(target)
        _remove_unfinished(target)
        refuse_foreign_files(target)
        partial = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".partial", dir=target.parent))
        try:
            yield partial
            _seal(partial)
            # The block may have taken hours, and somebody may have put a file there meanwhile.
            refuse_foreign_files(target)
            _swap(partial, target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _refuse_current_folder(target: Path) -> None:
    if target.exists() and Path.cwd().is_relative_to(target):
        raise UserError(
            f"{target} is the folder this command runs in, or one above it",
            "another folder, since an output is replaced as a whole",
            "choose another output name, or run the command from outside",
        )


def refuse_foreign_files(target: Path) -> None:
    """Raise unless ``target`` may be replaced without losing anything that we did not write."""
    if not target.exists():
        return
    if not target.is_dir():
        raise UserError(f"{target} is a file", "a folder to write into", "choose another output name")
    ours = _files_in_manifest(target) | {MANIFEST_NAME}
    foreign = sorted(_relative_files(target) - ours)
    if foreign:
        shown = ", ".join(foreign[:5]) + (f" and {len(foreign) - 5} more" if len(foreign) > 5 else "")
        raise UserError(
            f"{target} exists and holds files that this program did not write: {shown}",
            "no folder, an empty one, or one that this program wrote before",
            "choose another output name, or move those files away; nothing was changed",
        )


def _relative_files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if not p.is_dir()}


def _files_in_manifest(folder: Path) -> set[str]:
    manifest = folder / MANIFEST_NAME
    if not manifest.is_file():
        return set()
    try:
        return set(json.loads(manifest.read_text("utf-8")))
    except (ValueError, TypeError) as error:
        raise UserError(
            f"{manifest} cannot be read: {error}",
            "the list of files as this program wrote it",
            "choose another output name, or move the folder away; nothing was changed",
        ) from error


def _seal(folder: Path) -> None:
    names = sorted(_relative_files(folder))
    for name in names:
        (folder / name).chmod(umask_mode())
        flush_to_disk(folder / name)
    for inner in [folder, *(p for p in folder.rglob("*") if p.is_dir())]:
        inner.chmod(umask_mode(executable=True))
    write_json(folder / MANIFEST_NAME, names)


def _backup_of(target: Path) -> Path:
    return target.parent / f".{target.name}.previous"


def _swap(partial: Path, target: Path) -> None:
    backup = _backup_of(target)
    if target.exists():
        target.rename(backup)
    partial.rename(target)
    shutil.rmtree(backup, ignore_errors=True)


def _restore_interrupted_swap(target: Path) -> None:
    """A kill between the two renames of a swap leaves only the backup: put it back."""
    backup = _backup_of(target)
    if backup.exists() and not target.exists():
        backup.rename(target)
    elif backup.exists():
        shutil.rmtree(backup)


def _remove_unfinished(target: Path) -> None:
    """A kill while the block ran leaves its folder; whoever holds the lock may take it away."""
    for partial in target.parent.glob(f".{glob.escape(target.name)}.????????.partial"):
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)


def flush_to_disk(path: Path) -> None:
    """Return once the disk has a file's content."""
    # Windows flushes only what was opened for writing.
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())
