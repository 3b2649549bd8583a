"""Splits in which the songs of a test pair are never trained on, and the folds of block cross-validation."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement

from lyricsim_dataset.records import Pair
from lyricsim_dataset.song_balance import balanced_groups
from lyricsim_dataset.splits import SEED, assign

#: Share of songs that are test songs: of 75 songs 24, which leave about 67 filtered pairs for test.
TEST_SONGS_PERCENT = 32
#: Groups of block cross-validation; they make 15 blocks.
SONG_GROUPS = 5


@dataclass(frozen=True)
class BlockFold:
    """One block of cross-validation.

    Args:
        groups: the two song groups whose pairs are tested; twice the same for the pairs within a group.
        test: sorted ids of the block's pairs.
        train: sorted ids of all pairs that have no song in either group.
    """

    groups: tuple[int, int]
    test: tuple[str, ...]
    train: tuple[str, ...]


def songs_of(pairs: Sequence[Pair]) -> set[str]:
    """All songs that occur in the pairs."""
    return {song for pair in pairs for song in (pair.song_id_1, pair.song_id_2)}


def song_partition(pairs: Sequence[Pair], filtered_ids: Collection[str], seed: int = SEED) -> frozenset[str]:
    """The test songs: about a third, chosen so that the filtered pairs on both sides look alike.

    Both the number of filtered pairs and their labels are balanced, within the test songs, within the
    others and across (see ``song_balance.balanced_groups``).
    """
    songs = songs_of(pairs)
    tested = (len(songs) * TEST_SONGS_PERCENT + 50) // 100
    filtered = [pair for pair in pairs if pair.pair_id in filtered_ids]
    groups = balanced_groups(filtered, songs, [tested, len(songs) - tested], seed)
    return frozenset(song for song, group in groups.items() if group == 0)


def song_disjoint_split(
    pairs: Sequence[Pair], filtered_ids: Collection[str], test_songs: Collection[str], seed: int = SEED
) -> dict[str, str]:
    """Test pairs are those of two test songs; train and validation those of two other songs.

    Validation is a tenth, rounded up, of the train side: it shares songs with train, not with test. As in
    ``stratified_split`` a filtered pair has the same split among all pairs. Pairs of one test song and one
    other are left out: see ``straddling_pairs``.

    Returns:
        Pair id to split, sorted by pair id, without the straddling pairs.
    """
    left_out = set(straddling_pairs(pairs, test_songs))
    test = {p.pair_id for p in pairs if p.pair_id not in left_out and p.song_id_1 in test_songs}
    side = [pair for pair in pairs if pair.pair_id not in left_out | test]
    filtered = [pair for pair in side if pair.pair_id in filtered_ids]
    others = [pair for pair in side if pair.pair_id not in filtered_ids]
    validation = -(-len(filtered) // 10)
    assignment = assign(filtered, {"test": 0, "validation": validation}, seed)
    assignment |= assign(others, {"test": 0, "validation": -(-len(side) // 10) - validation}, seed)
    return dict(sorted((assignment | dict.fromkeys(test, "test")).items()))


def straddling_pairs(pairs: Sequence[Pair], test_songs: Collection[str]) -> list[str]:
    """Sorted ids of the pairs of one test song and one other, which no split may have."""
    return sorted(p.pair_id for p in pairs if (p.song_id_1 in test_songs) != (p.song_id_2 in test_songs))


def song_groups(pairs: Sequence[Pair], filtered_ids: Collection[str], seed: int = SEED) -> dict[str, int]:
    """Five equally large groups of songs, numbered from 0, for block cross-validation.

    Numbers and labels of the filtered pairs are balanced over the 15 blocks.
    """
    songs = songs_of(pairs)
    sizes = [(len(songs) + SONG_GROUPS - 1 - group) // SONG_GROUPS for group in range(SONG_GROUPS)]
    filtered = [pair for pair in pairs if pair.pair_id in filtered_ids]
    return balanced_groups(filtered, songs, sizes, seed)


def block_folds(pairs: Sequence[Pair], groups: Mapping[str, int]) -> list[BlockFold]:
    """The folds of block cross-validation: every pair is tested once, by a model that saw neither song.

    Args:
        pairs: those to test and to train on, such as the filtered ones.
        groups: group of every song that occurs.

    Returns:
        A fold for each two groups, a group with itself included, in ascending order: 15 for five groups.
    """
    blocks = combinations_with_replacement(sorted(set(groups.values())), 2)
    return [_fold(pairs, groups, block) for block in blocks]


def _fold(pairs: Sequence[Pair], groups: Mapping[str, int], block: tuple[int, int]) -> BlockFold:
    places = {p.pair_id: {groups[p.song_id_1], groups[p.song_id_2]} for p in pairs}
    return BlockFold(
        groups=block,
        test=tuple(sorted(pair for pair, place in places.items() if place == set(block))),
        train=tuple(sorted(pair for pair, place in places.items() if place.isdisjoint(block))),
    )
