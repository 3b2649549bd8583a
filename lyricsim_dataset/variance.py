"""Where the spread of a single rating comes from: songs, annotators, pairs, the rest (pure).

A rating of songs i and j by annotator a is modelled as mean + song_i + song_j + annotator_a + pair_ij + rest,
all of them independent and normal; the variances are estimated by restricted maximum likelihood.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from lyricsim_dataset.records import Rating
from lyricsim_tools.errors import UserError


@dataclass(frozen=True)
class VarianceShares:
    """Shares of a single rating's variance; they add up to 1.

    Args:
        songs: of the two songs together.
        annotator: how high an annotator rates in general.
        pair: what three raters of a pair have in common beyond its two songs: the similarity itself.
        rest: what is left, noise among it.
    """

    songs: float
    annotator: float
    pair: float
    rest: float


_UNDEFINED = VarianceShares(math.nan, math.nan, math.nan, math.nan)
#: Logarithms of variance ratios are sought within this distance of 0: a factor of 22,000 either way.
_LIMIT = 10.0


@dataclass(frozen=True)
class _CrossProducts:
    """Inner products of the columns (songs, annotators, constant, ratings) and of their pair sums."""

    songs: int
    annotators: int
    pairs: int
    ratings: int
    plain: np.ndarray
    pair_sums: np.ndarray

    @property
    def raters(self) -> float:
        return self.ratings / self.pairs


def variance_shares(ratings: Sequence[Rating]) -> VarianceShares:
    """Estimate the shares (LyricSIM raw: songs 16 %, annotator 23 %, pair 11 %, rest 49 %).

    Args:
        ratings: single judgements, the same number for each pair.

    Returns:
        The shares; all NaN where ratings are constant or where songs, annotators and pairs leave no rest,
        since the model then has no maximum.

    Raises:
        UserError: pairs differ in their number of ratings.
    """
    products = _cross_products(ratings)
    if len({rating.rating for rating in ratings}) < 2:
        return _UNDEFINED
    options = {"xatol": 1e-6, "fatol": 1e-8, "maxiter": 2000}
    start = np.log([0.2, 0.4, 0.2])
    bounds = [(-_LIMIT, _LIMIT)] * 3
    best = minimize(_criterion, start, args=(products,), method="Nelder-Mead", bounds=bounds, options=options)
    song, annotator, pair = np.exp(best.x)
    parts = np.array([2 * song, annotator, pair, 1.0])
    if np.log(parts).max() > _LIMIT - 1:
        return _UNDEFINED
    return VarianceShares(*(parts / parts.sum()).tolist())


def _cross_products(ratings: Sequence[Rating]) -> _CrossProducts:
    songs = {s: i for i, s in enumerate(sorted({s for r in ratings for s in (r.song_id_1, r.song_id_2)}))}
    annotators = {a: i for i, a in enumerate(sorted({r.annotator for r in ratings}), start=len(songs))}
    pairs = {pair: i for i, pair in enumerate(dict.fromkeys(r.pair_id for r in ratings))}
    rows = np.arange(len(ratings))
    design = np.zeros((len(ratings), len(songs) + len(annotators) + 2))
    for columns in (
        [songs[r.song_id_1] for r in ratings],
        [songs[r.song_id_2] for r in ratings],
        [annotators[r.annotator] for r in ratings],
    ):
        design[rows, columns] = 1
    design[:, -2:] = [(1, r.rating) for r in ratings]
    sums = np.zeros((len(pairs), design.shape[1]))
    np.add.at(sums, [pairs[r.pair_id] for r in ratings], design)
    if len(set(sums[:, -2])) > 1:
        raise UserError("pairs with different numbers of ratings", "the same number", "select as many a pair")
    plain, pair_sums = design.T @ design, sums.T @ sums
    return _CrossProducts(len(songs), len(annotators), len(pairs), len(ratings), plain, pair_sums)


def _criterion(log_ratios: np.ndarray, products: _CrossProducts) -> float:
    """Minus twice the restricted log-likelihood, for variances as ratios to that of the rest."""
    song, annotator, pair = np.exp(log_ratios)
    # Within a pair the covariance is I + pair * J, whose inverse is I - shrink * J.
    shrink = pair / (1 + products.raters * pair)
    inner = products.plain - shrink * products.pair_sums
    ratios = np.repeat([song, annotator], [products.songs, products.annotators])
    random = inner[:-2, :-2] + np.diag(1 / ratios)
    fixed = inner[-2:, -2:] - inner[-2:, :-2] @ np.linalg.solve(random, inner[:-2, -2:])
    residual = fixed[1, 1] - fixed[0, 1] ** 2 / fixed[0, 0]
    determinant = products.pairs * np.log1p(products.raters * pair) + np.log(ratios).sum()
    determinant += np.linalg.slogdet(random)[1] + np.log(fixed[0, 0])
    return float(determinant + (products.ratings - 1) * np.log(residual))
