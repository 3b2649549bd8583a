"""Shared fixtures; the environment is set before any Hugging Face library is imported."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from support import shared_path

_HUB_HOME = tempfile.mkdtemp(prefix="lyricsim-hf-")
os.environ.update(
    HF_HOME=_HUB_HOME,
    HF_HUB_OFFLINE="1",
    HF_EVALUATE_OFFLINE="1",
    HF_HUB_DISABLE_XET="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    HF_UPDATE_DOWNLOAD_COUNTS="0",
    TOKENIZERS_PARALLELISM="false",
    OMP_NUM_THREADS="1",
)


# A busy machine is slow, not wrong.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_unconfigure() -> None:
    """Take this process's Hub folder away."""
    shutil.rmtree(_HUB_HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def lyricsim_source() -> Path:
    """Upstream's LyricSIM files, in upstream's layout."""
    return shared_path("sources/lyricsim")


@pytest.fixture(scope="session")
def sentence_evaluation_source() -> Path:
    """Upstream's Spanish-Sentence-Evaluation files, in upstream's layout."""
    return shared_path("sources/spanish-sentence-evaluation")


@pytest.fixture(scope="session")
def e5_folder() -> Path:
    """A real pretrained Spanish-capable encoder."""
    return shared_path("models/multilingual-e5-small-es")
