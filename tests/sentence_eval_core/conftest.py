"""Fixtures of the evaluation's core: a small tree, and the encoder of the published figures."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from synthetic_tree import write_tree

from spanish_sentence_eval.encoders.characters import CharacterEncoder
from spanish_sentence_eval.encoding import Batcher


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small benchmark of made-up sentences; read only."""
    return write_tree(tmp_path_factory.mktemp("benchmark"))


@pytest.fixture
def fresh_tree(tmp_path: Path) -> Path:
    """A small benchmark that the test may damage."""
    return write_tree(tmp_path / "benchmark")


@pytest.fixture(scope="session")
def characters() -> Batcher:
    """The encoder of the published figures as a batcher."""
    encoder = CharacterEncoder()
    return lambda params, batch: encoder.encode(batch)


@pytest.fixture
def small(tree: Path) -> dict[str, Any]:
    """Settings under which every task of the small tree runs in a moment."""
    return small_settings(tree)


@pytest.fixture
def settings_for() -> Callable[[Path], dict[str, Any]]:
    """The small settings for another tree."""
    return small_settings


def small_settings(root: Path) -> dict[str, Any]:
    classifier = {"nhid": 0, "optim": "adam", "batch_size": 16, "tenacity": 2, "epoch_size": 1}
    return {
        "task_path": str(root),
        "kfold": 2,
        "batch_size": 16,
        "check_sizes": False,
        "classifier": {**classifier, "max_epoch": 4},
    }
