"""The sample as built, and LyricSIM as read from upstream's files without building."""

from pathlib import Path

import pytest
from reported import benchmark_of

from lyricsim_dataset.annotations import read_tables
from lyricsim_dataset.publish import BuildOptions, build
from lyricsim_dataset.sources import locate
from lyricsim_reports.benchmark import Benchmark, read_benchmark


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded sample as built; not to be changed."""
    return build(BuildOptions(sample=True), tmp_path_factory.mktemp("sample") / "lyricsim-sample")


@pytest.fixture(scope="session")
def sample(sample_folder: Path) -> Benchmark:
    return read_benchmark(sample_folder)


@pytest.fixture(scope="session")
def real(lyricsim_source: Path) -> Benchmark:
    return benchmark_of(read_tables(locate(lyricsim_source)))
