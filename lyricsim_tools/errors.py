"""One shape for every error that a user can cause."""


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
