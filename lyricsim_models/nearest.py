"""Nearest neighbours among unit vectors: exact where that is fast, by a graph where it is not."""

from typing import Any

import numpy as np

from lyricsim_tools.errors import UserError

#: Up to here a matrix product answers exactly in a fraction of a second.
EXACT_LIMIT = 200_000
# Of the graph: more is slower and misses less. Its answers are scored again exactly.
_EXPANSION_SEARCH = 256
_OVERSAMPLING = 2


def nearest(
    vectors: np.ndarray, queries: np.ndarray, count: int, exact_limit: int = EXACT_LIMIT
) -> tuple[np.ndarray, np.ndarray]:
    """The vectors with the largest cosine to each query.

    Args:
        vectors: unit rows, shape (n, width), float32.
        queries: unit rows, shape (q, width).
        count: how many to find; fewer if there are fewer.
        exact_limit: above this n the search is approximate.

    Returns:
        Row numbers and cosines, each of shape (q, min(count, n)), largest first; ties by row number.
    """
    count = min(count, len(vectors))
    candidates = None if len(vectors) <= exact_limit else _graph_search(vectors, queries, count)
    rows = np.empty((len(queries), count), dtype=np.int64)
    found = np.empty((len(queries), count), dtype=np.float32)
    for place, query in enumerate(queries):
        own = np.arange(len(vectors)) if candidates is None else np.sort(candidates[place])
        similarity = vectors[own] @ query if candidates is not None else vectors @ query
        # Equal rows may differ in the last bit of a matrix product.
        best = np.argsort(-similarity.round(6), kind="stable")[:count]
        rows[place], found[place] = own[best], similarity[best]
    return rows, found


def empty_graph(vectors: np.ndarray, expansion: int, exact_limit: int) -> Any:
    """A usearch index by inner product, to which rows of ``vectors`` can be added.

    Args:
        vectors: shape (n, width), float32.
        expansion: of a search: more is slower and misses less.
        exact_limit: up to this n no graph is needed, for the message.

    Raises:
        UserError: usearch is not installed.
    """
    try:
        from usearch.index import Index
    except ImportError as error:
        raise UserError(
            f"a catalogue of {len(vectors)} songs without the package usearch",
            f"usearch, above {exact_limit} songs",
            "pip install 'lyricsim[ranking]' (or pip install usearch)",
        ) from error
    return Index(ndim=vectors.shape[1], metric="ip", dtype="f32", expansion_search=expansion)


def _graph_search(vectors: np.ndarray, queries: np.ndarray, count: int) -> np.ndarray:
    index = empty_graph(vectors, max(_EXPANSION_SEARCH, 2 * count), EXACT_LIMIT)
    index.add(np.arange(len(vectors)), vectors)
    wanted = min(_OVERSAMPLING * count, len(vectors))
    return np.stack([np.asarray(index.search(query, wanted).keys, dtype=np.int64) for query in queries])
