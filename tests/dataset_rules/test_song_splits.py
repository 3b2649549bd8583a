"""Song-disjoint splits, song groups and the folds of block cross-validation."""

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_pairs import kept_ids, rated_graphs
from upstream_tables import Upstream

from lyricsim_dataset.records import Pair
from lyricsim_dataset.song_balance import balanced_groups, imbalance
from lyricsim_dataset.song_splits import (
    SONG_GROUPS,
    block_folds,
    song_disjoint_split,
    song_groups,
    song_partition,
    songs_of,
    straddling_pairs,
)
from lyricsim_dataset.splits import assignment_digest, hash_order, membership_digest

RAW_DIGEST = "0c3fb87f18fb1a3bab5d285aa2c11531f974d08942bb092c147596398eb21ac8"
FILTERED_DIGEST = "7aea20de3a99c61a1e1a6a0338000ea00d8dbb9d3bfd897051e1b72d9d7c46af"
GROUPS_DIGEST = "480c947105acb69c111abeb13b6908ea8dd415b92cb1f15c0aacb86378d1ed65"


def sizes(assignment: dict[str, str]) -> dict[str, int]:
    return dict(Counter(assignment.values()))


def label_shares(pairs: list[Pair]) -> np.ndarray:
    counts = np.bincount([min(sum(pair.ratings), 6) for pair in pairs], minlength=7)
    return counts / counts.sum()


def test_song_disjoint_sizes_and_the_pairs_left_out(upstream: Upstream) -> None:
    assert len(upstream.test_songs) == 24
    filtered = upstream.of_kept(upstream.song_disjoint)
    assert sizes(filtered) == {"train": 280, "validation": 32, "test": 65}
    assert sizes(upstream.song_disjoint) == {"train": 1147, "validation": 128, "test": 276}
    assert len(straddling_pairs(upstream.kept, upstream.test_songs)) == 299
    assert len(straddling_pairs(upstream.pairs, upstream.test_songs)) == 1224


def test_song_disjoint_splits_are_large_enough(upstream: Upstream) -> None:
    filtered = sizes(upstream.of_kept(upstream.song_disjoint))
    assert filtered["test"] >= 60
    assert filtered["train"] >= 250


def test_the_published_assignments_have_their_pinned_digests(upstream: Upstream) -> None:
    assert assignment_digest(upstream.song_disjoint) == RAW_DIGEST
    assert assignment_digest(upstream.of_kept(upstream.song_disjoint)) == FILTERED_DIGEST
    by_group = {str(g): [s for s in upstream.groups if upstream.groups[s] == g] for g in range(SONG_GROUPS)}
    assert membership_digest(by_group) == GROUPS_DIGEST


def test_no_song_of_a_test_pair_is_in_train_or_validation(upstream: Upstream) -> None:
    test = songs_of(upstream.members(upstream.song_disjoint, "test"))
    for split in ("train", "validation"):
        assert not test & songs_of(upstream.members(upstream.song_disjoint, split))


def test_both_sides_have_the_labels_of_the_whole(upstream: Upstream) -> None:
    filtered = upstream.of_kept(upstream.song_disjoint)
    for split in ("train", "test"):
        difference = label_shares(upstream.members(filtered, split)) - label_shares(list(upstream.kept))
        assert np.abs(difference).max() < 0.02


def test_song_groups_are_five_of_fifteen_songs(upstream: Upstream) -> None:
    assert Counter(upstream.groups.values()) == dict.fromkeys(range(5), 15)
    assert len(upstream.groups) == 75


def test_groups_found_by_the_search_balance_blocks_far_better_than_chance(upstream: Upstream) -> None:
    names = sorted(upstream.groups)
    by_chance = []
    for seed in range(20):
        order = sorted(names, key=lambda name, seed=seed: hash_order(name, seed))
        by_chance.append(imbalance(upstream.kept, {name: i % 5 for i, name in enumerate(order)}))
    assert imbalance(upstream.kept, upstream.groups) < min(by_chance) / 2


def test_no_single_swap_of_songs_would_balance_the_blocks_better(upstream: Upstream) -> None:
    groups, best = upstream.groups, imbalance(upstream.kept, upstream.groups)
    for first, second in list(combinations(groups, 2))[::7]:
        swapped = groups | {first: groups[second], second: groups[first]}
        assert imbalance(upstream.kept, swapped) >= best - 1e-5


def test_blocks_test_every_filtered_pair_once_in_blocks_of_similar_size(upstream: Upstream) -> None:
    folds = block_folds(upstream.kept, upstream.groups)
    assert len(folds) == 15
    tested = Counter(pair for fold in folds for pair in fold.test)
    assert tested == dict.fromkeys(upstream.kept_ids, 1)
    within = [len(fold.test) for fold in folds if fold.groups[0] == fold.groups[1]]
    between = [len(fold.test) for fold in folds if fold.groups[0] != fold.groups[1]]
    assert (min(within), max(within), min(between), max(between)) == (25, 27, 51, 59)
    assert min(len(fold.train) for fold in folds) == 236


@settings(max_examples=30)
@given(rated_graphs(), st.randoms())
def test_song_disjoint_splits_share_no_test_song_and_leave_out_just_the_straddling_pairs(
    pairs: list[Pair], random
) -> None:
    ids = kept_ids(pairs)
    test_songs = song_partition(pairs, ids)
    assignment = song_disjoint_split(pairs, ids, test_songs)
    for pair in pairs:
        tested = {pair.song_id_1 in test_songs, pair.song_id_2 in test_songs}
        split = assignment.get(pair.pair_id)
        assert (split is None) == (tested == {True, False})
        assert (split == "test") == (tested == {True})
    assert set(straddling_pairs(pairs, test_songs)) == {p.pair_id for p in pairs} - assignment.keys()
    shuffled = random.sample(pairs, len(pairs))
    assert song_partition(shuffled, ids) == test_songs
    assert song_disjoint_split(shuffled, ids, test_songs) == assignment


@settings(max_examples=30)
@given(rated_graphs())
def test_filtered_pairs_keep_their_song_disjoint_split_among_all_pairs(pairs: list[Pair]) -> None:
    ids = kept_ids(pairs)
    test_songs = song_partition(pairs, ids)
    filtered = [pair for pair in pairs if pair.pair_id in ids]
    alone = song_disjoint_split(filtered, ids, test_songs)
    among_all = song_disjoint_split(pairs, ids, test_songs)
    assert alone == {pair: split for pair, split in among_all.items() if pair in ids}
    side = [split for split in among_all.values() if split != "test"]
    assert side.count("validation") == -(-len(side) // 10)


@settings(max_examples=30)
@given(rated_graphs(), st.randoms())
def test_folds_test_each_pair_once_by_a_train_set_without_its_songs(pairs: list[Pair], random) -> None:
    groups = song_groups(pairs, kept_ids(pairs))
    assert max(Counter(groups.values()).values()) - len(groups) // SONG_GROUPS in (0, 1)
    assert song_groups(random.sample(pairs, len(pairs)), kept_ids(pairs)) == groups
    by_id = {pair.pair_id: pair for pair in pairs}
    folds = block_folds(pairs, groups)
    assert Counter(pair for fold in folds for pair in fold.test) == dict.fromkeys(by_id, 1)
    for fold in folds:
        tested, trained = songs_of([by_id[i] for i in fold.test]), songs_of([by_id[i] for i in fold.train])
        assert not tested & trained
        assert all(groups[song] not in fold.groups for song in trained)


@settings(max_examples=30)
@given(rated_graphs(least_songs=4, most_songs=9))
def test_the_search_ends_where_its_own_bookkeeping_and_a_recount_agree(pairs: list[Pair]) -> None:
    groups = balanced_groups(pairs, songs_of(pairs), [len(songs_of(pairs)) - 2, 2])
    best = imbalance(pairs, groups)
    for first, second in combinations(groups, 2):
        swapped = groups | {first: groups[second], second: groups[first]}
        assert imbalance(pairs, swapped) >= best - 1e-5
