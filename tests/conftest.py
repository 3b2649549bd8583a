"""Shared fixtures; the environment is set before any Hugging Face library is imported."""

import os
import tempfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("LYRICSIM_SHARED", REPOSITORY.parent / "shared"))

os.environ.update(
    HF_HOME=tempfile.mkdtemp(prefix="lyricsim-hf-"),
    HF_HUB_OFFLINE="1",
    HF_EVALUATE_OFFLINE="1",
    HF_HUB_DISABLE_XET="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    HF_UPDATE_DOWNLOAD_COUNTS="0",
    TOKENIZERS_PARALLELISM="false",
    OMP_NUM_THREADS="1",
)


def shared_path(relative: str) -> Path:
    """A path below the shared folder; the calling test is skipped, with the reason, where it is absent.

    CI has the folder, so there its absence is a failure and not a skip.
    """
    path = SHARED / relative
    if not path.exists():
        reason = f"needs {relative} of the shared folder (set LYRICSIM_SHARED)"
        if os.environ.get("CI"):
            pytest.fail(f"{reason}; CI must not skip this test")
        pytest.skip(reason)
    return path


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
