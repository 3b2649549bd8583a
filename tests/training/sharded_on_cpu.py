"""For tests only: FSDP2 and DeepSpeed on CPUs, which Accelerate offers on accelerators alone.

Usage: sharded_on_cpu.py SCRIPT ARGUMENTS…, under a launcher that asks for one of the two.
"""

import importlib
import os
import runpy
import signal
import sys
from typing import Any

from accelerate import state
from accelerate.utils import DistributedType


def allow_fsdp() -> None:
    """Keep the plugin that Accelerate drops where it finds no accelerator."""
    original = state.AcceleratorState.__init__

    def init(self: state.AcceleratorState, *arguments: Any, **options: Any) -> None:
        original(self, *arguments, **options)
        # Each construction copies the process's plain state over this one, so it is set again each time.
        plugin = options.get("fsdp_plugin") or self.__dict__.get("fsdp_plugin")
        if plugin is not None and self.distributed_type == DistributedType.MULTI_CPU:
            self.distributed_type = DistributedType.FSDP
            self.fsdp_plugin = plugin

    state.AcceleratorState.__init__ = init


def allow_deepspeed() -> None:
    """Start gloo under DeepSpeed, and leave out its shared-memory operator, which would be compiled first."""
    original = state.PartialState._prepare_backend

    def backend(self: state.PartialState, *arguments: Any, **options: Any) -> tuple[str, DistributedType]:
        if int(os.environ.get("LOCAL_RANK", "-1")) < 0:
            return original(self, *arguments, **options)
        return "gloo", DistributedType.MULTI_CPU

    state.PartialState._prepare_backend = backend
    # An import statement would find the package's attribute of that name, which is torch itself.
    importlib.import_module("deepspeed.comm.torch").build_shm_op = lambda: None  # type: ignore[attr-defined]


def stop_at(step: int) -> None:
    """Get a signal during a step, as a scheduler sends it before a node goes away."""
    from lyricsim_models.loop import Learner

    original, calls = Learner._agreed_loss, [0]

    def wrapped(self: Learner, *arguments: Any) -> Any:
        calls[0] += 1
        if calls[0] == step:
            os.kill(os.getpid(), signal.SIGTERM)
        return original(self, *arguments)

    Learner._agreed_loss = wrapped  # type: ignore[method-assign]


if __name__ == "__main__":
    (allow_deepspeed if os.environ.get("ACCELERATE_USE_DEEPSPEED") == "true" else allow_fsdp)()
    if "STOP_AT" in os.environ:
        stop_at(int(os.environ["STOP_AT"]))
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
