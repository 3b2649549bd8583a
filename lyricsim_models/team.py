"""What a job asks of the processes it runs in; one process needs no launcher and no torch."""

import os
from collections.abc import Callable
from typing import Any, Protocol

from lyricsim_tools.errors import UserError


class Team(Protocol):
    """The processes of a job. ``workers.Workers`` is one."""

    @property
    def is_main(self) -> bool:
        """Whether this process writes files."""

    @property
    def rank(self) -> int:
        """This process, from 0."""

    @property
    def world(self) -> int:
        """How many there are."""

    def together(self, action: Callable[[], Any]) -> None:
        """Do something that may fail on one process, and fail on all of them then."""

    def gather(self, items: list[Any]) -> list[Any]:
        """The items of all processes, in the order of their ranks."""

    def close(self) -> None:
        """Part with the other processes; every process calls this once the work is done."""


class Alone:
    """A team of one process."""

    is_main = True
    rank = 0
    world = 1

    def together(self, action: Callable[[], Any]) -> None:
        """Do it."""
        action()

    def gather(self, items: list[Any]) -> list[Any]:
        """The items themselves."""
        return items

    def close(self) -> None:
        """There is nobody to part with."""


def refuse_launcher(what: str) -> None:
    """Refuse to do in each of several launched processes what one process does.

    Args:
        what: would be done several times over.

    Raises:
        UserError: a launcher started several processes.
    """
    if (world := int(os.environ.get("WORLD_SIZE", "1"))) > 1:
        raise UserError(
            f"{what} in {world} processes", "one process", "start it with python, without a launcher"
        )
