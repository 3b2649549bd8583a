"""What may be scored and what is refused, and how the refusal reads."""

import decimal
import fractions
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from lyricsim_metric.inputs import as_scores, as_song_codes, checked_pair, refuse_too_few
from lyricsim_metric.scores import score

GOOD = [0.5, 2.0, 1.0]


@pytest.mark.parametrize(
    "given",
    [
        GOOD,
        tuple(GOOD),
        [[0.5], [2.0], [1.0]],
        np.array(GOOD),
        np.array(GOOD)[:, None],
        np.array(GOOD, dtype=np.float16),
        np.array(GOOD, dtype=object),
        np.ma.masked_array(GOOD, mask=[False] * 3),
        pd.Series(GOOD, index=[7, 8, 9]),
        pa.array(GOOD),
        torch.tensor(GOOD),
        torch.tensor(GOOD, dtype=torch.bfloat16)[:, None],
        torch.tensor(GOOD, requires_grad=True),
        list(torch.tensor(GOOD, dtype=torch.bfloat16, requires_grad=True)),
        [np.float32(value) for value in GOOD],
        [decimal.Decimal("0.5"), fractions.Fraction(2), 1],
    ],
    ids=lambda given: type(given).__name__,
)
def test_every_form_of_numbers_becomes_the_same_doubles(given):
    found = as_scores(given, "predictions")
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, GOOD)


@pytest.mark.parametrize("given", [[1, 0, 2], torch.tensor([1, 0, 2]), np.array([1, 0, 2], dtype=np.uint8)])
def test_integers_are_scores(given):
    np.testing.assert_array_equal(as_scores(given, "predictions"), [1.0, 0.0, 2.0])


@pytest.mark.parametrize("given", [[True, False], np.array([True, False]), torch.tensor([True, False])])
def test_booleans_are_scores(given):
    np.testing.assert_array_equal(as_scores(given, "predictions"), [1.0, 0.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["1", "2"], r"predictions: 2 of 2 values are not real numbers: '1' in row 0, '2' in row 1"),
        ([1, "2"], r"1 of 2 values are not real numbers: '2' in row 1 \(rows count from 0\)"),
        (np.array(["1", "2"]), r"2 of 2 values are not real numbers"),
        (pd.Series(["1", "2"]), r"2 of 2 values are not real numbers"),
        ([b"1", b"2"], r"2 of 2 values are not real numbers"),
        ([1, None], r"1 of 2 values are not real numbers: None in row 1"),
        ([1.5, 2j], r"are not real numbers"),
        (np.array([1, 2], dtype="datetime64[D]"), r"are not real numbers"),
        (["x"] * 7, r"7 of 7 .* and 2 more"),
        ([1, float("nan"), 2, float("nan")], r"predictions of 4 rows holds NaN in 2 rows: 1, 3"),
        ([1, float("-inf"), float("nan")], r"NaN in 1 row: 2 .*; infinity in 1 row: 1"),
        (torch.tensor([1.0, float("inf")]), r"infinity in 1 row: 1"),
        (pd.Series([1.0, None]), r"NaN in 1 row: 1"),
        (pd.Series([1, None], dtype="Int64"), r"NaN in 1 row: 1"),
        (pa.array([1.0, None]), r"NaN in 1 row: 1"),
        (np.ma.masked_array([1.0, 2.0], mask=[True, False]), r"masked values in 1 row: 0"),
        ([[1, 2], [3, 4]], r"predictions has shape \(2, 2\)"),
        ([[1, 2]], r"predictions has shape \(1, 2\)"),
        (torch.zeros(4, 1, 1), r"predictions has shape \(4, 1, 1\)"),
        ([[1], [1, 2]], r"ragged or mixed"),
        (3.0, r"predictions is a single float"),
        ({"a": 1}, r"predictions is a single dict"),
        (iter([1, 2]), r"predictions is a single list_iterator"),
        ("12", r"predictions is '12'"),
        (None, r"predictions is None"),
        ([2**53 + 1, 0], r"integers beyond 2\*\*53"),
        ([-(10**30), 0], r"integers beyond 2\*\*53"),
        (np.array([0, -(2**53) - 1]), r"integers beyond 2\*\*53"),
        (np.array([2**64 - 1, 0], dtype=np.uint64), r"integers beyond 2\*\*53"),
        ([0.5, fractions.Fraction(10**400)], r"infinity in 1 row: 1"),
        ([0.5, fractions.Fraction(-(10**400), 3)], r"infinity in 1 row: 1"),
        ([0.5, decimal.Decimal("sNaN")], r"NaN in 1 row: 1"),
    ],
)
def test_what_is_no_column_of_finite_numbers_is_refused_with_its_place_and_a_remedy(given, message):
    with pytest.raises(ValueError, match=message) as caught:
        as_scores(given, "predictions")
    assert "expected:" in str(caught.value)
    assert "what to do:" in str(caught.value)


def test_an_array_of_integers_is_checked_without_a_walk_in_python():
    integers = np.arange(10**6) % 6

    def seconds(given):
        started = time.process_time()
        as_scores(given, "predictions")
        return time.process_time() - started

    # Measured: 5 times as long as floats, which are not copied; 200 to 300 times if Python walks over them.
    taken = min(seconds(integers) for _ in range(3))
    assert taken < 40 * min(seconds(integers.astype(float)) for _ in range(3))


def test_unequal_lengths_are_refused_and_nothing_is_broadcast():
    with pytest.raises(ValueError, match="predictions has 3 rows and references has 1"):
        checked_pair([1, 2, 3], [1])


@pytest.mark.parametrize(("rows", "message"), [(0, "0 rows to score"), (1, "1 row to score")])
def test_fewer_than_two_rows_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        refuse_too_few(rows)
    with pytest.raises(ValueError, match=message):
        score([1.0] * rows, [2.0] * rows)


def test_the_callers_array_is_neither_copied_nor_changed():
    given = np.array([3.0, 1.0, 2.0, 5.0, 4.0])
    assert as_scores(given, "predictions") is given
    score(given, [1, 2, 4, 3, 5], confidence_level=0.9, n_resamples=100)
    np.testing.assert_array_equal(given, [3.0, 1.0, 2.0, 5.0, 4.0])


@pytest.mark.parametrize(
    "given",
    [
        [("b", "a"), ("c", "a")],
        np.array([["b", "a"], ["c", "a"]]),
        pd.DataFrame({"1": ["b", "c"], "2": ["a", "a"]}),
        [(20, 3), (100, 3)],
    ],
)
def test_songs_are_numbered_in_the_order_of_their_ids(given):
    np.testing.assert_array_equal(as_song_codes(given, rows=2), [[1, 0], [2, 0]])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], r"clusters has shape \(2,\)"),
        ([(1, 2, 3), (1, 2, 3)], r"clusters has shape \(2, 3\)"),
        ([(1, 2)], r"clusters has 1 rows and predictions has 2"),
        ([(1, "2"), (1, 3)], r"ids of type int, str"),
        ([(1, None), (1, 3)], r"ids of type NoneType, int"),
        ([(1.5, 2.0), (1.0, 3.0)], r"ids of type float"),
        ([("a", "a"), ("a", "b")], r"pairs a song with itself in 1 row: 0"),
        ([(2**70, 1), (1, 2)], r"integers beyond 64 bits"),
        ([(-(2**70), 1), (1, 2)], r"integers beyond 64 bits"),
    ],
)
def test_what_is_no_pair_of_song_ids_is_refused(given, message):
    with pytest.raises(ValueError, match=message) as caught:
        as_song_codes(given, rows=2)
    assert "what to do:" in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("scale", 0, "a positive number"),
        ("scale", float("nan"), "a positive number"),
        ("scale", "100", "a positive number"),
        ("confidence_level", 95, "pass 0.95 for 95 %"),
        ("confidence_level", 0.0, "between 0 and 1"),
        ("confidence_level", True, "between 0 and 1"),
        ("ci_method", "basic", "'bca' or 'percentile'"),
        ("n_resamples", 10, "at least 100"),
        ("n_resamples", 1000.0, "at least 100"),
        ("seed", -1, "at least 0"),
        ("undefined", "zero", "'nan' or 'raise'"),
    ],
)
def test_an_option_out_of_its_range_is_refused_by_name(option, value, message):
    with pytest.raises(ValueError, match=message) as caught:
        score([1, 2, 3], [1, 2, 4], **{option: value})
    assert option in str(caught.value)
