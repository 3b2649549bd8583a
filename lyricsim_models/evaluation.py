"""From predictions to the figures of ``metrics.json``, and the rule that picks the best checkpoint."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lyricsim_metric.correlations import pearson_and_spearman
from lyricsim_tools.errors import UserError

SCORE_KEYS = ("pearson", "spearmanr", "combined_score")


def three_scores(predictions: ArrayLike, gold: ArrayLike) -> dict[str, float | None]:
    """Pearson, Spearman and their mean (paper, section 5), on the 0–1 scale; None where undefined.

    Args:
        predictions: shape (n,), finite.
        gold: shape (n,).

    Raises:
        UserError: a prediction is not finite, which no undefined score is to hide.
    """
    require_finite(predictions, "predictions")
    if np.size(gold) < 2:
        return dict.fromkeys(SCORE_KEYS)
    found = pearson_and_spearman(predictions, gold)
    values = (found.pearson, found.spearmanr, found.combined_score)
    return {key: float(v) if math.isfinite(v) else None for key, v in zip(SCORE_KEYS, values, strict=True)}


def development_scores(predictions: ArrayLike, gold: ArrayLike) -> dict[str, float | None]:
    """``three_scores`` of a checkpoint that need not be kept: None too where a prediction is not finite.

    Args:
        predictions: shape (n,), any numbers.
        gold: shape (n,).
    """
    if not np.isfinite(np.asarray(predictions, float)).all():
        return dict.fromkeys(SCORE_KEYS)
    return three_scores(predictions, gold)


def require_finite(scores: ArrayLike, what: str) -> None:
    """Refuse scores of which some are no numbers, before anything is made of them.

    Raises:
        UserError: how many, and the first one's row.
    """
    bad = np.flatnonzero(~np.isfinite(np.asarray(scores, float)))
    if len(bad):
        raise UserError(
            f"{what}: {len(bad)} of {np.size(scores)} scores are not finite, the first in row {bad[0] + 1}",
            "a finite score for every pair",
            "train again with a lower --learning-rate or another precision, or look at those pairs",
        )


def asymmetry(forward: ArrayLike, backward: ArrayLike) -> dict[str, float]:
    """How much the order of the two lyrics matters, in points of the 0–5 scale.

    Args:
        forward: shape (n,), scores of (first, second).
        backward: shape (n,), scores of (second, first).
    """
    difference = np.abs(np.asarray(forward, float) - np.asarray(backward, float))
    return {"mean": float(difference.mean()), "max": float(difference.max())}


@dataclass(frozen=True)
class Selection:
    """The best checkpoint so far.

    Args:
        score: its development combined score; None before the first evaluation.
        step: optimizer steps it had taken.
        epochs_since: evaluations since then without a better one.
    """

    score: float | None = None
    step: int = 0
    epochs_since: int = 0

    def after(self, score: float | None, step: int) -> "Selection":
        """The selection once another checkpoint has been scored; an undefined score is never the best."""
        if score is not None and (self.score is None or score > self.score):
            return Selection(score, step, 0)
        return Selection(self.score, self.step, self.epochs_since + 1)

    def exhausted(self, patience: int | None) -> bool:
        """Whether early stopping ends the run."""
        return patience is not None and self.epochs_since >= patience


def refuse_unselectable(gold: Sequence[float]) -> None:
    """Refuse, before training starts, a development set on which every checkpoint would be undefined.

    Raises:
        UserError: fewer than two rows, or all gold scores equal.
    """
    if len(set(gold)) < 2:
        raise UserError(
            f"the validation split has {len(gold)} rows with {len(set(gold))} different scores",
            "at least two rows with different scores, or else no correlation is defined",
            "give it more rows, or leave the split out (then the last weights are kept)",
        )


def refuse_no_best(selection: Selection) -> None:
    """A run whose development scores were all undefined has no best checkpoint.

    Raises:
        UserError: always then; exporting the last weights would pass them off as chosen.
    """
    if selection.score is None:
        raise UserError(
            "no checkpoint had a defined development score: all its predictions were the same, or not finite",
            "at least one epoch with a defined combined score",
            "train longer or with another --learning-rate, or look at the validation split's scores",
        )


def mean_and_deviation(values: Sequence[float | None]) -> dict[str, float | None]:
    """Mean and sample standard deviation over seeds; None where a value is undefined or there is one seed."""
    known = [value for value in values if value is not None]
    if len(known) < len(values) or not known:
        return {"mean": None, "sd": None}
    return {"mean": float(np.mean(known)), "sd": float(np.std(known, ddof=1)) if len(known) > 1 else None}
