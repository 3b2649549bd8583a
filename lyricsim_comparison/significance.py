"""Is a difference more than chance: p-values of two systems on the same rows, and of many such pairs."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtr

from .correlations import average_ranks, centred
from .inputs import as_scores, refusal
from .intervals import ROUND_OFF
from .resampling import WeightedPearson, WeightedSpearman, block_sizes


def williams_p_value(first: float, second: float, between: float, rows: int) -> float:
    """Two-sided p-value of two equal dependent correlations that share the references.

    Williams's T2 as Steiger recommends it ("Tests for comparing elements of a correlation matrix",
    Psychological Bulletin 87(2), 1980, formula 7), Student's t with ``rows`` − 3 degrees of freedom.

    Args:
        first: Pearson's coefficient of the first system and the references.
        second: of the second system and the references.
        between: of the two systems.
        rows: number of rows, independent of each other.

    Returns:
        The p-value; 1 where the coefficients are equal, 0 where they are 1 and -1. NaN for fewer than four
        rows and, else, where ``between`` is 1 or -1: both are one system in two scales, and the statistic's
        limit depends on the direction from which it is approached.

    Example:
        >>> round(williams_p_value(first=0.5, second=0.4, between=0.1, rows=103), 3)
        0.375
    """
    if rows < 4 or any(math.isnan(value) for value in (first, second, between)):
        return math.nan
    mean, half = (first + second) / 2, abs(first - second) / 2
    if half <= ROUND_OFF / 2:
        return 1.0
    if half >= 1 - ROUND_OFF / 2:
        return 0.0
    if 1 - abs(between) <= ROUND_OFF:
        return math.nan
    alike, opposed = 1 - between, 1 + between
    # 1 - r1^2 - r2^2 - r12^2 + 2 r1 r2 r12, with its small factors apart, so that none is lost to rounding.
    determinant = max(0.0, opposed * (alike - 2 * half**2) - 2 * mean**2 * alike)
    spread = 2 * (rows - 1) / (rows - 3) * determinant + mean**2 * alike**3
    if spread == 0:
        return 0.0
    statistic = 2 * half * math.sqrt((rows - 1) * opposed / spread)
    return float(2 * stdtr(rows - 3, -statistic))


def permutation_p_values(
    first: np.ndarray, second: np.ndarray, references: np.ndarray, permutations: int, seed: int
) -> list[float]:
    """Two-sided p-values of no difference in Pearson, Spearman and their mean.

    Under the null hypothesis it doesn't matter which system gave which score of a row, so each permutation
    swaps the two in every row with probability one half. Systems may score on different scales: before
    swapping, Pearson's scores are standardised and Spearman's are replaced by their ranks.

    Args:
        first: shape (n,), not constant.
        second: the same.
        references: the same.
        permutations: how many are drawn.
        seed: of the private generator.

    Returns:
        One of each: (1 + permutations with at least the observed difference) / (1 + permutations), never 0.
    """
    swapped = _SwappedDifferences(first, second, references)
    observed = np.abs(swapped(np.zeros((1, len(first)))))[0] - ROUND_OFF
    generator = np.random.default_rng(seed)
    smaller = np.zeros(3, dtype=np.int64)
    for size in block_sizes(permutations, 2 * len(first)):
        swaps = generator.integers(0, 2, size=(size, len(first))).astype(np.float64)
        # An undefined difference compares as not smaller, which errs towards "no difference".
        smaller += (np.abs(swapped(swaps)) < observed).sum(axis=0)
    return [(1 + permutations - int(count)) / (1 + permutations) for count in smaller]


class _SwappedDifferences:
    """Differences after swapping rows of two systems, as weights of the one put under the other."""

    def __init__(self, first: np.ndarray, second: np.ndarray, references: np.ndarray) -> None:
        gold = np.concatenate([references, references])
        self._pearson = WeightedPearson(np.concatenate([_standardised(first), _standardised(second)]), gold)
        ranks = np.concatenate([average_ranks(first), average_ranks(second)])
        self._spearman = WeightedSpearman(ranks, gold)

    def __call__(self, swaps: np.ndarray) -> np.ndarray:
        """Shape (permutations, 3) for swaps of shape (permutations, n), 1 where the systems change places."""
        first, second = np.hstack([1 - swaps, swaps]), np.hstack([swaps, 1 - swaps])
        linear = self._pearson(first) - self._pearson(second)
        ranked = self._spearman(first) - self._spearman(second)
        return np.stack([linear, ranked, (linear + ranked) / 2], axis=1)


def _standardised(values: np.ndarray) -> np.ndarray:
    deviations = centred(values)
    deviations /= np.abs(deviations).max()
    return deviations / np.sqrt(np.mean(deviations**2))


def bootstrap_p_values(replicates: np.ndarray) -> list[float]:
    """Two-sided p-values of no difference: how often resampled differences lie on the other side of 0.

    Args:
        replicates: shape (resamples, scores), differences of resampled tables; NaN is left out.

    Returns:
        One p-value a score, never 0; NaN where no resample is defined.
    """
    return [_other_side(column[~np.isnan(column)]) for column in replicates.T]


def _other_side(differences: np.ndarray) -> float:
    if not len(differences):
        return math.nan
    fewest = min(np.sum(differences <= ROUND_OFF), np.sum(differences >= -ROUND_OFF))
    return min(1.0, 2 * (1 + float(fewest)) / (1 + len(differences)))


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Holm's correction of a whole table: p-values that may all be read at one level together.

    Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2),
    1979: the smallest p-value is multiplied by the number m of tests, the next by m − 1 and so on, none
    falling below the one before it or rising above 1.

    Args:
        p_values: shape (m,), one of every test that was made, in any order.

    Returns:
        The corrected p-values, shape (m,), in the order given.

    Raises:
        ValueError: a value that is no number from 0 to 1; an undefined test is to be left out first.

    Example:
        >>> holm([0.01, 0.04, 0.03, 0.005]).round(3)
        array([0.03, 0.06, 0.06, 0.02])
    """
    values = as_scores(p_values, "p_values")
    outside = np.flatnonzero((values < 0) | (values > 1))
    if len(outside):
        raise refusal(
            f"p_values holds {values[outside[0]]} in row {outside[0]} (counted from 0)",
            "numbers from 0 to 1",
            "pass p-values, not test statistics or per cent",
        )
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    corrected = np.empty(len(values))
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected
