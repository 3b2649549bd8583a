"""Resampled tables as weights, and both correlations of thousands of them at once.

A resample is not a copy of rows but a weight for each row: how often it was drawn. Weighted sums give
Pearson's coefficient, and running totals of the weights over the ascending values give every resample its own
tied ranks without sorting it. A weight of 0 leaves a row out, so the jackknife and the permutation test of
two systems use the same code.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .correlations import centred, in_safe_range

# Cells of one block of weights: its few copies stay in a processor's cache, whatever the number of resamples.
_BLOCK_CELLS = 1 << 17
# Below this share of the plain sum of squares, fewer than twelve digits of a centred one are left.
_TRUSTED = 1e-4
# Above this many units a jackknife leaves out groups of them, or it would cost more than the bootstrap.
_JACKKNIFE_GROUPS = 2000


class Design(Protocol):
    """What is drawn anew in a resample, and what is left out in a jackknife."""

    def draw(self, generator: np.random.Generator, resamples: int) -> Iterator[np.ndarray]:
        """Blocks of weights, shape (resamples of the block, n), that hold ``resamples`` rows together."""
        ...

    def leave_out(self) -> Iterator[np.ndarray]:
        """Blocks of weights, shape (replicates of the block, n), of the table without one unit at a time."""
        ...


@dataclass(frozen=True)
class IndependentRows:
    """Rows are drawn with replacement: the usual bootstrap.

    Args:
        rows: n, the length of the table.
    """

    rows: int

    def draw(self, generator: np.random.Generator, resamples: int) -> Iterator[np.ndarray]:
        """Each row's weight is how often it was drawn; weights of a resample sum to n."""
        for size in block_sizes(resamples, self.rows):
            yield _multiplicities(generator, size, self.rows)

    def leave_out(self) -> Iterator[np.ndarray]:
        """One row at a time, or one group of rows where there are very many."""
        group_of_row = _groups(self.rows)
        for left_out in _blocks_of_groups(group_of_row, self.rows):
            yield (group_of_row != left_out[:, None]).astype(np.float64)


@dataclass(frozen=True)
class SharedSongs:
    """Songs are drawn with replacement, since pairs that share a song are not independent.

    A pair's weight is the product of how often its two songs were drawn: the bootstrap of dyads in Davezies,
    D'Haultfœuille and Guyonvarch, "Empirical process results for exchangeable arrays", Annals of Statistics
    49(2), 2021.

    Args:
        songs: shape (n, 2), the two songs of each row as numbers from 0.
    """

    songs: np.ndarray

    def draw(self, generator: np.random.Generator, resamples: int) -> Iterator[np.ndarray]:
        """Products of the two songs' multiplicities; weights of a resample sum to about n."""
        first, second = self.songs.T
        count = int(self.songs.max()) + 1
        for size in block_sizes(resamples, max(len(self.songs), count)):
            drawn = _multiplicities(generator, size, count)
            yield drawn[:, first] * drawn[:, second]

    def leave_out(self) -> Iterator[np.ndarray]:
        """One song at a time, with all its pairs, or one group of songs where there are very many."""
        group_of_song = _groups(int(self.songs.max()) + 1)
        first, second = group_of_song[self.songs].T
        for left_out in _blocks_of_groups(group_of_song, len(self.songs)):
            column = left_out[:, None]
            yield ((first != column) & (second != column)).astype(np.float64)


def design_of(songs: np.ndarray | None, rows: int) -> Design:
    """What resamples draw: rows, or songs where the two of each row are known.

    Args:
        songs: shape (n, 2), numbers from 0, or None.
        rows: n.
    """
    return IndependentRows(rows) if songs is None else SharedSongs(songs)


def block_sizes(replicates: int, cells_each: int) -> Iterator[int]:
    """Sizes of blocks that hold ``replicates`` together and fit a processor's cache.

    Args:
        replicates: how many there are.
        cells_each: numbers that one takes.
    """
    size = max(1, _BLOCK_CELLS // cells_each)
    for start in range(0, replicates, size):
        yield min(size, replicates - start)


class WeightedPearson:
    """Pearson's coefficient of a fixed table under any weights of its rows.

    Args:
        x: float64, shape (n,).
        y: the same.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self._x, self._y = in_safe_range(x), in_safe_range(y)
        x, y = _in_unit_range(centred(x)), _in_unit_range(centred(y))
        self._terms = np.stack([x, y, x * x, y * y, x * y], axis=1)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """One coefficient a row of ``weights``, shape (replicates, n); NaN where a side is constant."""
        total = weights.sum(axis=1)
        x, y, xx, yy, xy = (weights @ self._terms).T
        x_spread, y_spread = total * xx - x * x, total * yy - y * y
        coefficients = _ratio(total * xy - x * y, x_spread * y_spread)
        # Far from the mean of the whole table, as without its outlier, the differences lose their digits.
        lost = (x_spread <= _TRUSTED * total * xx) | (y_spread <= _TRUSTED * total * yy)
        if lost.any():
            coefficients[lost] = self._by_two_passes(weights[lost])
        return coefficients

    def _by_two_passes(self, weights: np.ndarray) -> np.ndarray:
        x, y = _weighted_deviations(self._x, weights), _weighted_deviations(self._y, weights)
        x_spread, y_spread, covariance = (
            np.einsum("ij,ij,ij->i", weights, left, right) for left, right in ((x, x), (y, y), (x, y))
        )
        varied = _varies(self._x, weights) & _varies(self._y, weights)
        return np.where(varied, _ratio(covariance, x_spread * y_spread), np.nan)


class WeightedSpearman:
    """Spearman's coefficient of a fixed table under any whole weights of its rows, ranked anew each time.

    Args:
        x: float64, shape (n,).
        y: the same.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self._x, self._y = _Ranking(x), _Ranking(y)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """One coefficient a row of ``weights``, shape (replicates, n); NaN where a side is constant."""
        x, x_spread = self._x.centred_ranks(weights)
        y, y_spread = self._y.centred_ranks(weights)
        return _ratio(np.einsum("ij,ij,ij->i", weights, x, y), x_spread * y_spread)


class WeightedScores:
    """Pearson, Spearman and their mean of a fixed table under any whole weights of its rows.

    Args:
        x: float64, shape (n,).
        y: the same.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self._pearson, self._spearman = WeightedPearson(x, y), WeightedSpearman(x, y)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Shape (replicates, 3) for weights of shape (replicates, n); NaN where a side is constant."""
        linear, ranked = self._pearson(weights), self._spearman(weights)
        return np.stack([linear, ranked, (linear + ranked) / 2], axis=1)


class _Ranking:
    """Where the rows of one column stand among its distinct values, ascending."""

    def __init__(self, values: np.ndarray) -> None:
        distinct, value_of_row = np.unique(values, return_inverse=True)
        order = np.argsort(value_of_row, kind="stable")
        starts = np.searchsorted(value_of_row[order], np.arange(len(distinct)))
        self._starts = None if len(distinct) == len(values) else starts
        self._order, self._value_of_row = _indices(order), _indices(value_of_row)

    def centred_ranks(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Twice each row's mean rank less its mean, shape (replicates, n), and the ranks' sum of squares.

        Sums of whole weights are exact, so the sum of squares is 0 if and only if the resample is constant.
        """
        counts = weights[:, self._order]
        if self._starts is not None:
            counts = np.add.reduceat(counts, self._starts, axis=1)
        ranks = np.cumsum(counts, axis=1)
        total = ranks[:, -1:].copy()
        ranks *= 2
        ranks -= counts
        ranks -= total
        return ranks[:, self._value_of_row], np.einsum("ij,ij,ij->i", counts, ranks, ranks)


def _indices(positions: np.ndarray) -> np.ndarray | slice:
    """The positions, or a slice, which copies nothing, where every row is already in its place."""
    return slice(None) if np.array_equal(positions, np.arange(len(positions))) else positions


def _in_unit_range(deviations: np.ndarray) -> np.ndarray:
    largest = np.abs(deviations).max()
    return deviations / largest if largest else deviations


def _weighted_deviations(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Values less each replicate's weighted mean, shape (replicates, n)."""
    total = np.maximum(weights.sum(axis=1), 1.0)
    deviations = values - (weights @ values / total)[:, None]
    deviations -= (np.einsum("ij,ij->i", weights, deviations) / total)[:, None]
    return deviations


def _varies(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Whether the rows of positive weight hold two different values, exactly, for each replicate."""
    present = weights > 0
    smallest = np.where(present, values, np.inf).min(axis=1)
    return smallest < np.where(present, values, -np.inf).max(axis=1)


def _ratio(covariance: np.ndarray, product_of_spreads: np.ndarray) -> np.ndarray:
    defined = product_of_spreads > 0
    root = np.sqrt(np.where(defined, product_of_spreads, 1.0))
    return np.where(defined, np.clip(covariance / root, -1.0, 1.0), np.nan)


def _multiplicities(generator: np.random.Generator, size: int, units: int) -> np.ndarray:
    """How often each of ``units`` units is drawn in ``units`` draws with replacement, shape (size, units)."""
    drawn = generator.integers(0, units, size=(size, units))
    drawn += np.arange(size)[:, None] * units
    return np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units).astype(np.float64)


def _groups(units: int) -> np.ndarray:
    """The group of each unit: its own, or one of a fixed number in an order that tells nothing."""
    if units <= _JACKKNIFE_GROUPS:
        return np.arange(units)
    return np.random.default_rng(0).permutation(units) % _JACKKNIFE_GROUPS


def _blocks_of_groups(group_of_unit: np.ndarray, cells_each: int) -> Iterator[np.ndarray]:
    start = 0
    for size in block_sizes(int(group_of_unit.max()) + 1, cells_each):
        yield np.arange(start, start + size)
        start += size
