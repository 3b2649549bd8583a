"""What one run is asked to do, and what is refused before anything is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyricsim_models.config import Recipe, ReportTo
from lyricsim_models.evaluation import refuse_unselectable
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import Seen, refuse_seen, seen_of
from lyricsim_models.registry import Model
from lyricsim_tools.errors import UserError

# Their attention overflows half precision: the loss becomes NaN, or the output constant.
_UNSAFE_IN_FP16 = ("deberta-v2", "deberta")


@dataclass(frozen=True)
class Job:
    """One run, as asked for.

    Args:
        model: registry name, Hub id or folder.
        dataset: where the pairs come from, for the record; the pairs themselves are passed along.
        config: its configuration.
        output: folder of the run.
        recipe: how to train.
        seed: of row order, dropout and new weights.
        checkpoint_every: optimizer steps between checkpoints; None: at epoch ends only.
        resume: go on with the run in ``output``, if there is one.
        overwrite: replace an earlier run in ``output``.
        allow_seen: score test pairs that training saw, and mark the result.
        report_to: tracker.
    """

    model: str
    dataset: str
    config: str | None
    output: Path
    recipe: Recipe
    seed: int = 42
    checkpoint_every: int | None = None
    resume: bool = False
    overwrite: bool = False
    allow_seen: bool = False
    report_to: ReportTo = "none"

    def __post_init__(self) -> None:
        if self.checkpoint_every is not None and self.checkpoint_every < 1:
            raise UserError(
                f"--checkpoint-every {self.checkpoint_every}",
                "at least 1",
                "leave it out for epoch ends only",
            )
        if self.resume and self.overwrite:
            raise UserError("--resume and --overwrite together", "one of them", "drop one")

    def settings(self, data_fingerprint: str) -> dict[str, Any]:
        """What decides the result, as plain JSON values."""
        return {
            "model": self.model,
            "dataset": self.dataset,
            "config": self.config,
            "data_fingerprint": data_fingerprint,
            "seed": self.seed,
            "recipe": self.recipe.to_dict(),
        }


def seen_in_training(splits: Mapping[str, PairTable]) -> tuple[Seen, Seen]:
    """What a run learns from, and what it is selected by."""
    nothing = Seen(frozenset(), frozenset())
    return seen_of(splits["train"]), seen_of(splits["validation"]) if "validation" in splits else nothing


def refuse_bad_splits(splits: Mapping[str, PairTable], allow_seen: bool) -> None:
    """Find out before training what would make its result void after it.

    Raises:
        UserError: a development set that defines no score; test pairs that training or selection sees; one
            pair id for two different pairs.
    """
    if "validation" in splits:
        refuse_unselectable(splits["validation"].gold)
    training, selection = seen_in_training(splits)
    if "test" in splits:
        refuse_seen(splits["test"], training | selection, "the test split", allow_seen)
    _refuse_ambiguous_ids(splits)


def _refuse_ambiguous_ids(splits: Mapping[str, PairTable]) -> None:
    lyrics: dict[str, tuple[str, str]] = {}
    for name, table in splits.items():
        for pair_id, *texts in zip(table.pair_ids, table.lyrics_1, table.lyrics_2, strict=True):
            if lyrics.setdefault(pair_id, (texts[0], texts[1])) != (texts[0], texts[1]):
                raise UserError(
                    f"pair_id {pair_id!r} of {name} names another pair in another split",
                    "one pair an id, over all splits",
                    "give the pairs different ids",
                )


def refuse_half_precision(model: Model, model_type: str, mixed_precision: str) -> None:
    """Refuse fp16 where it is known to break.

    Args:
        model: what is trained.
        model_type: of its configuration.
        mixed_precision: as Accelerate was told.

    Raises:
        UserError: the model is unsafe in fp16 and that is what was asked for.
    """
    unsafe = model_type in _UNSAFE_IN_FP16 or (model.entry is not None and not model.entry.fp16)
    if mixed_precision == "fp16" and unsafe:
        raise UserError(
            f"{model.reference} ({model_type}) with --mixed_precision fp16",
            "bf16 or no mixed precision: its attention overflows half precision",
            "launch with `--mixed_precision bf16` or `--mixed_precision no`",
        )
