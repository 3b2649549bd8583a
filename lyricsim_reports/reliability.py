"""How reliable the ratings are, with what chance gives, intervals, and what single annotators do (pure)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from tqdm import tqdm

from lyricsim_dataset.agreement import alpha, alphas, counts_of
from lyricsim_dataset.annotations import Tables, group_pairs
from lyricsim_dataset.consensus import RATERS_A_PAIR, kept_pairs
from lyricsim_dataset.records import Pair, Rating
from lyricsim_metric.resampling import design_of

#: Annotators with fewer ratings have no severity worth printing.
FEWEST_RATINGS = 30
_LEVEL = 0.95
# Rounds of the fit of severities; it has converged to the fourth decimal long before.
_ROUNDS = 200


@dataclass(frozen=True)
class Interval:
    """A figure with its 95 % percentile bootstrap intervals.

    Args:
        value: ordinal alpha.
        pairs_drawn: interval where pairs are drawn.
        songs_drawn: interval where songs are drawn, since pairs that share a song are not independent.
    """

    value: float
    pairs_drawn: tuple[float, float]
    songs_drawn: tuple[float, float]


@dataclass(frozen=True)
class Annotator:
    """One annotator's part.

    Args:
        annotator: number, as published.
        ratings: how many.
        share: of all ratings, 0 to 1.
        severity: how much lower than others on the same pairs, in rating points (negative: milder);
            None for an annotator with few ratings.
        raw_without: ordinal alpha of all pairs without this annotator's ratings.
        filtered_without: the same of the filtered pairs.
    """

    annotator: str
    ratings: int
    share: float
    severity: float | None
    raw_without: float
    filtered_without: float


@dataclass(frozen=True)
class Reliability:
    """What ``lyricsim_dataset.facts`` does not say already.

    Args:
        raw: ordinal alpha of all pairs.
        filtered: of those that the consensus rule keeps.
        resamples: behind the intervals.
        annotators: by number of ratings, the most first.
    """

    raw: Interval
    filtered: Interval
    resamples: int
    annotators: tuple[Annotator, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)


def reliability(tables: Tables, resamples: int, seed: int) -> Reliability:
    """Intervals of alpha, severity, load, and alpha without each annotator.

    Args:
        tables: songs, ratings and pairs.
        resamples: bootstrap tables, for each of the four intervals.
        seed: of the generators that draw them.
    """
    kept = kept_pairs([pair for pair in tables.pairs if len(pair.ratings) == RATERS_A_PAIR])
    return Reliability(
        raw=alpha_interval(tables.pairs, resamples, seed),
        filtered=alpha_interval(kept, resamples, seed),
        resamples=resamples,
        annotators=tuple(annotators(tables.ratings, kept)),
    )


def alpha_interval(pairs: Sequence[Pair], resamples: int, seed: int) -> Interval:
    """Ordinal alpha with both bootstrap intervals.

    Args:
        pairs: nothing is defined where there are none.
        resamples: tables drawn for each interval.
        seed: of their generator.
    """
    if not pairs:
        return Interval(math.nan, (math.nan, math.nan), (math.nan, math.nan))
    counts = counts_of(pairs)
    codes: dict[str, int] = {}
    songs = [[codes.setdefault(s, len(codes)) for s in (p.song_id_1, p.song_id_2)] for p in pairs]

    def interval(clusters: np.ndarray | None) -> tuple[float, float]:
        generator = np.random.default_rng(seed)
        blocks = design_of(clusters, len(counts)).draw(generator, resamples)
        weights = (row.astype(np.int64) for block in blocks for row in block)
        bar = tqdm(weights, total=resamples, desc="bootstrap of alpha", leave=False)
        drawn = [alpha(np.repeat(counts, weight, axis=0)) for weight in bar]
        low, high = np.nanquantile(drawn, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        return float(low), float(high)

    return Interval(alpha(counts), interval(None), interval(np.array(songs)))


def annotators(ratings: Sequence[Rating], kept: Sequence[Pair]) -> list[Annotator]:
    """Every annotator's load, severity, and alpha without him."""
    by_annotator: dict[str, int] = {}
    for rating in ratings:
        by_annotator[rating.annotator] = by_annotator.get(rating.annotator, 0) + 1
    severity = severities(ratings)
    ids = {pair.pair_id for pair in kept}
    kept_ratings = [rating for rating in ratings if rating.pair_id in ids]
    order = sorted(by_annotator.items(), key=lambda item: (-item[1], item[0]))
    return [
        Annotator(
            name,
            count,
            count / len(ratings),
            severity[name] if count >= FEWEST_RATINGS else None,
            alpha_without(ratings, name),
            alpha_without(kept_ratings, name),
        )
        for name, count in tqdm(order, desc="annotators", leave=False)
    ]


def alpha_without(ratings: Sequence[Rating], annotator: str) -> float:
    """Ordinal alpha of the ratings of all other annotators, over the pairs that keep two."""
    return alphas(group_pairs([rating for rating in ratings if rating.annotator != annotator]))["ordinal"]


def severities(ratings: Sequence[Rating]) -> dict[str, float]:
    """How much lower each annotator rates than the others on the same pairs.

    The least-squares fit of rating = pair − severity, by turns; severities are centred so that their mean
    over all ratings is 0.

    Returns:
        Annotator to severity in rating points; positive: rates low.
    """
    values = np.array([rating.rating for rating in ratings], dtype=float)
    pair, _ = _codes(ratings, lambda rating: rating.pair_id)
    annotator, names = _codes(ratings, lambda rating: rating.annotator)
    shift = np.zeros(len(names))
    for _ in range(_ROUNDS):
        level = _means(values - shift[annotator], pair)
        shift = _means(values - level[pair], annotator)
        shift -= shift[annotator].mean()
    return {name: -float(shift[position]) for name, position in names.items()}


def _codes(ratings: Sequence[Rating], key: Callable[[Rating], str]) -> tuple[np.ndarray, Mapping[str, int]]:
    names: dict[str, int] = {}
    return np.array([names.setdefault(key(rating), len(names)) for rating in ratings]), names


def _means(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    return np.bincount(group, weights=values) / np.bincount(group)


def card_sentence(facts: Mapping[str, Any]) -> str:
    """What a reader of the card must be told about the ratings, in one sentence.

    Args:
        facts: the document of ``lyricsim_dataset.facts.facts``.
    """
    ordinal = {name: facts["alpha"][name]["ordinal"] for name in ("raw", "filtered")}
    over_all, each = facts["reliability"]["permuted"]
    figures = (ordinal["raw"], ordinal["filtered"], over_all["mean"], each["mean"])
    if any(figure is None for figure in figures):
        return "The agreement of the raters is undefined on these data."
    return (
        f"Ordinal alpha is {ordinal['raw']:.2f} over all pairs and {ordinal['filtered']:.2f} over the "
        "filtered ones, but the filter selects pairs by their agreement: ratings dealt out at random and "
        f"filtered by the same rule reach {over_all['mean']:.2f} ({each['mean']:.2f} where each annotator "
        "keeps his own), so the filtered figure is no proof that the labels are reliable."
    )
