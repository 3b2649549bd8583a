"""What splits share that they shouldn't: pairs and songs (pure)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from lyricsim_dataset.records import Pair
from lyricsim_dataset.song_splits import songs_of


@dataclass(frozen=True)
class Leak:
    """What two splits have in common.

    Args:
        splits: names of the two splits, in the order given.
        pairs: sorted ids of shared pairs; a pair counts as shared in either order of its songs.
        songs: sorted ids of shared songs.
    """

    splits: tuple[str, str]
    pairs: tuple[str, ...]
    songs: tuple[str, ...]


def leaks(splits: Mapping[str, Sequence[Pair]]) -> list[Leak]:
    """Compare every two splits.

    Returns:
        A record for each two splits that share a song or a pair; an empty list if none do. Splits of a
        complete graph of songs share songs by design: there look at ``pairs``.
    """
    found = [_shared(first, second, splits) for first, second in combinations(splits, 2)]
    return [leak for leak in found if leak.pairs or leak.songs]


def _shared(first: str, second: str, splits: Mapping[str, Sequence[Pair]]) -> Leak:
    ids = _ids_by_songs(splits[first])
    common = ids.keys() & _ids_by_songs(splits[second]).keys()
    return Leak(
        splits=(first, second),
        pairs=tuple(sorted(ids[songs] for songs in common)),
        songs=tuple(sorted(songs_of(splits[first]) & songs_of(splits[second]))),
    )


def _ids_by_songs(pairs: Iterable[Pair]) -> dict[frozenset[str], str]:
    return {frozenset((pair.song_id_1, pair.song_id_2)): pair.pair_id for pair in pairs}
