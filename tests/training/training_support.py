"""How the training tests start scripts, alone or in several processes."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from support import REPOSITORY, RUN_AND_PART

FINETUNE = REPOSITORY / "training" / "finetune.py"
# The name of a family of models to the folder of a tiny one.
Family = Callable[[str], Path]


def environment(**changes: str) -> dict[str, str]:
    """What a launched process sees: the tests' own, on CPUs only."""
    return {**os.environ, "ACCELERATE_USE_CPU": "true", "PYTHONPATH": str(REPOSITORY), **changes}


def command(script: Path, arguments: Sequence[object], processes: int = 1) -> list[str]:
    """Start a script in one process, or in several that know of each other."""
    if processes == 1:
        return [sys.executable, str(script), *map(str, arguments)]
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]
    return [sys.executable, *launcher, str(RUN_AND_PART), str(script), *map(str, arguments)]


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
