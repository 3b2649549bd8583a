"""Pearson's and Spearman's correlation and their mean, exact in double precision; NumPy and SciPy only."""

import math
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import betainc

from .inputs import INPUT_NAMES, checked_pair, refusal, refuse_too_few

SCORE_NAMES = ("pearson", "spearmanr", "combined_score")
Undefined = Literal["nan", "raise"]

# Inside these, no square, product or sum of 10^9 of them leaves the range of doubles.
_SAFE_MAGNITUDES = (1e-50, 1e50)


@dataclass(frozen=True)
class Correlations:
    """Both coefficients of one table, in [-1, 1]; NaN where a side is constant."""

    pearson: float
    spearmanr: float

    @property
    def combined_score(self) -> float:
        """The mean of both, as GLUE's STS-B and the paper (section 5) report it."""
        return (self.pearson + self.spearmanr) / 2


def pearson_and_spearman(
    predictions: object,
    references: object,
    undefined: Undefined = "nan",
    names: tuple[str, str] = INPUT_NAMES,
) -> Correlations:
    """Linear and rank correlation of two equally long score lists.

    Args:
        predictions: shape (n,) or (n, 1), any finite real scores, n ≥ 2.
        references: the same number of gold similarities, 0 (completely different) to 5 (outstanding).
        undefined: what a constant side does: "nan" gives NaN and one warning, "raise" raises.
        names: what to call the two sides in a message.

    Returns:
        Both coefficients; ties share the mean of their ranks.

    Raises:
        ValueError: bad input (see :func:`~.inputs.as_scores`), fewer than two rows, or a constant side under
            ``undefined="raise"``.

    Example:
        >>> pearson_and_spearman([1, 2, 3, 4], [0, 1, 3, 2])
        Correlations(pearson=0.8, spearmanr=0.8)
    """
    x, y = checked_pair(predictions, references, names)
    refuse_too_few(len(x))
    constant = [name for name, side in zip(names, (x, y), strict=True) if is_constant(side)]
    if constant:
        report_constant(constant, undefined)
        return Correlations(math.nan, math.nan)
    return Correlations(pearson(x, y), spearman(x, y))


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's coefficient of two non-constant float64 arrays of shape (n,)."""
    return _cosine(centred(x), centred(y))


def spearman(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's coefficient of two non-constant float64 arrays of shape (n,): Pearson's of the ranks."""
    middle = (len(x) + 1) / 2
    return _cosine(average_ranks(x) - middle, average_ranks(y) - middle)


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks 1 … n as float64; equal values share the mean of the ranks they cover.

    Example:
        >>> average_ranks(np.array([3.0, 1.0, 3.0, 7.0]))
        array([2.5, 1. , 2.5, 4. ])
    """
    order = np.argsort(values)
    ascending = values[order]
    first = np.flatnonzero(np.concatenate(([True], ascending[1:] != ascending[:-1])))
    last = np.append(first[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((first + last + 1) / 2, last - first)
    return ranks


def is_constant(values: np.ndarray) -> bool:
    """Whether the largest and the smallest value are exactly equal."""
    return bool(values.min() == values.max())


def report_constant(names: list[str], undefined: Undefined) -> None:
    """Warn or raise about sides that have no variance.

    Args:
        names: the constant sides.
        undefined: "nan" to warn, "raise" to raise.

    Raises:
        ValueError: ``undefined`` is "raise".
    """
    given = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} constant: every value is the same"
    if undefined == "raise":
        raise refusal(given, "at least two different values on each side", "look for a model that collapsed")
    warnings.warn(f"{given}, so no correlation is defined and NaN is returned", UserWarning, stacklevel=2)


def p_value(coefficient: float, rows: int) -> float:
    """Two-sided p-value of a correlation of 0, under Student's t with ``rows`` − 2 degrees of freedom.

    Exact for Pearson's coefficient of normal scores, the usual approximation for Spearman's; NaN stays NaN.

    Example:
        >>> round(p_value(0.5, 20), 5)
        0.02477
    """
    if rows == 2 and not math.isnan(coefficient):
        return 1.0
    return float(betainc((rows - 2) / 2, 0.5, (1 - coefficient) * (1 + coefficient)))


def in_safe_range(values: np.ndarray) -> np.ndarray:
    """Finite values, scaled by a power of two where their squares could leave the range of doubles."""
    largest = max(-values.min(), values.max())
    if _SAFE_MAGNITUDES[0] < largest < _SAFE_MAGNITUDES[1]:
        return values
    return np.ldexp(values, -int(np.frexp(largest)[1]))


def centred(values: np.ndarray) -> np.ndarray:
    """Finite values in a safe range, less their mean.

    The mean of large values is itself rounded; the second subtraction removes what that leaves.
    """
    values = in_safe_range(values)
    deviations = values - values.mean()
    deviations -= deviations.mean()
    return deviations


def _cosine(x: np.ndarray, y: np.ndarray) -> float:
    # The root of a square is exact, so equal or opposite sides give exactly 1 or -1.
    cosine = np.dot(x, y) / np.sqrt(np.dot(x, x) * np.dot(y, y))
    return float(min(1.0, max(-1.0, cosine)))
