"""The 32 tasks and the names by which people ask for them."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.discoeval_tasks import DISCOEVAL
from spanish_sentence_eval.senteval_tasks import SENTEVAL
from spanish_sentence_eval.task import Cleaning, Encoding, Head, Package, Task

__all__ = [
    "ALIASES",
    "GROUPS",
    "NEVER_EXISTED",
    "TASKS",
    "WITHOUT_DATA",
    "Cleaning",
    "Encoding",
    "Head",
    "Package",
    "Task",
    "resolve_names",
]

_RECORDS = (*SENTEVAL, *DISCOEVAL)

TASKS: Mapping[str, Task] = {task.name: task for task in _RECORDS}
"""Every task by its engine name."""

ALIASES: Mapping[str, str] = {alias: task.name for task in _RECORDS for alias in task.aliases}
"""The source document's other names."""

NEVER_EXISTED = ("BR",)
"""Names that the source document prints and no version ever had."""

WITHOUT_DATA = ("PDTB-E", "PDTB-I")
"""Names that upstream accepts although no data for them exists."""

GROUPS: Mapping[Package, tuple[tuple[str, ...], ...]] = {
    "senteval": (
        ("TASS1", "TASS2", "MC", "FAC", "SQC"),
        ("PAWS", "NLI", "SICKEntailment"),
        ("SICKRelatedness", "STS14", "STS15", "STS17"),
        tuple(task.name for task in _RECORDS if task.folder == "Probing"),
    ),
    "discoeval": (
        ("SPthesis", "SPwiki", "SPmlsum"),
        ("BSOthesis", "BSOwiki", "BSOmlsum"),
        ("DCopus", "DCwiki", "DCgdd"),
        ("SSPmlsum",),
        ("RST",),
    ),
}
"""The example scripts' groups, by ``--task_index``."""


def resolve_names(tasks: str | Sequence[Any]) -> list[str]:
    """The engine names of what was asked for, in order, each once.

    Args:
        tasks: a name, a list of names, or a list of lists of names; the source document's other names
            are understood, and ``BR``, which never existed, is warned of and left out.

    Raises:
        UserError: a name is unknown, is no text, or belongs to a task without data.
    """
    asked = list(_flat(tasks))
    for name in NEVER_EXISTED:
        if name in asked:
            warnings.warn(
                f"{name!r} is left out: the source document names it, but it never existed", stacklevel=2
            )
    return list(dict.fromkeys(_canonical(name) for name in asked if name not in NEVER_EXISTED))


def _flat(tasks: str | Sequence[Any]) -> Iterator[str]:
    if isinstance(tasks, str):
        yield tasks
    elif isinstance(tasks, Iterable):
        for task in tasks:
            yield from _flat(task)
    else:
        raise UserError(
            f"{tasks!r} among the tasks",
            "a task's name, a list of names, or a list of such lists",
            "correct it (spanish-senteval list prints the names)",
        )


def _canonical(name: str) -> str:
    if name in WITHOUT_DATA:
        raise UserError(f"{name!r}: no data exists for this task", "a task with data", f"leave {name!r} out")
    found = ALIASES.get(name, name)
    if found not in TASKS:
        raise UserError(
            f"{name!r} is no task", f"one of {', '.join(TASKS)}", "correct the name (spanish-senteval list)"
        )
    return found
