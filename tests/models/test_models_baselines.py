import itertools

import numpy as np
import pytest

from lyricsim_models.baselines import BASELINES, Examples, find_baseline, fit_baseline
from lyricsim_models.features import FEATURES
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


def invented_examples(songs=12, seed=0):
    """Pairs of bags of words whose score rises with the words they share."""
    random = np.random.default_rng(seed)
    texts = {f"s{i}": " ".join(random.choice(WORDS, size=4 + i)) for i in range(songs)}
    ids = list(itertools.combinations(texts, 2))
    lyrics = [(texts[a], texts[b]) for a, b in ids]
    shared = np.array([len(set(a.split()) & set(b.split())) for a, b in lyrics], dtype=float)
    return Examples(ids, lyrics, np.clip(shared / 2, 0, 5))


def embed(texts):
    return np.array([[text.count(word) for word in WORDS] for text in texts], dtype=np.float32)


def take(examples, rows):
    return Examples(
        [examples.songs[i] for i in rows], [examples.lyrics[i] for i in rows], examples.scores[rows]
    )


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_gives_one_finite_prediction_a_pair_in_order(name):
    examples = invented_examples()
    predict = fit_baseline(find_baseline(name), take(examples, np.arange(40)), embed)
    whole = predict(examples)
    assert whole.shape == (66,)
    assert np.isfinite(whole).all()
    some = np.array([50, 3, 60])
    assert predict(take(examples, some)) == pytest.approx(whole[some])


@pytest.mark.parametrize("name", BASELINES)
def test_a_baseline_scores_an_empty_split_with_an_empty_array(name):
    examples = invented_examples()
    assert fit_baseline(find_baseline(name), examples, embed)(take(examples, np.array([], int))).shape == (0,)


@pytest.mark.parametrize("name", ["svr", "ridge", "lexical", "word-overlap", "jaccard", "tfidf", "zero-shot"])
def test_baselines_that_read_the_text_find_the_words_in_common(name):
    examples = invented_examples()
    predict = fit_baseline(find_baseline(name), take(examples, np.arange(0, 66, 2)), embed)
    rest = take(examples, np.arange(1, 66, 2))
    assert np.corrcoef(predict(rest), rest.scores)[0, 1] > 0.5


def test_song_identity_reads_no_text_and_says_nothing_of_songs_never_seen():
    examples = invented_examples()
    blind = Examples(examples.songs, [("", "")] * 66, examples.scores)
    predict = fit_baseline(find_baseline("song-identity"), blind)
    unseen = predict(Examples([("x", "y"), ("y", "z")], [("", "")] * 2, np.empty(0)))
    assert unseen[0] == unseen[1]
    assert np.std(predict(blind)) > 0


def test_length_only_sees_nothing_but_lengths():
    examples = invented_examples()
    masked = [tuple(" ".join("x" for _ in text.split()) for text in pair) for pair in examples.lyrics]
    predict = fit_baseline(find_baseline("length-only"), examples)
    assert np.array_equal(predict(examples), predict(Examples(examples.songs, masked, examples.scores)))


@pytest.mark.parametrize("name", ["zero-shot", "word-overlap", "jaccard", "total-length"])
def test_floors_that_fit_nothing_do_not_look_at_the_scores(name):
    examples = invented_examples()
    shuffled = Examples(examples.songs, examples.lyrics, examples.scores[::-1])
    first, second = (fit_baseline(find_baseline(name), e, embed)(examples) for e in (examples, shuffled))
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
        fit_baseline(find_baseline("svr"), Examples([], [], np.empty(0)))


def test_a_zero_shot_baseline_without_an_encoder_is_refused():
    with pytest.raises(UserError, match="--encoder"):
        fit_baseline(find_baseline("zero-shot"), invented_examples())
