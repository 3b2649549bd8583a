"""Run a script as ``python SCRIPT …`` does, and fail if it does not part with its process group in order.

A group that nobody closes lets a process that did its work end with SIGABRT now and then; a wrapped module
that outlives its group can keep it from ending at all.
"""

import gc
import runpy
import sys
from pathlib import Path

import torch.distributed
from torch.nn.parallel import DistributedDataParallel


def watch_parting() -> None:
    """Fail where a wrapped module is still there when its process group is closed."""
    part = torch.distributed.destroy_process_group

    def watched(*arguments: object) -> None:
        if any(type(thing) is DistributedDataParallel for thing in gc.get_objects()):
            raise RuntimeError("a wrapped module outlives its process group")
        part(*arguments)

    torch.distributed.destroy_process_group = watched


def main() -> None:
    del sys.argv[0]
    watch_parting()
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
    if torch.distributed.is_initialized():
        sys.exit(f"{sys.argv[0]} did not part with its process group")


if __name__ == "__main__":
    main()
