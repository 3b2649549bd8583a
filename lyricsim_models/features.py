"""Numbers that describe a pair of lyrics, each documented, each symmetric in its two lyrics.

Two kinds: *text-free* features need nothing but the two texts (lengths, counts, overlaps); *vector*
features are cosines between vectors that are learned from the training lyrics or given by an encoder.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from lyricsim_tools.errors import UserError

LyricPair = tuple[str, str]
Columns = Callable[[Sequence[LyricPair]], np.ndarray]
Embed = Callable[[Sequence[str]], np.ndarray]

_WORD = re.compile(r"\w+")
# Enough for a catalogue's window; a cache of everything would grow with the input.
_REMEMBERED = 4096


@dataclass(frozen=True)
class Lyric:
    """What the text-free features see of one lyric.

    Args:
        words: its length by ``str.split()``, as the paper counts it.
        vocabulary: its distinct words, NFC, case-folded, without punctuation.
        lines: its lines that are not blank.
    """

    words: int
    vocabulary: frozenset[str]
    lines: int


@dataclass(frozen=True)
class TextFeature:
    """A text-free feature.

    Args:
        meaning: one line for documentation.
        compute: the value for two lyrics, in either order.
    """

    meaning: str
    compute: Callable[[Lyric, Lyric], float]


@lru_cache(maxsize=_REMEMBERED)
def read_lyric(text: str) -> Lyric:
    """Count and split one lyric."""
    folded = unicodedata.normalize("NFC", text).casefold()
    lines = sum(1 for line in text.splitlines() if line.strip())
    return Lyric(len(text.split()), frozenset(_WORD.findall(folded)), lines)


def shared_words(first: Lyric, second: Lyric) -> float:
    """Number of distinct words that both lyrics have (the paper's "word overlap", section 6.2)."""
    return float(len(first.vocabulary & second.vocabulary))


def jaccard(first: Lyric, second: Lyric) -> float:
    """Shared words divided by all distinct words, 0 to 1; 0 where neither lyric has a word."""
    union = len(first.vocabulary | second.vocabulary)
    return shared_words(first, second) / union if union else 0.0


TEXT_FEATURES: Mapping[str, TextFeature] = {
    "words_shorter": TextFeature("words of the shorter lyric", lambda a, b: float(min(a.words, b.words))),
    "words_longer": TextFeature("words of the longer lyric", lambda a, b: float(max(a.words, b.words))),
    "words_total": TextFeature("words of both lyrics", lambda a, b: float(a.words + b.words)),
    "words_difference": TextFeature(
        "difference of the two lengths in words", lambda a, b: float(abs(a.words - b.words))
    ),
    "shared_words": TextFeature("distinct words that both lyrics have", shared_words),
    "jaccard": TextFeature("shared words divided by all distinct words", jaccard),
    "lines_fewer": TextFeature("lines of the lyric with fewer", lambda a, b: float(min(a.lines, b.lines))),
    "lines_more": TextFeature("lines of the lyric with more", lambda a, b: float(max(a.lines, b.lines))),
}
VECTOR_FEATURES: Mapping[str, str] = {
    "tfidf_cosine": "cosine of TF-IDF word vectors; document frequencies from the training lyrics",
    "character_cosine": "cosine of TF-IDF vectors of 3 to 5 characters inside words; likewise",
    "encoder_cosine": "cosine of the vectors of an encoder that was not trained here",
}
FEATURES = (*TEXT_FEATURES, *VECTOR_FEATURES)
LENGTHS = ("words_shorter", "words_longer", "words_total", "words_difference")
#: What the lexical scorer uses: nothing that keeps a word of any lyric.
LEXICAL = ("words_shorter", "words_longer", "shared_words", "jaccard", "lines_fewer", "lines_more")


def text_columns(names: Sequence[str], pairs: Sequence[LyricPair]) -> np.ndarray:
    """Values of text-free features.

    Args:
        names: keys of ``TEXT_FEATURES``.
        pairs: the two lyrics of each pair.

    Returns:
        Shape (pairs, names), float64.
    """
    kinds = [TEXT_FEATURES[name].compute for name in names]
    rows = [[kind(read_lyric(first), read_lyric(second)) for kind in kinds] for first, second in pairs]
    return np.array(rows, dtype=np.float64).reshape(len(pairs), len(names))


def fit_columns(names: Sequence[str], training: Sequence[LyricPair], embed: Embed | None = None) -> Columns:
    """Learn what the features need from the training lyrics alone.

    Args:
        names: keys of ``FEATURES``, each once.
        training: the two lyrics of each training pair.
        embed: texts to vectors, shape (texts, dimensions); needed for ``encoder_cosine`` only.

    Returns:
        A function from pairs to an array of shape (pairs, names).

    Raises:
        UserError: an unknown feature, or ``encoder_cosine`` without an encoder.
    """
    _check_names(names, embed)
    texts = sorted({text for pair in training for text in pair})
    vectorisers = {name: _vectoriser(name, texts, embed) for name in names if name in VECTOR_FEATURES}

    def columns(pairs: Sequence[LyricPair]) -> np.ndarray:
        table = np.empty((len(pairs), len(names)))
        for position, name in enumerate(names):
            kind = vectorisers.get(name)
            table[:, position] = cosines(kind, pairs) if kind else text_columns([name], pairs)[:, 0]
        return table

    return columns


def _check_names(names: Sequence[str], embed: Embed | None) -> None:
    if unknown := [name for name in names if name not in FEATURES]:
        raise UserError(f"unknown features: {', '.join(unknown)}", ", ".join(FEATURES), "choose among these")
    if "encoder_cosine" in names and embed is None:
        raise UserError("encoder_cosine without an encoder", "an encoder", "name one with --encoder")


def _vectoriser(name: str, texts: Sequence[str], embed: Embed | None) -> Embed:
    if name == "encoder_cosine" and embed is not None:
        return embed
    from sklearn.feature_extraction.text import TfidfVectorizer

    options: dict[str, Any] = (
        {"token_pattern": _WORD.pattern}
        if name == "tfidf_cosine"
        else {"analyzer": "char_wb", "ngram_range": (3, 5)}
    )
    return TfidfVectorizer(**options).fit(texts).transform


def cosines(vectors_of: Embed, pairs: Sequence[LyricPair]) -> np.ndarray:
    """Cosine between the two lyrics of each pair, each distinct lyric turned into a vector once.

    Args:
        vectors_of: texts to vectors, dense or sparse, shape (texts, dimensions).
        pairs: the two lyrics of each pair.

    Returns:
        Shape (pairs,), in [-1, 1]; 0 where a lyric has a zero vector (no known word).
    """
    texts = sorted({text for pair in pairs for text in pair})
    place = {text: position for position, text in enumerate(texts)}
    if not texts:
        return np.empty(0)
    unit = unit_rows(vectors_of(texts))
    first, second = (unit[[place[pair[side]] for pair in pairs]] for side in (0, 1))
    product = first.multiply(second) if hasattr(first, "multiply") else first * second
    return np.asarray(product.sum(axis=1), dtype=np.float64).ravel()


def unit_rows(vectors: Any) -> Any:
    """Rows of length 1, dense ones in double precision; a zero row stays zero."""
    from sklearn.preprocessing import normalize

    return normalize(vectors if hasattr(vectors, "multiply") else np.asarray(vectors, dtype=np.float64))
