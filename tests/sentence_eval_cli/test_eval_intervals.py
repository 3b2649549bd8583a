"""Intervals and tests agree with published and independent figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from spanish_sentence_eval import intervals


def test_wilson_agrees_with_the_published_example():
    # Newcombe (1998), table I: 81 of 263 and 15 of 148.
    first, second = intervals.wilson(81 / 263, 263), intervals.wilson(15 / 148, 148)
    assert (round(first.low, 4), round(first.high, 4)) == (0.2553, 0.3662)
    assert (round(second.low, 4), round(second.high, 4)) == (0.0624, 0.1605)


@given(st.integers(0, 500), st.integers(1, 500))
def test_wilson_holds_the_share_and_stays_between_0_and_1(hits, n):
    share = min(hits, n) / n
    interval = intervals.wilson(share, n)
    assert 0 <= interval.low <= share + 1e-12
    assert share - 1e-12 <= interval.high <= 1


@pytest.mark.parametrize("n", [4, 10, 250])
def test_fisher_agrees_with_scipy(n):
    generator = np.random.default_rng(n)
    x, noise = generator.normal(size=(2, n))
    found = pearsonr(x, x + noise)
    expected = found.confidence_interval(0.95)
    interval = intervals.fisher(found.statistic, n)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("r", "n"), [(0.5, 3), (1.0, 100), (-1.0, 100), (float("nan"), 100)])
def test_fisher_is_none_where_undefined(r, n):
    assert intervals.fisher(r, n) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_pearson_agrees_with_scipy_ties_included(pairs):
    x, y = np.array(pairs, float).T
    if len(set(x)) > 1 and len(set(y)) > 1:
        assert intervals.pearson(x, y) == pytest.approx(pearsonr(x, y).statistic, abs=1e-9)
    else:
        assert np.isnan(intervals.pearson(x, y))


def test_mcnemar_is_the_exact_binomial_test_on_the_items_that_differ():
    first = np.array([1] * 20 + [1] * 9 + [0] * 1 + [0] * 5)
    second = np.array([1] * 20 + [0] * 9 + [1] * 1 + [0] * 5)
    assert intervals.mcnemar(first, second) == pytest.approx(2 * 11 / 2**10)
    assert intervals.mcnemar(first, first) == 1.0


def test_newcombe_agrees_with_the_published_example():
    # Newcombe (1998), method 10: 56/70 against 48/80.
    interval, p = intervals.difference_of_shares(48 / 80, 80, 56 / 70, 70)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.0524, 0.3339)
    assert 0.005 < p < 0.01


def test_difference_of_correlations_covers_zero_for_equal_ones_and_is_none_where_undefined():
    interval, p = intervals.difference_of_correlations(0.6, 100, 0.6, 100)
    assert interval.low == pytest.approx(-interval.high)
    assert p == pytest.approx(1.0)
    assert intervals.difference_of_correlations(0.6, 2, 0.6, 100) == (None, None)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p_values):
    adjusted = intervals.holm(p_values)
    assert all(before <= after <= 1 or before == 1 for before, after in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()


def test_holm_agrees_with_the_textbook_steps():
    assert intervals.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_bootstrap_p_is_two_sided_and_never_zero():
    assert intervals.bootstrap_p(np.ones(1999)) == pytest.approx(2 / 2000)
    assert intervals.bootstrap_p(np.array([-1.0, 1.0] * 500)) == 1.0


def test_an_undefined_replicate_leaves_interval_and_p_undefined():
    assert intervals.bootstrap(np.array([0.1, np.nan])) is None
    assert intervals.bootstrap_p(np.array([0.1, np.nan])) is None


def test_draws_depend_on_the_seed_alone_and_stay_in_their_subset():
    state = np.random.get_state()[1].copy()
    first, second = (intervals.resampled_rows([5, 9], seed=3, resamples=50) for _ in range(2))
    assert all((a == b).all() for x, y in zip(first, second, strict=True) for a, b in zip(x, y, strict=True))
    assert max(rows[0].max() for rows in first) == 4
    assert max(rows[1].max() for rows in first) == 8
    assert (np.random.get_state()[1] == state).all()
