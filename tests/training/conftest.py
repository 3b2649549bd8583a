"""Tiny models and synthetic pairs for the training tests."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from tiny_families import write_family, write_pairs
from training_support import Family

from lyricsim_models.datafiles import read_splits
from lyricsim_models.pair_table import PairTable


@pytest.fixture(scope="session")
def family(tmp_path_factory: pytest.TempPathFactory) -> Family:
    """A tiny random model of a family, built once."""
    built: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in built:
            built[name] = write_family(tmp_path_factory.mktemp("models") / name, name)
        return built[name]

    return get


@pytest.fixture(scope="session")
def pairs_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """39 training pairs, so that every global batch of 8 or 16 leaves a tail; 33 + 9 held out."""
    return write_pairs(
        tmp_path_factory.mktemp("pairs") / "pairs.csv", {"train": 39, "validation": 33, "test": 9}
    )


@pytest.fixture(scope="session")
def splits(pairs_file: Path) -> Mapping[str, PairTable]:
    return read_splits(str(pairs_file), None)


@pytest.fixture(scope="session")
def workers():
    """This process alone, without mixed precision; shared, as Accelerate's own state is."""
    from lyricsim_models.workers import Workers

    return Workers()
