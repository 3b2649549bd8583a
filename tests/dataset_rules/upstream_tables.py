"""LyricSIM's tables with everything that the rules decide about them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lyricsim_dataset.annotations import Tables, read_tables
from lyricsim_dataset.consensus import kept_pairs
from lyricsim_dataset.records import Pair
from lyricsim_dataset.song_splits import song_disjoint_split, song_groups, song_partition
from lyricsim_dataset.sources import locate
from lyricsim_dataset.splits import stratified_split


@dataclass(frozen=True)
class Upstream:
    """What upstream's files give."""

    tables: Tables
    kept: Sequence[Pair]
    kept_ids: frozenset[str]
    clean: dict[str, str]
    test_songs: frozenset[str]
    song_disjoint: dict[str, str]
    groups: dict[str, int]

    @property
    def pairs(self) -> Sequence[Pair]:
        return self.tables.pairs

    def of_kept(self, assignment: dict[str, str]) -> dict[str, str]:
        return {pair: split for pair, split in assignment.items() if pair in self.kept_ids}

    def members(self, assignment: dict[str, str], split: str) -> list[Pair]:
        return [pair for pair in self.pairs if assignment.get(pair.pair_id) == split]


def read_upstream(source: Path) -> Upstream:
    tables = read_tables(locate(source))
    kept = kept_pairs(tables.pairs)
    ids = frozenset(pair.pair_id for pair in kept)
    test_songs = song_partition(tables.pairs, ids)
    return Upstream(
        tables=tables,
        kept=kept,
        kept_ids=ids,
        clean=stratified_split(tables.pairs, ids),
        test_songs=test_songs,
        song_disjoint=song_disjoint_split(tables.pairs, ids, test_songs),
        groups=song_groups(tables.pairs, ids),
    )
