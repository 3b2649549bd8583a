"""Where a system is good: by length, by score, by songs seen, and beyond word overlap (pure).

Every figure is free of the scale of predictions, since a floor may predict a count and a model a score. With
several seeds each figure is the mean of theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lyricsim_metric.correlations import average_ranks, is_constant, pearson
from lyricsim_models.baselines import lyric_pairs, song_pairs
from lyricsim_models.diagnostics import beside_scores
from lyricsim_models.features import LEXICAL, text_columns
from lyricsim_models.pair_table import PairTable
from lyricsim_reports.measured import Measured

_LENGTH_BUCKETS = 4
#: Upper ends of the score levels; the first holds the zeros alone.
_LEVELS = (0.0, 1.0, 2.0, 5.0)
# Residuals this small are rounding: what is explained wholly has nothing left to correlate.
_EXPLAINED = 1e-9


@dataclass(frozen=True)
class Slice:
    """Some pairs, and how good a system is on them.

    Args:
        name: which pairs.
        pairs: how many.
        zero_share: share of them whose score is 0.
        pearson: of predictions and scores; None where undefined.
        zero_auc: zero against non-zero; None where undefined.
        percentile: mean percentile of their predictions among all, 0 to 100.
    """

    name: str
    pairs: int
    zero_share: float
    pearson: float | None
    zero_auc: float | None
    percentile: float


@dataclass(frozen=True)
class Strengths:
    """What a system's score is made of.

    Args:
        by_length: quarters of the pairs by total words.
        by_level: by score.
        beyond_overlap: correlation with the scores once shared words are taken out of both.
        beyond_lexical: the same for all text-free features (lengths, overlaps, lines).
    """

    by_length: tuple[Slice, ...]
    by_level: tuple[Slice, ...]
    beyond_overlap: float | None
    beyond_lexical: float | None


def strengths(measured: Measured) -> Strengths:
    """Cut a result's pairs in every way."""
    pairs, gold = measured.pairs, np.array(measured.pairs.gold)
    lexical = text_columns(LEXICAL, lyric_pairs(pairs))
    words = text_columns(["words_total"], lyric_pairs(pairs))[:, 0]
    overlap = lexical[:, [LEXICAL.index("shared_words")]]
    return Strengths(
        by_length=slices(measured, length_slices(words)),
        by_level=slices(measured, level_slices(gold)),
        beyond_overlap=_over_seeds(measured, lambda row: partial_correlation(row, gold, overlap)),
        beyond_lexical=_over_seeds(measured, lambda row: partial_correlation(row, gold, lexical)),
    )


def songs_seen(measured: Measured, training: PairTable) -> tuple[Slice, ...]:
    """The pairs by how many of their two songs the training pairs have."""
    known = {song for pair in song_pairs(training) for song in pair}
    seen = np.array([sum(song in known for song in pair) for pair in song_pairs(measured.pairs)])
    chosen = [(f"{count} songs seen", seen == count) for count in range(3) if (seen == count).any()]
    return slices(measured, chosen)


def length_slices(words: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Quarters by length; equal lengths are never parted."""
    edges = np.unique(np.quantile(words, np.linspace(0, 1, _LENGTH_BUCKETS + 1)[1:-1]))
    bucket = np.searchsorted(edges, words, side="left")
    return [
        (f"{words[bucket == b].min():.0f} to {words[bucket == b].max():.0f} words", bucket == b)
        for b in np.unique(bucket)
    ]


def level_slices(gold: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Pairs by score: 0, then above each end up to the next."""
    found = [("score 0", gold <= 0)]
    for low, high in pairwise(_LEVELS):
        found.append((f"score above {low:g} to {high:g}", (gold > low) & (gold <= high)))
    return [(name, rows) for name, rows in found if rows.any()]


def slices(measured: Measured, chosen: Sequence[tuple[str, np.ndarray]]) -> tuple[Slice, ...]:
    """A system on each choice of rows."""
    return tuple(_slice(measured, name, rows) for name, rows in chosen)


def _slice(measured: Measured, name: str, rows: np.ndarray) -> Slice:
    gold = np.array(measured.pairs.gold)
    percentiles = [100 * (average_ranks(row) - 0.5) / len(row) for row in measured.predictions]
    return Slice(
        name,
        int(rows.sum()),
        float((gold[rows] == 0).mean()),
        _over_seeds(measured, lambda row: correlation(row[rows], gold[rows])),
        _over_seeds(measured, lambda row: beside_scores(row[rows], gold[rows])["zero_auc"]),
        float(np.mean([ranks[rows].mean() for ranks in percentiles])),
    )


def _over_seeds(measured: Measured, figure: Callable[[np.ndarray], float | None]) -> float | None:
    values = [figure(row) for row in measured.predictions]
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    """Pearson's coefficient; None for fewer than three pairs or a constant side."""
    if len(x) < 3 or is_constant(x) or is_constant(y):
        return None
    return pearson(x, y)


def partial_correlation(x: np.ndarray, y: np.ndarray, others: np.ndarray) -> float | None:
    """Correlation of what is left of x and y after least squares on the others.

    Args:
        x: shape (n,).
        y: shape (n,).
        others: shape (n, k).

    Returns:
        None where nothing is left of a side, or there are too few rows.
    """
    if len(x) < others.shape[1] + 3:
        return None
    design = np.column_stack([np.ones(len(x)), others])
    left = [_residual(side, design) for side in (x, y)]
    explained = any(
        np.std(r) <= _EXPLAINED * max(np.std(side), 1.0) for r, side in zip(left, (x, y), strict=True)
    )
    return None if explained else correlation(left[0], left[1])


def _residual(side: np.ndarray, design: np.ndarray) -> np.ndarray:
    solution, *_ = np.linalg.lstsq(design, side, rcond=None)
    return np.asarray(side - design @ solution)
