"""The built dataset folder as this room reads it: checked against its record, without model or network."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from lyricsim_dataset.annotations import Tables, group_pairs
from lyricsim_dataset.configurations import WHOLE
from lyricsim_dataset.loading import built_folder
from lyricsim_dataset.records import SPLITS, Rating, Song
from lyricsim_dataset.verify import require_intact
from lyricsim_models.pair_table import PairTable, pair_table
from lyricsim_reports.origin import Origin, origin_of_record
from lyricsim_tools.errors import UserError


@dataclass(frozen=True)
class Benchmark:
    """What a built folder holds, as far as reports need it.

    Args:
        record: the build's record: source, seed, sizes and digests of the splits.
        tables: songs, ratings (annotators as published, renumbered) and pairs.
        splits: for each configuration of pairs, its splits.
        groups: song id to its group for block cross-validation.
    """

    record: Mapping[str, Any]
    tables: Tables
    splits: Mapping[str, Mapping[str, PairTable]]
    groups: Mapping[str, int]

    @property
    def origin(self) -> Origin:
        """Whose data these are."""
        return origin_of_record(self.record)

    def whole(self, config: str) -> PairTable:
        """The pairs of all splits of a configuration, each once, sorted by id."""
        parts = self.splits[config]
        place = {pair: (name, row) for name, part in parts.items() for row, pair in enumerate(part.pair_ids)}
        rows = [parts[name].take([row]) for _, (name, row) in sorted(place.items())]
        return PairTable(
            **{
                f.name: tuple(value for row in rows for value in getattr(row, f.name))
                for f in fields(PairTable)
            }
        )

    def split_digest(self, config: str) -> str:
        """The digest that names a configuration's splits."""
        return str(self.record["splits"][config]["digest"])


def read_benchmark(folder: str | Path | None = None) -> Benchmark:
    """Read a folder that ``lyricsim-dataset build`` wrote.

    Args:
        folder: None: ``LYRICSIM_FOLDER``, else ``lyricsim`` in the working directory.

    Raises:
        UserError: nothing was built there, its files were changed, or it was built without lyrics.
    """
    place = built_folder(folder)
    record = require_intact(place)
    if not record["with_lyrics"]:
        raise UserError(
            f"{place} holds no lyrics", "a folder built with lyrics", "build it without --without-lyrics"
        )
    songs = _columns(place, record, "songs", WHOLE)
    ratings = _ratings(_columns(place, record, "annotations", WHOLE))
    return Benchmark(
        record=record,
        tables=Tables(tuple(_songs(songs)), tuple(ratings), tuple(group_pairs(ratings))),
        splits={name: _pair_splits(place, record, name) for name in record["splits"]},
        groups={s: g for s, g in zip(songs["song_id"], songs["song_group"], strict=True) if g >= 0},
    )


def _columns(folder: Path, record: Mapping[str, Any], config: str, split: str) -> dict[str, list[Any]]:
    from pyarrow import parquet

    files = [f for f in record["configurations"][config]["files"] if f["split"] == split]
    parts = [parquet.read_table(folder / file["path"]).to_pydict() for file in files]
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def _pair_splits(folder: Path, record: Mapping[str, Any], config: str) -> dict[str, PairTable]:
    sizes = record["splits"][config]["rows"]
    return {
        split: pair_table(_columns(folder, record, config, split), f"{split} of {config}")
        for split in SPLITS
        if sizes.get(split)
    }


def _songs(columns: Mapping[str, Sequence[Any]]) -> list[Song]:
    names = ("song_id", "artist", "title", "lyrics", "lyrics_as_annotated")
    return [Song(*row) for row in zip(*[columns[name] for name in names], strict=True)]


def _ratings(columns: Mapping[str, Sequence[Any]]) -> list[Rating]:
    names = ("annotator", "song_id_1", "song_id_2", "rating")
    rows = zip(*[columns[name] for name in names], strict=True)
    return [Rating(str(annotator), first, second, rating) for annotator, first, second, rating in rows]
