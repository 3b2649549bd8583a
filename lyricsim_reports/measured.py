"""Everything that is printed of a result, recomputed from its predictions and the dataset (pure)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lyricsim_metric.correlations import is_constant, pearson_and_spearman
from lyricsim_metric.inputs import as_song_codes
from lyricsim_metric.intervals import Options, bootstrap_intervals
from lyricsim_metric.resampling import WeightedScores, design_of
from lyricsim_metric.scores import SCORE_NAMES
from lyricsim_models.baselines import song_pairs
from lyricsim_models.diagnostics import beside_scores
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import digest, fingerprint
from lyricsim_reports.benchmark import Benchmark
from lyricsim_reports.result_file import BLOCK_SPLIT, BLOCKS, Result
from lyricsim_tools.errors import UserError

#: Resamples behind the intervals of a new result, and behind the ranks and tests of a leaderboard.
RESAMPLES = 9999
LEVEL = 0.95
# Sums in another order differ in the last digits; intervals also with a new stream of random numbers.
_TOLERANCE, _INTERVAL_TOLERANCE = 1e-6, 0.02
_BESIDE = ("nonzero_pearson", "zero_auc")


class SeedScores:
    """Mean over seeds of Pearson, Spearman and their mean, under any whole weights of the rows.

    Args:
        predictions: shape (seeds, n).
        gold: shape (n,).
    """

    def __init__(self, predictions: np.ndarray, gold: np.ndarray) -> None:
        self._seeds = [WeightedScores(row, gold) for row in predictions]

    def __call__(self, weights: np.ndarray) -> np.ndarray:
        """Shape (replicates, 3); NaN where a seed's predictions or the gold scores are constant."""
        return np.mean([scores(weights) for scores in self._seeds], axis=0)


@dataclass(frozen=True)
class Measured:
    """A result with what follows from it.

    Args:
        result: the file.
        pairs: the pairs that it predicts, in the dataset's order.
        predictions: shape (seeds, pairs).
        scores: means over seeds of ``pearson``, ``spearmanr``, ``combined_score``, ``nonzero_pearson`` and
            ``zero_auc``; of the first three also ``_ci`` (pairs drawn), ``_song_ci`` (songs drawn) and
            ``_sd`` over seeds; None where undefined.
    """

    result: Result
    pairs: PairTable
    predictions: np.ndarray
    scores: Mapping[str, Any]


def measure(result: Result, benchmark: Benchmark) -> Measured:
    """Check a result against the dataset and recompute its scores.

    Args:
        result: the file.
        benchmark: the dataset.

    Raises:
        UserError: other data or splits, missing or foreign pairs, or a stated score that does not follow.
    """
    pairs = pairs_of(result, benchmark)
    predictions = prediction_array(result, pairs)
    scores = measured_scores(predictions, pairs, result.resamples)
    refuse_other_scores(result, scores)
    return Measured(result, pairs, predictions, scores)


def pairs_of(result: Result, benchmark: Benchmark) -> PairTable:
    """The pairs that a result must predict.

    Raises:
        UserError: the result was made on other data or other splits.
    """
    if result.config not in benchmark.splits:
        raise _mismatch(result, f"config {result.config}", ", ".join(benchmark.splits))
    splits = benchmark.splits[result.config]
    if result.protocol == BLOCKS:
        pairs = benchmark.whole(result.config)
        fingerprints = fingerprint({BLOCK_SPLIT: pairs})
    elif "test" in splits:
        pairs, fingerprints = splits["test"], fingerprint(splits)
    else:
        raise _mismatch(result, f"the test split of {result.config}, which has none", "another configuration")
    digest_now = split_digest(result, benchmark)
    if result.split_digest != digest_now:
        raise _mismatch(result, f"split digest {result.split_digest}", digest_now)
    if result.data_fingerprint != fingerprints:
        raise _mismatch(result, f"data fingerprint {result.data_fingerprint}", fingerprints)
    return pairs


def split_digest(result: Result, benchmark: Benchmark) -> str:
    """The digest of the splits or groups that a result of this protocol stands on."""
    if result.protocol == BLOCKS:
        return digest(f"{song} {group}" for song, group in benchmark.groups.items())
    return benchmark.split_digest(result.config)


def prediction_array(result: Result, pairs: PairTable) -> np.ndarray:
    """Predictions in the order of the pairs, shape (seeds, pairs).

    Raises:
        UserError: a pair without a prediction, or a prediction of another pair.
    """
    wanted = set(pairs.pair_ids)
    for seed, predicted in result.predictions.items():
        if differing := sorted(wanted ^ set(predicted)):
            raise _mismatch(
                result,
                f"seed {seed}: {len(wanted - set(predicted))} pairs without a prediction, "
                f"{len(set(predicted) - wanted)} of other pairs, {differing[0]} among them",
                f"exactly the {len(wanted)} pairs of its protocol",
            )
    rows = [[result.predictions[str(seed)][pair] for pair in pairs.pair_ids] for seed in result.seeds]
    return np.array(rows, dtype=np.float64)


def measured_scores(predictions: np.ndarray, pairs: PairTable, resamples: int) -> dict[str, Any]:
    """The scores of ``Measured``.

    Args:
        predictions: shape (seeds, pairs).
        pairs: with gold scores and song ids.
        resamples: behind each interval.
    """
    gold = np.array(pairs.gold)
    each = [_point(row, gold) for row in predictions]
    found: dict[str, Any] = {
        name: _mean([point[name] for point in each]) for name in (*SCORE_NAMES, *_BESIDE)
    }
    for name in SCORE_NAMES:
        found[f"{name}_sd"] = _deviation([point[name] for point in each])
    songs = as_song_codes(song_pairs(pairs), len(pairs))
    for suffix, clusters in (("ci", None), ("song_ci", songs)):
        bounds = _intervals(predictions, gold, clusters, found, resamples)
        found |= {f"{name}_{suffix}": pair for name, pair in zip(SCORE_NAMES, bounds, strict=True)}
    return found


def _point(predictions: np.ndarray, gold: np.ndarray) -> dict[str, float | None]:
    if is_constant(predictions) or is_constant(gold):
        return {**dict.fromkeys(SCORE_NAMES), **beside_scores(predictions, gold)}
    scores = pearson_and_spearman(predictions, gold)
    return {**{name: getattr(scores, name) for name in SCORE_NAMES}, **beside_scores(predictions, gold)}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _deviation(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.std(known, ddof=1)) if len(known) == len(values) > 1 else None


def _intervals(
    predictions: np.ndarray,
    gold: np.ndarray,
    songs: np.ndarray | None,
    found: Mapping[str, Any],
    resamples: int,
) -> list[list[float | None]]:
    point = [math.nan if found[name] is None else found[name] for name in SCORE_NAMES]
    options = Options(confidence_level=LEVEL, n_resamples=resamples)
    design = design_of(songs, len(gold))
    bounds = bootstrap_intervals(SeedScores(predictions, gold), point, design, options)
    return [[bound if math.isfinite(bound) else None for bound in pair] for pair in bounds]


def refuse_other_scores(result: Result, scores: Mapping[str, Any]) -> None:
    """Refuse a file whose stated scores are not those of its predictions.

    Raises:
        UserError: a score is missing, unknown, or differs.
    """
    if differing := sorted(set(result.scores) ^ set(scores)):
        raise _mismatch(result, f"states or lacks the scores {', '.join(differing)}", ", ".join(scores))
    for name, value in scores.items():
        tolerance = _INTERVAL_TOLERANCE if name.endswith("_ci") else _TOLERANCE
        if not _agree(result.scores[name], value, tolerance):
            raise _mismatch(
                result, f"states {name} {result.scores[name]}", f"{value}, which its predictions give"
            )


def _agree(stated: Any, found: Any, tolerance: float) -> bool:
    if isinstance(found, list):
        return isinstance(stated, list) and all(
            _agree(one, other, tolerance) for one, other in zip(stated, found, strict=True)
        )
    if stated is None or found is None or isinstance(stated, list):
        return stated is found
    return abs(stated - found) <= tolerance


def _mismatch(result: Result, given: str, expected: str) -> UserError:
    return UserError(
        f"{result.file_name}: {given}",
        expected,
        "use the dataset that the run was made on, or make the result anew with `lyricsim-leaderboard add`",
    )
