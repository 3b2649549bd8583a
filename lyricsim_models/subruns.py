"""Training runs as child processes: started, logged, read, trimmed."""

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lyricsim_models import guard

_FAILURE_LINES = 6
# What PyTorch and Accelerate write where two launches on one machine take the same port, in lower case.
_PORT_IS_TAKEN = ("eaddrinuse", "address already in use", "launch distributed communication on port")


def run_logged(command: Sequence[str], log: Path) -> int:
    """Run a command with its output in a file; returns its exit status, 128 + the signal it died of.

    The command and all that it started end with this call, whatever ends it, and with this process.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    # A killed worker cannot stop its run, which would hold the accelerator; but its end of the pipe closes.
    guarded = [sys.executable, "-P", guard.__file__, *command]
    with log.open("wb") as stream:
        stream.write(f"{shlex.join(command)}\n".encode())
        stream.flush()
        with subprocess.Popen(
            guarded, stdin=subprocess.PIPE, stdout=stream, stderr=subprocess.STDOUT, start_new_session=True
        ) as process:
            return process.wait()


def read_scores(folder: Path) -> tuple[float, float | None] | None:
    """Development and test combined score of a run; None if it has no development score."""
    try:
        metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
        development = metrics["validation"]["combined_score"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    test = metrics.get("test", {}).get("combined_score")
    return None if development is None else (float(development), test)


def read_precision(folder: Path) -> str | None:
    """The mixed precision that a run was made in; None where it does not say."""
    try:
        return str(json.loads((folder / "run.json").read_text("utf-8"))["topology"]["mixed_precision"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def failure_of(status: int, log: Path) -> str:
    """The exit status and the last lines of a run's log."""
    lines = [line for line in log.read_text("utf-8", errors="replace").splitlines() if line.strip()]
    return f"exit status {status}: " + "\n".join(lines[1:][-_FAILURE_LINES:])


def lost_its_port(status: int, log: Path) -> bool:
    """Whether a run ended because another launch holds its port: nothing about the run itself."""
    words = log.read_text("utf-8", errors="replace").lower()
    return status != 0 and any(sign in words for sign in _PORT_IS_TAKEN)


def discard_weights(folder: Path) -> None:
    """Remove the weights that a finished run wrote."""
    for path in folder.rglob("*.safetensors"):
        path.unlink()
