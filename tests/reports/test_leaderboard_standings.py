"""Ranks, groups, floors, and where a system is good."""

import dataclasses
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reported import RESAMPLES, measured, noisy

from lyricsim_reports.leaderboard import Leaderboard, _separation_parts
from lyricsim_reports.standings import group_letters, rank_intervals, standings
from lyricsim_reports.strengths import (
    length_slices,
    level_slices,
    partial_correlation,
    songs_seen,
    strengths,
)


@pytest.fixture(scope="module")
def systems(sample):
    floor = measured(sample, "floor", noisy(sample, 3.0, 1), kind="floor")
    return [
        measured(sample, "weak", noisy(sample, 9.0, 2)),
        floor,
        measured(sample, "best", noisy(sample, 0.1, 3), noisy(sample, 0.1, 4)),
    ]


def test_systems_are_ranked_separated_and_marked(systems):
    found, tests = standings(systems, 400)
    assert [s.measured.result.system for s in found] == ["best", "floor", "weak"]
    assert [s.rank for s in found] == [1, 2, 3]
    assert found[0].rank_interval == (1, 1)
    assert [s.below for s in found] == [(), (), ("floor",)]
    assert not set(found[0].groups) & set(found[2].groups)
    assert [(t.better, t.worse) for t in tests] == list(combinations(["Best", "Floor", "Weak"], 2))
    assert tests[1].p_value < 0.05


def test_the_order_of_files_changes_nothing(systems):
    one, _ = standings(systems, RESAMPLES)
    other, _ = standings(systems[::-1], RESAMPLES)
    places = [
        [(s.measured.result.system, s.rank, s.rank_interval, s.groups) for s in its] for its in (one, other)
    ]
    assert places[0] == places[1]


def test_a_system_and_its_copy_are_never_separated(sample):
    same = noisy(sample, 0.5, 1)
    found, tests = standings([measured(sample, name, same) for name in ("one", "copy")], RESAMPLES)
    assert tests[0].p_value == 1
    assert [s.groups for s in found] == ["a", "a"]
    assert [s.rank_interval for s in found] == [(1, 1), (1, 1)]
    assert [s.rank for s in found] == [1, 1]


def test_a_p_value_that_so_many_resamples_cannot_fall_below_is_marked(systems):
    board = Leaderboard(None, (), (), tuple(standings(systems, 400)[1]), 400)
    (table,) = _separation_parts(board.separations)
    assert {row[3][0] for row in table.rows} == {"≤"}
    assert board.separations[0].systems == ("best", "floor")
    above = dataclasses.replace(board.separations[0], p_value=0.03, smallest=0.015)
    assert _separation_parts([above])[0].rows[0][3] == "0.030"


def test_nothing_and_one_system_can_be_ranked(systems):
    assert standings([], RESAMPLES) == ([], [])
    found, tests = standings(systems[:1], RESAMPLES)
    assert (found[0].rank, found[0].groups, tests) == (1, "a", [])


@given(st.integers(1, 7), st.data())
def test_two_systems_share_a_letter_exactly_if_they_are_not_separated(count, data):
    pairs = list(combinations(range(count), 2))
    separated = set(data.draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()
    letters = group_letters(count, separated)
    assert all(letters)
    for one, other in pairs:
        assert bool(set(letters[one]) & set(letters[other])) == ((one, other) not in separated)


def test_rank_intervals_leave_out_tables_without_a_score():
    replicates = np.array([[0.9, 0.1], [0.9, np.nan], [0.8, 0.2]])
    assert rank_intervals(replicates) == [(1, 1), (2, 2)]
    assert rank_intervals(np.full((3, 2), np.nan)) == [(1, 2), (1, 2)]


def test_slices_hold_every_pair_once(systems, sample):
    found = strengths(systems[2])
    pairs = len(systems[2].pairs)
    assert sum(s.pairs for s in found.by_length) == sum(s.pairs for s in found.by_level) == pairs
    assert [s.percentile for s in found.by_level] == sorted(s.percentile for s in found.by_level)
    assert found.by_level[0].zero_share == 1
    assert found.by_level[0].pearson is None


@given(st.lists(st.integers(3, 300), min_size=1, max_size=50))
def test_length_slices_never_part_equal_lengths(lengths):
    words = np.array(lengths, dtype=float)
    slices = length_slices(words)
    assert np.sum([rows for _, rows in slices], axis=0).tolist() == [1] * len(words)
    ends = [(words[rows].min(), words[rows].max()) for _, rows in slices]
    assert all(high < low for (_, high), (low, _) in pairwise(ends))


def test_levels_put_zeros_apart():
    names = [name for name, rows in level_slices(np.array([0, 1 / 3, 1, 2, 5.0]))]
    assert names == ["score 0", "score above 0 to 1", "score above 1 to 2", "score above 2 to 5"]


def test_what_overlap_explains_wholly_leaves_nothing_beyond_it():
    random = np.random.default_rng(0)
    overlap, own = random.normal(size=(50, 1)), random.normal(size=50)
    gold = overlap[:, 0] + own
    assert partial_correlation(3 * overlap[:, 0] + 1, gold, overlap) is None
    assert partial_correlation(own, gold, overlap) == pytest.approx(1)
    assert partial_correlation(own[:3], gold[:3], overlap[:3]) is None


def test_songs_seen_counts_both_sides(systems, sample):
    train = sample.splits["filtered-song-disjoint"]["train"]
    found = {s.name: s.pairs for s in songs_seen(systems[2], train)}
    assert sum(found.values()) == len(systems[2].pairs)
    assert found["2 songs seen"] >= len(train)
    assert songs_seen(systems[2], train.take([]))[0].name == "0 songs seen"
