"""Training runs as child processes: started, logged, read, trimmed."""

import json
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_FAILURE_LINES = 6


def run_logged(command: Sequence[str], log: Path) -> int:
    """Run a command with its output in a file; returns its exit status. The child ends with this process."""
    log.parent.mkdir(parents=True, exist_ok=True)
    # A killed worker cannot stop its run, which would go on holding the accelerator.
    guard = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
    with log.open("wb") as stream:
        stream.write(f"{shlex.join(command)}\n".encode())
        stream.flush()
        process = subprocess.Popen([*guard, *command], stdout=stream, stderr=subprocess.STDOUT)
        try:
            return process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()


def read_scores(folder: Path) -> tuple[float, float | None] | None:
    """Development and test combined score of a run; None if it has no development score."""
    try:
        metrics = json.loads((folder / "metrics.json").read_text("utf-8"))
        development = metrics["validation"]["combined_score"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    test = metrics.get("test", {}).get("combined_score")
    return None if development is None else (float(development), test)


def failure_of(status: int, log: Path) -> str:
    """The exit status and the last lines of a run's log."""
    lines = [line for line in log.read_text("utf-8", errors="replace").splitlines() if line.strip()]
    return f"exit status {status}: " + "\n".join(lines[1:][-_FAILURE_LINES:])


def discard_weights(folder: Path) -> None:
    """Remove the weights that a finished run wrote."""
    for path in folder.rglob("*.safetensors"):
        path.unlink()
