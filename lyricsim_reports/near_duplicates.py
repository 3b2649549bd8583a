"""Songs under different ids whose texts are nearly the same (pure)."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

#: Shared share of word trigrams from which two texts count as nearly the same.
THRESHOLD = 0.5
_GRAM = 3
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class NearDuplicate:
    """Two songs.

    Args:
        songs: their ids, sorted.
        similarity: trigrams of words that both have, divided by all trigrams of the two, 0 to 1.
    """

    songs: tuple[str, str]
    similarity: float


def near_duplicates(lyrics: Mapping[str, str], threshold: float = THRESHOLD) -> list[NearDuplicate]:
    """Find songs that share at least a share of their word trigrams.

    Args:
        lyrics: song id to text.
        threshold: above 0, up to 1.

    Returns:
        The most similar first. Case, accents and punctuation don't count.
    """
    grams = {song: trigrams(text) for song, text in lyrics.items()}
    holders: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for song in sorted(grams):
        for gram in grams[song]:
            holders[gram].append(song)
    shared = Counter(pair for songs in holders.values() for pair in combinations(songs, 2))
    found = [NearDuplicate(p, n / (len(grams[p[0]]) + len(grams[p[1]]) - n)) for p, n in shared.items()]
    kept = [duplicate for duplicate in found if duplicate.similarity >= threshold]
    return sorted(kept, key=lambda duplicate: (-duplicate.similarity, duplicate.songs))


def trigrams(text: str) -> frozenset[tuple[str, ...]]:
    """Sets of three words in a row; a shorter text is one gram."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    words = _WORD.findall("".join(c for c in plain if not unicodedata.combining(c)))
    if len(words) < _GRAM:
        return frozenset({tuple(words)}) if words else frozenset()
    return frozenset(zip(*[words[start:] for start in range(_GRAM)], strict=False))
