"""What a user may choose, as frozen records that refuse what cannot work; imports no torch."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal, get_args

from lyricsim_tools.errors import UserError

Architecture = Literal["cross-encoder", "bi-encoder"]
LineBreaks = Literal["keep", "token", "space"]
ReportTo = Literal["none", "tensorboard", "trackio", "wandb"]

ARCHITECTURES: tuple[str, ...] = get_args(Architecture)
LINE_BREAKS: tuple[str, ...] = get_args(LineBreaks)
REPORT_TO: tuple[str, ...] = get_args(ReportTo)

# Gold scores are means of ratings on this scale (paper, section 3.2).
SCORE_MINIMUM, SCORE_MAXIMUM = 0.0, 5.0


@dataclass(frozen=True)
class Recipe:
    """How a model is trained; the defaults are the paper's (section 5.3).

    Args:
        architecture: both lyrics in one sequence with a regression head, or a sentence encoder with a cosine.
        global_batch_size: rows of one optimizer step, over all processes and micro-batches.
        per_device_batch_size: most rows that a process holds at once; does not change the result.
        learning_rate: of AdamW, at its highest.
        weight_decay: decoupled, on matrices only, as the Trainer's default has it.
        warmup_ratio: share of all steps over which the rate rises from 0; the paper's text has none.
        epochs: passes over the training rows.
        max_steps: optimizer steps in all, instead of ``epochs``; None: as ``epochs`` says.
        max_length: most tokens of a sequence; the model's own limit may be lower.
        dropout: replaces every dropout rate of the checkpoint; None keeps them.
        symmetric: a score is the mean of both orders.
        swap_augmentation: each epoch has each pair in both orders.
        line_breaks: what the model sees of a line break.
        prompt: text before each lyric (bi-encoder); None: what the model's authors prescribe.
        patience: epochs without a better development score before training ends; None: never early.
        max_gradient_norm: gradients are scaled down to this norm.
    """

    architecture: Architecture = "cross-encoder"
    global_batch_size: int = 8
    per_device_batch_size: int = 8
    learning_rate: float = 5e-5
    weight_decay: float = 0.01
    warmup_ratio: float = 0.0
    epochs: int = 5
    max_steps: int | None = None
    max_length: int = 512
    dropout: float | None = None
    symmetric: bool = False
    swap_augmentation: bool = False
    line_breaks: LineBreaks = "keep"
    prompt: str | None = None
    patience: int | None = None
    max_gradient_norm: float = 1.0

    def __post_init__(self) -> None:
        for name in ("global_batch_size", "per_device_batch_size", "epochs", "max_length"):
            _require(name, getattr(self, name), "a whole number of at least 1", getattr(self, name) >= 1)
        for name in ("max_steps", "patience"):
            value = getattr(self, name)
            _require(name, value, "a whole number of at least 1", value is None or value >= 1)
        for name in ("learning_rate", "max_gradient_norm"):
            value = getattr(self, name)
            _require(name, value, "a number above 0", math.isfinite(value) and value > 0)
        _require("weight_decay", self.weight_decay, "0 or more", 0 <= self.weight_decay < math.inf)
        _require("warmup_ratio", self.warmup_ratio, "at least 0 and below 1", 0 <= self.warmup_ratio < 1)
        _require("dropout", self.dropout, "0 ≤ P < 1", self.dropout is None or 0 <= self.dropout < 1)
        _require(
            "architecture", self.architecture, " or ".join(ARCHITECTURES), self.architecture in ARCHITECTURES
        )
        _require("line_breaks", self.line_breaks, ", ".join(LINE_BREAKS), self.line_breaks in LINE_BREAKS)
        if self.prompt is not None and self.architecture != "bi-encoder":
            raise UserError(
                f"--prompt {self.prompt!r} with --architecture {self.architecture}",
                "a bi-encoder, which reads each lyric alone",
                "drop --prompt, or pass --architecture bi-encoder",
            )

    def to_dict(self) -> dict[str, object]:
        """The fields as plain JSON values."""
        return dataclasses.asdict(self)


def _require(name: str, value: object, expected: str, holds: bool) -> None:
    if not holds:
        option = "--" + name.replace("_", "-")
        raise UserError(f"{option} {value}", expected, f"pass another value for {option}")


def check_seed(seed: int) -> int:
    """Refuse a seed that some generator would not take.

    Raises:
        UserError: negative, or 2**32 and more.
    """
    if not 0 <= seed < 2**32:
        raise UserError(f"seed {seed}", "a whole number from 0 to 4294967295", "pass another --seeds value")
    return seed
