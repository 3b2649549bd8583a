"""One document, two renderings."""

import math
import re

from hypothesis import given
from hypothesis import strategies as st

from lyricsim_reports.page import Heading, Page, Picture, Table, Text, to_html, to_markdown
from lyricsim_reports.plain import percent, two_decimals

PICTURE = Picture("figure-1", "A caption.", 'Bars & "lines"')
SVG = '<?xml version="1.0"?>\n<svg><defs><path id="a"/></defs><use href="#a" clip-path="url(#a)"/></svg>'


def page(*parts):
    return Page("A <title>", parts)


def test_markdown_holds_every_part_in_order():
    text = to_markdown(
        page(Heading("Part"), Text("Words."), Table(("a", "b"), (("x", 1.23456),)), PICTURE), "p/"
    )
    assert (
        text.index("## Part")
        < text.index("Words.")
        < text.index("| x | 1.235 |")
        < text.index("p/figure-1.svg")
    )


def test_undefined_and_absent_cells_are_said_so_and_never_shown_as_numbers():
    text = to_markdown(page(Table(("a", "b", "c"), (("x", float("nan"), None),))))
    assert "| x | undefined | – |" in text


def test_html_loads_nothing_and_keeps_ids_of_several_pictures_apart():
    html = to_html(page(PICTURE, Picture("figure-2", "", "")), {"figure-1": SVG, "figure-2": SVG})
    assert not re.search(r'(?:src|href)="(?!#)', html)
    assert "<?xml" not in html
    ids = re.findall(r' id="([^"]+)"', html)
    assert sorted(ids) == ["figure-1-a", "figure-2-a"]
    assert 'href="#figure-1-a" clip-path="url(#figure-1-a)"' in html


def test_a_caption_is_not_hidden_behind_the_label_of_its_picture():
    html = to_html(page(PICTURE), {"figure-1": SVG})
    labelled = re.search(r'<div role="img" aria-label="[^"]*">(.*?)</div>', html, re.S)
    assert labelled
    assert "<svg" in labelled[1]
    assert "A caption." not in labelled[1]
    assert "<figcaption>A caption.</figcaption>" in html


def test_marked_rows_and_captions_are_in_the_html():
    html = to_html(page(Table(("a",), (("x",), ("y",)), "Said first.", frozenset({1}))), {})
    assert '<tr class="marked"><th scope="row">y</th></tr>' in html
    assert html.index("Said first.") < html.index("<table>")


def test_rounding_gives_no_negative_zero_and_what_is_undefined_is_said_so():
    assert (percent(-0.0003), percent(0.6751), percent(None)) == ("0.0", "67.5", "undefined")
    assert (two_decimals(-0.004), two_decimals(-0.42), two_decimals(math.nan)) == (
        "0.00",
        "-0.42",
        "undefined",
    )


def test_a_column_of_sentences_has_its_name_above_their_beginning():
    html = to_html(page(Table(("a", "b", "c"), (("x", 1, "a sentence " * 5),))), {})
    assert '<th scope="col">b</th><th scope="col" class="long">c</th>' in html


def test_the_page_follows_a_dark_window_and_its_pictures_stay_on_white():
    html = to_html(page(PICTURE), {"figure-1": SVG})
    assert "prefers-color-scheme: dark" in html
    assert "figure svg { max-width: 100%; height: auto; background: #fff; }" in html


def test_figures_stay_on_one_line_and_sentences_wrap():
    html = to_html(page(Table(("a", "b"), (("x", "1.0 to 2.0"), ("y", "a sentence " * 5)))), {})
    assert "<td>1.0 to 2.0</td>" in html
    assert html.count('<td class="long">') == 1


@given(st.text())
def test_no_text_can_break_out_of_the_html(text):
    html = to_html(page(Text(text), Table((text,), ((text,),), text), Heading(text)), {})
    body = html[html.index("<main>") :]
    assert set(re.findall(r"</?([a-z0-9]+)", body)) <= {
        *("main", "h1", "h2", "p", "div", "table", "thead", "tbody", "tr", "th", "td", "body", "html")
    }
