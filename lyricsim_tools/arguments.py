"""What commands share on their command lines."""

import argparse
from collections.abc import Callable


def at_least(smallest: int) -> Callable[[str], int]:
    """An argparse type: a whole number that is not below ``smallest``."""

    def whole(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = smallest - 1
        if value < smallest:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least {smallest}")
        return value

    return whole
