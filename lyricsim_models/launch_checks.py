"""What a launcher asked for, held against what Accelerate made of it; imports no torch."""

import importlib.util
import os

from lyricsim_models.config import ReportTo
from lyricsim_tools.errors import UserError


def launched_for(kind: str) -> bool:
    """Whether the launcher asked for ``FSDP`` or ``DEEPSPEED``."""
    return os.environ.get(f"ACCELERATE_USE_{kind}", "").lower() == "true"


def require_tracker(report_to: ReportTo) -> None:
    """Refuse a tracker whose package is missing: Accelerate would leave it out.

    Raises:
        UserError: names the package.
    """
    if report_to != "none" and importlib.util.find_spec(report_to) is None:
        raise UserError(
            f"--report-to {report_to}, but {report_to} is not installed",
            f"the package {report_to}",
            f"pip install {report_to}, or use --report-to none",
        )


def refuse_strangers(processes: int) -> None:
    """Refuse processes that do not know of each other.

    Args:
        processes: how many this one believes there are.

    Raises:
        UserError: the launcher started another number.
    """
    expected = int(os.environ.get("WORLD_SIZE", "1"))
    if processes != expected:
        raise UserError(
            f"the launcher started {expected} processes, but each believes it is one of {processes}: "
            "all of them would train on everything",
            "processes that see each other",
            "launch with one of training/configs/*.yaml, or set ACCELERATE_USE_CPU=true",
        )


def refuse_fallback(topology: str) -> None:
    """Refuse plain copies where sharding was asked for: on CPUs Accelerate replaces FSDP without a word.

    Args:
        topology: what Accelerate arranged, by its own name.

    Raises:
        UserError: it is another than the launcher asked for.
    """
    for kind in ("FSDP", "DEEPSPEED"):
        if launched_for(kind) and topology != kind:
            raise UserError(
                f"the launcher asked for {kind}, but Accelerate arranged {topology}",
                f"accelerators that {kind} can use",
                "launch with training/configs/cpu_ddp_2proc.yaml here, or on a machine with GPUs",
            )
