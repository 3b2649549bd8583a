"""The metric as one plain function: what ``compute`` returns, without evaluate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .correlations import SCORE_NAMES as SCORE_NAMES
from .correlations import p_value, pearson_and_spearman
from .inputs import as_song_codes, checked_pair, refusal
from .intervals import Options, bootstrap_intervals
from .resampling import WeightedScores, design_of

# Not the seed, which one script hands to everything that takes one.
_OF_INTERVALS = ("ci_method", "n_resamples")


@dataclass(frozen=True)
class ScoreOptions(Options):
    """What :func:`score` returns, and how it is made.

    Args:
        p_values: whether to add the p-values of both coefficients, which take rows as independent.

    Raises:
        ValueError: a value out of its range, or a setting of intervals without ``confidence_level``.
    """

    p_values: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.confidence_level is None:
            unused = [name for name in _OF_INTERVALS if getattr(self, name) != getattr(Options, name)]
            _refuse_unused(unused)


def score(predictions: object, references: object, clusters: object = None, **options: Any) -> dict[str, Any]:
    """Pearson, Spearman and their mean, with what else ``options`` ask for.

    Args:
        predictions: shape (n,) or (n, 1), any finite real scores, n ≥ 2.
        references: the same number of gold similarities.
        clusters: the ids of the two songs of every row, shape (n, 2); intervals then resample songs. Only
            with ``confidence_level``.
        options: the fields of :class:`.intervals.Options` and :class:`ScoreOptions`.

    Returns:
        ``pearson``, ``spearmanr``, ``combined_score``; with ``confidence_level`` the same names with ``_ci``,
        each ``[low, high]``; with ``p_values`` ``pearson_pvalue`` and ``spearmanr_pvalue``. Plain floats.

    Raises:
        ValueError: bad input or options; a constant side under ``undefined="raise"``.

    Example:
        >>> score([1, 2, 3, 4], [0, 1, 3, 2], scale=100)
        {'pearson': 80.0, 'spearmanr': 80.0, 'combined_score': 80.0}
    """
    return score_with(predictions, references, ScoreOptions(**options), clusters)


def score_with(
    predictions: object, references: object, options: ScoreOptions, clusters: object = None
) -> dict[str, Any]:
    """:func:`score` with options that were checked before."""
    x, y = checked_pair(predictions, references)
    songs = None if clusters is None else as_song_codes(clusters, len(x))
    if options.confidence_level is None and songs is not None:
        _refuse_unused(["clusters"])
    found = pearson_and_spearman(x, y, options.undefined)
    point = (found.pearson, found.spearmanr, found.combined_score)
    result: dict[str, Any] = {
        name: float(value * options.scale) for name, value in zip(SCORE_NAMES, point, strict=True)
    }
    if options.confidence_level is not None:
        for name, bounds in zip(SCORE_NAMES, _intervals(x, y, songs, point, options), strict=True):
            result[f"{name}_ci"] = [float(bound * options.scale) for bound in bounds]
    if options.p_values:
        result["pearson_pvalue"] = p_value(found.pearson, len(x))
        result["spearmanr_pvalue"] = p_value(found.spearmanr, len(x))
    return result


def _refuse_unused(names: Sequence[str]) -> None:
    if names:
        raise refusal(
            f"{' and '.join(names)} without confidence_level",
            "settings of intervals only where intervals are asked for",
            f"pass confidence_level=0.95, or leave {' and '.join(names)} out",
        )


def _intervals(
    x: np.ndarray, y: np.ndarray, songs: np.ndarray | None, point: Sequence[float], options: Options
) -> list[list[float]]:
    # Sorted first, so that an interval doesn't depend on the order in which batches or processes came.
    order = np.lexsort((y, x))
    design = design_of(None if songs is None else songs[order], len(order))
    return bootstrap_intervals(WeightedScores(x[order], y[order]), point, design, options)
