"""Built folders, made once for all tests of this folder, and a small source tree to damage."""

import shutil
from pathlib import Path

import pytest
from hub_server.fixtures import hub

from lyricsim_dataset.publish import BuildOptions, build
from lyricsim_dataset.sources import SAMPLE_FOLDER

__all__ = ["hub"]


@pytest.fixture(scope="session")
def sample_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedded sample as built; not to be changed."""
    return build(BuildOptions(sample=True), tmp_path_factory.mktemp("sample") / "lyricsim-sample")


@pytest.fixture(scope="session")
def real_folder(lyricsim_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """LyricSIM as built from upstream's files; not to be changed."""
    return build(BuildOptions(source=lyricsim_source), tmp_path_factory.mktemp("real") / "lyricsim")


@pytest.fixture
def own_sample(sample_folder: Path, tmp_path: Path) -> Path:
    """A copy of the built sample, to be changed or built anew."""
    return Path(shutil.copytree(sample_folder, tmp_path / "lyricsim-sample"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the sample's files in upstream's layout: a source that differs from upstream's."""
    return Path(shutil.copytree(SAMPLE_FOLDER, tmp_path / "tree"))
