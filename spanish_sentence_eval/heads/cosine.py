"""Similarity of two vectors against gold scores, nothing trained (specification, section 3.8)."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyricsim_tools.errors import UserError


@dataclass(frozen=True)
class Subset:
    """One subset's correlations; NaN where a side is constant.

    Args:
        pearson: linear correlation and its p-value.
        spearman: rank correlation and its p-value.
        predicted: shape (n,), similarities.
        gold: shape (n,).
    """

    pearson: tuple[float, float]
    spearman: tuple[float, float]
    predicted: np.ndarray
    gold: np.ndarray


def cosine(u: np.ndarray, v: np.ndarray) -> float:
    """Cosine of two vectors in their own precision; 0 where one of them is zero, NaN on overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.linalg.norm(u) * np.linalg.norm(v)
        return float(np.dot(u, v) / norms) if norms else 0.0


def similarities(
    task: str, u: np.ndarray, v: np.ndarray, similarity: Callable[[Any, Any], float] | None
) -> np.ndarray:
    """One similarity a row, shape (n,).

    Raises:
        UserError: a similarity is no finite number.
    """
    function = similarity or cosine
    values = [function(a, b) for a, b in zip(u, v, strict=True)]
    for row, value in enumerate(values):
        if np.ndim(value) != 0 or not np.isfinite(value):
            raise UserError(
                f"{task}: {'the cosine' if similarity is None else 'similarity'} is {value!r} for row {row}",
                "one finite number for two vectors",
                "correct params['similarity']; the cosine wants vectors whose squares do not overflow",
            )
    return np.array(values, dtype=np.float64)


def correlate(predicted: np.ndarray, gold: np.ndarray) -> Subset:
    """Both correlations of similarities with gold scores."""
    from scipy.stats import pearsonr, spearmanr

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear, ranks = pearsonr(predicted, gold), spearmanr(predicted, gold)
    return Subset((float(linear[0]), float(linear[1])), (float(ranks[0]), float(ranks[1])), predicted, gold)


def averages(subsets: Mapping[str, Subset]) -> dict[str, dict[str, float]]:
    """For each correlation, the plain mean over subsets and the one weighted by their sizes."""
    weights = [len(subset.gold) for subset in subsets.values()]
    return {
        name: {
            "mean": float(np.mean([getattr(s, name)[0] for s in subsets.values()])),
            "wmean": float(np.average([getattr(s, name)[0] for s in subsets.values()], weights=weights)),
        }
        for name in ("pearson", "spearman")
    }
