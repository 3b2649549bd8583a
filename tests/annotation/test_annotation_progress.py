"""The organiser's figures are the dataset's own functions on the ratings so far."""

import math

import pytest
from campaign_files import new_store, rate

from lyricsim_annotation.charts import bars, line
from lyricsim_annotation.progress import REPETITIONS, campaign_figures, ratings_of
from lyricsim_annotation.records import Verdict
from lyricsim_annotation.selection_folder import read_selection
from lyricsim_dataset.agreement import alphas, permuted_alphas
from lyricsim_dataset.annotations import group_pairs
from lyricsim_dataset.consensus import kept_pairs
from lyricsim_dataset.splits import SEED
from lyricsim_reports.reliability import FEWEST_RATINGS, severities


def figures_of(store, tmp_path):
    pairs = read_selection(tmp_path / "chosen").pairs
    judgements, raters, board = store.snapshot()
    return campaign_figures(pairs, judgements, raters, board), ratings_of(pairs, judgements)


def test_a_campaign_without_ratings_is_undefined_and_not_zero(tmp_path):
    figures, _ = figures_of(new_store(tmp_path), tmp_path)
    assert (figures.complete, figures.ratings, figures.wanted, figures.kept) == (0, 0, 12, 0)
    assert all(math.isnan(value) for value in (*figures.alpha.values(), *figures.kept_alpha.values()))
    assert figures.null == ()
    assert all(math.isnan(its.mean) and its.severity is None for its in figures.raters)
    assert figures.history == ()


@pytest.fixture
def busy(tmp_path):
    """Forty pairs: two raters see the same, the third rates one point lower."""
    store = new_store(tmp_path, 40)
    for rater in (1, 2, 3):
        for number in range(40):
            base = (number * 7) % 4 + 1
            rate(store, rater, base - (rater == 3) * (number % 3 > 0))
    return store


def test_alpha_its_null_and_severity_are_those_of_the_dataset(busy, tmp_path):
    figures, ratings = figures_of(busy, tmp_path)
    pairs = group_pairs(ratings)
    kept = kept_pairs(pairs)
    assert figures.alpha == alphas(pairs)
    assert (figures.kept, figures.kept_alpha) == (len(kept), alphas(kept))
    assert figures.null[0] == permuted_alphas(ratings, "all ratings", REPETITIONS, SEED)
    assert figures.null[1].within == "each annotator"
    expected = severities(ratings)
    assert {str(its.rater.number): its.severity for its in figures.raters} == expected
    assert figures.raters[2].severity > 0.4
    assert sum(figures.distribution) == 120
    assert figures.history[-1] == (40, figures.alpha["ordinal"])
    assert len(figures.history) == 10


def test_severity_waits_for_enough_ratings_on_shared_pairs(tmp_path):
    store = new_store(tmp_path, FEWEST_RATINGS + 5)
    for _ in range(FEWEST_RATINGS + 5):
        rate(store, 1, 3)
    for _ in range(FEWEST_RATINGS - 1):
        rate(store, 2, 1)
    figures, _ = figures_of(store, tmp_path)
    assert [its.severity for its in figures.raters] == [None, None, None]
    rate(store, 2, 1)
    figures, _ = figures_of(store, tmp_path)
    assert [its.severity for its in figures.raters] == [pytest.approx(-1), pytest.approx(1), None]


def test_skips_are_listed_latest_first_and_are_no_ratings(tmp_path):
    store = new_store(tmp_path)
    for number in range(2):
        store.answer(1, store.current(1).pair_id, f"{number}", Verdict(reason="other", note=f"{number}"))
    figures, _ = figures_of(store, tmp_path)
    assert [skip.verdict.note for skip in figures.skips] == ["1", "0"]
    assert (figures.ratings, figures.raters[0].skipped) == (0, 2)


def test_charts_are_drawn_without_styles_and_to_scale():
    chart = bars(["a", "b"], [("all", "all", (2, 4))], "label <b>")
    heights = [float(part.split('"')[0]) for part in chart.split('height="')[1:] if 'class="all"' in part]
    assert heights[1] == 2 * heights[0]
    assert "style=" not in chart
    assert "<b>" not in chart
    assert "polyline" in line([(1, -0.5), (2, 0.5)], "across", "up", "label")
