"""Made-up songs, pairs and ratings for the properties of rules and splits."""

from collections.abc import Sequence
from itertools import combinations

from hypothesis import strategies as st

from lyricsim_dataset.consensus import kept_pairs
from lyricsim_dataset.records import Pair, Rating

a_rating = st.integers(0, 5)
three_ratings = st.tuples(a_rating, a_rating, a_rating)


def made_up_pair(first: str, second: str, ratings: tuple[int, ...]) -> Pair:
    return Pair(f"{first}_{second}", first, second, ratings)


@st.composite
def rated_graphs(draw: st.DrawFn, least_songs: int = 2, most_songs: int = 12) -> list[Pair]:
    """Every pair of some songs, in any order, each with three ratings that often agree."""
    songs = [str(100 + number) for number in range(draw(st.integers(least_songs, most_songs)))]
    graph = list(combinations(songs, 2))
    agreeing = st.sampled_from([(0, 0, 0), (1, 1, 1), (1, 1, 2), (2, 1, 2), (3, 3, 4), (5, 5, 5)])
    ratings = draw(st.lists(agreeing | three_ratings, min_size=len(graph), max_size=len(graph)))
    pairs = [made_up_pair(*songs_of, values) for songs_of, values in zip(graph, ratings, strict=True)]
    return draw(st.permutations(pairs))


def kept_ids(pairs: Sequence[Pair]) -> frozenset[str]:
    return frozenset(pair.pair_id for pair in kept_pairs(pairs))


def ratings_of(pairs: Sequence[Pair], annotators: Sequence[str] = ("a", "b", "c")) -> list[Rating]:
    """The single ratings of pairs, the first by the first annotator and so on."""
    return [
        Rating(annotator, pair.song_id_1, pair.song_id_2, value)
        for pair in pairs
        for annotator, value in zip(annotators, pair.ratings, strict=True)
    ]
