"""The metric as one plain function: what ``compute`` returns, without evaluate."""

import math
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from .correlations import Undefined, p_value, pearson_and_spearman
from .inputs import as_song_codes, checked_pair, refusal
from .intervals import DEFAULT_RESAMPLES, Bootstrap, Method, bootstrap_intervals
from .resampling import WeightedScores, design_of

SCORE_NAMES = ("pearson", "spearmanr", "combined_score")


@dataclass(frozen=True)
class ScoreOptions:
    """What is returned, and how.

    Args:
        scale: what every score and interval is multiplied by; 100 prints as the paper does.
        confidence_level: between 0 and 1 adds an interval to each score; None adds none.
        ci_method: "bca" or "percentile".
        n_resamples: tables drawn for the intervals.
        seed: of the private generator that draws them.
        p_values: whether to add the p-values of both coefficients.
        undefined: what a constant side does: "nan" gives NaN and one warning, "raise" raises.

    Raises:
        ValueError: a value out of its range.
    """

    scale: float = 1.0
    confidence_level: float | None = None
    ci_method: Method = "bca"
    n_resamples: int = DEFAULT_RESAMPLES
    seed: int = 0
    p_values: bool = False
    undefined: Undefined = "nan"

    def __post_init__(self) -> None:
        scale = self.scale
        if not isinstance(scale, numbers.Real) or not 0 < scale < math.inf:
            raise refusal(f"scale is {scale!r}", "a positive number", "pass 1, or 100 for the paper's way")
        if self.undefined not in get_args(Undefined):
            raise refusal(f"undefined is {self.undefined!r}", "'nan' or 'raise'", "pass undefined='nan'")
        self.bootstrap()

    def bootstrap(self) -> Bootstrap | None:
        """How intervals are made, or None where none are asked for."""
        level = 0.95 if self.confidence_level is None else self.confidence_level
        options = Bootstrap(level, self.ci_method, self.n_resamples, self.seed)
        return None if self.confidence_level is None else options


def score(predictions: object, references: object, clusters: object = None, **options: Any) -> dict[str, Any]:
    """Pearson, Spearman and their mean, with what else ``options`` ask for.

    Args:
        predictions: shape (n,) or (n, 1), any finite real scores, n ≥ 2.
        references: the same number of gold similarities.
        clusters: the ids of the two songs of every row, shape (n, 2); intervals then resample songs.
        options: the fields of :class:`ScoreOptions`.

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
    found = pearson_and_spearman(x, y, options.undefined)
    point = (found.pearson, found.spearmanr, found.combined_score)
    result: dict[str, Any] = {
        name: value * options.scale for name, value in zip(SCORE_NAMES, point, strict=True)
    }
    if bootstrap := options.bootstrap():
        for name, bounds in zip(SCORE_NAMES, _intervals(x, y, songs, point, bootstrap), strict=True):
            result[f"{name}_ci"] = [bound * options.scale for bound in bounds]
    if options.p_values:
        result["pearson_pvalue"] = p_value(found.pearson, len(x))
        result["spearmanr_pvalue"] = p_value(found.spearmanr, len(x))
    return result


def _intervals(
    x: np.ndarray, y: np.ndarray, songs: np.ndarray | None, point: Sequence[float], bootstrap: Bootstrap
) -> list[list[float]]:
    # Sorted first, so that an interval doesn't depend on the order in which batches or processes came.
    order = np.lexsort((y, x))
    design = design_of(songs, order)
    return bootstrap_intervals(WeightedScores(x[order], y[order]), point, design, bootstrap)
