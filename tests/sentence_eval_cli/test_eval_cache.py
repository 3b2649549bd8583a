"""Kept vectors and finished tasks come back as they were, or not at all."""

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.cache import ResultCache, VectorStore, digest_of, sentence_key
from spanish_sentence_eval.embedding import StoredEncoder
from spanish_sentence_eval.encoders import build_encoder

WORDS = [[f"palabra{i}"] for i in range(7)]


class CountingEncoder:
    """Characters, with a list of every batch that was asked for."""

    def __init__(self):
        self.inner = build_encoder("chars64")
        self.identity = self.inner.identity
        self.batches = []

    def encode(self, sentences):
        self.batches.append([list(tokens) for tokens in sentences])
        return self.inner.encode(sentences)


def filled(folder):
    store = VectorStore(folder)
    keys = [sentence_key(tokens) for tokens in WORDS]
    store.add(keys[:4], np.arange(12, dtype=np.float32).reshape(4, 3))
    store.add(keys[4:], np.arange(12, 21, dtype=np.float32).reshape(3, 3))
    return keys


def test_vectors_come_back_from_disk_in_any_order(tmp_path):
    keys = filled(tmp_path)
    again = VectorStore(tmp_path)
    assert len(again) == 7
    np.testing.assert_array_equal(again.rows(keys[::-1]), np.arange(21, dtype=np.float32).reshape(7, 3)[::-1])


@given(st.data())
def test_a_damaged_shard_is_never_read(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("store")
    filled(folder)
    shard = sorted(folder.glob("*.vectors"))[data.draw(st.integers(0, 1))]
    content = bytearray(shard.read_bytes())
    position = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans()):
        content[position] ^= data.draw(st.integers(1, 255))
    else:
        del content[position:]
    shard.write_bytes(bytes(content))
    again = VectorStore(folder)
    known = [tokens for tokens in WORDS if sentence_key(tokens) in again]
    for tokens in known:
        row = again.rows([sentence_key(tokens)])[0]
        np.testing.assert_array_equal(row, 3 * WORDS.index(tokens) + np.arange(3))
    assert len(known) == len(again)
    # A changed letter of the first line's key names may leave the content untouched; else one shard is gone.
    assert len(known) in (3, 4, 7)


def test_damage_is_reported_and_the_sentences_are_encoded_again(tmp_path, caplog):
    encoder = CountingEncoder()
    before = StoredEncoder(encoder, VectorStore(tmp_path), quiet=True).encode(WORDS)
    [shard] = tmp_path.glob("*.vectors")
    shard.write_bytes(shard.read_bytes()[:-1])
    with caplog.at_level(logging.WARNING):
        after = StoredEncoder(encoder, VectorStore(tmp_path), quiet=True).encode(WORDS)
    assert "damaged" in caplog.text
    assert len(encoder.batches) == 2
    np.testing.assert_array_equal(before, after)


def test_each_distinct_sentence_is_encoded_once_in_order_of_length():
    encoder = CountingEncoder()
    stored = StoredEncoder(encoder, VectorStore(None), quiet=True)
    sentences = [["b" * 9], ["a"], ["b" * 9], ["ccc"], ["a"]]
    vectors = stored.encode(sentences)
    np.testing.assert_array_equal(vectors, encoder.inner.encode(sentences))
    assert encoder.batches == [[["a"], ["ccc"], ["b" * 9]]]
    np.testing.assert_array_equal(stored.batcher(None, sentences[:2]), vectors[:2])
    assert len(encoder.batches) == 1
    assert (stored.counts.asked, stored.counts.encoded) == (7, 3)


def test_a_second_run_encodes_only_what_is_new(tmp_path):
    encoder = CountingEncoder()
    StoredEncoder(encoder, VectorStore(tmp_path), quiet=True).encode(WORDS)
    StoredEncoder(encoder, VectorStore(tmp_path), quiet=True).encode([*WORDS, ["nueva"]])
    assert encoder.batches[1:] == [[["nueva"]]]


def test_what_another_run_encodes_meanwhile_is_not_encoded_again(tmp_path):
    encoder, other = CountingEncoder(), CountingEncoder()
    stored = StoredEncoder(encoder, VectorStore(tmp_path), quiet=True)
    StoredEncoder(other, VectorStore(tmp_path), quiet=True).encode(WORDS)
    np.testing.assert_array_equal(stored.encode(WORDS), other.inner.encode(WORDS))
    assert encoder.batches == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda n: np.zeros((n + 1, 3)), "shape \\(8, 3\\) for 7 sentences"),
        (lambda n: np.zeros(n), "shape \\(7,\\) for 7 sentences"),
        (lambda n: np.full((n, 3), np.nan), "not finite for 7 sentences"),
    ],
)
def test_an_encoder_that_answers_wrongly_is_refused_and_nothing_is_kept(tmp_path, answer, message):
    encoder = CountingEncoder()
    encoder.encode = lambda sentences: answer(len(sentences))
    with pytest.raises(UserError, match=message):
        StoredEncoder(encoder, VectorStore(tmp_path), quiet=True).encode(WORDS)
    assert not list(tmp_path.iterdir())


def test_a_finished_task_is_found_by_its_key_alone(tmp_path):
    cache = ResultCache(tmp_path)
    cache.put({"task": "A", "seed": 1}, {"acc": 50.0})
    assert cache.get({"seed": 1, "task": "A"}) == {"acc": 50.0}
    assert cache.get({"task": "A", "seed": 2}) is None
    assert ResultCache(None).get({"task": "A", "seed": 1}) is None


def test_a_damaged_result_is_reported_and_not_used(tmp_path, caplog):
    cache = ResultCache(tmp_path)
    cache.put({"task": "A"}, {"acc": 50.0})
    [path] = tmp_path.iterdir()
    path.write_text(path.read_text().replace("50.0", "60.0"))
    assert cache.get({"task": "A"}) is None
    path.write_text("{")
    assert cache.get({"task": "A"}) is None
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]


def test_digests_do_not_depend_on_the_order_of_keys():
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    assert digest_of({"a": 1}) != digest_of({"a": 2})
