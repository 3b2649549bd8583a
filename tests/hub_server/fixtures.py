"""The fixture ``hub``: a Hub of its own for each test, and processes that talk to it."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hub_server.server import ORGANISATION, USER, LocalHub

_NOT_INHERITED = ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE")


@dataclass(frozen=True)
class HubForTest:
    """A running Hub with what a test needs around it.

    Args:
        server: the Hub; ``server.store`` holds its repositories, ``server.faults`` its faults.
        folder: a temporary folder; caches go below it.
    """

    server: LocalHub
    folder: Path
    user: str = USER
    organisation: str = ORGANISATION

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def token(self) -> str:
        return self.server.token

    def environment(self, cache: str = "cache", **changes: str) -> dict[str, str]:
        """For a subprocess: this Hub, logged in, and the cache of that name (a new name: an empty one).

        Client settings are read at import, so only a new process sees them.
        """
        inherited = {k: v for k, v in os.environ.items() if k not in _NOT_INHERITED}
        return {
            **inherited,
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(self.folder / cache),
            "HF_TOKEN": self.token,
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            **changes,
        }

    def run(
        self, arguments: Sequence[str], cache: str = "cache", cwd: Path | None = None, **changes: str
    ) -> subprocess.CompletedProcess[str]:
        """Run Python with these arguments against this Hub; the outcome is not checked."""
        return subprocess.run(
            [sys.executable, *arguments],
            env=self.environment(cache, **changes),
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )

    def python(self, code: str, cache: str = "cache", cwd: Path | None = None, **changes: str) -> str:
        """Run code in a new process against this Hub and return what it printed; a failure is the test's."""
        done = self.run(["-c", code], cache, cwd, **changes)
        if done.returncode:
            pytest.fail(f"the process ended with {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout.strip()


@pytest.fixture
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubForTest]:
    """A private Hub on a free port of the loopback interface."""
    with LocalHub() as server:
        yield HubForTest(server, tmp_path_factory.mktemp("hub"))
