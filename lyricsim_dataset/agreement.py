"""How far the raters agree, and how far they would by chance (paper, section 4.2; pure).

The consensus rule selects pairs by their agreement, so agreement measured after it says little by itself:
``permuted_alphas`` measures what the same rule makes of ratings that know nothing of the pairs.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import krippendorff
import numpy as np

from lyricsim_dataset.consensus import ConsensusRule, keep_ratings
from lyricsim_dataset.records import RATING_MAX, RATING_MIN, Pair, Rating
from lyricsim_tools.errors import UserError

Level = Literal["ordinal", "interval", "nominal"]
LEVELS: tuple[Level, ...] = ("ordinal", "interval", "nominal")
Within = Literal["all ratings", "each annotator"]
WITHIN: tuple[Within, ...] = ("all ratings", "each annotator")

#: Something that lets a range's numbers through one by one and may tell how far it is, as ``tqdm`` does.
Progress = Callable[[range], Iterable[int]]

_DOMAIN = np.arange(RATING_MIN, RATING_MAX + 1)
_NO_RATING = -1


def value_counts(ratings: np.ndarray) -> np.ndarray:
    """How often each pair received each rating: shape (pairs, raters) to shape (pairs, 6)."""
    return (ratings[:, :, None] == _DOMAIN).sum(axis=1)


def counts_of(pairs: Sequence[Pair]) -> np.ndarray:
    """``value_counts`` of pairs that may have different numbers of ratings, shape (pairs, 6)."""
    most = max((len(pair.ratings) for pair in pairs), default=0)
    padded = [pair.ratings + (_NO_RATING,) * (most - len(pair.ratings)) for pair in pairs]
    return value_counts(np.array(padded, dtype=np.int64).reshape(len(pairs), most))


def alpha(counts: np.ndarray, level: Level = "ordinal") -> float:
    """Krippendorff's alpha.

    Args:
        counts: shape (pairs, 6), as ``value_counts`` gives.
        level: of measurement; adding a constant to all ratings changes none of the three.

    Returns:
        1 for full agreement, 0 for chance; NaN where all ratings are the same or no pair has two.
    """
    pairable = counts[counts.sum(axis=1) > 1]
    if np.count_nonzero(pairable.sum(axis=0)) < 2:
        return math.nan
    return float(krippendorff.alpha(value_counts=pairable, value_domain=_DOMAIN, level_of_measurement=level))


def alphas(pairs: Sequence[Pair]) -> dict[Level, float]:
    """Alpha of the pairs at all three levels (LyricSIM: ordinal 0.2786 raw, 0.9010 filtered)."""
    counts = counts_of(pairs)
    return {level: alpha(counts, level) for level in LEVELS}


def one_against_the_others(ratings: np.ndarray) -> float:
    """Pearson correlation of a rating with the mean of the pair's other two, over all ratings.

    Args:
        ratings: shape (pairs, 3).

    Returns:
        A correlation in [-1, 1]; NaN where it is undefined (constant ratings, fewer than two pairs).
    """
    singles = ratings.T.ravel().astype(float)
    others = ((ratings.sum(axis=1, keepdims=True) - ratings) / (ratings.shape[1] - 1)).T.ravel()
    if len(singles) == 0 or np.ptp(singles) == 0 or np.ptp(others) == 0:
        return math.nan
    return float(np.corrcoef(singles, others)[0, 1])


@dataclass(frozen=True)
class PermutedAlphas:
    """Ordinal alpha of permuted, then filtered ratings.

    Args:
        within: what the ratings were permuted within.
        repetitions: how many permutations.
        mean: of alpha over the repetitions; NaN if it was undefined in one.
        deviation: its sample standard deviation.
        kept: mean number of pairs that the rule kept.
    """

    within: Within
    repetitions: int
    mean: float
    deviation: float
    kept: float


def permuted_alphas(
    ratings: Sequence[Rating],
    within: Within,
    repetitions: int,
    seed: int,
    rule: ConsensusRule = ConsensusRule.NOTEBOOK,
    progress: Progress = iter,
) -> PermutedAlphas:
    """Agreement that the consensus rule finds in ratings whose values were dealt out at random.

    Args:
        ratings: all judgements, three a pair.
        within: permute values over all ratings, or only among the ratings of each annotator, who so keeps
            his habits and his number of ratings.
        repetitions: how many permutations, at least two.
        seed: of a generator private to this call.
        rule: the rule that filters each permutation.
        progress: is given the range of repetitions and yields them.

    Raises:
        UserError: fewer than two repetitions, which have no spread.
    """
    if repetitions < 2:
        raise UserError(f"{repetitions} repetitions", "at least 2", "ask for more, 1,000 for instance")
    deck = _deck(ratings, within)
    generator = np.random.default_rng(seed)
    found = []
    for _ in progress(range(repetitions)):
        for stratum in deck.strata:
            generator.shuffle(stratum)
        dealt = deck.values[deck.places]
        kept = dealt[keep_ratings(dealt, rule)]
        found.append((alpha(value_counts(kept)), len(kept)))
    measured, kept_numbers = np.array(found).T
    return PermutedAlphas(
        within, repetitions, float(measured.mean()), float(measured.std(ddof=1)), float(kept_numbers.mean())
    )


@dataclass(frozen=True)
class _Deck:
    """Values to deal out: ``strata`` are views of ``values``, ``places[p]`` where pair p takes its three."""

    values: np.ndarray
    strata: list[np.ndarray]
    places: np.ndarray


def _deck(ratings: Sequence[Rating], within: Within) -> _Deck:
    if within == "each annotator":
        # By first appearance: ids may be the platform's or renumbered, and no draw may depend on that.
        order = {rating.annotator: place for place, rating in reversed(list(enumerate(ratings)))}
        ratings = sorted(ratings, key=lambda rating: order[rating.annotator])
    values = np.array([rating.rating for rating in ratings], dtype=np.int64)
    places: dict[str, list[int]] = {}
    for place, rating in enumerate(ratings):
        places.setdefault(rating.pair_id, []).append(place)
    names = [rating.annotator if within == "each annotator" else "" for rating in ratings]
    starts = [i for i in range(1, len(names)) if names[i] != names[i - 1]]
    return _Deck(values, np.split(values, starts), np.array(list(places.values()), dtype=np.int64))
