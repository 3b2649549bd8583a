"""Python in a process of its own, with a Hugging Face cache of its own and no network."""

import os
import subprocess
import sys
from pathlib import Path

from support import REPOSITORY

PROXY_TO_NOWHERE = "http://127.0.0.1:9"
# As in a plain installation, which also spares the seconds that evaluate takes to import what it finds.
IMPORT_EVALUATE = """
import sys
sys.modules["transformers"] = None
import evaluate
del sys.modules["transformers"]
"""


def environment(cache: Path, **changes: str) -> dict[str, str]:
    """Caches below ``cache``; whatever tries the network meets a closed door at once."""
    names = ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE")
    return {
        **{name: value for name, value in os.environ.items() if name not in names},
        "HF_HOME": str(cache),
        "HTTP_PROXY": PROXY_TO_NOWHERE,
        "HTTPS_PROXY": PROXY_TO_NOWHERE,
        "USE_TORCH": "0",
        **changes,
    }


def run(code: str, cache: Path, *arguments: str, cwd: Path = REPOSITORY, **changes: str) -> str:
    """What the process printed; its failure is the test's."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(cache, **changes),
        cwd=cwd,
        text=True,
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()
