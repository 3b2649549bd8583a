"""Reliability: intervals, severity, single annotators, the sentence for the card."""

import itertools
import math

import numpy as np
import pytest

from lyricsim_dataset.agreement import alphas
from lyricsim_dataset.annotations import Tables, group_pairs
from lyricsim_dataset.consensus import kept_pairs
from lyricsim_dataset.facts import facts
from lyricsim_dataset.records import Rating
from lyricsim_reports.figure_data import density
from lyricsim_reports.reliability import (
    alpha_interval,
    alpha_without,
    annotators,
    card_sentence,
    reliability,
    severities,
)

SHIFTS = {"mild": 1, "plain": 0, "harsh": -1}


def shifted_ratings(songs=12, seed=0):
    """Three annotators who agree but for a constant."""
    random = np.random.default_rng(seed)
    return [
        Rating(name, f"{a}", f"{b}", int(level) + shift)
        for a, b in itertools.combinations(range(songs), 2)
        for level in [random.integers(1, 5)]
        for name, shift in SHIFTS.items()
    ]


def test_alpha_of_the_real_data_with_intervals_that_hold_it(real):
    kept = kept_pairs(real.tables.pairs)
    found = alpha_interval(kept, resamples=60, seed=1)
    assert round(found.value, 4) == 0.9010
    for low, high in (found.pairs_drawn, found.songs_drawn):
        assert low < found.value < high
    width = [high - low for low, high in (found.pairs_drawn, found.songs_drawn)]
    assert width[1] > 2 * width[0]


def test_a_constant_shift_is_found_as_severity():
    found = severities(shifted_ratings())
    assert found == pytest.approx({name: -shift for name, shift in SHIFTS.items()})


def test_leaving_out_the_only_dissenter_leaves_full_agreement():
    ratings = [
        Rating(name, str(n), f"x{n}", value if name != "c" else 5 - value)
        for n, value in enumerate([0, 5, 1, 4, 2] * 3)
        for name in "abc"
    ]
    assert alpha_without(ratings, "c") == 1
    assert alpha_without(ratings, "a") < 0


def test_alpha_without_the_last_pair_of_raters_is_undefined():
    ratings = [Rating(name, "1", "2", value) for name, value in (("a", 1), ("b", 2))]
    assert math.isnan(alpha_without(ratings, "a"))


def test_every_annotator_is_listed_once_the_busiest_first():
    ratings = [r for r in shifted_ratings() if r.annotator != "mild" or int(r.song_id_1) < 2]
    found = annotators(ratings, group_pairs(ratings))
    assert [a.annotator for a in found] == ["harsh", "plain", "mild"]
    assert sum(a.share for a in found) == pytest.approx(1)
    assert found[-1].severity is None


def test_the_cards_sentence_sets_the_filtered_figure_beside_chance(real):
    sentence = card_sentence(facts(real.tables, repetitions=20))
    assert "0.28 over all pairs and 0.90 over the filtered" in sentence
    assert "reach 0.7" in sentence
    assert sentence.count(". ") == 0


def test_nothing_is_defined_where_the_rule_keeps_no_pair():
    found = alpha_interval([], resamples=10, seed=1)
    assert all(math.isnan(value) for value in (found.value, *found.pairs_drawn, *found.songs_drawn))
    assert set(density("none", np.empty(0)).y) == {0.0}


def test_value_and_interval_are_of_the_same_pairs_where_some_have_more_ratings():
    ratings = [*shifted_ratings(), Rating("fourth", "0", "1", 5)]
    tables = Tables((), tuple(ratings), tuple(group_pairs(ratings)))
    found = reliability(tables, resamples=5, seed=1)
    assert found.raw.value == pytest.approx(alphas(tables.pairs)["ordinal"])
