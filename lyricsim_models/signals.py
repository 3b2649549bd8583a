"""SIGTERM and SIGINT as a request that the loop answers between two steps."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interrupted(SystemExit):
    """The run stopped on request after writing a checkpoint; exits with the shell's status for the signal."""


class StopRequest:
    """Whether and by which signal this process was asked to stop."""

    def __init__(self) -> None:
        self.received: int | None = None

    def __call__(self) -> bool:
        """Whether a signal has come."""
        return self.received is not None

    def _receive(self, number: int, frame: FrameType | None) -> None:
        # A second Ctrl-C means now.
        if self.received is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.received = number


@contextlib.contextmanager
def listening() -> Iterator[StopRequest]:
    """Turn signals into a request for the length of the block; in a thread, leave them alone."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, request._receive) for number in SIGNALS}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
