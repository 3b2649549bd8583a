"""What song identity, length and overlap alone score on a split: models that know no meaning."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyricsim_metric.correlations import is_constant, pearson_and_spearman
from lyricsim_models.baselines import Baseline, Predictor, find_baseline, fit_baseline, lyric_pairs
from lyricsim_models.pair_table import PairTable

Fit = Callable[[PairTable], Predictor]


def _baseline(baseline: Baseline) -> Fit:
    return lambda training: fit_baseline(baseline, training)


def _fit_vectors(training: PairTable) -> Predictor:
    """Support vector regression on both lyrics' TF-IDF vectors side by side, in the order of the data."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import SVR

    lyrics = sorted({*training.lyrics_1, *training.lyrics_2})
    vectoriser = TfidfVectorizer(token_pattern=r"\w+").fit(lyrics)

    def columns(pairs: PairTable) -> Any:
        first, second = (vectoriser.transform(side) for side in zip(*lyric_pairs(pairs), strict=True))
        return hstack([first, second]).tocsr()

    model = SVR(kernel="rbf", C=1.0, epsilon=0.1, gamma="scale").fit(columns(training), training.gold)
    return lambda pairs: np.asarray(model.predict(columns(pairs)))


PROBES: Mapping[str, Fit] = {
    "song identity only (no text)": _baseline(find_baseline("song-identity")),
    "lengths only": _baseline(find_baseline("length-only")),
    "word overlap count": _baseline(Baseline("word overlap", ("shared_words",), "svr")),
    "TF-IDF cosine": _baseline(Baseline("TF-IDF cosine", ("tfidf_cosine",), "svr")),
    "TF-IDF vectors": _fit_vectors,
}


def combined_scores(training: PairTable, test: PairTable) -> dict[str, float]:
    """The combined score of every probe, -1 to 1; NaN where its predictions or the scores are constant.

    A part without pairs, as a song-disjoint draw may leave, gives no score either.
    """
    if not (len(training) and len(test)):
        return dict.fromkeys(PROBES, math.nan)
    return {name: combined(fit(training)(test), test.gold) for name, fit in PROBES.items()}


def combined(predictions: np.ndarray, gold: Sequence[float]) -> float:
    """Mean of Pearson's and Spearman's correlation; NaN where undefined."""
    scores = np.array(gold)
    # A regression on a constant input may answer with a constant but for rounding.
    if len(scores) < 2 or is_constant(np.round(predictions, 12)) or is_constant(scores):
        return math.nan
    return pearson_and_spearman(predictions, scores).combined_score


@dataclass(frozen=True)
class ProbeScore:
    """A probe over repeated draws.

    Args:
        probe: its name.
        itself: its combined score on the split as it is; NaN where undefined.
        draws: how many draws there were.
        defined: in how many of them the score was defined.
        mean: over these; NaN if there was none.
        deviation: their sample standard deviation; NaN for fewer than two.
    """

    probe: str
    itself: float
    draws: int
    defined: int
    mean: float
    deviation: float


def summarise(itself: Mapping[str, float], drawn: Sequence[Mapping[str, float]]) -> list[ProbeScore]:
    """One record a probe."""
    return [
        _summary(name, value, np.array([scores[name] for scores in drawn])) for name, value in itself.items()
    ]


def _summary(name: str, itself: float, values: np.ndarray) -> ProbeScore:
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else math.nan
    deviation = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    return ProbeScore(name, itself, len(values), len(known), mean, deviation)
