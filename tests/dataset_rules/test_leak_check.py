"""The leak check finds what was planted, and nothing else."""

from hypothesis import given
from hypothesis import strategies as st
from made_up_pairs import made_up_pair, rated_graphs
from upstream_tables import Upstream

from lyricsim_dataset.leaks import Leak, leaks
from lyricsim_dataset.records import SPLITS, Pair
from lyricsim_dataset.splits import paper_split

ZERO = (0, 0, 0)


def members(upstream: Upstream, assignment: dict[str, str]) -> dict[str, list[Pair]]:
    return {split: upstream.members(assignment, split) for split in SPLITS}


def test_the_clean_split_shares_songs_but_no_pair(upstream: Upstream) -> None:
    for assignment in (upstream.clean, upstream.of_kept(upstream.clean)):
        found = leaks(members(upstream, assignment))
        assert [leak.splits for leak in found] == [
            ("train", "validation"),
            ("train", "test"),
            ("validation", "test"),
        ]
        assert all(leak.songs and not leak.pairs for leak in found)


def test_the_song_disjoint_split_shares_songs_of_train_and_validation_only(upstream: Upstream) -> None:
    found = leaks(members(upstream, upstream.song_disjoint))
    assert [leak.splits for leak in found] == [("train", "validation")]
    assert len(found[0].songs) == 51
    assert not found[0].pairs


def test_the_paper_s_split_leaks_all_its_test_pairs(upstream: Upstream) -> None:
    by_id = {pair.pair_id: pair for pair in upstream.kept}
    splits = {split: [by_id[i] for i in ids] for split, ids in paper_split(upstream.kept).items()}
    shared = {leak.splits: len(leak.pairs) for leak in leaks(splits)}
    assert shared == {("train", "validation"): 0, ("train", "test"): 64, ("validation", "test"): 4}


def test_a_pair_in_the_other_order_is_the_same_pair() -> None:
    splits = {"train": [made_up_pair("1", "2", ZERO)], "test": [made_up_pair("2", "1", ZERO)]}
    assert leaks(splits) == [Leak(("train", "test"), ("1_2",), ("1", "2"))]


def test_splits_without_anything_in_common_give_no_record() -> None:
    assert leaks({"train": [made_up_pair("1", "2", ZERO)], "test": [made_up_pair("3", "4", ZERO)]}) == []


@given(rated_graphs(least_songs=3), st.data())
def test_planted_pairs_are_found(pairs: list[Pair], data: st.DataObject) -> None:
    boundary = data.draw(st.integers(0, len(pairs)))
    planted = data.draw(st.lists(st.sampled_from(pairs), unique_by=lambda pair: pair.pair_id))
    train, test = pairs[:boundary], pairs[boundary:]
    found = leaks({"train": train, "test": test + [pair for pair in planted if pair in train]})
    expected = tuple(sorted(pair.pair_id for pair in planted if pair in train))
    assert (found[0].pairs if found else ()) == expected
