"""Where ``load_dataset`` keeps what it has read."""

import contextlib
import tempfile
from collections.abc import Iterator


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
