"""A small invented data set in a user's own format."""

import csv
import itertools

import numpy as np

WORDS = ["mar", "sol", "luna", "noche", "amor", "calle", "viento", "lluvia", "camino", "voz", "sombra"]
COLUMNS = ("pair_id", "song_id_1", "song_id_2", "lyrics_1", "lyrics_2", "score", "split")


def invented_songs(count=16, seed=1):
    """Bags of words in lines, by song id."""
    random = np.random.default_rng(seed)
    return {
        f"s{number:02d}": "\n".join(" ".join(random.choice(WORDS, 3)) for _ in range(2 + number % 5))
        for number in range(count)
    }


def invented_rows(count=16, seed=1):
    """Every pair of the songs, its score from the words it shares, split 70-10-20 by position."""
    songs = invented_songs(count, seed)
    for number, (a, b) in enumerate(itertools.combinations(songs, 2)):
        shared = len(set(songs[a].split()) & set(songs[b].split()))
        split = {7: "validation", 8: "test", 9: "test"}.get(number % 10, "train")
        yield dict(
            zip(COLUMNS, (f"{a}_{b}", a, b, songs[a], songs[b], min(5, shared / 2), split), strict=True)
        )


def write_rows(path, rows):
    rows = list(rows)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))
