"""A documented search for groups of songs whose blocks of pairs look alike (pure).

A *block* is the set of pairs between two song groups, or within one. In a perfectly balanced partition each
block holds the same mixture of labels, in proportion to the number of song pairs it covers. The search
starts from songs in hash order, then swaps songs between groups as long as a swap brings the blocks nearer
to that, from several starts; the best result stands.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lyricsim_dataset.records import Pair
from lyricsim_dataset.splits import SEED, hash_order, label_strata

STARTS = 10
# Costs are rounded to whole millionths, so that their sums, and with them every choice of the search, are
# the same on all platforms, in whatever order a library adds.
_COST_UNIT = 1e6


@dataclass(frozen=True)
class _Problem:
    """Counts of pairs: ``links[x, y, s]`` between songs x and y in stratum s; ``expected[g, h, s]``."""

    links: np.ndarray
    expected: np.ndarray


def balanced_groups(
    pairs: Sequence[Pair], songs: Iterable[str], sizes: Sequence[int], seed: int = SEED
) -> dict[str, int]:
    """Put songs into groups of given sizes so that all blocks of pairs hold the same mixture of labels.

    Args:
        pairs: the pairs whose number and labels are to be balanced.
        songs: all songs, each once, in any order.
        sizes: songs a group; they add up to the number of songs.
        seed: orders the songs of each start.

    Returns:
        Song id to group number, sorted by song id.
    """
    names = sorted(songs)
    problem = _problem(pairs, names, sizes)
    found = [_improve(problem, _start(names, sizes, seed, start)) for start in range(STARTS)]
    best, _ = min(found, key=lambda groups_and_cost: groups_and_cost[1])
    return dict(zip(names, best.tolist(), strict=True))


def imbalance(pairs: Sequence[Pair], groups: dict[str, int]) -> float:
    """The search's cost of any partition: chi-square distance of block label counts from expectation."""
    names = sorted(groups)
    labels = np.array([groups[name] for name in names])
    problem = _problem(pairs, names, np.bincount(labels).tolist())
    return float(_costs(_state(problem, labels).blocks, problem.expected)) / (2 * _COST_UNIT)


def _problem(pairs: Sequence[Pair], names: list[str], sizes: Sequence[int]) -> _Problem:
    index = {name: i for i, name in enumerate(names)}
    strata = label_strata(pairs)
    links = np.zeros((len(names), len(names), len(strata)), dtype=np.int64)
    for s, stratum in enumerate(strata):
        for pair in stratum:
            first, second = index[pair.song_id_1], index[pair.song_id_2]
            links[first, second, s] += 1
            links[second, first, s] += 1
    # Ordered pairs of different songs that lie in each block, as a share of all of them.
    cells = np.outer(sizes, sizes) - np.diag(sizes)
    share = cells / max(1, len(names) * (len(names) - 1))
    return _Problem(links, share[:, :, None] * links.sum(axis=(0, 1)))


def _start(names: list[str], sizes: Sequence[int], seed: int, start: int) -> np.ndarray:
    order = sorted(range(len(names)), key=lambda i: hash_order(f"{start}:{names[i]}", seed))
    groups = np.empty(len(names), dtype=np.int64)
    groups[order] = np.repeat(np.arange(len(sizes)), sizes)
    return groups


@dataclass(frozen=True)
class _State:
    """A partition and its counts: ``to_groups[x, g, s]`` pairs of a song with a group, ``blocks[g, h, s]``.

    Blocks are symmetric; pairs within a group count twice.
    """

    groups: np.ndarray
    to_groups: np.ndarray
    blocks: np.ndarray


def _state(problem: _Problem, groups: np.ndarray) -> _State:
    members = np.eye(len(problem.expected), dtype=np.int64)[groups]
    to_groups = np.tensordot(problem.links, members, axes=(1, 0)).transpose(0, 2, 1)
    return _State(groups, to_groups, np.tensordot(members.T, to_groups, axes=1))


def _costs(blocks: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Chi-square distance over the last three axes, each term in whole millionths."""
    squares = (blocks - expected) ** 2
    terms = np.divide(squares, expected, out=np.zeros_like(squares), where=expected > 0)
    return np.rint(terms * _COST_UNIT).astype(np.int64).sum(axis=(-3, -2, -1))


def _improve(problem: _Problem, groups: np.ndarray) -> tuple[np.ndarray, int]:
    """Swap songs, each in turn with its best partner, until no swap helps; returns groups and cost."""
    state = _state(problem, groups)
    cost, unchanged, song = int(_costs(state.blocks, problem.expected)), 0, 0
    while unchanged < len(groups):
        partners = np.flatnonzero(state.groups != state.groups[song])
        costs = _costs(_blocks_after_swaps(problem, state, song, partners), problem.expected)
        unchanged += 1
        if len(partners) and costs.min() < cost:
            swapped = state.groups.copy()
            swapped[[song, partners[costs.argmin()]]] = swapped[[partners[costs.argmin()], song]]
            state, cost, unchanged = _state(problem, swapped), int(costs.min()), 0
        song = (song + 1) % len(groups)
    return state.groups, cost


def _blocks_after_swaps(problem: _Problem, state: _State, song: int, partners: np.ndarray) -> np.ndarray:
    """Block counts after swapping ``song`` with each partner, shape (partners, groups, groups, strata).

    With Z the one-hot membership and L the links, blocks are Z'LZ. A swap adds d to Z's row of the song and
    -d to the partner's, d being the partner's group minus the song's; the rest is multiplied out.
    """
    one_hot = np.eye(len(problem.expected), dtype=np.int64)
    d = one_hot[state.groups[partners]] - one_hot[state.groups[song]]
    moved = state.to_groups[song] - state.to_groups[partners]
    change = d[:, :, None, None] * moved[:, None]
    both = (2 * d[:, :, None] * d[:, None])[..., None] * problem.links[song, partners][:, None, None]
    return state.blocks + change + change.transpose(0, 2, 1, 3) - both
