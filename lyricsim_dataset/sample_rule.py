"""How the embedded sample's ratings are made up: a rule over words.

The verses in ``sample/data/raw/full_lyrics.tsv`` were written for this project. From them alone this module
makes the other files of upstream's layout; ``python -m lyricsim_dataset.sample_rule`` writes them anew.

Two verses are as alike as the number of long words that they share, 5 at most. Each of a pair's three
made-up raters says that number, one less or one more, as a hash of rater and pair decides.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import combinations

from lyricsim_dataset.annotations import group_pairs
from lyricsim_dataset.consensus import RATERS_A_PAIR, kept_pairs
from lyricsim_dataset.delimited import read_delimited
from lyricsim_dataset.raw_format import means_text, pairs_text, ratings_text
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
        RATINGS_FILE: ratings_text(ratings),
        ANNOTATED_LYRICS_FILE: pairs_text(songs, ratings),
        REFERENCE_FILE: means_text(songs, kept_pairs(group_pairs(ratings))),
    }


def main() -> None:
    """Write the derived files into the sample."""
    for path, content in derived_files(verses()).items():
        write_text(SAMPLE_FOLDER / path, content)


if __name__ == "__main__":
    main()
