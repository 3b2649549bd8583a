"""From checked tables to everything that is published: which pair is where (pure)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lyricsim_dataset.annotations import Tables, annotator_numbers
from lyricsim_dataset.configurations import PAIR_CONFIGS, WHOLE, Configuration
from lyricsim_dataset.consensus import RATERS_A_PAIR, kept_pairs
from lyricsim_dataset.records import SPLITS, Pair, Rating, Song
from lyricsim_dataset.song_splits import song_disjoint_split, song_groups, song_partition, straddling_pairs
from lyricsim_dataset.splits import SEED, ids_by_split, paper_split, stratified_split

Splits = Mapping[str, tuple[Pair, ...]]
Row = dict[str, Any]


@dataclass(frozen=True)
class Release:
    """Everything that is published, decided once.

    Args:
        tables: what was read.
        filtered: the pairs that the consensus rule keeps.
        groups: song id to its group for block cross-validation, from 0.
        test_songs: the songs of the song-disjoint test pairs.
        splits: for each configuration of pairs, its splits.
        straddling: for each song-disjoint configuration, how many pairs are in no split.
        seed: of all draws.
    """

    tables: Tables
    filtered: tuple[Pair, ...]
    groups: Mapping[str, int]
    test_songs: frozenset[str]
    splits: Mapping[str, Splits]
    straddling: Mapping[str, int]
    seed: int = SEED


def assemble(tables: Tables, seed: int = SEED) -> Release:
    """Filter, split and group the pairs.

    The consensus rule is about three ratings: pairs with another number are in the raw configurations only.
    """
    three = [pair for pair in tables.pairs if len(pair.ratings) == RATERS_A_PAIR]
    filtered = tuple(kept_pairs(three))
    ids = frozenset(pair.pair_id for pair in filtered)
    test_songs = song_partition(tables.pairs, ids, seed)
    populations = {"raw": tables.pairs, "filtered": filtered}
    rules: Mapping[str, Callable[[Sequence[Pair]], Mapping[str, list[str]]]] = {
        "clean": lambda pairs: _within(pairs, stratified_split(tables.pairs, ids, seed)),
        "song-disjoint": lambda pairs: _within(
            pairs, song_disjoint_split(tables.pairs, ids, test_songs, seed)
        ),
        "paper": lambda pairs: paper_split(pairs, seed),
    }
    return Release(
        tables,
        filtered,
        song_groups(tables.pairs, ids, seed),
        test_songs,
        {c.name: _splits(populations[c.population], rules[c.rule]) for c in PAIR_CONFIGS},
        {
            c.name: len(straddling_pairs(populations[c.population], test_songs))
            for c in PAIR_CONFIGS
            if c.rule == "song-disjoint"
        },
        seed,
    )


def empty_splits(release: Release) -> list[tuple[str, str]]:
    """Configuration and split of every split that no pair fell into: there are too few pairs to build."""
    return [
        (name, split)
        for name, splits in release.splits.items()
        for split, pairs in splits.items()
        if not pairs
    ]


def _within(pairs: Sequence[Pair], assignment: Mapping[str, str]) -> dict[str, list[str]]:
    ids = {pair.pair_id for pair in pairs}
    return ids_by_split({pair: split for pair, split in assignment.items() if pair in ids})


def _splits(pairs: Sequence[Pair], rule: Callable[[Sequence[Pair]], Mapping[str, list[str]]]) -> Splits:
    by_split = {split: set(ids) for split, ids in rule(pairs).items()}
    return {split: tuple(pair for pair in pairs if pair.pair_id in by_split[split]) for split in SPLITS}


def rows(release: Release, configuration: Configuration) -> dict[str, list[Row]]:
    """The rows of every split of a configuration, each with all of its columns."""
    if configuration.kind == "songs":
        return {WHOLE: [song_row(song, release.groups) for song in release.tables.songs]}
    if configuration.kind == "annotations":
        numbers = annotator_numbers(release.tables.ratings)
        return {WHOLE: [annotation_row(rating, numbers) for rating in release.tables.ratings]}
    songs = {song.song_id: song for song in release.tables.songs}
    splits = release.splits[configuration.name]
    return {split: [pair_row(pair, songs) for pair in pairs] for split, pairs in splits.items()}


def pair_row(pair: Pair, songs: Mapping[str, Song]) -> Row:
    """One row of a configuration of pairs."""
    first, second = songs[pair.song_id_1], songs[pair.song_id_2]
    return {
        "pair_id": pair.pair_id,
        "song_id_1": first.song_id,
        "song_id_2": second.song_id,
        "artist_1": first.artist,
        "artist_2": second.artist,
        "title_1": first.title,
        "title_2": second.title,
        "lyrics_1": first.lyrics,
        "lyrics_2": second.lyrics,
        "ratings": list(pair.ratings),
        "score": pair.score,
        "length_1": first.length,
        "length_2": second.length,
    }


def song_row(song: Song, groups: Mapping[str, int]) -> Row:
    """One row of ``songs``; a song that no pair has is in no group (-1)."""
    return {
        "song_id": song.song_id,
        "artist": song.artist,
        "title": song.title,
        "lyrics": song.lyrics,
        "lyrics_as_annotated": song.lyrics_as_annotated,
        "length": song.length,
        "song_group": groups.get(song.song_id, -1),
    }


def annotation_row(rating: Rating, numbers: Mapping[str, int]) -> Row:
    """One row of ``annotations``."""
    return {
        "pair_id": rating.pair_id,
        "song_id_1": rating.song_id_1,
        "song_id_2": rating.song_id_2,
        "annotator": numbers[rating.annotator],
        "rating": rating.rating,
    }
