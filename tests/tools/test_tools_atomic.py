import errno
import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lyricsim_tools import atomic, files
from lyricsim_tools.errors import UserError


def test_a_failed_write_leaves_the_previous_content_and_no_debris(tmp_path, monkeypatch):
    target = tmp_path / "scores.json"
    atomic.write_text(target, "first")

    def full_disk(_path):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(atomic, "flush_to_disk", full_disk)
    with pytest.raises(OSError, match="No space left"):
        atomic.write_text(target, "second")
    assert target.read_text() == "first"
    assert [p.name for p in tmp_path.iterdir()] == ["scores.json"]


def test_files_get_the_mode_of_the_umask(tmp_path):
    previous = os.umask(0o027)
    try:
        atomic.write_text(tmp_path / "a", "x")
        with atomic.atomic_folder(tmp_path / "folder") as folder:
            (folder / "b").write_text("x")
            (folder / "b").chmod(0o600)
    finally:
        os.umask(previous)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "folder" / "b").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "folder").stat().st_mode & 0o777 == 0o750


@pytest.fixture
def flushed(monkeypatch):
    """What was flushed, by inode; a file that was opened for reading only is refused, as Windows does."""
    seen = []

    def fsync(descriptor):
        status = os.fstat(descriptor)
        reads_only = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
        if reads_only and not stat.S_ISDIR(status.st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        seen.append(status.st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    return seen


def test_files_are_flushed_through_handles_that_may_write(tmp_path, flushed):
    atomic.write_text(tmp_path / "a", "x")
    build(tmp_path / "out", "old")
    inodes = [p.stat().st_ino for p in (tmp_path / "a", tmp_path / "out" / "inner" / "data.txt")]
    assert set(inodes) <= set(flushed)
    flushed.clear()
    files.flush_tree(tmp_path / "out")
    written = [p for p in (tmp_path / "out").rglob("*") if p.is_file()]
    assert {p.stat().st_ino for p in [tmp_path / "out", *written]} == set(flushed)


class Windows:
    """The parts of ``os`` that flushing a folder could use there."""

    name, O_RDONLY = "nt", os.O_RDONLY

    def open(self, path, flags):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))


def test_folders_that_cannot_be_opened_are_not_flushed(tmp_path, flushed, monkeypatch):
    (tmp_path / "a").write_text("x")
    monkeypatch.setattr(files, "os", Windows())
    files.flush_tree(tmp_path)
    assert flushed == [(tmp_path / "a").stat().st_ino]


def test_json_refuses_nan(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        atomic.write_json(tmp_path / "a.json", {"pearson": float("nan")})
    assert not (tmp_path / "a.json").exists()


def build(target: Path, text: str) -> None:
    with atomic.atomic_folder(target) as folder:
        (folder / "inner").mkdir()
        (folder / "inner" / "data.txt").write_text(text)


def test_a_folder_that_we_wrote_is_replaced_whole(tmp_path):
    build(tmp_path / "out", "old")
    with atomic.atomic_folder(tmp_path / "out") as folder:
        (folder / "other.txt").write_text("new")
    assert not (tmp_path / "out" / "inner").exists()
    assert (tmp_path / "out" / "other.txt").read_text() == "new"
    assert json.loads((tmp_path / "out" / atomic.MANIFEST_NAME).read_text()) == ["other.txt"]


def test_a_folder_with_a_users_file_is_refused_and_untouched(tmp_path):
    build(tmp_path / "out", "old")
    (tmp_path / "out" / "inner" / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match=r"did not write: inner/thesis\.tex"):
        build(tmp_path / "out", "new")
    assert (tmp_path / "out" / "inner" / "thesis.tex").read_text() == "years of work"
    assert (tmp_path / "out" / "inner" / "data.txt").read_text() == "old"


def test_a_file_that_was_added_during_the_build_is_kept_and_the_build_refused(tmp_path):
    build(tmp_path / "out", "old")
    with (
        pytest.raises(UserError, match=r"did not write: thesis\.tex"),
        atomic.atomic_folder(tmp_path / "out"),
    ):
        (tmp_path / "out" / "thesis.tex").write_text("years of work")
    assert (tmp_path / "out" / "thesis.tex").read_text() == "years of work"
    assert (tmp_path / "out" / "inner" / "data.txt").read_text() == "old"
    assert not list(tmp_path.glob(".out.*.partial"))


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UserError, match="is a file"):
        build(tmp_path / "out", "new")


def test_an_error_in_the_block_leaves_the_previous_folder(tmp_path):
    build(tmp_path / "out", "old")
    with pytest.raises(TypeError):
        build(tmp_path / "out", text=None)
    assert (tmp_path / "out" / "inner" / "data.txt").read_text() == "old"
    assert not list(tmp_path.glob("*.partial"))


KILLED_BETWEEN_RENAMES = """
import os, signal, sys
from pathlib import Path
from lyricsim_tools import atomic
rename = Path.rename
def rename_then_die(self, target):
    result = rename(self, target)
    if str(target).endswith(".previous"):
        os.kill(os.getpid(), signal.SIGKILL)
    return result
Path.rename = rename_then_die
with atomic.atomic_folder(Path(sys.argv[1])) as folder:
    (folder / "new.txt").write_text("new")
"""


def test_a_kill_between_the_two_renames_loses_nothing_and_its_rest_is_taken_away(tmp_path):
    build(tmp_path / "out", "old")
    run = subprocess.run([sys.executable, "-c", KILLED_BETWEEN_RENAMES, str(tmp_path / "out")], check=False)
    assert run.returncode == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert list(tmp_path.glob(".out.*.partial"))
    others = tmp_path / ".out.of.partial"
    others.mkdir()
    with pytest.raises(TypeError):
        build(tmp_path / "out", text=None)
    assert (tmp_path / "out" / "inner" / "data.txt").read_text() == "old"
    assert list(tmp_path.glob(".out.*.partial")) == [others]


def test_a_link_to_a_folder_stays_one_and_its_folder_is_replaced(tmp_path):
    (tmp_path / "disk").mkdir()
    link = tmp_path / "lyricsim"
    link.symlink_to(tmp_path / "disk" / "lyricsim")
    for content in ("first", "second", "third"):
        with atomic.atomic_folder(link) as folder:
            (folder / "data.txt").write_text(content)
        assert link.is_symlink()
        assert (tmp_path / "disk" / "lyricsim" / "data.txt").read_text() == content
    assert {p.name for p in tmp_path.iterdir()} == {"disk", "lyricsim"}


@pytest.mark.parametrize("below", ["", "inner"])
def test_the_folder_one_is_in_is_not_replaced(tmp_path, monkeypatch, below):
    (tmp_path / "out" / below).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "out" / below)
    with (
        pytest.raises(UserError, match="is the folder this command runs in"),
        atomic.atomic_folder(tmp_path / "out"),
    ):
        pass
    assert Path.cwd() == tmp_path / "out" / below


def test_a_list_of_files_that_is_not_ours_is_refused_with_its_name(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / atomic.MANIFEST_NAME).write_text("{")
    with pytest.raises(UserError, match="cannot be read"), atomic.atomic_folder(tmp_path / "out"):
        pass
    assert (tmp_path / "out" / atomic.MANIFEST_NAME).read_text() == "{"
