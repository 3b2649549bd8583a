"""What one run is asked to do, and what is refused before anything is loaded."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyricsim_models.config import Recipe, ReportTo
from lyricsim_models.datafiles import config_of
from lyricsim_models.evaluation import refuse_unselectable
from lyricsim_models.model_files import optional_file
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import NOTHING, SEEN_FILE, Seen, read_seen_parts, refuse_seen, seen_of
from lyricsim_models.registry import Model, resolve, unloadable
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
            "config": config_of(self.dataset, self.config),
            "data_fingerprint": data_fingerprint,
            "seed": self.seed,
            "recipe": self.recipe.to_dict(),
        }


def seen_before(model: str | None) -> tuple[Seen, Seen]:
    """What a model that is trained further learned from, and what it was selected by.

    Args:
        model: registry name, Hub id or folder; None for no model.

    Returns:
        Nothing and nothing for a model that does not say.

    Raises:
        UserError: no such model, or one whose record cannot be read.
    """
    if model is None:
        return NOTHING, NOTHING
    found = resolve(model)
    try:
        path = optional_file(found, SEEN_FILE)
    except OSError as error:
        raise unloadable(found, error) from error
    return (path and read_seen_parts(path.parent)) or (NOTHING, NOTHING)


def seen_in_training(
    splits: Mapping[str, PairTable], before: tuple[Seen, Seen] = (NOTHING, NOTHING)
) -> tuple[Seen, Seen]:
    """What a run's model has learned from at its end, and what it was selected by.

    Args:
        splits: the run's pairs.
        before: the same of the model that the run starts from.
    """
    training, selection = before
    if "validation" in splits:
        selection |= seen_of(splits["validation"])
    return training | seen_of(splits["train"]), selection


def refuse_bad_job(job: Job, splits: Mapping[str, PairTable]) -> tuple[Seen, Seen]:
    """Find out before training what would make its result void after it, or an option of it.

    Returns:
        What the model that the run starts from learned from, and what it was selected by.

    Raises:
        UserError: see ``refuse_bad_splits``; a patience without a development set.
    """
    if job.recipe.patience is not None and "validation" not in splits:
        raise UserError(
            f"--patience {job.recipe.patience} without a validation split",
            "a validation split, whose scores say when to end",
            "drop --patience, or give the data a validation split",
        )
    before = seen_before(job.model)
    refuse_bad_splits(splits, job.allow_seen, before)
    return before


def refuse_bad_splits(
    splits: Mapping[str, PairTable], allow_seen: bool, before: tuple[Seen, Seen] = (NOTHING, NOTHING)
) -> None:
    """Find out before training what would make its result void after it.

    Args:
        splits: the run's pairs.
        allow_seen: go on with seen pairs; the result is marked.
        before: what the model that the run starts from learned from, and what it was selected by.

    Raises:
        UserError: a development set that defines no score; development pairs that training sees; test pairs
            that training or selection sees; one pair id for two different pairs.
    """
    training, selection = seen_in_training(splits, before)
    if "validation" in splits:
        refuse_unselectable(splits["validation"].gold)
        refuse_seen(splits["validation"], training, "the validation split", allow_seen)
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
