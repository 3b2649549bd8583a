"""Upstream's tables, read once for all tests of this folder."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from upstream_tables import Upstream, read_upstream

# A busy machine is slow, not wrong.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def upstream(lyricsim_source: Path) -> Upstream:
    return read_upstream(lyricsim_source)
