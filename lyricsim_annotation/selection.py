"""Which of the candidate pairs are chosen: flat over the predicted scores, even over the songs.

Pure: arrays in, row numbers out. The rule, in the order it is applied:

1. The scale is cut into bins of equal width. Every bin gets the same quota; a bin with fewer candidates gives
   all of them, and what it lacks is passed on evenly to the others. What cannot be divided goes, one each, to
   the bins with most candidates left.
2. Bins take their turn from the scarcest (fewest candidates for each pair of the quota) to the richest, since
   a bin that must take nearly all of its pairs has no choice of songs; the richer ones can make up for it.
3. Inside a bin the next pair is always the one whose more used song is used least; then the one whose two
   songs together are used least; then by a lot drawn from the seed.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lyricsim_dataset.records import RATING_MAX, RATING_MIN
from lyricsim_tools.errors import UserError

BINS = 10


@dataclass(frozen=True)
class Scored:
    """m candidate pairs with their predictions.

    Args:
        first: place of one song of each pair, shape (m,).
        second: place of the other song.
        predicted: score of each pair, ``RATING_MIN`` to ``RATING_MAX``.
    """

    first: np.ndarray
    second: np.ndarray
    predicted: np.ndarray

    def __len__(self) -> int:
        return len(self.predicted)

    def take(self, rows: np.ndarray) -> "Scored":
        """The pairs of some rows, in their order."""
        return Scored(self.first[rows], self.second[rows], self.predicted[rows])


def bin_of(predicted: np.ndarray, bins: int = BINS) -> np.ndarray:
    """The bin, from 0, of each score; the top of the scale belongs to the last bin."""
    share = (predicted - RATING_MIN) / (RATING_MAX - RATING_MIN)
    return np.minimum((share * bins).astype(np.int64), bins - 1)


def bin_counts(predicted: np.ndarray, bins: int = BINS) -> list[int]:
    """How many scores each bin holds."""
    return [int(count) for count in np.bincount(bin_of(predicted, bins), minlength=bins)]


def flat_quotas(available: Sequence[int], wanted: int) -> list[int]:
    """The flattest whole quotas: step 1 of the rule.

    Args:
        available: candidates of each bin.
        wanted: sum of the quotas, at most that of ``available``.

    Returns:
        A quota for each bin. None could be raised without lowering one that is not larger by two or more.
    """
    left = np.array(available, dtype=np.int64)
    quotas = np.zeros_like(left)
    while (missing := wanted - int(quotas.sum())) > 0 and left.any():
        open_bins = np.flatnonzero(left)
        richest = open_bins[np.argsort(-left[open_bins], kind="stable")]
        share = max(1, missing // len(open_bins))
        given = np.zeros_like(left)
        given[richest[:missing]] = np.minimum(share, left[richest[:missing]])
        quotas, left = quotas + given, left - given
    return [int(quota) for quota in quotas]


def choose(candidates: Scored, wanted: int, *, bins: int = BINS, seed: int = 0) -> np.ndarray:
    """Choose pairs.

    Args:
        candidates: different pairs, in any order; the choice does not depend on it.
        wanted: how many.
        bins: parts of equal width that the scale is cut into.
        seed: of the lots that decide between equals, and of the order of the result.

    Returns:
        Rows of ``candidates``, shape (wanted,), in an order that says nothing of score or song.

    Raises:
        UserError: there are fewer candidates than pairs wanted.
    """
    if wanted > len(candidates):
        raise UserError(
            f"{wanted} pairs are asked for, and there are {len(candidates)} that may be chosen",
            "no more pairs than may be chosen",
            "ask for fewer with --pairs, raise --candidates, or give a larger catalogue",
        )
    generator = np.random.default_rng(seed)
    # In the order of the songs, so that lots do not depend on the order of the rows.
    sides = np.stack([candidates.first, candidates.second])
    canonical = np.lexsort((sides.max(axis=0), sides.min(axis=0)))
    lots = np.empty(len(candidates), dtype=np.int64)
    lots[canonical] = generator.permutation(len(candidates))
    chosen = _chosen_rows(candidates, wanted, bins, lots)
    return generator.permutation(np.array(sorted(chosen, key=lots.__getitem__), dtype=np.int64))


def _chosen_rows(candidates: Scored, wanted: int, bins: int, lots: np.ndarray) -> list[int]:
    own_bin = bin_of(candidates.predicted, bins)
    available = np.bincount(own_bin, minlength=bins)
    quotas = flat_quotas(available.tolist(), wanted)
    pairs = list(zip(candidates.first.tolist(), candidates.second.tolist(), strict=True))
    used: dict[int, int] = {}
    chosen: list[int] = []
    for place in sorted(np.flatnonzero(quotas).tolist(), key=lambda b: (available[b] / quotas[b], b)):
        chosen += _even_rows(np.flatnonzero(own_bin == place).tolist(), quotas[place], pairs, lots, used)
    return chosen


def _even_rows(
    rows: Iterable[int], quota: int, pairs: Sequence[tuple[int, int]], lots: np.ndarray, used: dict[int, int]
) -> list[int]:
    """Rows of one bin by step 3 of the rule; ``used``, the pairs of each song so far, is kept up to date."""

    def cost(row: int) -> tuple[int, int, int, int]:
        counts = [used.get(song, 0) for song in pairs[row]]
        return max(counts), sum(counts), int(lots[row]), row

    heap = [cost(row) for row in rows]
    heapq.heapify(heap)
    chosen: list[int] = []
    while len(chosen) < quota:
        row = heap[0][-1]
        # Costs only grow: a first entry that is up to date is the least of all.
        if (now := cost(row)) != heap[0]:
            heapq.heapreplace(heap, now)
            continue
        heapq.heappop(heap)
        chosen.append(row)
        used.update((song, used.get(song, 0) + 1) for song in pairs[row])
    return chosen


def song_counts(pairs: Scored, songs: int) -> np.ndarray:
    """Pairs that each song stands in, shape (songs,)."""
    return np.bincount(np.concatenate([pairs.first, pairs.second]), minlength=songs)
