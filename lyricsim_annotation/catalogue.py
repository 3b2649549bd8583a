"""The songs to choose pairs from: a built dataset, a Hub dataset, or a CSV, JSONL or Parquet file."""

import hashlib
import json
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lyricsim_annotation.records import SongText, is_song_id
from lyricsim_dataset.configurations import WHOLE
from lyricsim_dataset.loading import built_folder
from lyricsim_models.pair_table import is_identity, is_lyric
from lyricsim_models.streams import read_rows
from lyricsim_tools.errors import UserError
from lyricsim_tools.loading import fresh_cache

Row = Mapping[str, Any]

# Our dataset's names, and those of the songs.jsonl that a selection holds.
_NAMES = {
    "id": ("id", "song_id"),
    "title": ("title",),
    "artist": ("artist",),
    "lyric": ("lyric", "lyrics"),
}
_NEEDED = ("id", "lyric")


@dataclass(frozen=True)
class Catalogue:
    """n songs.

    Args:
        songs: in the order of their ids, whatever the order of the rows that were read.
    """

    songs: tuple[SongText, ...]

    def __len__(self) -> int:
        return len(self.songs)

    @cached_property
    def fingerprint(self) -> str:
        """Hexadecimal SHA-256 over all songs."""
        digest = hashlib.sha256()
        for song in self.songs:
            digest.update(json.dumps(astuple(song)).encode())
        return digest.hexdigest()

    @cached_property
    def place(self) -> Mapping[str, int]:
        """Each song's place, from 0, by its id."""
        return {song.song_id: place for place, song in enumerate(self.songs)}


def read_catalogue(source: str) -> Catalogue:
    """Read and check a catalogue.

    Args:
        source: a folder that ``lyricsim-dataset build`` wrote, a Hub id, or a CSV, JSONL or Parquet file with
            the columns ``id`` and ``lyric`` (or ``song_id``, ``lyrics``), perhaps ``title`` and ``artist``.

    Raises:
        UserError: it cannot be read, lacks a column, has fewer than two songs, an empty lyric, no id, one
            id twice or something else than texts: which row.
    """
    songs = sorted(_songs(dataset_rows(source, "songs"), source), key=lambda song: song.song_id)
    if len(songs) < 2:
        raise UserError(f"{source} has {len(songs)} songs", "two or more", "check the catalogue")
    return Catalogue(tuple(songs))


def dataset_rows(source: str, config: str) -> Iterable[Row]:
    """Rows of a file, or of one configuration of a dataset.

    Args:
        source: a file, a folder that ``lyricsim-dataset build`` wrote, or a Hub id.
        config: the configuration, where ``source`` is a dataset.

    Raises:
        UserError: there is no such thing, or it cannot be read.
    """
    path = Path(source).expanduser()
    if path.is_file():
        return read_rows(path)
    if path.is_dir():
        return _loaded_rows(str(built_folder(path)), config, local=True)
    if is_dataset(source):
        return _loaded_rows(source, config, local=False)
    raise UserError(
        f"{source} does not exist",
        "a CSV, JSONL or Parquet file, a built dataset folder, or a Hub id owner/name",
        "check the path",
    )


def is_dataset(source: str) -> bool:
    """Whether a source is a folder or a Hub id, which may hold ratings too, and not a file."""
    path = Path(source).expanduser()
    return path.is_dir() or (source.count("/") == 1 and not path.suffix and not path.is_file())


def _loaded_rows(name: str, config: str, *, local: bool) -> list[Row]:
    from datasets import load_dataset
    from huggingface_hub.errors import HfHubHTTPError

    with fresh_cache(local) as cache:
        try:
            return list(load_dataset(name, config, split=WHOLE, cache_dir=cache))
        except (ValueError, OSError, HfHubHTTPError) as error:
            raise UserError(
                f"the configuration {config} of {name} cannot be loaded: {error}",
                "a dataset that `lyricsim-dataset build` wrote, here or on the Hub",
                "check the name, the network and `hf auth login`",
            ) from error


def _songs(rows: Iterable[Row], source: str) -> Iterator[SongText]:
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        values = {field: _value(row, names) for field, names in _NAMES.items()}
        _refuse_missing(row, number, source)
        _refuse_other_kinds(values, number, source)
        song = SongText(*(str("" if value is None else value) for value in values.values()))
        _refuse_bad(song, number, seen.setdefault(song.song_id, number), source)
        yield song


def _value(row: Row, names: Sequence[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _refuse_missing(row: Row, number: int, source: str) -> None:
    missing = [field for field in _NEEDED if not any(name in row for name in _NAMES[field])]
    if missing:
        raise UserError(
            f"row {number} of {source} has no column {', '.join(missing)}; it has {', '.join(map(str, row))}",
            "columns id and lyric (or song_id, lyrics), perhaps title and artist",
            "rename or add the columns",
        )


def _refuse_other_kinds(values: Row, number: int, source: str) -> None:
    for field, value in values.items():
        is_good = is_lyric if field == "lyric" else is_identity
        if not _is_blank(value) and not is_good(value):
            raise UserError(
                f"row {number} of {source} has the {field} {reprlib.repr(value)}",
                "one text of whole characters; an id, a title or an artist may be a whole number",
                "correct or drop the row",
            )


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _refuse_bad(song: SongText, number: int, first: int, source: str) -> None:
    faults = {
        "no id": not song.song_id.strip(),
        f"the id {song.song_id!r}": not is_song_id(song.song_id),
        f"the id {song.song_id!r}, as row {first} has": first != number,
        "an empty lyric": not song.lyric.strip(),
    }
    for fault in (name for name, found in faults.items() if found):
        raise UserError(
            f"row {number} of {source} has {fault}",
            "for every song a lyric and an id of its own, without underscores, commas and line breaks",
            "correct or drop the row",
        )
