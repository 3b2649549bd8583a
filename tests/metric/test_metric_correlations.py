"""The two coefficients: facts, agreement with SciPy, and what must not change them."""

import csv
import math
import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from lyricsim_metric.correlations import average_ranks, is_constant, p_value, pearson_and_spearman

# How often each gold label occurs among LyricSIM's 676 filtered pairs, by the sum of the three ratings.
LABEL_COUNTS = {0: 279, 3: 117, 4: 146, 5: 62, 6: 13, 7: 18, 8: 15, 9: 4, 10: 11, 11: 6, 12: 2, 13: 2, 14: 1}
LABELS = np.repeat([total / 3 for total in LABEL_COUNTS], list(LABEL_COUNTS.values()))


SCORES = st.sampled_from([total / 3 for total in LABEL_COUNTS])


@st.composite
def tables(draw, values=SCORES):
    rows = draw(st.integers(2, 12))
    x, y = (np.array(draw(st.lists(values, min_size=rows, max_size=rows)), dtype=float) for _ in "xy")
    assume(not is_constant(x) and not is_constant(y))
    return x, y


REALS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))


def both(x, y):
    found = pearson_and_spearman(x, y)
    return found.pearson, found.spearmanr


@given(tables() | tables(REALS))
def test_both_agree_with_scipy_ties_included(table):
    x, y = table
    assert both(x, y) == pytest.approx((stats.pearsonr(x, y)[0], stats.spearmanr(x, y)[0]), abs=1e-12)


@given(tables())
def test_ranks_of_ties_are_scipys(table):
    np.testing.assert_array_equal(average_ranks(table[0]), stats.rankdata(table[0]))


@given(tables() | tables(REALS))
def test_the_two_sides_may_change_places(table):
    x, y = table
    assert both(x, y) == both(y, x)


@given(tables(REALS), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_pearson_ignores_positive_affine_maps(table, slope, offset):
    x, y = table
    # Two values that the offset rounds together are another table.
    assume(np.ptp(x) > 1)
    assert both(slope * x + offset, y)[0] == pytest.approx(both(x, y)[0], abs=1e-9)


@given(tables())
def test_spearman_ignores_monotone_maps(table):
    x, y = table
    assert both(np.exp(x), y)[1] == both(x, y)[1]
    assert both(-(x**3), y)[1] == -both(x, y)[1]


@given(tables() | tables(REALS), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table, random):
    x, y = table
    order = list(range(len(x)))
    random.shuffle(order)
    assert both(x[order], y[order]) == pytest.approx(both(x, y), abs=1e-12)


@given(tables() | tables(REALS))
def test_equal_sides_give_exactly_one_and_opposite_ones_minus_one(table):
    x, _ = table
    assert both(x, x) == (1.0, 1.0)
    assert both(x, -x) == (-1.0, -1.0)


def test_the_published_label_distribution_is_scored_as_scipy_does():
    shuffled = np.random.default_rng(0).permutation(LABELS)
    mixed = LABELS + shuffled
    assert len(LABELS) == 676
    assert len(set(LABELS)) == 13
    assert both(LABELS, LABELS) == (1.0, 1.0)
    expected = stats.pearsonr(mixed, LABELS)[0], stats.spearmanr(mixed, LABELS)[0]
    assert both(mixed, LABELS) == pytest.approx(expected, abs=1e-12)


def test_text_lengths_alone_correlate_with_the_gold_labels_as_measured(lyricsim_source):
    path = lyricsim_source / "data/processed/avg_ratings.csv"
    with path.open(encoding="utf-8-sig") as stream:
        rows = list(csv.DictReader(stream))
    lengths = [float(row["length_1"]) + float(row["length_2"]) for row in rows]
    found = pearson_and_spearman(lengths, [float(row["sim_rating"]) for row in rows])
    assert found.pearson == pytest.approx(0.533423, abs=5e-7)
    assert found.spearmanr == pytest.approx(0.577894, abs=5e-7)


@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-324, -1e300, 2.0**1000])
def test_the_size_of_scores_does_not_matter(scale):
    x = np.array([1.0, 2, 3, 7]) * scale
    expected = both(np.sign(scale) * np.array([1.0, 2, 3, 7]), [1, 2, 4, 3])
    assert both(x, [1, 2, 4, 3]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("offset", [1.0, -1.0, 1e9, 1e15])
def test_differences_in_the_last_digits_of_large_scores_are_seen(offset):
    steps = np.array([1.0, 2, 3, 7])
    x = offset + steps * np.spacing(abs(offset))
    assert both(x, [1, 2, 4, 3]) == pytest.approx(both(steps, [1, 2, 4, 3]), abs=1e-12)


def test_values_from_both_ends_of_the_range_of_doubles_are_scored():
    assert both([-1.7e308, 0, 1.7e308], [0, 1, 2]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("x", "y", "named"),
    [
        ([1, 1, 1], [0, 1, 2], "predictions is constant"),
        ([0, 1, 2], [3, 3, 3], "references is constant"),
        ([1, 1, 1], [3, 3, 3], "predictions and references are constant"),
    ],
)
def test_a_constant_side_gives_nan_and_one_warning_that_names_it(x, y, named):
    with pytest.warns(UserWarning, match=named) as caught:
        found = pearson_and_spearman(x, y)
    assert len(caught) == 1
    assert math.isnan(found.pearson)
    assert math.isnan(found.spearmanr)
    assert math.isnan(found.combined_score)
    with pytest.raises(ValueError, match=named):
        pearson_and_spearman(x, y, undefined="raise")


def test_a_side_that_varies_in_the_last_bit_is_not_constant():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert both([1.0, 1.0, np.nextafter(1, 2)], [0, 0, 1]) == (1.0, 1.0)


@given(tables(REALS))
def test_p_values_agree_with_scipy(table):
    x, y = table
    linear, ranked = both(x, y)
    assume(abs(linear) < 0.999999 and abs(ranked) < 0.999999)
    assert p_value(linear, len(x)) == pytest.approx(stats.pearsonr(x, y)[1], rel=1e-6)
    assert p_value(ranked, len(x)) == pytest.approx(stats.spearmanr(x, y)[1], rel=1e-6)


def test_p_values_at_the_edges():
    assert p_value(1.0, 2) == 1.0
    assert p_value(-1.0, 10) == 0.0
    assert math.isnan(p_value(math.nan, 2))
    assert math.isnan(p_value(math.nan, 10))
