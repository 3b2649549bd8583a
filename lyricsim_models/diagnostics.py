"""What the three scores hide: most of a score on these data is telling zero from non-zero (pure)."""

import math

import numpy as np
from numpy.typing import ArrayLike

from lyricsim_metric.correlations import average_ranks, is_constant, pearson
from lyricsim_models.evaluation import three_scores

KEYS = ("nonzero_pearson", "zero_auc")


def all_scores(predictions: ArrayLike, gold: ArrayLike) -> dict[str, float | int | None]:
    """The three scores, the two figures beside them, and the number of pairs; None where undefined.

    Args:
        predictions: shape (n,), finite.
        gold: shape (n,), 0 to 5.

    Raises:
        UserError: a prediction is not finite.
    """
    scores = {**three_scores(predictions, gold), **beside_scores(predictions, gold)}
    return {**scores, "pairs": int(np.size(gold))}


def beside_scores(predictions: ArrayLike, gold: ArrayLike) -> dict[str, float | None]:
    """Two figures to read beside the three scores; None where one is undefined.

    Args:
        predictions: shape (n,).
        gold: shape (n,), 0 to 5.

    Returns:
        ``nonzero_pearson``: Pearson's correlation over the pairs with a score above 0;
        ``zero_auc``: chance that a pair with a score above 0 is predicted above one with 0, ties half.
    """
    x, y = np.asarray(predictions, dtype=np.float64), np.asarray(gold, dtype=np.float64)
    return {"nonzero_pearson": _nonzero_pearson(x[y > 0], y[y > 0]), "zero_auc": _zero_auc(x, y > 0)}


def _nonzero_pearson(x: np.ndarray, y: np.ndarray) -> float | None:
    if len(x) < 2 or is_constant(x) or is_constant(y):
        return None
    value = pearson(x, y)
    return value if math.isfinite(value) else None


def _zero_auc(x: np.ndarray, positive: np.ndarray) -> float | None:
    above = int(positive.sum())
    below = len(x) - above
    if not above or not below:
        return None
    ranks = average_ranks(x)[positive].sum()
    return float((ranks - above * (above + 1) / 2) / (above * below))
