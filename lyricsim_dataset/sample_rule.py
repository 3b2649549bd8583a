"""How the embedded sample's ratings are made up: a rule over words.

The verses in ``sample/data/raw/full_lyrics.tsv`` were written for this project. From them alone this module
makes the other files of upstream's layout; ``python -m lyricsim_dataset.sample_rule`` writes them anew.

Two verses are as alike as the number of long words that they share, 5 at most. Each of a pair's three
made-up raters says that number, one less or one more, as a hash of rater and pair decides.
"""

import csv
import hashlib
import io
from collections.abc import Iterable, Sequence
from itertools import combinations

from lyricsim_dataset.annotations import group_pairs
from lyricsim_dataset.consensus import RATERS_A_PAIR, kept_pairs
from lyricsim_dataset.delimited import read_delimited
from lyricsim_dataset.records import RATING_MAX, RATING_MIN, Rating, Song
from lyricsim_dataset.sources import (
    ANNOTATED_LYRICS_FILE,
    LYRICS_FILE,
    RATINGS_FILE,
    REFERENCE_FILE,
    SAMPLE_FOLDER,
)
from lyricsim_tools.atomic import write_text

RATERS = tuple(str(number) for number in range(7001, 7010))
_LONG = 4
_NOISE = (-1, 0, 0, 0, 0, 0, 1)
_PUNCTUATION = ".,;:!¡?¿«»\"'…()"


def verses() -> list[Song]:
    """The sample's verses; the text that its raters are said to have read lacks the lines' last stops."""
    songs = []
    for row in read_delimited(
        SAMPLE_FOLDER / LYRICS_FILE, "\t", ("song_id", "text", "artist_name", "track_name")
    ):
        text = row["text"]
        songs.append(Song(row["song_id"], row["artist_name"], row["track_name"], text, as_annotated(text)))
    return songs


def as_annotated(text: str) -> str:
    """The text with each line's last full stop, comma or semicolon left away."""
    return "\n".join(line.rstrip(".,;") for line in text.split("\n"))


def likeness(first: str, second: str) -> int:
    """How many different words of four letters or more two texts share, at most ``RATING_MAX``."""
    return min(RATING_MAX, len(_long_words(first) & _long_words(second)))


def made_up_ratings(songs: Sequence[Song]) -> list[Rating]:
    """Three ratings for every pair of songs, in an order and with raters that hashes decide."""
    ratings: list[Rating] = []
    for first, second in combinations(songs, 2):
        ordered = sorted((first, second), key=lambda song: _hash(first.song_id, second.song_id, song.song_id))
        ratings += _ratings_of(*ordered)
    return sorted(ratings, key=lambda r: _hash(r.annotator, r.pair_id))


def _ratings_of(first: Song, second: Song) -> Iterable[Rating]:
    base = likeness(first.lyrics, second.lyrics)
    raters = sorted(RATERS, key=lambda rater: _hash("rater", rater, first.song_id, second.song_id))
    for rater in raters[:RATERS_A_PAIR]:
        noise = _NOISE[_hash(rater, first.song_id, second.song_id) % len(_NOISE)]
        rating = max(RATING_MIN, min(RATING_MAX, base + noise))
        yield Rating(rater, first.song_id, second.song_id, rating)


def _long_words(text: str) -> set[str]:
    words = (word.strip(_PUNCTUATION) for word in text.lower().split())
    return {word for word in words if len(word) >= _LONG}


def _hash(*words: str) -> int:
    return int.from_bytes(hashlib.sha256(":".join(words).encode()).digest()[:8])


def derived_files(songs: Sequence[Song]) -> dict[str, str]:
    """Path to content of the files made from the verses, in upstream's formats, quirks included."""
    ratings = made_up_ratings(songs)
    return {
        RATINGS_FILE: _ratings_text(ratings),
        ANNOTATED_LYRICS_FILE: _pairs_text(songs, ratings),
        REFERENCE_FILE: _means_text(songs, ratings),
    }


def _ratings_text(ratings: Sequence[Rating]) -> str:
    rows = [f"{r.annotator},{r.rating}, {r.song_id_1}, {r.song_id_2}" for r in ratings]
    return "\ufeff" + "\r\n".join(["annotator_id,sim_rating,id1,id2", *rows])


def _pairs_text(songs: Sequence[Song], ratings: Sequence[Rating]) -> str:
    by_id = {song.song_id: song for song in songs}
    head = [f"{name}_{side}" for side in (1, 2) for name in ("id", "artist_name", "track_name", "lyrics")]
    pairs = sorted(group_pairs(ratings), key=lambda pair: pair.pair_id)
    sides = [(by_id[pair.song_id_1], by_id[pair.song_id_2]) for pair in pairs]
    rows = [
        [value for s in songs for value in (s.song_id, s.artist, s.title, s.lyrics_as_annotated)]
        for songs in sides
    ]
    return _csv(head, rows)


def _means_text(songs: Sequence[Song], ratings: Sequence[Rating]) -> str:
    lengths = {song.song_id: song.length for song in songs}
    kept = sorted(kept_pairs(group_pairs(ratings)), key=lambda pair: pair.pair_id)
    rows = [
        [p.pair_id, p.score, p.song_id_1, p.song_id_2, lengths[p.song_id_1], lengths[p.song_id_2]]
        for p in kept
    ]
    return _csv(["pair_id", "sim_rating", "song_1", "song_2", "length_1", "length_2"], rows)


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([head, *rows])
    return stream.getvalue()


def main() -> None:
    """Write the derived files into the sample."""
    for path, content in derived_files(verses()).items():
        write_text(SAMPLE_FOLDER / path, content)


if __name__ == "__main__":
    main()
