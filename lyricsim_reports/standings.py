"""Who stands where: ranks with intervals, groups that no test separates, models under a floor (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from string import ascii_lowercase

import numpy as np

from lyricsim_comparison.significance import bootstrap_p_values, holm
from lyricsim_metric.inputs import as_song_codes
from lyricsim_metric.resampling import design_of
from lyricsim_models.baselines import song_pairs
from lyricsim_reports.measured import LEVEL, RESAMPLES, Measured, SeedScores

_COMBINED = 2
SIGNIFICANCE = 0.05
# The smallest p-value of B resamples is about 2 / B; Holm multiplies it by the number of tests.
_RESAMPLES_A_TEST = 100
# Scores that differ by less are equal but for rounding.
_TIE = 1e-12


@dataclass(frozen=True)
class Standing:
    """One system's place.

    Args:
        measured: the system.
        rank: 1 is best.
        rank_interval: 95 % of the ranks over resampled songs.
        groups: letters; two systems that share one are not separated by the paired test.
        below: the floors that score higher, the best first; empty for floors.
    """

    measured: Measured
    rank: int
    rank_interval: tuple[int, int]
    groups: str
    below: tuple[str, ...]


@dataclass(frozen=True)
class Separation:
    """The paired test of two systems.

    Args:
        better: title of the system with the higher score.
        worse: of the other.
        systems: the names of both.
        difference: of their combined scores.
        p_value: after Holm's correction over all pairs of the table; NaN where undefined.
        smallest: p-value that so many resamples and tests cannot fall below.
    """

    better: str
    worse: str
    systems: tuple[str, str]
    difference: float
    p_value: float
    smallest: float


def standings(
    systems: Sequence[Measured], resamples: int = RESAMPLES, seed: int = 0
) -> tuple[list[Standing], list[Separation]]:
    """Rank systems by the combined score of the same pairs.

    Args:
        systems: results of one protocol on one dataset, with a defined combined score.
        resamples: of songs, the same for every system; more are drawn where there are many tests.
        seed: of the private generator that draws them.

    Returns:
        Standings, the best first; and the paired test of each two, in the same order.
    """
    if not systems:
        return [], []
    ordered = sorted(systems, key=lambda m: (-m.scores["combined_score"], m.result.system))
    replicates = _replicates(ordered, resamples, seed)
    tests = _tests(ordered, replicates)
    separated = {
        pair
        for pair, test in zip(combinations(range(len(ordered)), 2), tests, strict=True)
        if test.p_value < SIGNIFICANCE
    }
    letters = group_letters(len(ordered), separated)
    ranks = rank_intervals(replicates)
    scores = [m.scores["combined_score"] for m in ordered]
    found = [
        Standing(m, _rank(own, scores), ranks[place], letters[place], _floors_above(m, ordered))
        for place, (m, own) in enumerate(zip(ordered, scores, strict=True))
    ]
    return found, tests


def _replicates(systems: Sequence[Measured], resamples: int, seed: int) -> np.ndarray:
    """Combined scores of the same resampled tables, shape (resamples, systems)."""
    pairs = systems[0].pairs
    tests = len(systems) * (len(systems) - 1) // 2
    resamples = max(resamples, _RESAMPLES_A_TEST * tests)
    gold = np.array(pairs.gold)
    statistics = [SeedScores(m.predictions, gold) for m in systems]
    design = design_of(as_song_codes(song_pairs(pairs), len(pairs)), len(pairs))
    drawn = [
        np.stack([scores(weights)[:, _COMBINED] for scores in statistics], axis=1)
        for weights in design.draw(np.random.default_rng(seed), resamples)
    ]
    return np.concatenate(drawn)


def rank_intervals(replicates: np.ndarray) -> list[tuple[int, int]]:
    """95 % intervals of each system's rank over resampled tables.

    Args:
        replicates: shape (resamples, systems), higher is better; tables where one is undefined are left out.
    """
    defined = replicates[~np.isnan(replicates).any(axis=1)]
    if not len(defined):
        return [(1, replicates.shape[1])] * replicates.shape[1]
    # One system after the other: all comparisons at once would not fit where there are many systems.
    ranks = np.stack([1 + (defined > own[:, None] + _TIE).sum(axis=1) for own in defined.T], axis=1)
    tails = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
    low = np.quantile(ranks, tails[0], axis=0, method="inverted_cdf")
    high = np.quantile(ranks, tails[1], axis=0, method="inverted_cdf")
    return list(zip(low.astype(int).tolist(), high.astype(int).tolist(), strict=True))


def _tests(systems: Sequence[Measured], replicates: np.ndarray) -> list[Separation]:
    pairs = list(combinations(range(len(systems)), 2))
    if not pairs:
        return []
    p_values = np.array([_p_value(replicates[:, one] - replicates[:, other]) for one, other in pairs])
    defined = ~np.isnan(p_values)
    p_values[defined] = holm(p_values[defined])
    score = [m.scores["combined_score"] for m in systems]
    return [
        Separation(
            systems[one].result.title,
            systems[other].result.title,
            (systems[one].result.system, systems[other].result.system),
            score[one] - score[other],
            float(p_value),
            min(1.0, 2 * len(pairs) / (len(replicates) + 1)),
        )
        for (one, other), p_value in zip(pairs, p_values, strict=True)
    ]


def _p_value(differences: np.ndarray) -> float:
    return float(bootstrap_p_values(differences[:, None])[0])


def _rank(own: float, scores: Sequence[float]) -> int:
    return 1 + sum(score > own + _TIE for score in scores)


def group_letters(count: int, separated: set[tuple[int, int]]) -> list[str]:
    """Letters such that two systems share one if and only if the test does not separate them.

    Insert and absorb (Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons",
    Journal of Computational and Graphical Statistics 13(2), 2004).

    Args:
        count: of systems, numbered from 0.
        separated: pairs that the test separates, the lower number first.

    Example:
        >>> group_letters(3, {(0, 2)})
        ['a', 'ab', 'b']
    """
    groups = [frozenset(range(count))]
    for one, other in sorted(separated):
        split = [g - {out} for g in groups if {one, other} <= g for out in (one, other)]
        candidates = list(dict.fromkeys([g for g in groups if not {one, other} <= g] + split))
        groups = [g for g in candidates if not any(g < larger for larger in candidates)]
    groups.sort(key=sorted)
    return ["".join(_letter(i) for i, group in enumerate(groups) if n in group) for n in range(count)]


def _letter(position: int) -> str:
    rounds, place = divmod(position, len(ascii_lowercase))
    return ascii_lowercase[place] + (str(rounds) if rounds else "")


def _floors_above(system: Measured, ordered: Sequence[Measured]) -> tuple[str, ...]:
    if system.result.kind == "floor":
        return ()
    own = system.scores["combined_score"]
    floors = [m for m in ordered if m.result.kind == "floor" and m.scores["combined_score"] > own]
    return tuple(m.result.system for m in floors)


def by_system(measured: Sequence[Measured]) -> Mapping[str, list[Measured]]:
    """Results of each system, in the order given."""
    found: dict[str, list[Measured]] = {}
    for m in measured:
        found.setdefault(m.result.system, []).append(m)
    return found
