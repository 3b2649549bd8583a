import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_annotation.selection import Scored, bin_counts, choose, flat_quotas, song_counts
from lyricsim_tools.errors import UserError

available = st.lists(st.integers(0, 60), min_size=1, max_size=12)


@st.composite
def candidates(draw):
    """Different pairs of a few songs with scores on the scale."""
    songs = draw(st.integers(3, 12))
    every = [(a, b) for a in range(songs) for b in range(a + 1, songs)]
    pairs = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    scores = draw(st.lists(st.floats(0, 5), min_size=len(pairs), max_size=len(pairs)))
    return Scored(*np.array(pairs).T, np.array(scores))


def names(scored):
    return {frozenset(pair) for pair in zip(scored.first.tolist(), scored.second.tolist(), strict=True)}


@given(available, st.data())
def test_quotas_are_what_is_wanted_and_as_flat_as_the_bins_permit(available, data):
    wanted = data.draw(st.integers(0, sum(available)))
    quotas = flat_quotas(available, wanted)
    assert sum(quotas) == wanted
    assert all(0 <= quota <= most for quota, most in zip(quotas, available, strict=True))
    could_grow = [quota for quota, most in zip(quotas, available, strict=True) if quota < most]
    assert not could_grow or max(quotas) - min(could_grow) <= 1


def test_what_a_bin_lacks_is_passed_on_evenly():
    assert flat_quotas([100, 2, 100, 0], 50) == [24, 2, 24, 0]


def test_what_cannot_be_divided_goes_to_the_bins_with_most_candidates():
    assert flat_quotas([10, 30, 20], 5) == [1, 2, 2]


def test_the_top_of_the_scale_belongs_to_the_last_bin():
    assert bin_counts(np.array([0.0, 0.499, 0.5, 4.999, 5.0])) == [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]


@given(candidates(), st.integers(1, 10), st.integers(0, 3), st.data())
def test_chosen_pairs_are_different_and_flat_over_the_bins(candidates, bins, seed, data):
    wanted = data.draw(st.integers(1, len(candidates)))
    rows = choose(candidates, wanted, bins=bins, seed=seed)
    assert len(set(rows.tolist())) == wanted == len(rows)
    quotas = flat_quotas(bin_counts(candidates.predicted, bins), wanted)
    assert bin_counts(candidates.take(rows).predicted, bins) == quotas


@given(candidates(), st.integers(0, 3), st.randoms(use_true_random=False), st.data())
def test_the_choice_depends_on_pairs_and_seed_not_on_the_order_of_rows_or_sides(
    candidates, seed, random, data
):
    wanted = data.draw(st.integers(1, len(candidates)))
    order = list(range(len(candidates)))
    random.shuffle(order)
    shuffled = candidates.take(np.array(order))
    turned = Scored(shuffled.second, shuffled.first, shuffled.predicted)
    chosen = candidates.take(choose(candidates, wanted, seed=seed))
    again = turned.take(choose(turned, wanted, seed=seed))
    assert names(chosen) == names(again)
    assert chosen.predicted.tolist() == again.predicted.tolist()


def test_another_seed_chooses_other_pairs():
    first, second = np.triu_indices(30, 1)
    candidates = Scored(first, second, np.full(len(first), 2.0))
    chosen = [names(candidates.take(choose(candidates, 40, seed=seed))) for seed in (0, 1)]
    assert chosen[0] != chosen[1]


@given(st.integers(4, 14), st.integers(0, 5), st.data())
def test_songs_are_used_evenly_where_every_pair_may_be_chosen(songs, seed, data):
    first, second = np.triu_indices(songs, 1)
    candidates = Scored(first, second, np.full(len(first), 1.0))
    wanted = data.draw(st.integers(1, len(first)))
    counts = song_counts(candidates.take(choose(candidates, wanted, seed=seed)), songs)
    assert counts.max() - counts.min() <= 2


def test_a_rich_bin_makes_up_for_the_songs_of_a_scarce_one():
    # The only high pairs are of songs 0 and 1; the low pairs are of all eight.
    first, second = np.triu_indices(8, 1)
    high = first == 0
    candidates = Scored(first, second, np.where(high & (second < 4), 4.5, 0.5))
    chosen = candidates.take(choose(candidates, 6, bins=2))
    low = chosen.take(np.flatnonzero(chosen.predicted < 1))
    assert 0 not in set(low.first) | set(low.second)


def test_asking_for_more_pairs_than_there_are_is_refused_with_both_numbers():
    candidates = Scored(np.array([0]), np.array([1]), np.array([2.0]))
    with pytest.raises(UserError, match="3 pairs are asked for, and there are 1"):
        choose(candidates, 3)
