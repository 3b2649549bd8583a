"""The consensus rule: its two readings, its counts on upstream's files and its properties."""

import csv
from collections import Counter
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_pairs import made_up_pair, three_ratings
from upstream_tables import Upstream

from lyricsim_dataset.consensus import ConsensusRule, agreed_rating, keep_pair, keep_ratings, kept_pairs
from lyricsim_tools.errors import UserError

ALL_TRIPLES = list(product(range(6), repeat=3))


def kept_by_the_words_of_the_paper(ratings: tuple[int, ...], rule: ConsensusRule) -> bool:
    """The rule again, as section 4.1 puts it, word by word and slowly."""
    score, votes = Counter(ratings).most_common(1)[0]
    if votes == 3:
        return True
    if votes < 2 or score == 0:
        return False
    third = next(value for value in ratings if value != score)
    return abs(third - score) == 1 and not (rule is ConsensusRule.NOTEBOOK and 0 in ratings)


@pytest.mark.parametrize("rule", ConsensusRule)
def test_the_rule_agrees_with_the_paper_s_words_on_every_possible_triple(rule: ConsensusRule) -> None:
    expected = [kept_by_the_words_of_the_paper(triple, rule) for triple in ALL_TRIPLES]
    assert keep_ratings(np.array(ALL_TRIPLES), rule).tolist() == expected
    assert [keep_pair(triple, rule) for triple in ALL_TRIPLES] == expected


def test_upstream_s_files_keep_1057_pairs_by_the_text_and_676_by_the_notebook(upstream: Upstream) -> None:
    assert len(upstream.pairs) == 2775
    assert len(kept_pairs(upstream.pairs, ConsensusRule.TEXT)) == 1057
    assert len(kept_pairs(upstream.pairs, ConsensusRule.NOTEBOOK)) == 676


def test_the_notebook_s_reading_is_the_default(upstream: Upstream) -> None:
    assert kept_pairs(upstream.pairs) == kept_pairs(upstream.pairs, ConsensusRule.NOTEBOOK)


def test_kept_pairs_are_upstream_s_filtered_pairs_with_upstream_s_means(
    upstream: Upstream, lyricsim_source: Path
) -> None:
    with (lyricsim_source / "data/processed/avg_ratings.csv").open(encoding="utf-8", newline="") as stream:
        published = {
            frozenset((row["song_1"], row["song_2"])): float(row["sim_rating"])
            for row in csv.DictReader(stream)
        }
    ours = {frozenset((pair.song_id_1, pair.song_id_2)): pair.score for pair in upstream.kept}
    assert ours.keys() == published.keys()
    assert all(ours[songs] == pytest.approx(published[songs], abs=1e-12) for songs in ours)


def test_agreed_ratings_of_kept_pairs_have_the_measured_counts(upstream: Upstream) -> None:
    modes = Counter(agreed_rating(pair.ratings) for pair in upstream.kept)
    assert [modes[rating] for rating in range(6)] == [279, 263, 93, 30, 10, 1]


def test_the_readings_differ_exactly_in_pairs_of_one_zero_and_two_ones() -> None:
    text_only = [t for t in ALL_TRIPLES if keep_pair(t, ConsensusRule.TEXT) and not keep_pair(t)]
    assert {tuple(sorted(triple)) for triple in text_only} == {(0, 1, 1)}


@given(three_ratings, st.sampled_from(ConsensusRule))
def test_the_order_of_raters_does_not_matter(ratings: tuple[int, ...], rule: ConsensusRule) -> None:
    assert len({keep_pair(order, rule) for order in permutations(ratings)}) == 1


@given(three_ratings)
def test_the_text_keeps_whatever_the_notebook_keeps(ratings: tuple[int, ...]) -> None:
    assert keep_pair(ratings, ConsensusRule.TEXT) or not keep_pair(ratings, ConsensusRule.NOTEBOOK)


@given(three_ratings)
def test_a_kept_pair_s_agreed_rating_is_that_of_two_and_within_one_of_the_third(
    ratings: tuple[int, ...],
) -> None:
    if keep_pair(ratings):
        mode = agreed_rating(ratings)
        assert ratings.count(mode) >= 2
        assert max(abs(value - mode) for value in ratings) <= 1


@given(st.lists(three_ratings, max_size=40), st.sampled_from(ConsensusRule))
def test_many_pairs_at_once_are_judged_like_one_by_one(
    triples: list[tuple[int, ...]], rule: ConsensusRule
) -> None:
    pairs = [made_up_pair(str(2 * i), str(2 * i + 1), triple) for i, triple in enumerate(triples)]
    assert kept_pairs(pairs, rule) == [pair for pair in pairs if keep_pair(pair.ratings, rule)]


def test_small_unsigned_arrays_are_judged_like_others() -> None:
    triples = np.array(ALL_TRIPLES)
    assert np.array_equal(keep_ratings(triples.astype(np.uint8)), keep_ratings(triples))


@pytest.mark.parametrize("ratings", [(1, 1), (1, 1, 1, 1), ()])
def test_another_number_of_ratings_is_refused_with_the_pair_named(ratings: tuple[int, ...]) -> None:
    pairs = [made_up_pair("1", "2", (0, 0, 0)), made_up_pair("3", "4", ratings)]
    with pytest.raises(UserError, match=rf"pair 3_4 with {len(ratings)} ratings"):
        kept_pairs(pairs)


def test_an_array_of_another_width_is_refused() -> None:
    with pytest.raises(UserError, match=r"shape \(2, 4\)"):
        keep_ratings(np.zeros((2, 4), dtype=int))
