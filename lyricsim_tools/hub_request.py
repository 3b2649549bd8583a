"""What is to be published where, and the command line that says it again."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from lyricsim_tools.errors import UserError
from lyricsim_tools.hub_files import RepoType

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?")


@dataclass(frozen=True)
class PushRequest:
    """What is to be published where.

    Args:
        folder: what is published.
        repo_id: ``owner/name``.
        repo_type: the kind of repository.
        message: the commit's message.
        public: whether everybody may see the repository.
        revision: a branch, created if need be; None: ``main``.
        space_sdk: ``gradio``, ``docker`` or ``static``, for Spaces.
        overwrite: replace files that others wrote; their versions stay in the repository's history.
        ignore: more patterns of files to leave out.
    """

    folder: Path
    repo_id: str
    repo_type: RepoType
    message: str
    public: bool = False
    revision: str | None = None
    space_sdk: str | None = None
    overwrite: bool = False
    ignore: tuple[str, ...] = ()

    @property
    def branch(self) -> str:
        """The branch that is written."""
        return self.revision or "main"

    @property
    def command(self) -> str:
        """The command line that repeats this push."""
        words = ["lyricsim-push", str(self.folder), self.repo_id, "--type", self.repo_type]
        words += ["--public"] if self.public else []
        words += ["--revision", self.revision] if self.revision else []
        words += ["--overwrite"] if self.overwrite else []
        words += ["--sdk", self.space_sdk] if self.space_sdk else []
        words += ["--message", self.message]
        words += [word for pattern in self.ignore for word in ("--ignore", pattern)]
        return shlex.join(words)


def require_owner(repo_id: str) -> str:
    """The repository id, if it names an owner and a repository as the Hub accepts them.

    Raises:
        UserError: anything else.
    """
    parts = repo_id.split("/")
    good = len(parts) == 2 and all(_NAME.fullmatch(part) and len(part) <= 96 for part in parts)
    if not good or "--" in repo_id or ".." in repo_id or repo_id.endswith((".git", ".ipynb")):
        raise UserError(
            f"{repo_id!r} does not name a repository on the Hub",
            "owner/name: your user name or an organisation's, a slash, and a name of letters, digits, '-', "
            "'_' and '.' (no '--' or '..', neither '-' nor '.' at an end, at most 96 characters)",
            f"for example your-user-name/{parts[-1] or 'lyricsim'}",
        )
    return repo_id
