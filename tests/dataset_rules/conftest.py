"""Upstream's tables, read once for all tests of this folder."""

from pathlib import Path

import pytest
from upstream_tables import Upstream, read_upstream


@pytest.fixture(scope="session")
def upstream(lyricsim_source: Path) -> Upstream:
    return read_upstream(lyricsim_source)
