"""The folder of pairs to be rated, as ``lyricsim-annotate select`` writes it or a user makes it by hand.

It holds ``pairs.csv`` (pair_id, song_a, song_b, predicted) and ``songs.jsonl`` (one object a line: id, title,
artist, lyric). Everything is checked here, before the first rater sees anything.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lyricsim_annotation.records import SongText, is_song_id
from lyricsim_dataset.delimited import Problems, Row, clean, read_delimited
from lyricsim_dataset.records import RATING_MAX, RATING_MIN
from lyricsim_models.pair_table import is_lyric
from lyricsim_tools.errors import UserError

PAIRS_FILE = "pairs.csv"
SONGS_FILE = "songs.jsonl"
#: Settings and provenance of the selection; absent from a folder made by hand.
SELECTION_FILE = "selection.json"

#: Of the pairs' file: those that must be there, and the one that may be.
PAIR_COLUMNS = ("pair_id", "song_a", "song_b")
PREDICTED = "predicted"
#: Of a song in the songs' file, in the order of ``SongText``.
SONG_KEYS = ("id", "title", "artist", "lyric")
_HOW = "make it with `lyricsim-annotate select`, or by hand as docs/annotation.md says"


@dataclass(frozen=True)
class ChosenPair:
    """One pair to be rated.

    Args:
        pair_id: the two song ids joined by an underscore, in the order in which they are shown.
        song_a: id of the song on the left.
        song_b: id of the song on the right.
        predicted: the score that the selecting model expects, 0 to 5; None: it said nothing.
    """

    pair_id: str
    song_a: str
    song_b: str
    predicted: float | None = None


@dataclass(frozen=True)
class Selection:
    """Everything that raters will see.

    Args:
        pairs: in the order in which they are wanted.
        songs: song id to song; every song of a pair is among them.
    """

    pairs: tuple[ChosenPair, ...]
    songs: Mapping[str, SongText]

    @property
    def fingerprint(self) -> str:
        """Hexadecimal SHA-256 of pairs and texts: ratings belong to exactly these."""
        used = sorted({song for pair in self.pairs for song in (pair.song_a, pair.song_b)})
        texts = [[song_id, self.songs[song_id].lyric] for song_id in used]
        content = json.dumps([[pair.pair_id for pair in self.pairs], texts], ensure_ascii=False)
        return hashlib.sha256(content.encode()).hexdigest()


def read_selection(folder: Path) -> Selection:
    """Read and check a selection folder.

    Raises:
        UserError: a file is missing, or a row is not what it should be; the message lists the rows.
    """
    for name in (PAIRS_FILE, SONGS_FILE):
        if not (folder / name).is_file():
            raise UserError(f"{folder} lacks {name}", f"a folder with {PAIRS_FILE} and {SONGS_FILE}", _HOW)
    songs = read_songs(folder / SONGS_FILE)
    return Selection(tuple(read_pairs(folder / PAIRS_FILE, songs)), songs)


def read_songs(path: Path) -> dict[str, SongText]:
    """Song id to song.

    Raises:
        UserError: a line is no such object, an id or a lyric is empty, an id stands twice.
    """
    problems = Problems(path)
    songs: dict[str, SongText] = {}
    for number, line in enumerate(_lines(path), start=1):
        song = _song(problems, number, line) if line.strip() else None
        if song is not None and song.song_id in songs:
            problems.add(number, "id", song.song_id, "this song stands in an earlier row already")
        elif song is not None:
            songs[song.song_id] = song
    problems.raise_if_any('one JSON object a line: {"id": "…", "title": "…", "artist": "…", "lyric": "…"}')
    return songs


def read_pairs(path: Path, songs: Mapping[str, SongText]) -> list[ChosenPair]:
    """The pairs in the file's order.

    Raises:
        UserError: no pair, an unknown song, a song with itself, a pair twice (in either order), an id that
            is not its two songs' ids joined by an underscore, or a prediction that is no number 0 to 5.
    """
    problems = Problems(path)
    pairs: list[ChosenPair] = []
    seen: dict[frozenset[str], int] = {}
    for row in read_delimited(path, ",", PAIR_COLUMNS):
        _check_pair(problems, row, songs, seen)
        pairs.append(ChosenPair(row["pair_id"], row["song_a"], row["song_b"], _predicted(problems, row)))
    problems.raise_if_any("one row a pair: two different songs, their ids joined by an underscore as its id")
    if not pairs:
        raise UserError(f"{path} holds no pair", "at least one pair", _HOW)
    return pairs


def _check_pair(
    problems: Problems, row: Row, songs: Mapping[str, SongText], seen: dict[frozenset[str], int]
) -> None:
    first, second = row["song_a"], row["song_b"]
    for column in ("song_a", "song_b"):
        if row[column] not in songs:
            problems.add(row.number, column, row[column], f"no such song in {SONGS_FILE}")
    if first == second:
        problems.add(row.number, "song_b", second, "a song paired with itself")
    if row["pair_id"] != f"{first}_{second}":
        problems.add(row.number, "pair_id", row["pair_id"], f"expected {first}_{second}")
    earlier = seen.setdefault(frozenset((first, second)), row.number)
    if earlier != row.number:
        problems.add(row.number, "pair_id", row["pair_id"], f"this pair stands in row {earlier} already")


def _predicted(problems: Problems, row: Row) -> float | None:
    text = row.values.get(PREDICTED, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not RATING_MIN <= value <= RATING_MAX:
        problems.add(row.number, PREDICTED, text, f"not a number {RATING_MIN} to {RATING_MAX}")
    return value


def _song(problems: Problems, number: int, line: str) -> SongText | None:
    before = len(problems.found)
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        problems.add(number, "JSON", line, str(error))
        return None
    if not isinstance(value, dict):
        problems.add(number, "JSON", line, "not an object")
        return None
    texts = {key: value.get(key, "") for key in SONG_KEYS}
    for key, text in texts.items():
        if not isinstance(text, str):
            problems.add(number, key, text, "not a text")
        elif key in ("id", "lyric") and not text.strip():
            problems.add(number, key, text, "empty")
        elif text.strip() and not is_lyric(text):
            problems.add(number, key, text, "half of a character")
    if isinstance(texts["id"], str) and not is_song_id(texts["id"]):
        problems.add(number, "id", texts["id"], "an underscore, a comma, a line break or outer blanks")
    return SongText(*(clean(texts[key]) for key in SONG_KEYS)) if len(problems.found) == before else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: {error}", "a file in UTF-8", "save it as UTF-8") from error
