"""What the paper's five figures show, as plain data (pure)."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import gaussian_kde, t

from lyricsim_dataset.annotations import Tables
from lyricsim_dataset.consensus import RATERS_A_PAIR, kept_pairs
from lyricsim_dataset.facts import length_facts, pair_length_facts, rating_counts
from lyricsim_dataset.records import RATING_MAX, RATING_MIN, Pair

#: Width of a length bucket, in words.
BUCKET = 20
#: Standard deviation of the kernel of Figure 4, in rating points: the same for every curve, wide enough
#: that whole ratings don't become six separate peaks.
BANDWIDTH = 0.35
_GRID = np.linspace(RATING_MIN - 1.0, RATING_MAX + 1.0, 281)


@dataclass(frozen=True)
class Histogram:
    """Figure 1: lyrics of each length.

    Args:
        edges: of the bins, in words, one more than counts.
        counts: lyrics a bin.
        mean: of the lengths.
        deviation: their sample standard deviation.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    mean: float
    deviation: float


@dataclass(frozen=True)
class Cell:
    """Figure 2: the filtered pairs of one combination of lengths.

    Args:
        shorter: middle of the shorter lyric's bucket, in words.
        longer: of the longer lyric's.
        pairs: how many.
        score: mean of their scores.
    """

    shorter: float
    longer: float
    pairs: int
    score: float


@dataclass(frozen=True)
class Curve:
    """Figure 4: a density over the scale.

    Args:
        name: what is rated.
        count: how many values.
        x: positions on the scale.
        y: density there.
        zero_share: share of the values below 0.5, which is what the left peak is made of.
    """

    name: str
    count: int
    x: tuple[float, ...] = field(repr=False)
    y: tuple[float, ...] = field(repr=False)
    zero_share: float


@dataclass(frozen=True)
class Point:
    """Figure 5: the pairs of one bucket of total length.

    Args:
        words: middle of the bucket.
        pairs: how many.
        score: mean of their scores.
        interval: its 95 % interval (Student's t over pairs); None for a single pair.
    """

    words: float
    pairs: int
    score: float
    interval: tuple[float, float] | None


@dataclass(frozen=True)
class FigureData:
    """All five.

    Args:
        histogram: Figure 1.
        cells: Figure 2.
        counts: Figure 3: ratings of each value, ``raw`` and ``filtered``.
        lyrics_curves: Figure 4, ratings of lyrics.
        sts_curves: Figure 4, Spanish STS gold scores; empty where the user has none.
        points: Figure 5, ``raw`` and ``filtered``.
        correlations: Pearson's correlation of score and total length, ``raw`` and ``filtered``.
    """

    histogram: Histogram
    cells: tuple[Cell, ...]
    counts: Mapping[str, tuple[int, ...]]
    lyrics_curves: tuple[Curve, ...]
    sts_curves: tuple[Curve, ...]
    points: Mapping[str, tuple[Point, ...]]
    correlations: Mapping[str, float]


def figure_data(tables: Tables, sts: Mapping[str, Sequence[float]] | None = None) -> FigureData:
    """Compute what the figures show.

    Args:
        tables: songs, ratings and pairs.
        sts: gold scores of Spanish STS sets, by name.
    """
    lengths = {song.song_id: song.length for song in tables.songs}
    kept = kept_pairs([pair for pair in tables.pairs if len(pair.ratings) == RATERS_A_PAIR])
    sets: dict[str, Sequence[Pair]] = {"raw": tables.pairs, "filtered": kept}
    ratings = {name: [rating for pair in pairs for rating in pair.ratings] for name, pairs in sets.items()}
    curves = {f"{name} ratings": values for name, values in ratings.items()}
    return FigureData(
        histogram=histogram(lengths.values()),
        cells=tuple(cells(kept, lengths)),
        counts={n: tuple(int(row["count"]) for row in rating_counts(pairs)) for n, pairs in sets.items()},
        lyrics_curves=tuple(_curves(curves)),
        sts_curves=tuple(_curves(sts or {})),
        points={name: tuple(points(pairs, lengths)) for name, pairs in sets.items()},
        correlations={
            name: pair_length_facts(pairs, lengths)["pearson_with_score"] for name, pairs in sets.items()
        },
    )


def histogram(lengths: Iterable[int]) -> Histogram:
    """Lyrics by length, in bins of half a bucket."""
    words = np.array(list(lengths))
    step = BUCKET // 2
    edges = np.arange(0, (int(words.max(initial=0)) // step + 2) * step, step)
    counts, _ = np.histogram(words, edges)
    facts = length_facts(words.tolist())
    return Histogram(tuple(edges.tolist()), tuple(counts.tolist()), facts["mean"], facts["deviation"])


def cells(pairs: Sequence[Pair], lengths: Mapping[str, int]) -> list[Cell]:
    """Pairs by the lengths of their two lyrics; which comes first means nothing, so the shorter does."""

    def place(pair: Pair) -> tuple[int, ...]:
        return tuple(sorted(lengths[song] // BUCKET for song in (pair.song_id_1, pair.song_id_2)))

    return [
        Cell(_middle(key[0]), _middle(key[1]), len(group), float(np.mean([pair.score for pair in group])))
        for key, group in sorted(_grouped(pairs, place).items())
    ]


def points(pairs: Sequence[Pair], lengths: Mapping[str, int]) -> list[Point]:
    """Mean score by total length, with the interval of the mean."""

    def place(pair: Pair) -> tuple[int, ...]:
        return ((lengths[pair.song_id_1] + lengths[pair.song_id_2]) // BUCKET,)

    return [
        _point(_middle(key[0]), np.array([pair.score for pair in group]))
        for key, group in sorted(_grouped(pairs, place).items())
    ]


def _grouped(
    pairs: Sequence[Pair], key: Callable[[Pair], tuple[int, ...]]
) -> dict[tuple[int, ...], list[Pair]]:
    groups: dict[tuple[int, ...], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(key(pair), []).append(pair)
    return groups


def _middle(bucket: int) -> float:
    return (bucket + 0.5) * BUCKET


def _point(words: float, scores: np.ndarray) -> Point:
    mean = float(scores.mean())
    if len(scores) < 2:
        return Point(words, len(scores), mean, None)
    half = float(t.ppf(0.975, len(scores) - 1) * scores.std(ddof=1) / np.sqrt(len(scores)))
    return Point(words, len(scores), mean, (mean - half, mean + half))


def _curves(values: Mapping[str, Sequence[float]]) -> list[Curve]:
    return [density(name, np.asarray(numbers, dtype=float)) for name, numbers in values.items()]


def density(name: str, values: np.ndarray) -> Curve:
    """A Gaussian kernel density with the common bandwidth; flat where there are no values."""
    if not len(values):
        return Curve(name, 0, tuple(_GRID.tolist()), (0.0,) * len(_GRID), math.nan)
    deviation = values.std(ddof=1)
    # The library scales a bandwidth by the data's own deviation; constant data have none to scale by.
    if deviation > 0:
        heights = gaussian_kde(values, BANDWIDTH / deviation)(_GRID)
    else:
        distance = (_GRID - values[0]) / BANDWIDTH
        heights = np.exp(-(distance**2) / 2) / (BANDWIDTH * np.sqrt(2 * np.pi))
    share = float((values < 0.5).mean())
    return Curve(name, len(values), tuple(_GRID.tolist()), tuple(heights.tolist()), share)
