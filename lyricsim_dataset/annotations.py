"""Upstream's ratings and songs as validated tables: checked once, here, and trusted afterwards."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lyricsim_dataset.consensus import RATERS_A_PAIR
from lyricsim_dataset.delimited import Problems, Row, read_delimited
from lyricsim_dataset.records import RATING_MAX, RATING_MIN, Pair, Rating, Song
from lyricsim_dataset.sources import ANNOTATED_LYRICS_FILE, LYRICS_FILE, RATINGS_FILE, SourceTree
from lyricsim_tools.errors import UserError

_RATING_COLUMNS = ("annotator_id", "sim_rating", "id1", "id2")
_SONG_COLUMNS = ("song_id", "text", "artist_name", "track_name")
_SIDES = tuple(
    tuple(f"{name}_{side}" for name in ("id", "artist_name", "track_name", "lyrics")) for side in (1, 2)
)
_RATINGS_BY_TEXT = {str(rating): rating for rating in range(RATING_MIN, RATING_MAX + 1)}


@dataclass(frozen=True)
class Tables:
    """Everything read from one source, checked.

    Args:
        songs: in upstream's order.
        ratings: in upstream's order.
        pairs: in the order of their first rating.
    """

    songs: tuple[Song, ...]
    ratings: tuple[Rating, ...]
    pairs: tuple[Pair, ...]


def read_tables(source: SourceTree, min_raters: int | None = None) -> Tables:
    """Read and check a source tree.

    Args:
        source: where to read.
        min_raters: accept pairs with this many ratings or more; None: exactly three, as upstream has.

    Raises:
        UserError: any row is not what it should be; the message lists file, row, column and value.
    """
    if min_raters is not None and min_raters < 1:
        raise UserError(f"--min-raters {min_raters}", "a whole number of at least 1", "give such a number")
    songs = read_songs(source.path(LYRICS_FILE), source.path(ANNOTATED_LYRICS_FILE))
    path = source.path(RATINGS_FILE)
    ratings, rows = read_ratings(path, {song.song_id for song in songs})
    pairs = group_pairs(ratings)
    _check_raters(path, pairs, rows, min_raters)
    return Tables(tuple(songs), tuple(ratings), tuple(pairs))


def read_songs(path: Path, annotated_path: Path) -> list[Song]:
    """Read the songs' published texts and, from the list of pairs, the texts the raters saw.

    Raises:
        UserError: a field is empty, a song stands twice or without the text the raters saw.
    """
    annotated = read_annotated_lyrics(annotated_path)
    problems = Problems(path)
    songs: dict[str, Song] = {}
    for row in read_delimited(path, "\t", _SONG_COLUMNS):
        song_id = row["song_id"]
        empty = _note_empty(problems, row, _SONG_COLUMNS)
        if "_" in song_id:
            problems.add(row.number, "song_id", song_id, "an underscore, which joins the two ids of a pair")
        elif song_id in songs:
            problems.add(row.number, "song_id", song_id, "this song stands in an earlier row already")
        elif song_id not in annotated and not empty:
            problems.add(row.number, "song_id", song_id, f"no pair of {annotated_path.name} has this song")
        elif not empty:
            songs[song_id] = _song(row, annotated[song_id])
    problems.raise_if_any("one row a song: its id, text, artist and title, each song also among the pairs")
    return list(songs.values())


def _song(row: Row, annotated: str) -> Song:
    return Song(row["song_id"], row["artist_name"], row["track_name"], row["text"], annotated)


def read_annotated_lyrics(path: Path) -> dict[str, str]:
    """Each song's text as the raters saw it, from the list of pairs.

    Raises:
        UserError: a field is empty, a pair stands twice or pairs a song with itself, or a song has two texts.
    """
    problems = Problems(path)
    texts: dict[str, str] = {}
    seen: dict[frozenset[str], int] = {}
    for row in read_delimited(path, ",", [name for side in _SIDES for name in side]):
        ids = (row["id_1"], row["id_2"])
        _note_bad_pair(problems, row, ids, "id_2")
        first = seen.setdefault(frozenset(ids), row.number)
        if first != row.number:
            problems.add(row.number, "id_1, id_2", "_".join(ids), f"this pair stands in row {first} already")
        for names in _SIDES:
            _note_empty(problems, row, names)
            if texts.setdefault(row[names[0]], row[names[-1]]) != row[names[-1]]:
                problems.add(
                    row.number, names[-1], row[names[-1]], f"song {row[names[0]]} had another text before"
                )
    problems.raise_if_any("one row a pair, two different songs, each song with one text throughout")
    return texts


def read_ratings(path: Path, known: Collection[str]) -> tuple[list[Rating], list[int]]:
    """Read the judgements.

    Args:
        path: upstream's ``annotation_results.csv``.
        known: the ids of the songs there are.

    Returns:
        The ratings and, beside them, the row each stands in.

    Raises:
        UserError: a rating is no whole number 0 to 5, a song is unknown or paired with itself, a pair is
            written in both orders, or an annotator rated a pair twice.
    """
    problems = Problems(path)
    ratings: list[Rating] = []
    numbers: list[int] = []
    for row in read_delimited(path, ",", _RATING_COLUMNS):
        rating = _rating(problems, row, known)
        if rating is not None:
            ratings.append(rating)
            numbers.append(row.number)
    _note_repetitions(problems, ratings, numbers)
    problems.raise_if_any(
        f"a whole rating {RATING_MIN} to {RATING_MAX}, two different known songs, "
        "each pair in one order, each annotator once a pair"
    )
    return ratings, numbers


def group_pairs(ratings: Sequence[Rating]) -> list[Pair]:
    """Gather the ratings of each pair, pairs and ratings in the order given."""
    gathered: dict[str, list[Rating]] = {}
    for rating in ratings:
        gathered.setdefault(rating.pair_id, []).append(rating)
    return [
        Pair(pair_id, group[0].song_id_1, group[0].song_id_2, tuple(rating.rating for rating in group))
        for pair_id, group in gathered.items()
    ]


def annotator_numbers(ratings: Sequence[Rating]) -> Mapping[str, int]:
    """Number the annotators 1, 2, … by their first row, so that no platform's member id is published."""
    return {name: number for number, name in enumerate(dict.fromkeys(r.annotator for r in ratings), start=1)}


def _rating(problems: Problems, row: Row, known: Collection[str]) -> Rating | None:
    before = len(problems.found)
    text = row["sim_rating"]
    if text not in _RATINGS_BY_TEXT:
        problems.add(row.number, "sim_rating", text, f"not a whole number {RATING_MIN} to {RATING_MAX}")
    _note_empty(problems, row, ("annotator_id", "id1", "id2"))
    for column in ("id1", "id2"):
        if row[column] and row[column] not in known:
            problems.add(row.number, column, row[column], "no such song")
    _note_bad_pair(problems, row, (row["id1"], row["id2"]), "id2")
    if len(problems.found) > before:
        return None
    return Rating(row["annotator_id"], row["id1"], row["id2"], _RATINGS_BY_TEXT[text])


def _note_repetitions(problems: Problems, ratings: Sequence[Rating], numbers: Sequence[int]) -> None:
    order: dict[frozenset[str], tuple[str, int]] = {}
    judged: dict[tuple[str, frozenset[str]], int] = {}
    for rating, number in zip(ratings, numbers, strict=True):
        pair = frozenset((rating.song_id_1, rating.song_id_2))
        written, row = order.setdefault(pair, (rating.pair_id, number))
        if written != rating.pair_id:
            problems.add(number, "id1, id2", rating.pair_id, f"row {row} writes this pair as {written}")
        earlier = judged.setdefault((rating.annotator, pair), number)
        if earlier != number:
            problems.add(
                number, "annotator_id", rating.annotator, f"rated this pair in row {earlier} already"
            )


def _note_empty(problems: Problems, row: Row, columns: Sequence[str]) -> bool:
    empty = [column for column in columns if not row[column]]
    for column in empty:
        problems.add(row.number, column, "", "empty")
    return bool(empty)


def _note_bad_pair(problems: Problems, row: Row, ids: tuple[str, str], column: str) -> None:
    if ids[0] and ids[0] == ids[1]:
        problems.add(row.number, column, ids[1], "a song paired with itself")


def _check_raters(path: Path, pairs: Sequence[Pair], rows: Sequence[int], min_raters: int | None) -> None:
    problems = Problems(path)
    fewest, most = (RATERS_A_PAIR, RATERS_A_PAIR) if min_raters is None else (min_raters, len(rows))
    for pair in pairs:
        if not fewest <= len(pair.ratings) <= most:
            problems.found.append(f"column id1, id2, value {pair.pair_id!r}: {len(pair.ratings)} ratings")
    allowed = f"{RATERS_A_PAIR} ratings a pair" if min_raters is None else f"at least {fewest} ratings a pair"
    problems.raise_if_any(f"{allowed} (--min-raters N accepts pairs with N ratings or more)")
