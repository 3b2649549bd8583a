import sys

import numpy as np
import pytest

from lyricsim_models.embedding_cache import EmbeddingCache
from lyricsim_models.nearest import nearest
from lyricsim_tools.errors import UserError


def unit_rows(count, width=16, seed=0):
    rows = np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_nearest_are_those_with_the_largest_cosine_in_order():
    vectors, queries = unit_rows(50), unit_rows(3, seed=1)
    rows, cosines = nearest(vectors, queries, 5)
    for query, own, found in zip(queries, rows, cosines, strict=True):
        expected = np.argsort(-(vectors @ query), kind="stable")[:5]
        assert own.tolist() == expected.tolist()
        assert found == pytest.approx(vectors[expected] @ query)


def test_a_catalogue_smaller_than_asked_is_returned_whole():
    rows, cosines = nearest(unit_rows(3), unit_rows(2, seed=1), 10)
    assert rows.shape == cosines.shape == (2, 3)
    assert sorted(rows[0]) == [0, 1, 2]


def test_equal_songs_keep_the_catalogues_order():
    vectors = np.repeat(unit_rows(1), 6, axis=0)
    assert nearest(vectors, vectors[:1], 4)[0].tolist() == [[0, 1, 2, 3]]


def test_the_graph_search_finds_what_the_exact_search_finds():
    vectors, queries = unit_rows(2000), unit_rows(20, seed=1)
    exact, _ = nearest(vectors, queries, 10)
    graph, cosines = nearest(vectors, queries, 10, exact_limit=100)
    common = [len(set(a) & set(b)) for a, b in zip(exact, graph, strict=True)]
    assert np.mean(common) >= 9.5
    assert (np.diff(cosines, axis=1) <= 1e-6).all()


def test_without_its_package_a_large_catalogue_is_refused_and_a_small_one_ranked(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    vectors = unit_rows(20)
    assert nearest(vectors, vectors[:1], 3)[0][0, 0] == 0
    with pytest.raises(UserError, match="pip install usearch"):
        nearest(vectors, vectors[:1], 3, exact_limit=10)


def test_each_text_is_encoded_once_and_the_oldest_are_forgotten():
    seen = []

    def embed(texts):
        seen.append(list(texts))
        return np.array([[len(text)] for text in texts], dtype=float)

    cache = EmbeddingCache(embed, limit=2)
    assert cache(["aa", "b", "aa"]).ravel().tolist() == [2, 1, 2]
    assert cache(["b", "ccc"]).ravel().tolist() == [1, 3]
    assert cache(["b", "aa"]).ravel().tolist() == [1, 2]
    assert seen == [["aa", "b"], ["ccc"], ["aa"]]
