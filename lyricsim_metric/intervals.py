"""Bootstrap confidence intervals of any scores that can be computed from row weights."""

import math
import numbers
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from .inputs import refusal
from .resampling import Design

Method = Literal["bca", "percentile"]
# Scores of weights, shape (replicates, n), to an array of shape (replicates, scores).
Statistic = Callable[[np.ndarray], np.ndarray]

DEFAULT_RESAMPLES = 9999
_FEWEST_RESAMPLES = 100
# Two ways of summing the same table differ by less than this; a real difference does not.
_ROUND_OFF = 1e-12
_WORRYING_SHARE = 0.05


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made.

    Args:
        confidence_level: between 0 and 1, such as 0.95.
        method: "bca" (bias-corrected and accelerated; Efron, "Better bootstrap confidence intervals", JASA
            82(397), 1987) or "percentile".
        n_resamples: how many tables are drawn.
        seed: of the private generator that draws them.

    Raises:
        ValueError: a value out of its range.
    """

    confidence_level: float = 0.95
    method: Method = "bca"
    n_resamples: int = DEFAULT_RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        level = self.confidence_level
        if not isinstance(level, numbers.Real) or not 0 < level < 1:
            raise refusal(f"confidence_level is {level!r}", "a number between 0 and 1", "pass 0.95 for 95 %")
        if self.method not in get_args(Method):
            raise refusal(f"method is {self.method!r}", " or ".join(get_args(Method)), "pass method='bca'")
        require_whole("n_resamples", self.n_resamples, _FEWEST_RESAMPLES)
        require_whole("seed", self.seed, 0)


def require_whole(name: str, value: object, least: int) -> None:
    """Raise unless ``value`` is an integer of at least ``least``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or int(value) < least:
        raise refusal(f"{name} is {value!r}", f"an integer of at least {least}", f"change {name}")


def bootstrap_intervals(
    statistic: Statistic, point: Sequence[float], design: Design, options: Bootstrap
) -> list[list[float]]:
    """A confidence interval of each score.

    Args:
        statistic: the scores of resampled tables.
        point: the scores of the table as it is; NaN where undefined.
        design: what is drawn anew in a resample.
        options: level, method, number and seed.

    Returns:
        ``[low, high]`` for each score, NaN where the score is undefined. Resamples with a constant side have
        no score and are left out; a warning says so where they are more than 5 %.
    """
    if all(math.isnan(value) for value in point):
        return [[math.nan, math.nan] for _ in point]
    replicates = draw_scores(statistic, design, options)
    jackknife = stack_scores(statistic, design.leave_out()) if options.method == "bca" else None
    return [
        _interval(
            replicates[:, column],
            value,
            options.confidence_level,
            None if jackknife is None else jackknife[:, column],
        )
        for column, value in enumerate(point)
    ]


def draw_scores(statistic: Statistic, design: Design, options: Bootstrap) -> np.ndarray:
    """Scores of ``n_resamples`` tables, shape (n_resamples, scores); NaN where a table has none."""
    generator = np.random.default_rng(options.seed)
    scores = stack_scores(statistic, design.draw(generator, options.n_resamples))
    undefined = float(np.isnan(scores).any(axis=1).mean())
    if undefined > _WORRYING_SHARE:
        warnings.warn(
            f"{undefined:.0%} of the resamples have a constant side and were left out: the table is too "
            "small or too uniform for a trustworthy interval",
            UserWarning,
            stacklevel=2,
        )
    return scores


def stack_scores(statistic: Statistic, blocks: Iterable[np.ndarray]) -> np.ndarray:
    """The scores of blocks of weights as one array of shape (replicates, scores)."""
    return np.concatenate([statistic(weights) for weights in blocks])


def _interval(
    replicates: np.ndarray, point: float, level: float, jackknife: np.ndarray | None
) -> list[float]:
    replicates = replicates[~np.isnan(replicates)]
    if math.isnan(point) or not len(replicates):
        return [math.nan, math.nan]
    tails = np.array([(1 - level) / 2, (1 + level) / 2])
    if jackknife is not None:
        tails = _bca_tails(tails, replicates, point, jackknife[~np.isnan(jackknife)])
    low, high = np.quantile(replicates, tails)
    return [float(low), float(high)]


def _bca_tails(tails: np.ndarray, replicates: np.ndarray, point: float, jackknife: np.ndarray) -> np.ndarray:
    """The replicates' quantiles that bound a BCa interval; the plain ones where all lie on one side."""
    below = (np.mean(replicates < point - _ROUND_OFF) + np.mean(replicates <= point + _ROUND_OFF)) / 2
    bias = ndtri(below)
    if not np.isfinite(bias):
        return tails
    shifted = bias + ndtri(tails)
    return ndtr(bias + shifted / (1 - _acceleration(jackknife) * shifted))


def _acceleration(jackknife: np.ndarray) -> float:
    if not len(jackknife):
        return 0.0
    distances = jackknife.mean() - jackknife
    spread = float(np.sum(distances**2))
    if spread <= len(jackknife) * _ROUND_OFF**2:
        return 0.0
    return float(np.sum(distances**3)) / (6 * spread**1.5)
