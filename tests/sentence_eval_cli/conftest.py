"""Invented data trees for the command's tests."""

from pathlib import Path

import pytest
from made_up_benchmark import write_tree


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with invented rows for eight tasks."""
    return write_tree(tmp_path_factory.mktemp("data"))
