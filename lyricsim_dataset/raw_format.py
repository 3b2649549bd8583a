"""Writing upstream's raw files, quirks included: what ``annotations`` reads (pure)."""

import csv
import io
from collections.abc import Iterable, Sequence

from lyricsim_dataset.annotations import group_pairs
from lyricsim_dataset.records import Pair, Rating, Song


def ratings_text(ratings: Sequence[Rating]) -> str:
    """``annotation_results.csv``: a byte-order mark, CRLF, a blank before each id, no line end at the end."""
    rows = [f"{r.annotator},{r.rating}, {r.song_id_1}, {r.song_id_2}" for r in ratings]
    return "\ufeff" + "\r\n".join(["annotator_id,sim_rating,id1,id2", *rows])


def songs_text(songs: Iterable[Song]) -> str:
    """``full_lyrics.tsv``: the published texts."""
    rows = [[song.song_id, song.lyrics, song.artist, song.title] for song in songs]
    return delimited_text(["song_id", "text", "artist_name", "track_name"], rows, "\t")


def pairs_text(songs: Sequence[Song], ratings: Sequence[Rating]) -> str:
    """``lyrics_pairs.csv``: both songs of every rated pair, with the texts that the raters saw."""
    by_id = {song.song_id: song for song in songs}
    head = [f"{name}_{side}" for side in (1, 2) for name in ("id", "artist_name", "track_name", "lyrics")]
    pairs = sorted(group_pairs(ratings), key=lambda pair: pair.pair_id)
    sides = [(by_id[pair.song_id_1], by_id[pair.song_id_2]) for pair in pairs]
    rows = [
        [value for s in both for value in (s.song_id, s.artist, s.title, s.lyrics_as_annotated)]
        for both in sides
    ]
    return delimited_text(head, rows)


def means_text(songs: Sequence[Song], kept: Sequence[Pair]) -> str:
    """``avg_ratings.csv``: the label of each kept pair and its songs' lengths in words."""
    lengths = {song.song_id: song.length for song in songs}
    rows = [
        [p.pair_id, p.score, p.song_id_1, p.song_id_2, lengths[p.song_id_1], lengths[p.song_id_2]]
        for p in sorted(kept, key=lambda pair: pair.pair_id)
    ]
    return delimited_text(["pair_id", "sim_rating", "song_1", "song_2", "length_1", "length_2"], rows)


def delimited_text(head: Sequence[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Rows under a header, quoted where needed, lines ended by a line feed."""
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows([head, *rows])
    return stream.getvalue()
