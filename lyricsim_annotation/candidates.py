"""Which pairs are scored at all: every pair of a small catalogue, a recalled and drawn part of a large one.

A pair of songs is a *code*: place of the earlier song times the number of songs, plus place of the later one.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from lyricsim_annotation.catalogue import Catalogue
from lyricsim_annotation.recall import neighbours
from lyricsim_annotation.selection import flat_quotas

# Of the similarity by which the pool is thinned out to the budget.
_STRATA = 20
#: Pairs drawn at random into the pool, for each pair of the budget.
_DRAWN = 4
_FEWEST_NEIGHBOURS, _MOST_NEIGHBOURS = 10, 100
_BLOCK = 65_536
MISSED = (
    "A pair was scored only if one song is among the other's nearest by the recall vectors, or if the lot "
    "drew it. Pairs that the scorer would call similar though their vectors are not near (for a "
    "cross-encoder: similar in meaning only) are missed, save for the drawn share. "
    "benchmarks/annotation.py measures it."
)


@dataclass(frozen=True)
class Recalled:
    """The pairs to score.

    Args:
        codes: of different, allowed pairs, shape (m,), ascending.
        counts: how they came about: ``all``, or how many each way of finding them gave and how many of
            these were kept.
    """

    codes: np.ndarray
    counts: dict[str, int]


def encode(first: np.ndarray, second: np.ndarray, songs: int) -> np.ndarray:
    """Codes of pairs, whichever song comes first; int64."""
    low, high = np.minimum(first, second).astype(np.int64), np.maximum(first, second)
    return low * songs + high


def decode(codes: np.ndarray, songs: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of the earlier and the later song of each pair."""
    return codes // songs, codes % songs


@dataclass(frozen=True)
class Forbidden:
    """Pairs that may not be chosen.

    Args:
        rated: codes of the pairs rated before, ascending.
        elsewhere: how many pairs rated before have a song that the catalogue lacks.
        text: a number for each song, shape (n,); songs with equal numbers have the same text.
    """

    rated: np.ndarray
    text: np.ndarray
    elsewhere: int = 0

    def allows(self, codes: np.ndarray) -> np.ndarray:
        """Which of the pairs may be chosen, shape (m,), bool."""
        first, second = decode(codes, len(self.text))
        return (self.text[first] != self.text[second]) & ~np.isin(codes, self.rated)

    @property
    def identical(self) -> int:
        """Pairs of songs with the same text."""
        _, sizes = np.unique(self.text, return_counts=True)
        return int((sizes * (sizes - 1) // 2).sum())


def forbidden_pairs(catalogue: Catalogue, rated: Iterable[Collection[str]]) -> Forbidden:
    """What may not be chosen from a catalogue.

    Args:
        catalogue: the songs.
        rated: the ids of each pair's songs; pairs with a song that the catalogue lacks are only counted.
    """
    known = [[catalogue.place.get(song) for song in pair] for pair in rated]
    places = np.array([pair for pair in known if None not in pair], dtype=np.int64).reshape(-1, 2)
    keys: dict[str, int] = {}
    text = np.array([keys.setdefault(song.text_key, len(keys)) for song in catalogue.songs])
    codes = np.unique(encode(places[:, 0], places[:, 1], len(catalogue)))
    return Forbidden(codes, text, len(known) - len(places))


def all_pairs(songs: int) -> int:
    """How many pairs there are of that many songs."""
    return songs * (songs - 1) // 2


def every_pair(forbidden: Forbidden) -> Recalled:
    """All allowed pairs of a catalogue."""
    songs = len(forbidden.text)
    first, second = np.triu_indices(songs, 1)
    codes = encode(first, second, songs)
    return Recalled(codes[forbidden.allows(codes)], {"all": len(codes)})


def recalled_pairs(vectors: np.ndarray, forbidden: Forbidden, budget: int, seed: int) -> Recalled:
    """Neighbours and drawn pairs of a large catalogue, thinned out to a budget.

    The pool holds each song's neighbours, for the high end, and pairs drawn at random, for the low end. Half
    of the budget goes to the pairs with the largest inner products of their vectors, since similar pairs are
    the scarce ones. The rest of the pool is cut into strata of equal width by that product, and each stratum
    gives as many pairs as any other, so far as it has them.

    Args:
        vectors: of the songs, shape (n, width), float32.
        forbidden: pairs to leave out.
        budget: pairs to score at most.
        seed: of the draws.
    """
    songs = len(vectors)
    generator = np.random.default_rng(seed)
    count = int(np.clip(-(-budget // songs), _FEWEST_NEIGHBOURS, _MOST_NEIGHBOURS))
    near = np.unique(np.concatenate([encode(*found, songs) for found in neighbours(vectors, count)]))
    drawn = np.setdiff1d(draw_codes(songs, _DRAWN * budget, generator), near)
    pool = np.concatenate([near, drawn])
    from_near = np.repeat([True, False], [len(near), len(drawn)])
    allowed = forbidden.allows(pool)
    pool, from_near = pool[allowed], from_near[allowed]
    kept = _thinned(similarity(vectors, pool), budget, generator)
    counts = {
        "neighbours_a_song": count,
        "neighbours": len(near),
        "neighbours_kept": int(from_near[kept].sum()),
        "drawn": len(drawn),
        "drawn_kept": int((~from_near[kept]).sum()),
    }
    return Recalled(np.sort(pool[kept]), counts)


def draw_codes(songs: int, count: int, generator: np.random.Generator) -> np.ndarray:
    """Codes of at most ``count`` different pairs, drawn evenly over all pairs; ascending."""
    first, step = generator.integers(songs, size=count), generator.integers(1, songs, size=count)
    return np.unique(encode(first, (first + step) % songs, songs))


def similarity(vectors: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Inner product of the vectors of each pair, shape (m,), float64, block by block."""
    found = np.empty(len(codes))
    for start in range(0, len(codes), _BLOCK):
        first, second = decode(codes[start : start + _BLOCK], len(vectors))
        products = np.einsum("ij,ij->i", vectors[first], vectors[second], dtype=np.float64)
        found[start : start + _BLOCK] = products
    return found


def _thinned(similar: np.ndarray, budget: int, generator: np.random.Generator) -> np.ndarray:
    """Rows to keep: the most similar half of the budget, and as many of every stratum of the others."""
    ranked = np.argsort(-similar, kind="stable")
    best, rest = ranked[: budget // 2], ranked[budget // 2 :]
    width = max(np.ptp(similar[rest]), np.finfo(float).tiny) if len(rest) else 1.0
    share = (similar[rest] - similar[rest].min(initial=np.inf)) / width
    stratum = np.minimum((share * _STRATA).astype(np.int64), _STRATA - 1)
    available = np.bincount(stratum, minlength=_STRATA).tolist()
    quotas = flat_quotas(available, min(budget - len(best), len(rest)))
    rows = [rest[stratum == place] for place in range(_STRATA)]
    drawn = [generator.permutation(own)[:quota] for own, quota in zip(rows, quotas, strict=True)]
    return np.concatenate([best, *drawn])
