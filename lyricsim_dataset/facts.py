"""The dataset's facts, recomputed from its tables, as plain JSON-able data (pure).

Undefined figures (a correlation of constants, a mean of nothing) are None.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np

from lyricsim_dataset.agreement import (
    WITHIN,
    PermutedAlphas,
    Progress,
    alphas,
    one_against_the_others,
    permuted_alphas,
)
from lyricsim_dataset.annotations import Tables
from lyricsim_dataset.consensus import (
    RATERS_A_PAIR,
    ConsensusRule,
    agreed_rating,
    kept_pairs,
    ratings_array,
)
from lyricsim_dataset.records import RATING_MAX, RATING_MIN, Pair, Rating, Song
from lyricsim_dataset.splits import SEED
from lyricsim_dataset.variance import variance_shares

#: Permutations for the agreement that chance gives: enough for the third decimal of its mean.
REPETITIONS = 1000


def facts(
    tables: Tables, repetitions: int = REPETITIONS, seed: int = SEED, progress: Progress = iter
) -> dict[str, Any]:
    """Recompute every fact that the paper or the card states about the data.

    Args:
        tables: songs, ratings and pairs. What the consensus rule has a part in (``filtered`` figures,
            ``reliability``) is about the pairs with three ratings; LyricSIM has no others.
        repetitions: permutations behind ``reliability.permuted``.
        seed: of these permutations.
        progress: is given the range of repetitions, once for each kind of permutation, and yields them.

    Returns:
        Sections of counts and figures; percentages 0 to 100, lengths in words (``str.split()``).
    """
    three = [pair for pair in tables.pairs if len(pair.ratings) == RATERS_A_PAIR]
    kept = kept_pairs(three)
    judged = _judged(tables.ratings, three)
    permuted = [permuted_alphas(judged, w, repetitions, seed, progress=progress) for w in WITHIN]
    alpha = {name: alphas(pairs) for name, pairs in _sets(tables.pairs, kept)}
    lengths = {song.song_id: song.length for song in tables.songs}
    document = {
        "counts": _counts(tables, three, kept),
        "table_1": {"raw": rating_counts(tables.pairs), "filtered": rating_counts(kept)},
        "table_2": {
            "pairs": len(kept),
            **length_facts(lengths.values()),
            "alpha": alpha["filtered"]["ordinal"],
        },
        "alpha": alpha,
        "lengths": _lengths(tables.songs),
        "pair_lengths": {name: pair_length_facts(p, lengths) for name, p in _sets(tables.pairs, kept)},
        "annotators": annotator_facts(tables.ratings, kept),
        "labels": label_facts(kept),
        "reliability": {"seed": seed, **_reliability(judged, three, kept, permuted)},
    }
    return _without_nan(document)


def _sets(pairs: Sequence[Pair], kept: Sequence[Pair]) -> list[tuple[str, Sequence[Pair]]]:
    return [("raw", pairs), ("filtered", kept)]


def _counts(tables: Tables, three: Sequence[Pair], kept: Sequence[Pair]) -> dict[str, int]:
    return {
        "songs": len(tables.songs),
        "ratings": len(tables.ratings),
        "ratings_kept": sum(len(pair.ratings) for pair in kept),
        "pairs": len(tables.pairs),
        "pairs_kept": len(kept),
        "pairs_kept_by_text": len(kept_pairs(three, ConsensusRule.TEXT)),
    }


def rating_counts(pairs: Iterable[Pair]) -> list[dict[str, float]]:
    """Ratings of each value, with their percentage (paper, Table 1)."""
    counts = Counter(rating for pair in pairs for rating in pair.ratings)
    total = counts.total()
    return [
        {"rating": value, "count": counts[value], "percent": _percent(counts[value], total)}
        for value in range(RATING_MIN, RATING_MAX + 1)
    ]


def length_facts(lengths: Iterable[int]) -> dict[str, float]:
    """Mean, sample standard deviation and extremes of lengths in words."""
    words = np.array(list(lengths), dtype=float)
    return {
        "mean": _mean(words),
        "deviation": float(words.std(ddof=1)) if len(words) > 1 else math.nan,
        "shortest": int(words.min(initial=math.inf)) if len(words) else 0,
        "longest": int(words.max(initial=0)),
    }


def _lengths(songs: Sequence[Song]) -> dict[str, Any]:
    same = sum(song.lyrics == song.lyrics_as_annotated for song in songs)
    words = sum(song.lyrics.split() == song.lyrics_as_annotated.split() for song in songs)
    bare = sum(_bare_words(song.lyrics) == _bare_words(song.lyrics_as_annotated) for song in songs)
    return {
        "lyrics": length_facts(song.length for song in songs),
        "lyrics_as_annotated": length_facts(len(song.lyrics_as_annotated.split()) for song in songs),
        "songs_with_equal_texts": same,
        "songs_with_equal_words": words,
        "songs_with_equal_words_ignoring_case_and_punctuation": bare,
    }


def _bare_words(text: str) -> list[str]:
    return re.sub(r"[^\w\s]", " ", text.lower()).split()


def pair_length_facts(pairs: Sequence[Pair], lengths: Mapping[str, int]) -> dict[str, float]:
    """Longest pair, and how the score goes with the words of both songs together (paper, Figure 5)."""
    words = np.array([lengths[pair.song_id_1] + lengths[pair.song_id_2] for pair in pairs], dtype=float)
    scores = np.array([pair.score for pair in pairs], dtype=float)
    constant = len(pairs) < 2 or np.ptp(words) == 0 or np.ptp(scores) == 0
    return {
        "longest": int(words.max(initial=0)),
        "pearson_with_score": math.nan if constant else float(np.corrcoef(words, scores)[0, 1]),
    }


def annotator_facts(ratings: Sequence[Rating], kept: Sequence[Pair]) -> dict[str, float]:
    """How many annotators there are, how the work is shared out, and how many the filter leaves."""
    loads = Counter(rating.annotator for rating in ratings)
    amounts = sorted(loads.values(), reverse=True)
    ids = {pair.pair_id for pair in kept}
    return {
        "annotators": len(loads),
        "annotators_kept": len({r.annotator for r in ratings if r.pair_id in ids}),
        "most_ratings": amounts[0] if amounts else 0,
        "most_ratings_percent": _percent(sum(amounts[:1]), sum(amounts)),
        "top_five_percent": _percent(sum(amounts[:5]), sum(amounts)),
        "median_ratings": float(np.median(amounts)) if amounts else math.nan,
        "fewest_ratings": amounts[-1] if amounts else 0,
    }


def label_facts(kept: Sequence[Pair]) -> dict[str, Any]:
    """Label values of the filtered pairs, and the ratings they agree on."""
    labels = Counter(Fraction(sum(pair.ratings), len(pair.ratings)) for pair in kept)
    modes = Counter(agreed_rating(pair.ratings) for pair in kept)
    return {
        "distinct": len(labels),
        "zero": labels[Fraction(0)],
        "zero_percent": _percent(labels[Fraction(0)], len(kept)),
        "at_least_four": sum(count for label, count in labels.items() if label >= 4),
        "values": [{"score": float(label), "pairs": labels[label]} for label in sorted(labels)],
        "agreed_on": [
            {"rating": value, "pairs": modes[value]} for value in range(RATING_MIN, RATING_MAX + 1)
        ],
    }


def _judged(ratings: Sequence[Rating], pairs: Sequence[Pair]) -> list[Rating]:
    ids = {pair.pair_id for pair in pairs}
    return [rating for rating in ratings if rating.pair_id in ids]


def _reliability(
    judged: Sequence[Rating],
    three: Sequence[Pair],
    kept: Sequence[Pair],
    permuted: Sequence[PermutedAlphas],
) -> dict[str, Any]:
    return {
        "permuted": [asdict(figures) for figures in permuted],
        "one_against_the_others": {
            name: one_against_the_others(ratings_array(pairs)) for name, pairs in _sets(three, kept)
        },
        "variance_shares": asdict(variance_shares(judged)),
    }


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else math.nan


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else math.nan


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value
