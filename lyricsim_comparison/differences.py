"""How much better one system is than another on the same references, and how sure that is."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .correlations import SCORE_NAMES, is_constant, pearson, report_constant, spearman
from .inputs import as_song_codes, checked_columns, refuse_too_few
from .intervals import Options, draw_scores, intervals_of
from .resampling import WeightedScores, design_of
from .significance import bootstrap_p_values, permutation_p_values, williams_p_value

INPUT_NAMES = ("predictions1", "predictions2", "references")


@dataclass(frozen=True)
class CompareOptions(Options):
    """What :func:`compare` returns, and how it is made; ``n_resamples`` counts permutations too.

    Args:
        confidence_level: of the intervals; None leaves them out.
    """

    confidence_level: float | None = 0.95


@dataclass(frozen=True)
class Systems:
    """Two systems' scores of the same rows, checked: float64 arrays of shape (n,).

    Args:
        first: the first system's predictions.
        second: the second system's predictions.
        references: the gold scores.
        songs: shape (n, 2), the two songs of each row as numbers from 0, or None.
    """

    first: np.ndarray
    second: np.ndarray
    references: np.ndarray
    songs: np.ndarray | None = None

    def constant_sides(self) -> list[str]:
        """Names of the inputs that have no variance."""
        sides = (self.first, self.second, self.references)
        return [name for name, side in zip(INPUT_NAMES, sides, strict=True) if is_constant(side)]

    def differences(self) -> tuple[float, float, float]:
        """First less second: Pearson, Spearman and their mean; no side may be constant."""
        linear = pearson(self.first, self.references) - pearson(self.second, self.references)
        ranked = spearman(self.first, self.references) - spearman(self.second, self.references)
        return linear, ranked, (linear + ranked) / 2


def checked_systems(
    predictions1: object, predictions2: object, references: object, clusters: object
) -> Systems:
    """The systems in an order of rows that depends neither on the order given nor on which system is first.

    Only a table that is its own mirror image, each row having its twin with the systems exchanged, cannot
    tell which of them is first.

    Raises:
        ValueError: bad input, see :func:`.inputs.as_scores`, or fewer than two rows.
    """
    columns = (predictions1, predictions2, references)
    first, second, gold = checked_columns(dict(zip(INPUT_NAMES, columns, strict=True))).values()
    refuse_too_few(len(gold))
    songs = None if clusters is None else as_song_codes(clusters, len(gold))
    order = _canonical_order(first, second, gold)
    return Systems(first[order], second[order], gold[order], None if songs is None else songs[order])


def _canonical_order(first: np.ndarray, second: np.ndarray, gold: np.ndarray) -> np.ndarray:
    unordered = (np.minimum(first, second), np.maximum(first, second), gold)
    by_first, by_second = np.lexsort((first, *unordered)), np.lexsort((second, *unordered))
    # A row and its mirror image tie but for this: the lower sequence of scores leads, whichever it is.
    return by_first if first[by_first].tolist() <= second[by_second].tolist() else by_second


def compare(
    predictions1: object, predictions2: object, references: object, clusters: object = None, **options: Any
) -> dict[str, Any]:
    """Differences of two systems' scores, first less second, with intervals and p-values.

    Args:
        predictions1: the first system, shape (n,) or (n, 1), n ≥ 2.
        predictions2: the second system on the same rows.
        references: the gold similarities.
        clusters: the ids of the two songs of every row, shape (n, 2).
        options: the fields of :class:`CompareOptions`.

    Returns:
        For each of ``pearson``, ``spearmanr`` and ``combined_score``: ``_difference``, and ``_difference_ci``
        as ``[low, high]`` of the paired bootstrap. Two-sided p-values of no difference:
        ``pearson_williams_pvalue`` and, for each score, ``_permutation_pvalue``. Both take rows as
        independent; with ``clusters`` there is ``_bootstrap_pvalue``, of resampled songs, instead.

    Raises:
        ValueError: bad input or options; a constant side under ``undefined="raise"``.

    Example:
        >>> compare([1, 2, 3, 4], [2, 1, 4, 3], [0, 1, 2, 3], confidence_level=None, scale=100)[
        ...     "pearson_difference"]
        40.0
    """
    return compare_with(predictions1, predictions2, references, CompareOptions(**options), clusters)


def compare_with(
    predictions1: object,
    predictions2: object,
    references: object,
    options: CompareOptions,
    clusters: object = None,
) -> dict[str, Any]:
    """:func:`compare` with options that were checked before."""
    systems = checked_systems(predictions1, predictions2, references, clusters)
    if constant := systems.constant_sides():
        report_constant(constant, options.undefined)
    return compare_systems(systems, options)


def compare_systems(systems: Systems, options: CompareOptions) -> dict[str, Any]:
    """:func:`compare` of checked systems: NaN, and no report, where a side is constant."""
    if systems.constant_sides():
        return _undefined(options, systems.songs)
    point = systems.differences()
    statistic = PairedDifferences(systems)
    design = design_of(systems.songs, len(systems.references))
    result = named("difference", [float(value * options.scale) for value in point])
    replicates = draw_scores(statistic, design, options)
    if options.confidence_level is not None:
        intervals = intervals_of(replicates, statistic, point, design, options)
        scaled = [[float(bound * options.scale) for bound in bounds] for bounds in intervals]
        result |= named("difference_ci", scaled)
    if systems.songs is not None:
        return result | named("bootstrap_pvalue", bootstrap_p_values(replicates))
    return result | _p_values_of_independent_rows(systems, options)


class PairedDifferences:
    """Differences of two systems' scores under any whole weights of the rows, the same for both."""

    def __init__(self, systems: Systems) -> None:
        self._first = WeightedScores(systems.first, systems.references)
        self._second = WeightedScores(systems.second, systems.references)

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Shape (replicates, 3) for weights of shape (replicates, n); NaN where a side is constant."""
        return self._first(weights) - self._second(weights)


def named(suffix: str, values: Iterable[object]) -> dict[str, Any]:
    """One value for each score, under the score's name and the suffix."""
    return {f"{name}_{suffix}": value for name, value in zip(SCORE_NAMES, values, strict=True)}


def _p_values_of_independent_rows(systems: Systems, options: CompareOptions) -> dict[str, Any]:
    williams = williams_p_value(
        pearson(systems.first, systems.references),
        pearson(systems.second, systems.references),
        pearson(systems.first, systems.second),
        len(systems.references),
    )
    permuted = permutation_p_values(
        systems.first, systems.second, systems.references, options.n_resamples, options.seed
    )
    return {"pearson_williams_pvalue": williams} | named("permutation_pvalue", permuted)


def _undefined(options: CompareOptions, songs: np.ndarray | None) -> dict[str, Any]:
    result = named("difference", [math.nan] * 3)
    if options.confidence_level is not None:
        result |= named("difference_ci", [[math.nan, math.nan] for _ in SCORE_NAMES])
    if songs is not None:
        return result | named("bootstrap_pvalue", [math.nan] * 3)
    return result | {"pearson_williams_pvalue": math.nan} | named("permutation_pvalue", [math.nan] * 3)
