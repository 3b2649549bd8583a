"""How cards are checked."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CheckOptions:
    """How cards are checked.

    Args:
        root: the repository's root.
        snippets: whether the code in the cards is run.
        endpoint: a Hub on this machine to run it against; None: the one below ``root``.
    """

    root: Path
    snippets: bool = True
    endpoint: str | None = None
