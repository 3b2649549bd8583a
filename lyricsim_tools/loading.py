"""Where ``load_dataset`` looks for a dataset, and where it keeps what it has read."""

import contextlib
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lyricsim_tools.errors import UserError

_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def dataset_place(dataset: str) -> str:
    """What to pass to ``load_dataset``: a folder's absolute path, or a Hub id as it is.

    The library would answer a bare name from its cache, with what a folder of that name elsewhere once held.

    Raises:
        UserError: neither a folder nor of the form owner/name.
    """
    if (folder := Path(dataset)).is_dir():
        return str(folder.resolve())
    if not _HUB_ID.fullmatch(dataset):
        raise UserError(
            f"there is no dataset folder {dataset!r} in {Path.cwd()}",
            "a dataset folder, a Hub id owner/name or, where pairs are all that is read, a file of pairs",
            "check the path, or build the folder here with `lyricsim-dataset build --out lyricsim`",
        )
    return dataset


@contextlib.contextmanager
def fresh_cache(local: bool) -> Iterator[str | None]:
    """What to pass to ``load_dataset`` as ``cache_dir``; rows must be read while this is open.

    The library knows a local folder by its path, and its own cache would give rows from before a rebuild.

    Args:
        local: whether a folder is loaded; a Hub repository is answered from the library's own cache (None).
    """
    if not local:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        yield folder
