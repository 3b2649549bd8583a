import sys

import pytest

from lyricsim_demo.__main__ import main
from lyricsim_demo.answers import compare, first_line, rank, split_lyrics
from lyricsim_demo.page import build_page, show_ranking, show_verdict, shown
from lyricsim_tools.errors import UserError


def shared_words(first, second):
    """Five times the share of the first lyric's words that the second has."""
    pairs = [(set(a.split()), set(b.split())) for a, b in zip(first, second, strict=True)]
    return [5 * len(a & b) / len(a) for a, b in pairs]


@pytest.mark.parametrize(
    ("score", "words"),
    [
        (-0.4, "Completamente diferente"),
        (0.49, "Completamente diferente"),
        (0.5, "Apenas existe similitud"),
        (2.5, "Similitud básica"),
        (4.49, "Similitud notable / faltan detalles"),
        (5.7, "Similitud sobresaliente"),
    ],
)
def test_a_score_gets_the_words_of_the_nearest_step_of_the_scale(score, words):
    verdict = compare(lambda first, second: [score], "a", "b")
    assert verdict.step.spanish == words
    assert words in show_verdict(verdict)
    assert f"{score:.2f}".replace(".", ",") in show_verdict(verdict)


def test_a_list_is_ranked_with_the_most_alike_first_and_equals_in_their_order():
    ranked = rank(
        shared_words, "uno dos tres", "nada\n---\nuno dos\nverso\n  ---  \notra cosa\n-----\nuno dos tres"
    )
    assert [(r.place, r.beginning) for r in ranked] == [
        (1, "uno dos tres"),
        (2, "uno dos"),
        (3, "nada"),
        (4, "otra cosa"),
    ]


def test_empty_lines_between_stanzas_do_not_divide_lyrics():
    assert split_lyrics("a\n\nb -- c\n---\n\nd\n---\n") == ["a\n\nb -- c", "d"]


def test_a_long_first_line_is_cut():
    assert first_line("\n" + "x" * 80 + "\ny") == "x" * 59 + "…"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: compare(shared_words, " ", "b"), "primera letra"),
        (lambda: compare(shared_words, "a", ""), "segunda letra"),
        (lambda: rank(shared_words, "", "b"), "letra de partida"),
        (lambda: rank(shared_words, "a", " \n---\n"), "lista está vacía"),
        (lambda: compare(lambda a, b: [float("nan")], "a", "b"), "ninguna puntuación"),
    ],
)
def test_what_is_missing_is_said_in_spanish(ask, message):
    with pytest.raises(UserError, match=message):
        ask()
    assert "Se espera" in shown(ask)


def test_pasted_markup_is_shown_as_text():
    page = show_ranking(shared_words, "a", "<script>alert(1)</script>")
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_without_gradio_the_page_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "gradio", None)
    with pytest.raises(UserError, match="gradio is not installed"):
        build_page(shared_words, "words")
    assert main(["--model", "lexical"]) == 2
    assert "lyricsim[demo]" in capsys.readouterr().err
