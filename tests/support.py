"""Where the repository and the shared folder are; importable from every test."""

import contextlib
import os
import random
import socket
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
#: Put before a script that is launched in several processes: it then has to part with its process group.
RUN_AND_PART = REPOSITORY / "tests" / "run_and_part.py"
SHARED = Path(os.environ.get("LYRICSIM_SHARED", REPOSITORY.parent / "shared"))


def free_port() -> int:
    """A port for a process that binds it only later, which nobody gets by accident in the meantime."""
    # Below the range from which the system serves those who ask for any port.
    for port in random.SystemRandom().sample(range(15_000, 30_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no free port among a hundred")


def shared_path(relative: str) -> Path:
    """A path below the shared folder; the calling test is skipped, with the reason, where it is absent.

    CI has the folder, so there its absence is a failure and not a skip.
    """
    path = SHARED / relative
    if not path.exists():
        reason = f"needs {relative} of the shared folder (set LYRICSIM_SHARED)"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}; CI must not skip this test")
        pytest.skip(reason)
    return path
