"""Baselines and floors: what simple models, song identity and bare length reach under the same evaluation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lyricsim_models.features import LENGTHS, LEXICAL, Embed, fit_columns
from lyricsim_models.pair_table import PairTable
from lyricsim_tools.errors import UserError

Estimator = Literal["svr", "ridge", "none"]

# scikit-learn's defaults, written out so that a new release cannot change a published figure.
_SVR = {"kernel": "rbf", "C": 1.0, "epsilon": 0.1, "gamma": "scale"}
# Scores are flat in the penalty from about 10 to 300 on the 574 training pairs.
RIDGE_PENALTY = 30.0
SONG_IDENTITY = "song_identity"


Predictor = Callable[[PairTable], np.ndarray]


@dataclass(frozen=True)
class Baseline:
    """One baseline.

    Args:
        title: for tables.
        features: names from ``features.FEATURES``, or ``song_identity`` alone.
        estimator: support vector regression with an RBF kernel or ridge regression on standardised
            features; ``none`` predicts its single feature as it is, with nothing fitted.
    """

    title: str
    features: tuple[str, ...]
    estimator: Estimator

    @property
    def needs_encoder(self) -> bool:
        """Whether a zero-shot cosine is among the features."""
        return "encoder_cosine" in self.features


_CONTENT = (*LEXICAL, "tfidf_cosine", "character_cosine")
BASELINES: Mapping[str, Baseline] = {
    "svr": Baseline("RBF SVR, lexical features", _CONTENT, "svr"),
    "svr-encoder": Baseline("RBF SVR, lexical + zero-shot cosine", (*_CONTENT, "encoder_cosine"), "svr"),
    "ridge": Baseline("ridge, lexical features", _CONTENT, "ridge"),
    "ridge-encoder": Baseline("ridge, lexical + zero-shot cosine", (*_CONTENT, "encoder_cosine"), "ridge"),
    "lexical": Baseline("ridge, text-free features (the lexical scorer)", LEXICAL, "ridge"),
    "zero-shot": Baseline("zero-shot cosine", ("encoder_cosine",), "none"),
    "word-overlap": Baseline("word overlap alone", ("shared_words",), "none"),
    "jaccard": Baseline("word Jaccard alone", ("jaccard",), "none"),
    "total-length": Baseline("total length alone", ("words_total",), "none"),
    "tfidf": Baseline("TF-IDF cosine alone", ("tfidf_cosine",), "none"),
    "length-only": Baseline("length only (RBF SVR)", LENGTHS, "svr"),
    "song-identity": Baseline("song identity only (RBF SVR)", (SONG_IDENTITY,), "svr"),
}


def find_baseline(name: str) -> Baseline:
    """The baseline of that name.

    Raises:
        UserError: there is none.
    """
    if name not in BASELINES:
        raise UserError(f"no baseline called {name!r}", ", ".join(BASELINES), "choose one of these")
    return BASELINES[name]


def require_encoder(name: str, encoder: str | None) -> None:
    """Refuse an encoder that a baseline does not use, and its absence where it does.

    Raises:
        UserError: either, or no such baseline.
    """
    if bool(encoder) != find_baseline(name).needs_encoder:
        needing = ", ".join(name for name, b in BASELINES.items() if b.needs_encoder)
        raise UserError(
            f"--baseline {name} {'with' if encoder else 'without'} --encoder",
            f"an encoder for {needing}, and for these only",
            "add or drop --encoder",
        )


def fit_baseline(baseline: Baseline, training: PairTable, embed: Embed | None = None) -> Predictor:
    """Fit a baseline on training pairs and nothing else.

    Args:
        baseline: which one.
        training: pairs with scores.
        embed: texts to vectors, for baselines with a zero-shot cosine.

    Returns:
        A function from pairs to predictions, shape (pairs,), in the order given.

    Raises:
        UserError: there is no training pair, an encoder or song ids are needed and missing.
    """
    if not len(training):
        raise UserError("no training pair", "at least one", "choose a configuration with a train split")
    columns = _fit_table(baseline, training, embed)
    if baseline.estimator == "none":
        return lambda pairs: columns(pairs)[:, 0]
    model = _estimator(baseline.estimator).fit(columns(training), np.array(training.gold))
    return lambda pairs: _predict(model, columns(pairs))


def _predict(model: Any, table: np.ndarray) -> np.ndarray:
    """Scikit-learn refuses an empty table; an empty split has an empty prediction."""
    return np.asarray(model.predict(table)) if len(table) else np.empty(0)


def _estimator(kind: Estimator) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    return make_pipeline(StandardScaler(), SVR(**_SVR) if kind == "svr" else Ridge(RIDGE_PENALTY))


def _fit_table(baseline: Baseline, training: PairTable, embed: Embed | None) -> Predictor:
    if baseline.features == (SONG_IDENTITY,):
        return _identity_table(training)
    columns = fit_columns(baseline.features, lyric_pairs(training), embed)
    return lambda pairs: columns(lyric_pairs(pairs))


def lyric_pairs(table: PairTable) -> list[tuple[str, str]]:
    """The two lyrics of each pair."""
    return list(zip(table.lyrics_1, table.lyrics_2, strict=True))


def song_pairs(table: PairTable) -> list[tuple[str, str]]:
    """The two song ids of each pair.

    Raises:
        UserError: the data names no songs.
    """
    if table.song_ids_1 is None or table.song_ids_2 is None:
        raise UserError("pairs without song ids", "columns song_id_1 and song_id_2", "add them to the data")
    return list(zip(table.song_ids_1, table.song_ids_2, strict=True))


def _identity_table(training: PairTable) -> Predictor:
    """Which two songs, as ones among zeros; a song that training has not seen is all zeros."""
    place = {song: i for i, song in enumerate(sorted({s for pair in song_pairs(training) for s in pair}))}

    def table(pairs: PairTable) -> np.ndarray:
        ones = np.zeros((len(pairs), len(place)))
        for row, pair in enumerate(song_pairs(pairs)):
            ones[row, [place[song] for song in pair if song in place]] = 1
        return ones

    return table
