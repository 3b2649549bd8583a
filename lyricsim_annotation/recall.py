"""Which pairs of a large catalogue may be similar, without looking at all of them.

Every song gets a vector; the songs with the largest inner products are its neighbours. The vectors are an
encoder's, or, where no encoder is asked for, *word vectors*: which words a lyric has, scaled between counting
shared words and their share, reduced to a few dimensions. Up to ``EXACT_SONGS`` songs the neighbours are
exact; above, a graph finds nearly all of them in a time that grows little faster than the catalogue.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from lyricsim_models.features import read_lyric
from lyricsim_models.nearest import empty_graph
from lyricsim_tools.errors import UserError

#: Up to here matrix products find the neighbours exactly.
EXACT_SONGS = 10_000
WIDTH = 64
_BLOCK = 512
_TEXTS = 64
_EXPANSION = 128
# A song's vector divided by its number of words to this power: at 0, songs with many words are everybody's
# neighbours; at 1/2, short songs are. Half way agrees best with the lexical scorer.
_SCALING = 0.25


def word_vectors(lyrics: Sequence[str], seed: int = 0, width: int = WIDTH) -> np.ndarray:
    """Vectors whose inner products tell how many words two lyrics share, approximately.

    Args:
        lyrics: n texts.
        seed: of the reduction.
        width: dimensions kept.

    Returns:
        Shape (n, at most width), float32; all zero where no two lyrics share a word.
    """
    from sklearn.decomposition import TruncatedSVD

    presence = _shared_word_presence(lyrics)
    kept = min(width, min(presence.shape) - 1)
    if kept < 1:
        return np.zeros((len(lyrics), 1), dtype=np.float32)
    reduction = TruncatedSVD(kept, random_state=seed, n_iter=4)
    return np.asarray(reduction.fit_transform(presence), dtype=np.float32)


def _shared_word_presence(lyrics: Sequence[str]) -> Any:
    """A row for each lyric, a column for each word of two lyrics or more: any other word says nothing."""
    from scipy.sparse import csr_array

    places: dict[str, int] = {}
    columns: list[np.ndarray] = []
    for lyric in _bar(lyrics, "reading words"):
        # Sorted: the order of a set differs from run to run.
        words = sorted(read_lyric(lyric).vocabulary)
        columns.append(np.array([places.setdefault(word, len(places)) for word in words], dtype=np.int32))
    sizes = np.array([len(own) for own in columns])
    values = np.repeat((np.maximum(sizes, 1) ** -_SCALING).astype(np.float32), sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    table = csr_array((values, np.concatenate(columns), starts), shape=(len(lyrics), max(1, len(places))))
    return table[:, np.flatnonzero(np.bincount(table.indices, minlength=table.shape[1]) > 1)]


def text_vectors(embed: Callable[[Sequence[str]], np.ndarray], lyrics: Sequence[str]) -> np.ndarray:
    """Vectors of an encoder, shape (n, width), float32, block by block.

    Raises:
        UserError: a vector is not finite.
    """
    blocks = range(0, len(lyrics), _TEXTS)
    found = [embed(lyrics[start : start + _TEXTS]) for start in _bar(blocks, "embedding songs")]
    vectors = np.concatenate(found).astype(np.float32, copy=False)
    if not np.isfinite(vectors).all():
        raise UserError(
            "the encoder gives vectors that are not finite", "finite vectors", "choose another model"
        )
    return vectors


def neighbours(
    vectors: np.ndarray, count: int, exact_songs: int = EXACT_SONGS
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The songs nearest to each song, block by block of songs.

    Args:
        vectors: shape (n, width), float32.
        count: neighbours of each song, itself not counted.
        exact_songs: above this n the search is approximate.

    Returns:
        Song places and those of their neighbours, both of shape (m,), m up to ``count`` for each song.

    Raises:
        UserError: the catalogue needs the package usearch, which is not installed.
    """
    count = min(count, len(vectors) - 1)
    search = _exact_search(vectors) if len(vectors) <= exact_songs else _graph_search(vectors, count)
    for start in _bar(range(0, len(vectors), _BLOCK), "finding neighbours"):
        block = np.arange(start, min(start + _BLOCK, len(vectors)))
        found = search(block, count)
        songs = np.repeat(block, found.shape[1])
        others = found.ravel()
        other = songs != others
        yield songs[other], others[other]


Search = Callable[[np.ndarray, int], np.ndarray]


def _exact_search(vectors: np.ndarray) -> Search:
    def search(block: np.ndarray, count: int) -> np.ndarray:
        products = vectors[block] @ vectors.T
        products[np.arange(len(block)), block] = -np.inf
        return np.argpartition(-products, count - 1, axis=1)[:, :count]

    return search


def _graph_search(vectors: np.ndarray, count: int) -> Search:
    index = empty_graph(vectors, max(_EXPANSION, 4 * count), EXACT_SONGS)
    for start in _bar(range(0, len(vectors), _BLOCK), "building the graph"):
        block = vectors[start : start + _BLOCK]
        # One thread: with several, the graph would differ from run to run.
        index.add(np.arange(start, start + len(block)), block, threads=1)

    def search(block: np.ndarray, count: int) -> np.ndarray:
        return np.asarray(index.search(vectors[block], count + 1).keys, dtype=np.int64)

    return search


def _bar(steps: Sequence[Any], what: str) -> Any:
    return tqdm(steps, desc=what, delay=2, leave=False)
