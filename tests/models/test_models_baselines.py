import dataclasses
import itertools

import numpy as np
import pytest

from lyricsim_models.baselines import BASELINES, find_baseline, fit_baseline
from lyricsim_models.features import FEATURES
from lyricsim_models.pair_table import PairTable
from lyricsim_tools.errors import UserError

WORDS = [
    "mar",
    "sol",
    "luna",
    "noche",
    "amor",
    "calle",
    "viento",
    "lluvia",
    "camino",
    "voz",
    "sombra",
    "fuego",
]


def table(songs, lyrics, scores):
    ids = tuple(f"{a}_{b}" for a, b in songs)
    first, second = zip(*songs, strict=True)
    return PairTable(ids, first, second, *(tuple(side) for side in zip(*lyrics, strict=True)), scores)


def invented_pairs(songs=12, seed=0):
    """Pairs of bags of words whose score rises with the words they share."""
    random = np.random.default_rng(seed)
    texts = {f"s{i}": " ".join(random.choice(WORDS, size=4 + i)) for i in range(songs)}
    ids = list(itertools.combinations(texts, 2))
    lyrics = [(texts[a], texts[b]) for a, b in ids]
    shared = [len(set(a.split()) & set(b.split())) for a, b in lyrics]
    return table(ids, lyrics, tuple(min(5.0, count / 2) for count in shared))


def embed(texts):
    return np.array([[text.count(word) for word in WORDS] for text in texts], dtype=np.float32)


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_gives_one_finite_prediction_a_pair_in_order(name):
    pairs = invented_pairs()
    predict = fit_baseline(find_baseline(name), pairs.take(range(40)), embed)
    whole = predict(pairs)
    assert whole.shape == (66,)
    assert np.isfinite(whole).all()
    some = [50, 3, 60]
    assert predict(pairs.take(some)) == pytest.approx(whole[some])


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_scores_an_empty_table_with_an_empty_array(name):
    pairs = invented_pairs()
    assert fit_baseline(find_baseline(name), pairs, embed)(pairs.take([])).shape == (0,)


@pytest.mark.parametrize("name", ["svr", "ridge", "lexical", "word-overlap", "jaccard", "tfidf", "zero-shot"])
def test_baselines_that_read_the_text_find_the_words_in_common(name):
    pairs = invented_pairs()
    predict = fit_baseline(find_baseline(name), pairs.take(range(0, 66, 2)), embed)
    rest = pairs.take(range(1, 66, 2))
    assert np.corrcoef(predict(rest), rest.scores)[0, 1] > 0.5


def test_song_identity_reads_no_text_and_says_nothing_of_songs_never_seen():
    pairs = invented_pairs()
    songs = list(zip(pairs.song_ids_1, pairs.song_ids_2, strict=True))
    blind = table(songs, [("", "")] * 66, pairs.scores)
    predict = fit_baseline(find_baseline("song-identity"), blind)
    unseen = predict(table([("x", "y"), ("y", "z")], [("", "")] * 2, None))
    assert unseen[0] == unseen[1]
    assert np.std(predict(blind)) > 0


def test_song_identity_needs_song_ids():
    pairs = PairTable(("1",), None, None, ("a",), ("b",), (1.0,))
    with pytest.raises(UserError, match="pairs without song ids"):
        fit_baseline(find_baseline("song-identity"), pairs)


def test_length_only_sees_nothing_but_lengths():
    pairs = invented_pairs()
    masked = dataclasses.replace(
        pairs,
        lyrics_1=tuple(" ".join("x" for _ in text.split()) for text in pairs.lyrics_1),
        lyrics_2=tuple(" ".join("x" for _ in text.split()) for text in pairs.lyrics_2),
    )
    predict = fit_baseline(find_baseline("length-only"), pairs)
    assert np.array_equal(predict(pairs), predict(masked))


@pytest.mark.parametrize("name", ["zero-shot", "word-overlap", "jaccard", "total-length"])
def test_floors_that_fit_nothing_do_not_look_at_the_scores(name):
    pairs = invented_pairs()
    reversed_scores = dataclasses.replace(pairs, scores=pairs.scores[::-1])
    first, second = (fit_baseline(find_baseline(name), p, embed)(pairs) for p in (pairs, reversed_scores))
    assert np.array_equal(first, second)


def test_every_feature_of_every_baseline_is_documented():
    used = {name for baseline in BASELINES.values() for name in baseline.features}
    assert used - {"song_identity"} <= set(FEATURES)


def test_an_unknown_baseline_is_refused_and_the_known_ones_named():
    with pytest.raises(UserError, match="no baseline called 'svm'") as error:
        find_baseline("svm")
    assert "svr" in error.value.expected


def test_no_training_pair_is_refused():
    with pytest.raises(UserError, match="no training pair"):
        fit_baseline(find_baseline("svr"), invented_pairs().take([]))


def test_a_zero_shot_baseline_without_an_encoder_is_refused():
    with pytest.raises(UserError, match="--encoder"):
        fit_baseline(find_baseline("zero-shot"), invented_pairs())
