"""Agreement of the raters, agreement by chance, and where the spread of a rating comes from."""

import math
from collections import Counter
from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_pairs import made_up_pair, rated_graphs, ratings_of, three_ratings
from upstream_tables import Upstream

from lyricsim_dataset.agreement import (
    LEVELS,
    WITHIN,
    Level,
    Within,
    alpha,
    alphas,
    one_against_the_others,
    permuted_alphas,
    value_counts,
)
from lyricsim_dataset.consensus import ratings_array
from lyricsim_dataset.records import Pair, Rating
from lyricsim_dataset.variance import variance_shares
from lyricsim_tools.errors import UserError


def rounded(figures: dict[Level, float]) -> tuple[float, ...]:
    return tuple(round(figures[level], 4) for level in LEVELS)


def interval_alpha_by_hand(ratings: np.ndarray) -> float:
    """One minus observed by expected disagreement, as Krippendorff defines them, for whole rows."""
    raters = ratings.shape[1]
    within = sum((row[i] - row[j]) ** 2 for row in ratings for i in range(raters) for j in range(raters))
    flat = ratings.ravel()
    overall = ((flat[:, None] - flat[None, :]) ** 2).sum()
    return 1 - (within / (raters - 1) / flat.size) / (overall / flat.size / (flat.size - 1))


def test_alpha_raw_and_filtered_at_three_levels(upstream: Upstream) -> None:
    assert rounded(alphas(upstream.pairs)) == (0.2786, 0.2765, 0.0659)
    assert rounded(alphas(upstream.kept)) == (0.9010, 0.8629, 0.6189)


def test_one_rating_against_the_mean_of_the_other_two(upstream: Upstream) -> None:
    assert one_against_the_others(ratings_array(upstream.pairs)) == pytest.approx(0.346, abs=0.0005)
    assert one_against_the_others(ratings_array(upstream.kept)) == pytest.approx(0.894, abs=0.0005)


@pytest.mark.parametrize(
    ("within", "mean", "kept"), [("all ratings", 0.785, 489), ("each annotator", 0.763, 436)]
)
def test_the_filter_finds_agreement_in_permuted_ratings(
    upstream: Upstream, within: Within, mean: float, kept: float
) -> None:
    found = permuted_alphas(upstream.tables.ratings, within, repetitions=200, seed=3)
    assert found.mean == pytest.approx(mean, abs=0.006)
    assert found.kept == pytest.approx(kept, abs=5)
    assert 0.014 < found.deviation < 0.024


def test_permutations_depend_on_their_seed_alone(upstream: Upstream) -> None:
    ratings = upstream.tables.ratings
    np.random.seed(1)
    first = permuted_alphas(ratings, "all ratings", 3, seed=5)
    assert permuted_alphas(ratings, "all ratings", 3, seed=5) == first
    assert permuted_alphas(ratings, "all ratings", 3, seed=6) != first


def test_permutations_do_not_depend_on_what_the_annotators_are_called(upstream: Upstream) -> None:
    ratings = upstream.tables.ratings
    names = sorted({rating.annotator for rating in ratings})
    other = dict(zip(names, reversed(names), strict=True))
    renamed = [replace(rating, annotator=other[rating.annotator]) for rating in ratings]
    found = permuted_alphas(ratings, "each annotator", 3, seed=5)
    assert permuted_alphas(renamed, "each annotator", 3, seed=5) == found


def test_a_permutation_without_repetition_is_refused() -> None:
    with pytest.raises(UserError, match="1 repetitions"):
        permuted_alphas(ratings_of([made_up_pair("1", "2", (0, 1, 1))]), "all ratings", 1, seed=0)


def test_permuting_within_constant_annotators_changes_nothing() -> None:
    pairs = [made_up_pair("1", str(i), (0, 1, 1) if i % 2 else (2, 1, 1)) for i in range(10, 30)]
    ratings = [
        Rating(f"{r.annotator}{r.rating}", r.song_id_1, r.song_id_2, r.rating) for r in ratings_of(pairs)
    ]
    found = permuted_alphas(ratings, "each annotator", 5, seed=0)
    assert found.kept == 10
    assert found.deviation == pytest.approx(0, abs=1e-12)
    assert found.mean == pytest.approx(alphas([pair for pair in pairs if 0 not in pair.ratings])["ordinal"])


def test_variance_shares_of_a_raw_rating(upstream: Upstream) -> None:
    shares = variance_shares(upstream.tables.ratings)
    assert shares.songs == pytest.approx(0.164, abs=0.002)
    assert shares.annotator == pytest.approx(0.229, abs=0.002)
    assert shares.pair == pytest.approx(0.114, abs=0.002)
    assert shares.rest == pytest.approx(0.493, abs=0.002)


def test_variance_shares_recover_what_ratings_were_made_of() -> None:
    generator = np.random.default_rng(11)
    songs, annotators = generator.normal(0, 1, 60), generator.normal(0, 1, 40)
    ratings = []
    for first in range(60):
        for second in range(first):
            similarity = generator.normal(0, 1)
            for rater in generator.choice(40, 3, replace=False):
                value = songs[first] + songs[second] + annotators[rater] + similarity + generator.normal(0, 1)
                ratings.append(Rating(str(rater), str(first), str(second), value))
    shares = variance_shares(ratings)
    assert shares.songs == pytest.approx(0.4, abs=0.12)
    assert shares.annotator == pytest.approx(0.2, abs=0.08)
    assert shares.pair == pytest.approx(0.2, abs=0.05)
    assert shares.songs + shares.annotator + shares.pair + shares.rest == pytest.approx(1)


CONSTANT = ratings_of([made_up_pair("1", "2", (1, 1, 1)), made_up_pair("1", "3", (1, 1, 1))])
EXPLAINED = ratings_of([made_up_pair("1", "2", (0, 3, 5)), made_up_pair("1", "3", (0, 3, 5))])


@pytest.mark.parametrize("ratings", [CONSTANT, EXPLAINED])
def test_variance_without_a_rest_is_undefined_and_not_a_number(ratings: list[Rating]) -> None:
    assert all(math.isnan(share) for share in astuple(variance_shares(ratings)))


def test_variance_of_pairs_with_different_numbers_of_ratings_is_refused() -> None:
    with pytest.raises(UserError, match="different numbers of ratings"):
        variance_shares([*CONSTANT, Rating("a", "2", "3", 4)])


@settings(max_examples=30)
@given(rated_graphs(least_songs=3, most_songs=6), st.sampled_from(LEVELS), st.integers(0, 2))
def test_alpha_depends_neither_on_order_nor_on_where_the_scale_starts(
    pairs: list[Pair], level: Level, step: int
) -> None:
    ratings = np.minimum(ratings_array(pairs), 3)
    expected = alpha(value_counts(ratings), level)
    shifted = alpha(value_counts(ratings[::-1, ::-1] + step), level)
    assert shifted == pytest.approx(expected, nan_ok=True)
    assert math.isnan(expected) == (len(Counter(ratings.ravel().tolist())) == 1)


@given(st.lists(three_ratings, min_size=2, max_size=12))
def test_interval_alpha_is_krippendorff_s_definition(triples: list[tuple[int, ...]]) -> None:
    ratings = np.array(triples)
    if len(np.unique(ratings)) > 1:
        expected = interval_alpha_by_hand(ratings)
        assert alpha(value_counts(ratings), "interval") == pytest.approx(expected, abs=1e-9)


def test_alpha_ignores_pairs_with_a_single_rating() -> None:
    pairs = [made_up_pair("1", "2", (0, 0, 1)), made_up_pair("1", "3", (3, 2))]
    assert alphas([*pairs, made_up_pair("2", "3", (5,))]) == alphas(pairs)


@pytest.mark.parametrize("pairs", [[], [made_up_pair("1", "2", (2, 2, 2))]])
def test_agreement_of_nothing_or_of_constants_is_undefined_and_not_a_number(pairs: list[Pair]) -> None:
    assert all(math.isnan(value) for value in alphas(pairs).values())
    assert math.isnan(one_against_the_others(ratings_array(pairs)))


def test_every_kind_of_permutation_has_a_golden_figure() -> None:
    assert WITHIN == ("all ratings", "each annotator")
