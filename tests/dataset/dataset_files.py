"""Small helpers for the tests of this folder: damaged sources and processes with a cache of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from lyricsim_dataset.sources import SourceTree, fingerprint


def change(path: Path, edit: Callable[[str], str]) -> None:
    """Rewrite a UTF-8 file, line ends and BOM as they are."""
    path.write_bytes(edit(path.read_bytes().decode("utf-8")).encode("utf-8"))


def tree_of(folder: Path) -> SourceTree:
    """A source tree that may be read, whatever its content."""
    return SourceTree(folder, fingerprint(folder))


def python(code: str, cwd: Path, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process with its own Hugging Face cache; every request would be refused."""
    dead = {"HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9"}
    return _run(["-c", code], cwd, HF_HOME=str(home), **dead, **environment)


def command(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``lyricsim-dataset`` in a process."""
    return _run(["-m", "lyricsim_dataset.cli", *map(str, arguments)], cwd, **environment)


def _run(arguments: list[str], cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
