"""The clean 85-5-10 split and the paper's own: sizes, digests, strata and properties."""

import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_pairs import kept_ids, made_up_pair, rated_graphs
from upstream_tables import Upstream

from lyricsim_dataset.records import SPLITS, Pair
from lyricsim_dataset.splits import (
    SMALLEST_STRATUM,
    assignment_digest,
    ids_by_split,
    label_strata,
    largest_remainder,
    membership_digest,
    paper_split,
    split_sizes,
    stratified_split,
)

RAW_DIGEST = "3076ab9dede19c7c41674a5e231382f7b72c89a1fb23dd832859c8ca41054921"
FILTERED_DIGEST = "c2e95c6fae76cc1c91db1a465d0bc128de21a1cb9b1aa51651c66e1a89d5d32d"
PAPER_DIGEST = "6da143d35ed98f078da32fdeaf7fee411066e1773a41c143f9c3d96d95c8b046"


def sizes(assignment: dict[str, str]) -> dict[str, int]:
    return {split: len(ids) for split, ids in ids_by_split(assignment).items()}


def test_filtered_is_split_574_34_68_and_raw_2358_139_278(upstream: Upstream) -> None:
    assert sizes(upstream.of_kept(upstream.clean)) == {"train": 574, "validation": 34, "test": 68}
    assert sizes(upstream.clean) == {"train": 2358, "validation": 139, "test": 278}


def test_the_published_assignments_have_their_pinned_digests(upstream: Upstream) -> None:
    assert assignment_digest(upstream.clean) == RAW_DIGEST
    assert assignment_digest(upstream.of_kept(upstream.clean)) == FILTERED_DIGEST
    assert membership_digest(paper_split(upstream.kept)) == PAPER_DIGEST


def test_the_draw_does_not_depend_on_the_hash_seed_of_python(lyricsim_source: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from upstream_tables import read_upstream;"
        "from lyricsim_dataset.splits import assignment_digest;"
        "u = read_upstream(Path(sys.argv[1])); print(assignment_digest(u.clean))"
    )
    environment = os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", code, str(lyricsim_source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == RAW_DIGEST


def test_filtered_labels_have_13_values_in_nine_strata(upstream: Upstream) -> None:
    labels = Counter(pair.score for pair in upstream.kept)
    assert len(labels) == 13
    assert labels[0.0] == 279
    assert round(100 * labels[0.0] / len(upstream.kept), 1) == 41.3
    assert sum(count for label, count in labels.items() if label >= 4) == 5
    assert [len(stratum) for stratum in label_strata(upstream.kept)] == [
        279,
        117,
        146,
        62,
        13,
        18,
        15,
        15,
        11,
    ]


def test_every_stratum_gives_each_split_its_share_to_within_one_pair(upstream: Upstream) -> None:
    wanted = split_sizes(len(upstream.kept))
    for stratum in label_strata(upstream.kept):
        found = Counter(upstream.clean[pair.pair_id] for pair in stratum)
        for split in ("validation", "test"):
            assert abs(found[split] - len(stratum) * wanted[split] / len(upstream.kept)) < 1


def test_every_song_of_a_filtered_test_pair_is_trained_on(upstream: Upstream) -> None:
    filtered = upstream.of_kept(upstream.clean)
    songs = {
        split: {s for p in upstream.members(filtered, split) for s in (p.song_id_1, p.song_id_2)}
        for split in SPLITS
    }
    assert songs["test"] <= songs["train"]


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [(0, (0, 0, 0)), (1, (0, 0, 1)), (10, (8, 1, 1)), (676, (574, 34, 68)), (2775, (2358, 139, 278))],
)
def test_split_sizes(pairs: int, expected: tuple[int, int, int]) -> None:
    assert tuple(split_sizes(pairs).values()) == expected


@given(st.integers(0, 5000), st.integers(0, 5000))
def test_split_sizes_add_up_and_never_shrink_as_pairs_are_added(fewer: int, added: int) -> None:
    before, after = split_sizes(fewer), split_sizes(fewer + added)
    assert sum(before.values()) == fewer
    assert all(0 <= before[split] <= after[split] for split in SPLITS)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=20), st.data())
def test_shares_add_up_and_stay_within_one_of_proportion_and_below_their_weight(
    weights: list[int], data: st.DataObject
) -> None:
    total = data.draw(st.integers(0, sum(weights)))
    shares = largest_remainder(total, weights)
    assert sum(shares) == total
    for share, weight in zip(shares, weights, strict=True):
        assert 0 <= share <= weight
        assert abs(share * sum(weights) - total * weight) < max(1, sum(weights))


@settings(max_examples=50)
@given(rated_graphs())
def test_strata_hold_every_pair_once_and_all_pairs_of_a_label(pairs: list[Pair]) -> None:
    strata = label_strata(pairs)
    assert sorted(p.pair_id for stratum in strata for p in stratum) == sorted(p.pair_id for p in pairs)
    labels = [{sum(pair.ratings) for pair in stratum} for stratum in strata]
    assert all(max(lower) < min(upper) for lower, upper in pairwise(labels))
    assert len(strata) == 1 or min(map(len, strata)) >= SMALLEST_STRATUM


@settings(max_examples=40)
@given(rated_graphs(), st.randoms(), st.integers(0, 9))
def test_the_split_is_whole_exact_and_independent_of_order(pairs: list[Pair], random, seed: int) -> None:
    assignment = stratified_split(pairs, kept_ids(pairs), seed)
    assert sorted(assignment) == list(assignment) == sorted(pair.pair_id for pair in pairs)
    assert sizes(assignment) == split_sizes(len(pairs))
    shuffled = random.sample(pairs, len(pairs))
    assert list(stratified_split(shuffled, kept_ids(pairs), seed).items()) == list(assignment.items())


@settings(max_examples=50)
@given(rated_graphs())
def test_filtered_pairs_keep_their_split_among_all_pairs(pairs: list[Pair]) -> None:
    ids = kept_ids(pairs)
    alone = stratified_split([pair for pair in pairs if pair.pair_id in ids], ids)
    among_all = stratified_split(pairs, ids)
    assert alone == {pair: split for pair, split in among_all.items() if pair in ids}
    assert sizes(alone) == split_sizes(len(ids))


def test_another_seed_draws_other_pairs(upstream: Upstream) -> None:
    assert stratified_split(upstream.pairs, upstream.kept_ids, seed=1) != upstream.clean


def test_the_paper_s_split_has_its_sizes_and_its_overlap(upstream: Upstream) -> None:
    splits = paper_split(upstream.kept)
    assert {split: len(ids) for split, ids in splits.items()} == {"train": 638, "validation": 38, "test": 68}
    train, validation, test = (set(splits[split]) for split in SPLITS)
    assert not train & validation
    assert train | validation == upstream.kept_ids
    assert (len(test & train), len(test & validation)) == (64, 4)


def test_the_paper_s_test_pairs_are_those_of_the_clean_split(upstream: Upstream) -> None:
    assert paper_split(upstream.kept)["test"] == ids_by_split(upstream.of_kept(upstream.clean))["test"]


@settings(max_examples=30)
@given(rated_graphs(), st.randoms())
def test_the_paper_s_split_does_not_depend_on_order(pairs: list[Pair], random) -> None:
    assert paper_split(random.sample(pairs, len(pairs))) == paper_split(pairs)


@given(st.dictionaries(st.text("0123456789_", min_size=3), st.sampled_from(SPLITS), min_size=1), st.data())
def test_a_digest_changes_with_any_pair_s_split_and_not_with_order(
    assignment: dict[str, str], data: st.DataObject
) -> None:
    digest = assignment_digest(assignment)
    assert assignment_digest(dict(reversed(assignment.items()))) == digest
    pair = data.draw(st.sampled_from(sorted(assignment)))
    other = data.draw(st.sampled_from([split for split in SPLITS if split != assignment[pair]]))
    assert assignment_digest(assignment | {pair: other}) != digest


def test_labels_of_pairs_with_other_numbers_of_raters_are_compared_by_their_mean() -> None:
    halves = [made_up_pair("1", str(i), (1, 2)) for i in range(10, 20)]
    thirds = [made_up_pair("2", str(i), (1, 1, 2)) for i in range(10, 20)]
    assert label_strata(halves + thirds) == [thirds, halves]
