"""How sure a figure is: intervals and paired tests (pure)."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.stats import binomtest

RESAMPLES = 2000


@dataclass(frozen=True)
class Interval:
    """A two-sided interval of a figure.

    Args:
        low: lower end, in the figure's unit.
        high: upper end.
        method: how it was computed, for the reader.
    """

    low: float
    high: float
    method: str


def wilson(share: float, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share of n independent items.

    Args:
        share: observed share, in [0, 1].
        n: number of items, at least 1.
        level: coverage, in (0, 1).

    >>> interval = wilson(0.5, 100)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.4038, 0.5962)
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(max(0.0, float(centre - half)), min(1.0, float(centre + half)), "Wilson")


def fisher(r: float, n: int, level: float = 0.95) -> Interval | None:
    """Fisher's z interval of a correlation of n pairs; None where undefined (n < 4, |r| = 1 or NaN)."""
    if n < 4 or not abs(r) < 1:
        return None
    half = NormalDist().inv_cdf(0.5 + level / 2) / np.sqrt(n - 3)
    z = np.arctanh(r)
    return Interval(float(np.tanh(z - half)), float(np.tanh(z + half)), "Fisher z")


def bootstrap(figures: np.ndarray, level: float = 0.95) -> Interval | None:
    """The percentile interval of bootstrap replicates, shape (resamples,); None if one is undefined."""
    if not np.isfinite(figures).all():
        return None
    low, high = np.percentile(figures, [50 - 50 * level, 50 + 50 * level])
    return Interval(float(low), float(high), f"percentile bootstrap, {len(figures)} resamples")


def pearson(first: np.ndarray, second: np.ndarray) -> float:
    """Pearson's correlation of two vectors of equal length; NaN where one is constant."""
    x, y = first - first.mean(), second - second.mean()
    scale = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / scale) if scale > 0 else float("nan")


def resampled_rows(sizes: list[int], seed: int, resamples: int = RESAMPLES) -> list[list[np.ndarray]]:
    """Bootstrap draws of row numbers, subset by subset.

    Args:
        sizes: number of rows of each subset.
        seed: of a private generator.
        resamples: number of draws.

    Returns:
        ``resamples`` lists with one index array a subset.
    """
    generator = np.random.default_rng(seed)
    return [[generator.integers(0, n, n) for n in sizes] for _ in range(resamples)]


def mcnemar(first: np.ndarray, second: np.ndarray) -> float:
    """The exact two-sided McNemar p-value of two systems' hits on the same items.

    Args:
        first: shape (n,), truthy where the first system is right.
        second: shape (n,), likewise.

    Returns:
        p in (0, 1]; 1 where the systems never differ.
    """
    first, second = np.asarray(first, bool), np.asarray(second, bool)
    only_first = int((first & ~second).sum())
    differing = only_first + int((~first & second).sum())
    return float(binomtest(only_first, differing, 0.5).pvalue) if differing else 1.0


def bootstrap_p(differences: np.ndarray) -> float | None:
    """The two-sided p-value of bootstrap differences: twice the smaller share on one side of 0.

    Args:
        differences: shape (resamples,); one is added on either side, so that p is never 0.

    Returns:
        p in (0, 1]; None if a difference is undefined.
    """
    if not np.isfinite(differences).all():
        return None
    n = len(differences)
    tail = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return min(1.0, 2 * (tail + 1) / (n + 1))


def holm(p_values: list[float]) -> list[float]:
    """Holm's step-down adjustment, in the order given."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, running = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(order):
        running = max(running, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = running
    return adjusted


def difference_of_shares(a: float, n_a: int, b: float, n_b: int) -> tuple[Interval, float]:
    """Newcombe's interval of b - a for two independent shares, and the two-proportion z-test's p-value.

    Args:
        a: first share, in [0, 1].
        n_a: its number of items.
        b: second share.
        n_b: its number of items.
    """
    first, second = wilson(a, n_a), wilson(b, n_b)
    difference = b - a
    low = difference - np.hypot(b - second.low, first.high - a)
    high = difference + np.hypot(second.high - b, a - first.low)
    pooled = (a * n_a + b * n_b) / (n_a + n_b)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    return Interval(float(low), float(high), "Newcombe"), _p_of(difference / error if error else 0.0)


def difference_of_correlations(
    a: float, n_a: int, b: float, n_b: int
) -> tuple[Interval | None, float | None]:
    """An interval of b - a and a p-value for two correlations taken as independent, through Fisher's z.

    Args:
        a: first correlation.
        n_a: its number of pairs.
        b: second correlation.
        n_b: its number of pairs.

    Returns:
        Interval (Zou's, from the two Fisher intervals) and p; None for both where one is undefined.
    """
    first, second = fisher(a, n_a), fisher(b, n_b)
    if first is None or second is None:
        return None, None
    low = b - a - np.hypot(b - second.low, first.high - a)
    high = b - a + np.hypot(second.high - b, a - first.low)
    z = (np.arctanh(b) - np.arctanh(a)) / np.sqrt(1 / (n_a - 3) + 1 / (n_b - 3))
    return Interval(float(low), float(high), "Zou"), _p_of(z)


def _p_of(z: float) -> float:
    return float(2 * (1 - NormalDist().cdf(abs(z))))
