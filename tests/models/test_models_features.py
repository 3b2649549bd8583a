import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_models.features import (
    FEATURES,
    LEXICAL,
    TEXT_FEATURES,
    cosines,
    fit_columns,
    read_lyric,
    text_columns,
)
from lyricsim_tools.errors import UserError

SEA = "El mar me llama,\nel mar me espera.\n\nVoy hacia el mar"
WIND = "Viento del MAR,\nllévame lejos"
TEXTS = st.text(alphabet="abcñáé ,.\n¿MAR", max_size=40)


def test_counts_of_a_known_pair():
    values = dict(zip(TEXT_FEATURES, text_columns(tuple(TEXT_FEATURES), [(SEA, WIND)])[0], strict=True))
    assert values == {
        "words_shorter": 5,
        "words_longer": 12,
        "words_total": 17,
        "words_difference": 7,
        "shared_words": 1,
        "jaccard": 1 / 11,
        "lines_fewer": 2,
        "lines_more": 3,
    }


def test_accents_case_and_composition_are_treated_as_one_word():
    assert read_lyric("Canción").vocabulary == read_lyric("CANCIÓN,").vocabulary
    assert read_lyric("canci" + "o\N{COMBINING ACUTE ACCENT}n").vocabulary == read_lyric("canción").vocabulary
    assert read_lyric("cancion").vocabulary != read_lyric("canción").vocabulary


@given(TEXTS, TEXTS)
def test_text_features_do_not_depend_on_the_order_of_the_two_lyrics(first, second):
    names = tuple(TEXT_FEATURES)
    assert np.array_equal(text_columns(names, [(first, second)]), text_columns(names, [(second, first)]))


@given(TEXTS, TEXTS)
def test_text_features_are_finite_and_overlaps_are_bounded(first, second):
    values = dict(zip(TEXT_FEATURES, text_columns(tuple(TEXT_FEATURES), [(first, second)])[0], strict=True))
    assert all(np.isfinite(v) and v >= 0 for v in values.values())
    assert values["jaccard"] <= 1
    assert values["words_total"] == values["words_shorter"] + values["words_longer"]


@given(st.lists(st.tuples(TEXTS, TEXTS), max_size=5))
def test_a_pair_has_the_same_values_alone_and_among_others(pairs):
    table = text_columns(LEXICAL, pairs)
    assert table.shape == (len(pairs), len(LEXICAL))
    for row, pair in zip(table, pairs, strict=True):
        assert np.array_equal(row, text_columns(LEXICAL, [pair])[0])


def test_cosines_are_one_for_equal_lyrics_and_zero_without_common_words():
    columns = fit_columns(["tfidf_cosine", "character_cosine"], [(SEA, WIND)])
    table = columns([(SEA, SEA), (WIND, "xyz qqq"), (SEA, WIND)])
    assert table[0] == pytest.approx([1, 1])
    assert table[1] == pytest.approx([0, 0])
    assert (table[2] > 0).all()
    assert (table[2] < 1).all()


def test_document_frequencies_come_from_the_training_lyrics_alone():
    pairs = [(SEA, WIND), ("uno dos", "dos tres")]
    columns = fit_columns(["tfidf_cosine"], pairs)
    assert columns(pairs)[:1] == pytest.approx(columns([*pairs, ("mar mar mar", "mar")])[:1])
    other = fit_columns(["tfidf_cosine"], [*pairs, ("mar", "mar y sol")])
    assert other(pairs)[0, 0] != pytest.approx(columns(pairs)[0, 0])


def test_an_encoders_cosine_embeds_each_distinct_lyric_once():
    seen = []

    def embed(texts):
        seen.extend(texts)
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    values = cosines(embed, [("a", "bb"), ("bb", "a"), ("a", "a")])
    assert sorted(seen) == ["a", "bb"]
    assert values == pytest.approx([3 / np.sqrt(10), 3 / np.sqrt(10), 1])
    assert values.dtype == np.float64


def test_no_pairs_give_an_empty_table():
    assert fit_columns(list(FEATURES), [(SEA, WIND)], embed=lambda texts: np.ones((len(texts), 2)))(
        []
    ).shape == (
        0,
        len(FEATURES),
    )


def test_an_unknown_feature_is_refused_and_the_known_ones_named():
    with pytest.raises(UserError, match="unknown features: rhyme") as error:
        fit_columns(["rhyme"], [(SEA, WIND)])
    assert "shared_words" in error.value.expected


def test_an_encoder_feature_without_an_encoder_is_refused():
    with pytest.raises(UserError, match="encoder_cosine without an encoder"):
        fit_columns(["encoder_cosine"], [(SEA, WIND)])


def test_importing_features_and_baselines_imports_neither_torch_nor_scikit_learn():
    code = (
        "import sys, lyricsim_models.features, lyricsim_models.baselines, lyricsim_models.lexical\n"
        "sys.exit(any(name in sys.modules for name in ('torch', 'sklearn', 'transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
