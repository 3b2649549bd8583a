"""Bootstrap confidence intervals of any scores that can be computed from row weights."""

import math
import numbers
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri

from .correlations import Undefined
from .inputs import refusal
from .resampling import Design

Method = Literal["bca", "percentile"]
# Scores of weights, shape (replicates, n), to an array of shape (replicates, scores).
Statistic = Callable[[np.ndarray], np.ndarray]

DEFAULT_RESAMPLES = 9999
_FEWEST_RESAMPLES = 100
# Two ways of summing the same table differ by less than this; a real difference does not.
ROUND_OFF = 1e-12
_WORRYING_SHARE = 0.05


@dataclass(frozen=True)
class Options:
    """What is returned, and how it is made.

    Args:
        scale: what every score and interval is multiplied by; 100 prints as the paper does.
        confidence_level: of the intervals, between 0 and 1, such as 0.95; None leaves them out.
        ci_method: "bca" (bias-corrected and accelerated; Efron, "Better bootstrap confidence intervals", JASA
            82(397), 1987) or "percentile".
        n_resamples: how many tables are drawn.
        seed: of the private generator that draws them.
        undefined: what a constant side does: "nan" gives NaN and one warning, "raise" raises.

    Raises:
        ValueError: a value out of its range.
    """

    scale: float = 1.0
    confidence_level: float | None = None
    ci_method: Method = "bca"
    n_resamples: int = DEFAULT_RESAMPLES
    seed: int = 0
    undefined: Undefined = "nan"

    def __post_init__(self) -> None:
        if not _is_number(self.scale) or not 0 < self.scale < math.inf:
            raise refusal(f"scale is {self.scale!r}", "a positive number", "pass 1, or 100 to print per cent")
        level = self.confidence_level
        if level is not None and not (_is_number(level) and 0 < level < 1):
            raise refusal(f"confidence_level is {level!r}", "a number between 0 and 1", "pass 0.95 for 95 %")
        _require_one_of("ci_method", self.ci_method, get_args(Method))
        _require_one_of("undefined", self.undefined, get_args(Undefined))
        _require_whole("n_resamples", self.n_resamples, _FEWEST_RESAMPLES)
        _require_whole("seed", self.seed, 0)


def bootstrap_intervals(
    statistic: Statistic, point: Sequence[float], design: Design, options: Options
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

    Raises:
        ValueError: the options name no level.
    """
    if all(math.isnan(value) for value in point):
        return [[math.nan, math.nan] for _ in point]
    return intervals_of(draw_scores(statistic, design, options), statistic, point, design, options)


def intervals_of(
    replicates: np.ndarray, statistic: Statistic, point: Sequence[float], design: Design, options: Options
) -> list[list[float]]:
    """:func:`bootstrap_intervals` of scores that :func:`draw_scores` drew before."""
    if options.confidence_level is None:
        raise refusal("no confidence_level", "a number between 0 and 1", "pass 0.95 for 95 %")
    tails = np.array([(1 - options.confidence_level) / 2, (1 + options.confidence_level) / 2])
    jackknife = None if options.ci_method == "percentile" else stack_scores(statistic, design.leave_out())
    return [
        _interval(replicates[:, column], value, None if jackknife is None else jackknife[:, column], tails)
        for column, value in enumerate(point)
    ]


def draw_scores(statistic: Statistic, design: Design, options: Options) -> np.ndarray:
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
    replicates: np.ndarray, point: float, jackknife: np.ndarray | None, tails: np.ndarray
) -> list[float]:
    replicates = replicates[~np.isnan(replicates)]
    if math.isnan(point) or not len(replicates):
        return [math.nan, math.nan]
    if jackknife is not None:
        tails = _bca_tails(tails, replicates, point, jackknife[~np.isnan(jackknife)])
    low, high = np.quantile(replicates, tails)
    return [float(low), float(high)]


def _bca_tails(tails: np.ndarray, replicates: np.ndarray, point: float, jackknife: np.ndarray) -> np.ndarray:
    """The replicates' quantiles that bound a BCa interval; the plain ones where all lie on one side."""
    below = (np.mean(replicates < point - ROUND_OFF) + np.mean(replicates <= point + ROUND_OFF)) / 2
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
    if spread <= len(jackknife) * ROUND_OFF**2:
        return 0.0
    return float(np.sum(distances**3)) / (6 * spread**1.5)


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _require_one_of(name: str, value: object, accepted: Sequence[str]) -> None:
    if value not in accepted:
        raise refusal(
            f"{name} is {value!r}", " or ".join(map(repr, accepted)), f"pass {name}={accepted[0]!r}"
        )


def _require_whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise refusal(f"{name} is {value!r}", f"an integer of at least {least}", f"change {name}")
