"""Run a script as ``python SCRIPT …`` does, and fail if it leaves its process group behind.

A group that nobody closes lets a process that did its work end with SIGABRT now and then.
"""

import runpy
import sys
from pathlib import Path

import torch.distributed


def main() -> None:
    del sys.argv[0]
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
    if torch.distributed.is_initialized():
        sys.exit(f"{sys.argv[0]} did not part with its process group")


if __name__ == "__main__":
    main()
