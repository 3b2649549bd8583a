"""Runs a command, and ends it with all that it started once standard input ends: its starter stops or dies.

A script for ``subruns.run_logged``, which holds the other end of standard input. A launcher between the two
that knows no signals, such as ``accelerate launch`` of one process, cannot leave its run behind.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence

# A run saves a checkpoint when it is told to end, and torch's launcher waits 30 seconds for its processes.
_PATIENCE = 120.0
_LOOK = 0.1
_PR_SET_CHILD_SUBREAPER = 36


def main(command: Sequence[str]) -> int:
    """Run a command to its end, or to that of standard input; nothing of its process group is left.

    Returns:
        Its exit status; 128 + the signal it died of, as shells say it.
    """
    _adopt_orphans()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    try:
        while child.poll() is None and not _input_ended():
            pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_group(child, _PATIENCE)
    status = child.wait()
    return status if status >= 0 else 128 - status


def end_group(leader: subprocess.Popen[bytes], patience: float) -> None:
    """Ask a child's process group to end, and after so many seconds of patience kill it."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + patience
        if _lives(leader):
            os.killpg(leader.pid, number)
        while _lives(leader) and time.monotonic() < deadline:
            time.sleep(_LOOK)


def _lives(leader: subprocess.Popen[bytes]) -> bool:
    # The leader first: its status must not be fetched among the orphans'.
    if leader.poll() is None:
        return True
    try:
        while os.waitpid(-leader.pid, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    try:
        os.killpg(leader.pid, 0)
    except OSError:
        return False
    return True


def _input_ended() -> bool:
    return bool(select.select([sys.stdin], [], [], _LOOK)[0])


def _adopt_orphans() -> None:
    """Become the parent of what a dying launcher leaves: in a container nobody else may note its end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
