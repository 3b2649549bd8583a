"""One shape for every error that a user can cause."""

import os


class UserError(ValueError):
    """Bad input, said so that the reader knows what to do next.

    Args:
        given: what was found, with the file, row or value.
        expected: what would have been accepted.
        remedy: what the user can do about it.
    """

    def __init__(self, given: str, expected: str, remedy: str) -> None:
        super().__init__(f"{given}\n  expected: {expected}\n  what to do: {remedy}")
        self.given = given
        self.expected = expected
        self.remedy = remedy


def speaks_here() -> bool:
    """Whether this process tells people what went wrong: one of all that were launched on this machine."""
    return os.environ.get("LOCAL_RANK", "0") == "0"


def explained(error: UserError | OSError) -> UserError:
    """The error as a user is told it: the system's refusal to read or write a file gets our shape."""
    if isinstance(error, UserError):
        return error
    return UserError(
        f"a file cannot be read or written: {error}",
        "enough space, and the right to read and write there",
        "free some space, or choose another place",
    )
