"""How a campaign stands, in figures: progress, load, agreement and what chance would give (pure)."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lyricsim_annotation.assignment import Board, fair_shares
from lyricsim_annotation.records import Judgement, Rater
from lyricsim_annotation.selection_folder import ChosenPair
from lyricsim_dataset.agreement import WITHIN, Level, PermutedAlphas, alphas, permuted_alphas
from lyricsim_dataset.annotations import group_pairs
from lyricsim_dataset.consensus import RATERS_A_PAIR, kept_pairs
from lyricsim_dataset.records import RATING_MAX, RATING_MIN, Pair, Rating
from lyricsim_dataset.splits import SEED

#: Permutations behind the null: enough for its second decimal, quick enough for a page.
REPETITIONS = 200
#: Points of the history.
_HISTORY = 10


@dataclass(frozen=True)
class RaterFigures:
    """One rater's part.

    Args:
        rater: who.
        rated: ratings given.
        skipped: pairs skipped.
        share: ratings that are his part; None: he is away and has none.
        weight: share of all ratings, 0 to 1; NaN where there are none.
        mean: of his ratings; NaN where there are none.
        severity: how much lower than others on the same pairs, in rating points; None: too few ratings.
        active: whether he counts when the work is shared out.
    """

    rater: Rater
    rated: int
    skipped: int
    share: int | None
    weight: float
    mean: float
    severity: float | None
    active: bool


@dataclass(frozen=True)
class Figures:
    """The whole campaign.

    Args:
        pairs: to be rated.
        complete: pairs that have all their ratings.
        ratings: given so far.
        wanted: ratings in the end.
        raters: in the order of invitation.
        distribution: how often each step was given, RATING_MIN to RATING_MAX.
        kept_distribution: the same over the pairs that pass the filter.
        paired: pairs with two ratings or more: alpha is about these.
        three: pairs with exactly three ratings: the filter is about these.
        kept: those that it keeps.
        alpha: of all ratings, by level; NaN where undefined.
        kept_alpha: of the kept pairs.
        null: alpha of permuted, then filtered ratings; empty where nothing can be permuted.
        history: number of complete pairs and ordinal alpha of them, as they were completed.
        skips: the standing skips, latest first.
    """

    pairs: int
    complete: int
    ratings: int
    wanted: int
    raters: tuple[RaterFigures, ...]
    distribution: tuple[int, ...]
    kept_distribution: tuple[int, ...]
    paired: int
    three: int
    kept: int
    alpha: Mapping[Level, float]
    kept_alpha: Mapping[Level, float]
    null: tuple[PermutedAlphas, ...]
    history: tuple[tuple[int, float], ...]
    skips: tuple[Judgement, ...]


def campaign_figures(
    pairs: Sequence[ChosenPair], judgements: Sequence[Judgement], raters: Sequence[Rater], board: Board
) -> Figures:
    """Recompute everything.

    Args:
        pairs: all pairs of the campaign.
        judgements: that stand, oldest first.
        raters: everybody invited.
        board: where the campaign stands.
    """
    ratings = ratings_of(pairs, judgements)
    grouped = group_pairs(ratings)
    three = [pair for pair in grouped if len(pair.ratings) == RATERS_A_PAIR]
    kept = kept_pairs(three)
    return Figures(
        pairs=len(pairs),
        complete=len(pairs) - len(board.open_pairs),
        ratings=len(ratings),
        wanted=len(pairs) * board.raters_per_pair,
        raters=tuple(_rater_figures(ratings, judgements, raters, board)),
        distribution=_distribution(grouped),
        kept_distribution=_distribution(kept),
        paired=sum(len(pair.ratings) > 1 for pair in grouped),
        three=len(three),
        kept=len(kept),
        alpha=alphas(grouped),
        kept_alpha=alphas(kept),
        null=_null(ratings, three),
        history=tuple(_history(grouped, judgements, board.raters_per_pair)),
        skips=tuple(reversed([its for its in judgements if its.verdict.rating is None])),
    )


def ratings_of(pairs: Sequence[ChosenPair], judgements: Sequence[Judgement]) -> list[Rating]:
    """The ratings that stand, as the dataset's records; skips are left out, raters go by their numbers."""
    songs = {pair.pair_id: (pair.song_a, pair.song_b) for pair in pairs}
    return [
        Rating(str(judgement.rater), *songs[judgement.pair_id], judgement.verdict.rating)
        for judgement in judgements
        if judgement.verdict.rating is not None
    ]


def _rater_figures(
    ratings: Sequence[Rating], judgements: Sequence[Judgement], raters: Sequence[Rater], board: Board
) -> list[RaterFigures]:
    given = {
        rater.number: [r.rating for r in ratings if r.annotator == str(rater.number)] for rater in raters
    }
    skipped = Counter(judgement.rater for judgement in judgements if judgement.verdict.rating is None)
    shares, severity = fair_shares(board), _severities(ratings)
    return [
        RaterFigures(
            rater,
            rated=len(given[rater.number]),
            skipped=skipped[rater.number],
            share=shares.get(rater.number),
            weight=len(given[rater.number]) / len(ratings) if ratings else math.nan,
            mean=_mean(given[rater.number]),
            severity=severity.get(str(rater.number)),
            active=rater.number in board.active,
        )
        for rater in raters
    ]


def _severities(ratings: Sequence[Rating]) -> dict[str, float]:
    """Severities of those with enough ratings; it takes two raters on a pair to compare any."""
    from lyricsim_reports.reliability import FEWEST_RATINGS, severities

    shared = {pair.pair_id for pair in group_pairs(ratings) if len(pair.ratings) > 1}
    compared = [rating for rating in ratings if rating.pair_id in shared]
    counts = Counter(rating.annotator for rating in compared)
    found = severities(compared) if compared else {}
    return {name: value for name, value in found.items() if counts[name] >= FEWEST_RATINGS}


def _distribution(pairs: Sequence[Pair]) -> tuple[int, ...]:
    counts = Counter(rating for pair in pairs for rating in pair.ratings)
    return tuple(counts[step] for step in range(RATING_MIN, RATING_MAX + 1))


def _null(ratings: Sequence[Rating], three: Sequence[Pair]) -> tuple[PermutedAlphas, ...]:
    if not three:
        return ()
    ids = {pair.pair_id for pair in three}
    judged = [rating for rating in ratings if rating.pair_id in ids]
    return tuple(permuted_alphas(judged, within, REPETITIONS, SEED) for within in WITHIN)


def _history(pairs: Sequence[Pair], judgements: Sequence[Judgement], wanted: int) -> list[tuple[int, float]]:
    """Alpha of the pairs completed first, at about ten points in time."""
    latest = {
        judgement.pair_id: judgement.event for judgement in judgements if judgement.verdict.rating is not None
    }
    complete = sorted(
        (pair for pair in pairs if len(pair.ratings) >= wanted), key=lambda p: latest[p.pair_id]
    )
    points = sorted({-(-len(complete) * point // _HISTORY) for point in range(1, _HISTORY + 1)} - {0})
    return [(point, alphas(complete[:point])["ordinal"]) for point in points]


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values) if values else math.nan
