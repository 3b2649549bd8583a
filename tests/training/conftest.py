"""Tiny models, synthetic pairs and a launcher for the training tests."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from support import REPOSITORY
from tiny_families import write_family, write_pairs

from lyricsim_models.datafiles import read_splits
from lyricsim_models.pair_table import PairTable

FINETUNE = REPOSITORY / "training" / "finetune.py"
Family = Callable[[str], Path]


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


def environment(**changes: str) -> dict[str, str]:
    """What a launched process sees: the tests' own, on CPUs only."""
    return {**os.environ, "ACCELERATE_USE_CPU": "true", "PYTHONPATH": str(REPOSITORY), **changes}


def command(script: Path, arguments: Sequence[object], processes: int = 1) -> list[str]:
    """Start a script in one process, or in several that know of each other."""
    if processes == 1:
        return [sys.executable, str(script), *map(str, arguments)]
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]
    return [sys.executable, *launcher, str(script), *map(str, arguments)]


def start(
    script: Path, arguments: Sequence[object], processes: int = 1, **changes: str
) -> subprocess.CompletedProcess[str]:
    """Run a script to its end."""
    return subprocess.run(
        command(script, arguments, processes),
        env=environment(**changes),
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
