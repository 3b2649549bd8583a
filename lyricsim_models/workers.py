"""The processes of a run as one object; the only module that knows Accelerate.

The loop above it deals in rows, losses and steps. What differs between one CPU, several GPUs, FSDP2,
DeepSpeed and XLA is hidden here.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import DistributedType, ProjectConfiguration, gather_object
from numpy.typing import NDArray
from torch import nn

from lyricsim_models.config import ReportTo
from lyricsim_models.launch_checks import launched_for, refuse_fallback, refuse_strangers, require_tracker
from lyricsim_models.signals import Interrupted
from lyricsim_models.team import gather_on_xla
from lyricsim_tools.errors import UserError

# How far a padded length is rounded up: compilers of static shapes want few of them, tensor cores want 8.
_LENGTH_MULTIPLES = {"xla": 128, "cuda": 8}


class PeerError(UserError):
    """Another process of the run failed, so this one stops too."""


def _use_cpu() -> bool:
    """Accelerate starts several processes on a CPU only if it is told that there is nothing else."""
    from accelerate.utils import is_mps_available, is_torch_xla_available

    found = torch.cuda.is_available() or is_mps_available() or is_torch_xla_available()
    return not found and not launched_for("DEEPSPEED")


class Workers:
    """All processes of a run.

    Args:
        report_to: tracker that Accelerate feeds; ``none`` for none.

    Raises:
        UserError: the launcher started several processes that do not see each other, or another topology
            than it was asked for.
    """

    def __init__(self, report_to: ReportTo = "none") -> None:
        require_tracker(report_to)
        self._accelerator = _accelerator(report_to)
        refuse_strangers(self._accelerator.num_processes)
        refuse_fallback(self.topology)
        if self.topology == "DEEPSPEED":
            _load_models_whole()
        if self.device.type == "cuda":
            # A resumed run must end with the same bits; what has no such kernel says so and goes on.
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            torch.use_deterministic_algorithms(True, warn_only=True)
        self._optimizer: Any = None

    @property
    def world(self) -> int:
        """Number of processes."""
        return int(self._accelerator.num_processes)

    @property
    def rank(self) -> int:
        """This process, from 0."""
        return int(self._accelerator.process_index)

    @property
    def is_main(self) -> bool:
        """Whether this process writes files and talks to people."""
        return bool(self._accelerator.is_main_process)

    @property
    def device(self) -> torch.device:
        """Where this process computes."""
        return self._accelerator.device

    @property
    def mixed_precision(self) -> str:
        """``no``, ``bf16`` or ``fp16``, as Accelerate was told."""
        return str(self._accelerator.mixed_precision)

    @property
    def topology(self) -> str:
        """Accelerate's name for the arrangement: NO, MULTI_CPU, MULTI_GPU, FSDP, DEEPSPEED, XLA, …."""
        return str(self._accelerator.distributed_type.value)

    @property
    def device_name(self) -> str:
        """The device in words, such as a GPU's product name."""
        if self.device.type == "cuda":
            return str(torch.cuda.get_device_name(self.device))
        return self.device.type

    @property
    def length_multiple(self) -> int:
        """Padded lengths are multiples of this."""
        return _LENGTH_MULTIPLES.get(self.device.type, 1)

    def prepare(self, module: nn.Module, optimizer: torch.optim.Optimizer, per_device: int) -> nn.Module:
        """Wrap a module and its optimizer for this topology; call once."""
        self._name_layers(module)
        if self._accelerator.distributed_type == DistributedType.DEEPSPEED:
            config = self._accelerator.state.deepspeed_plugin.deepspeed_config
            config.update(train_micro_batch_size_per_gpu=per_device, gradient_accumulation_steps=1)
        wrapped, self._optimizer = self._accelerator.prepare(module, optimizer)
        return wrapped

    def _name_layers(self, module: nn.Module) -> None:
        """FSDP shards repeated layers; the checkpoint's own list names the embeddings too, which fails."""
        plugin = getattr(self._accelerator.state, "fsdp_plugin", None)
        if plugin is not None and plugin.transformer_cls_names_to_wrap is None:
            plugin.transformer_cls_names_to_wrap = [repeated_layer(module)]

    def accumulate(self, module: nn.Module, last: bool) -> contextlib.AbstractContextManager[None]:
        """Around forward and backward of a micro-batch: processes exchange gradients at the last one only."""
        self._accelerator.sync_gradients = last
        return contextlib.nullcontext() if last else self._accelerator.no_sync(module)

    def backward(self, loss: torch.Tensor) -> None:
        """Add a micro-batch's gradients; under DeepSpeed the last one takes the optimizer step too."""
        self._accelerator.backward(loss)

    def apply_gradients(self, module: nn.Module, limit: float) -> tuple[float, bool]:
        """Clip and take the optimizer step.

        Args:
            module: what ``prepare`` returned.
            limit: largest norm of all gradients together.

        Returns:
            The norm before clipping, the same on all processes, and whether the loss scaler of fp16 left the
            step out. Without a scaler a non-finite norm also leaves the weights as they were.
        """
        norm = _as_float(self._accelerator.clip_grad_norm_(module.parameters(), limit))
        if np.isfinite(norm) or self._accelerator.scaler is not None:
            self._optimizer.step()
        self._optimizer.zero_grad()
        return norm, bool(self._optimizer.step_was_skipped)

    def set_rate(self, share: float) -> None:
        """Set every parameter group to this share of its highest learning rate."""
        for group in self._optimizer.param_groups:
            group["lr"] = group["peak"] * share

    def rates(self) -> list[float]:
        """The learning rate of each parameter group, as the optimizer has it."""
        return [float(group["lr"]) for group in self._optimizer.param_groups]

    def autocast(self) -> contextlib.AbstractContextManager[None]:
        """Mixed precision for a module that was not prepared."""
        return self._accelerator.autocast()

    def sum(self, values: list[float]) -> NDArray[np.float64]:
        """Add up a vector over all processes."""
        exact = torch.float32 if self.device.type in ("mps", "xla") else torch.float64
        vector = torch.tensor(values, dtype=exact, device=self.device)
        return np.asarray(self._accelerator.reduce(vector, "sum").cpu(), dtype=np.float64)

    def gather(self, items: list[Any]) -> list[Any]:
        """The items of all processes, plain JSON values, by rank."""
        if self.world == 1:
            return items
        on_xla = self._accelerator.distributed_type == DistributedType.XLA
        return gather_on_xla(items) if on_xla else list(gather_object(items))

    def wait(self) -> None:
        """Return once every process has come here."""
        self._accelerator.wait_for_everyone()

    def together(self, action: Callable[[], Any]) -> None:
        """Do something that may fail on some processes only, and fail on all of them if it fails on one.

        Raises:
            PeerError: another process failed; what failed here is raised as it is.
        """
        error: Exception | None = None
        try:
            action()
        # Whatever fails here must reach the others before they wait for this process for ever.
        except Exception as failure:  # noqa: BLE001
            error = failure
        failures = [text for text in self.gather([str(error) if error else ""]) if text]
        if error:
            raise error
        if failures:
            raise PeerError(
                f"another process failed: {failures[0]}", "all to succeed", "see the message above"
            )

    def full_weights(self, module: nn.Module) -> dict[str, torch.Tensor]:
        """All weights, gathered on the main process (elsewhere perhaps empty), on the CPU in float32."""
        if self.topology == "DEEPSPEED":
            return _master_weights(module)
        # Unwrapping through Accelerate would import DeepSpeed wherever it happens to be installed.
        weights = self._accelerator.get_state_dict(module, unwrap=False) or {}
        return {
            name.removeprefix("module."): value.detach().to("cpu", torch.float32)
            for name, value in weights.items()
        }

    def save_state(self, folder: Path) -> None:
        """Write weights, optimizer, loss scale and generators of all processes."""
        self._accelerator.save_state(str(folder))

    def load_state(self, folder: Path) -> None:
        """Restore what ``save_state`` wrote."""
        self._accelerator.load_state(str(folder))

    def start_tracking(self, folder: Path, config: Mapping[str, Any]) -> None:
        """Open the trackers for one run; values that a tracker cannot hold are passed as text.

        Args:
            folder: where a file-based tracker writes.
            config: what the run is made of.
        """
        plain = {k: v if isinstance(v, int | float | str | bool) else str(v) for k, v in config.items()}
        self._accelerator.project_configuration.logging_dir = str(folder)
        self._accelerator.init_trackers("lyricsim", config=plain)

    def stop_tracking(self) -> None:
        """Finish the trackers of a run."""
        for tracker in self._accelerator.trackers:
            tracker.finish()
        self._accelerator.trackers = []

    def track(self, values: dict[str, float], step: int) -> None:
        """Send numbers to the trackers."""
        self._accelerator.log(values, step=step)

    def __enter__(self) -> Self:
        """The processes, for the length of a block at whose end they part."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Part, unless the block failed: the others may then wait for this process somewhere else."""
        if kind is None or issubclass(kind, Interrupted):
            self.close()

    def close(self) -> None:
        """Part with the other processes; every process calls this once the work is done.

        Without it the threads of the process group may outlive the interpreter, and a process that did all
        its work then ends with SIGABRT now and then.
        """
        self._accelerator.end_training()

    def release(self) -> None:
        """Let go of the prepared model and optimizer, so that another run may follow in these processes."""
        self._accelerator.free_memory()
        self._optimizer = None


def _accelerator(report_to: ReportTo) -> Accelerator:
    try:
        return Accelerator(
            cpu=_use_cpu(),
            gradient_accumulation_steps=1,
            step_scheduler_with_optimizer=False,
            log_with=None if report_to == "none" else report_to,
            project_config=ProjectConfiguration(logging_dir="."),
        )
    except ValueError as error:
        raise UserError(
            f"Accelerate refuses the launcher's settings: {error}",
            "settings that this machine has, such as --mixed_precision no or bf16 on a CPU",
            "launch with a file of training/configs/, or run `accelerate config`",
        ) from error


def _as_float(norm: Any) -> float:
    """Some topologies return a sharded tensor, a plain one, a number, or None before the first step."""
    if norm is None:
        return 0.0
    return float(norm.full_tensor() if hasattr(norm, "full_tensor") else norm)


def _load_models_whole() -> None:
    """Keep transformers from splitting each model it loads, with collectives inside, under ZeRO-3.

    ``prepare`` shards what is trained; the exported model that is scored at the end is not sharded.
    """
    from transformers.integrations.deepspeed import unset_hf_deepspeed_config

    unset_hf_deepspeed_config()


def _master_weights(engine: nn.Module) -> dict[str, torch.Tensor]:
    """The float32 weights that DeepSpeed's optimizer keeps, whatever the module computes in."""
    from deepspeed.utils import safe_get_full_fp32_param

    module: Any = engine.module
    buffers = {name: value for name, value in module.named_buffers() if name in module.state_dict()}
    masters = {name: safe_get_full_fp32_param(value) for name, value in module.named_parameters()}
    return {name: value.detach().to("cpu", torch.float32) for name, value in {**buffers, **masters}.items()}


def repeated_layer(module: nn.Module) -> str:
    """Class name of the transformer's repeated layer: the one of the longest list of modules."""
    lists = [child for child in module.modules() if isinstance(child, nn.ModuleList) and len(child)]
    return type(max(lists, key=len)[0]).__name__
