"""Invented songs in a user's own format, and the ``select`` command in this process."""

import csv
import json

import numpy as np

WORDS = [f"palabra{number}" for number in range(75)]


def invented_lyrics(count=40, seed=1):
    """Bags of words in lines, by song id; every fifth song repeats most of the one before it."""
    random = np.random.default_rng(seed)
    lyrics = {}
    for number in range(count):
        lines = [" ".join(random.choice(WORDS, 4)) for _ in range(3 + number % 6)]
        if number % 5 == 4:
            lines = [*lyrics[f"s{number - 1:04d}"].split("\n")[1:], lines[0]]
        lyrics[f"s{number:04d}"] = "\n".join(lines)
    return lyrics


def song_rows(count=40, seed=1):
    return [
        {"id": song, "title": f"Canción {song}", "artist": "", "lyric": lyric}
        for song, lyric in invented_lyrics(count, seed).items()
    ]


def write_csv(path, rows):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def write_jsonl(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
