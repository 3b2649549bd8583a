"""Reading pickles that hold nothing but lists and strings, without letting them run anything."""

import pickle
from pathlib import Path
from typing import Any

from lyricsim_tools.errors import UserError


class _PlainUnpickler(pickle.Unpickler):
    """Builds lists, strings and other literals; any name that would be imported is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")

    def persistent_load(self, pid: object) -> Any:
        raise pickle.UnpicklingError(f"it asks for the persistent object {pid!r}")


def load_plain(path: Path) -> Any:
    """Read a pickle of literals.

    Raises:
        UserError: the file is cut off, is no pickle, or asks for any class or function.
    """
    try:
        with path.open("rb") as stream:
            return _PlainUnpickler(stream).load()
    except (
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        IndexError,
        KeyError,
        TypeError,
        AttributeError,
        OverflowError,
        MemoryError,
    ) as e:
        raise UserError(
            f"{path} cannot be read as a pickle of lists and strings: {e}",
            "upstream's file: lists and strings, nothing that must be imported",
            "fetch the file again; do not open it with other tools if you do not know where it came from",
        ) from e
