import itertools
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from song_files import invented_lyrics

from lyricsim_annotation.candidates import (
    all_pairs,
    decode,
    draw_codes,
    encode,
    every_pair,
    forbidden_pairs,
    recalled_pairs,
)
from lyricsim_annotation.catalogue import Catalogue
from lyricsim_annotation.catalogue_scorers import CatalogueScorer, ScorerOptions, stretch
from lyricsim_annotation.recall import neighbours, text_vectors, word_vectors
from lyricsim_annotation.records import SongText
from lyricsim_models.lexical import default_lexical_scorer
from lyricsim_models.tiny import write_tiny_model
from lyricsim_tools.errors import UserError


def catalogue_of(lyrics):
    return Catalogue(tuple(SongText(song, "", "", lyric) for song, lyric in sorted(lyrics.items())))


def codes_of(vectors, count, **options):
    return np.unique(
        np.concatenate([encode(*found, len(vectors)) for found in neighbours(vectors, count, **options)])
    )


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(
        write_tiny_model(tmp_path_factory.mktemp("tiny") / "encoder", list(invented_lyrics().values()))
    )


@given(st.integers(2, 50), st.data())
def test_a_code_names_a_pair_whichever_song_comes_first(songs, data):
    first, second = data.draw(st.lists(st.integers(0, songs - 1), min_size=2, max_size=2, unique=True))
    sides = np.array([first]), np.array([second])
    assert encode(*sides, songs) == encode(*sides[::-1], songs)
    assert [int(side[0]) for side in decode(encode(*sides, songs), songs)] == sorted([first, second])


@given(st.integers(2, 40), st.integers(1, 300), st.integers(0, 3))
def test_drawn_pairs_are_different_and_never_of_a_song_with_itself(songs, count, seed):
    codes = draw_codes(songs, count, np.random.default_rng(seed))
    first, second = decode(codes, songs)
    assert len(np.unique(codes)) == len(codes) <= count
    assert (first < second).all()


def test_every_pair_is_drawn_equally_often():
    codes = np.concatenate([draw_codes(5, 2, np.random.default_rng(seed)) for seed in range(2000)])
    _, counts = np.unique(codes, return_counts=True)
    assert len(counts) == all_pairs(5)
    assert counts.max() < 1.25 * counts.min()


def test_rated_pairs_in_either_order_and_identical_texts_are_left_out():
    lyrics = {"a": "Una  casa", "b": "otra cosa", "c": "una\ncasa", "d": "mar"}
    forbidden = forbidden_pairs(catalogue_of(lyrics), [("b", "a"), ("d", "unknown")])
    first, second = decode(every_pair(forbidden).codes, 4)
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == {(0, 3), (1, 2), (1, 3), (2, 3)}
    assert (len(forbidden.rated), forbidden.identical) == (1, 1)


@pytest.mark.parametrize("budget", [60, 200, 500])
def test_recall_keeps_to_its_budget_and_to_what_is_allowed(budget):
    catalogue = catalogue_of(invented_lyrics(60))
    rated = list(itertools.combinations([song.song_id for song in catalogue.songs], 2))[::3]
    forbidden = forbidden_pairs(catalogue, rated)
    vectors = word_vectors([song.lyric for song in catalogue.songs])
    recalled = recalled_pairs(vectors, forbidden, budget, seed=0)
    assert forbidden.allows(recalled.codes).all()
    assert len(np.unique(recalled.codes)) == len(recalled.codes) <= budget
    assert recalled.counts["neighbours_kept"] + recalled.counts["drawn_kept"] == len(recalled.codes)
    assert recalled.codes.tolist() == recalled_pairs(vectors, forbidden, budget, seed=0).codes.tolist()


def test_a_twentieth_of_all_pairs_holds_nearly_all_of_the_most_similar_ones():
    catalogue = catalogue_of(invented_lyrics(300))
    scorer = CatalogueScorer([song.lyric for song in catalogue.songs], ScorerOptions("lexical"))
    forbidden = forbidden_pairs(catalogue, [])
    codes = every_pair(forbidden).codes
    best = codes[np.argsort(-scorer(codes))[:50]]
    found = recalled_pairs(scorer.recall_vectors, forbidden, len(codes) // 20, seed=0)
    assert np.isin(best, found.codes).mean() > 0.9
    assert found.counts["drawn_kept"] > 0


def test_the_graph_finds_nearly_all_exact_neighbours_and_the_same_ones_again():
    vectors = word_vectors(list(invented_lyrics(1200).values()))
    exact = codes_of(vectors, 10)
    graph = codes_of(vectors, 10, exact_songs=0)
    assert np.isin(exact, graph).mean() > 0.95
    assert graph.tolist() == codes_of(vectors, 10, exact_songs=0).tolist()


def test_a_song_is_not_its_own_neighbour():
    vectors = word_vectors(list(invented_lyrics(12).values()))
    for limit in (100, 0):
        assert all((songs != others).all() for songs, others in neighbours(vectors, 30, exact_songs=limit))


def test_a_large_catalogue_without_usearch_is_refused_with_the_package_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    with pytest.raises(UserError, match=r"usearch(.|\n)*pip install 'lyricsim\[ranking\]'"):
        list(neighbours(np.eye(4, dtype=np.float32), 2, exact_songs=3))


def test_word_vectors_follow_the_shared_words_and_are_zero_where_there_are_none():
    vectors = word_vectors(["mar sol luna", "mar sol luna noche", "calle voz", "calle fuego"])
    products = vectors @ vectors.T
    assert products[0, 1] > products[2, 3] > products[0, 2] - 1e-6
    assert not word_vectors(["uno", "dos", "tres"]).any()


def test_vectors_that_are_not_finite_are_refused():
    with pytest.raises(UserError, match="not finite"):
        text_vectors(lambda texts: np.full((len(texts), 2), np.nan), ["uno", "dos"])


def test_the_lexical_scorer_gives_its_own_scores():
    lyrics = list(invented_lyrics(6).values())
    scorer = CatalogueScorer(lyrics, ScorerOptions("lexical"))
    codes = encode(np.array([0, 2]), np.array([1, 5]), 6)
    expected = default_lexical_scorer().score([(lyrics[0], lyrics[1]), (lyrics[2], lyrics[5])])
    assert scorer(codes) == pytest.approx(expected)
    assert scorer.recall_model == "words"
    assert scorer.identity["model"] == "lexical"


def test_an_untrained_encoder_is_spread_over_the_scale_and_recalls_by_its_own_vectors(encoder):
    lyrics = list(invented_lyrics(30).values())
    lyrics[1] = lyrics[0]
    scorer = CatalogueScorer(lyrics, ScorerOptions(encoder))
    codes = every_pair(forbidden_pairs(catalogue_of(invented_lyrics(30)), [])).codes
    scores = scorer(codes)
    assert scorer.recall_model == encoder
    assert scores[codes == encode(np.array([0]), np.array([1]), 30)] == pytest.approx(5, abs=1e-3)
    assert np.quantile(scores, 0.05) == pytest.approx(0, abs=0.2)
    assert scorer.identity["score_from_cosine"]["from"] == "the catalogue's cosines"


def test_a_trained_bi_encoder_scores_by_its_own_line(encoder, tmp_path):
    from transformers import AutoModel, AutoTokenizer

    from lyricsim_models.sentence_folder import write_sentence_files

    for part in (AutoModel, AutoTokenizer):
        part.from_pretrained(encoder).save_pretrained(tmp_path)
    write_sentence_files(tmp_path, width=32, pooling="mean", prompt="", max_length=64, line=(2.0, 0.5))
    lyrics = list(invented_lyrics(5).values())
    scorer = CatalogueScorer(lyrics, ScorerOptions(str(tmp_path)))
    vectors = scorer.recall_vectors.astype(np.float64)
    assert scorer(encode(np.array([1]), np.array([4]), 5)) == pytest.approx(2 * vectors[1] @ vectors[4] + 0.5)
    assert scorer.identity["score_from_cosine"]["from"] == "the model"


def test_a_cross_encoder_scores_pairs_and_an_encoder_recalls_for_it(encoder, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=1)
    model.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(encoder).save_pretrained(tmp_path)
    lyrics = list(invented_lyrics(5).values())
    scorer = CatalogueScorer(lyrics, ScorerOptions(str(tmp_path), recall=encoder))
    assert scorer(every_pair(forbidden_pairs(catalogue_of(invented_lyrics(5)), [])).codes).shape == (10,)
    assert scorer.recall_vectors.shape == (5, 32)
    assert CatalogueScorer(lyrics, ScorerOptions(str(tmp_path))).recall_model == "words"


def test_cosines_of_random_pairs_become_the_low_end_and_one_the_high_end():
    slope, intercept = stretch(np.linspace(0.8, 0.9, 101))
    assert slope * 0.805 + intercept == pytest.approx(0)
    assert slope + intercept == pytest.approx(5)


def test_an_encoder_that_gives_all_songs_one_vector_is_refused():
    with pytest.raises(UserError, match="nearly all songs one vector"):
        stretch(np.ones(10))


def test_a_model_that_cannot_be_loaded_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"cannot be loaded(.|\n)*a registry name"):
        CatalogueScorer(["uno", "dos"], ScorerOptions(str(tmp_path)))
