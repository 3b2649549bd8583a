"""What a job asks of the processes it runs in; one process needs no launcher and no torch."""

import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, cast

from lyricsim_tools.errors import UserError

T = TypeVar("T")


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
        """The items of all processes, plain JSON values, in the order of their ranks."""

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


def everywhere(team: Team, action: Callable[[], T]) -> T:
    """What an action gives in this process; it fails in all of them if it fails in one."""
    found: list[T] = []
    team.together(lambda: found.append(action()))
    return found[0]


def from_main(team: Team, action: Callable[[], T]) -> T:
    """What an action gives in the main process, the only one that does it, known in all of them.

    Args:
        team: the processes, each of which calls this.
        action: gives plain JSON values; the others fail if it fails.
    """
    found: list[T] = []
    team.together(lambda: found.append(action()) if team.is_main else None)
    return cast(T, team.gather(found)[0])


def gather_on_xla(items: list[Any]) -> list[Any]:
    """The items of all processes of an XLA job, in the order of their ranks.

    Accelerate exchanges no objects there; XLA itself exchanges bytes.

    Args:
        items: plain JSON values.
    """
    import torch_xla.core.xla_model as xm

    parts = xm.rendezvous("lyricsim.gather", json.dumps(items).encode())
    return [item for part in parts for item in json.loads(part)]


def refuse_disagreement(team: Team, facts: Mapping[str, Any]) -> None:
    """Refuse to share work that is not the same everywhere, such as files of which each machine has its own.

    Every process calls this, and it raises in all of them or in none.

    Args:
        team: the processes.
        facts: what has to be equal in all of them, by its name for people; compared by ``==``.

    Raises:
        UserError: names what differs.
    """
    found = team.gather([dict(facts)])
    different = sorted({name for other in found for name in other if other[name] != found[0].get(name)})
    if different:
        raise UserError(
            f"processes that do not have the same {', '.join(different)}",
            "one and the same input and output for all of them",
            "put data, model and --output on storage that all machines share",
        )


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
