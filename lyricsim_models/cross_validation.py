"""Cross-validation by blocks of songs: every pair is predicted by a model that saw neither of its songs."""

import contextlib
import csv
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from lyricsim_metric.scores import score
from lyricsim_models.baselines import song_pairs
from lyricsim_models.diagnostics import all_scores
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import fingerprint, git_revision, versions
from lyricsim_models.run_files import (
    METRICS_FILE,
    PREDICTIONS_FILE,
    describe_pairs,
    prediction_rows,
    read_metrics,
)
from lyricsim_models.run_folder import BLOCKS, RUN_FILE, State, claim, locked, write_manifest
from lyricsim_models.team import Alone, Team, from_main
from lyricsim_tools.atomic import write_json, write_text
from lyricsim_tools.errors import UserError

SPLIT = "cross_validation"
# A correlation needs two pairs.
_SMALLEST_BLOCK = 2


@dataclass(frozen=True)
class Fold:
    """One block of cross-validation.

    Args:
        name: of its folder, such as ``0-3`` for the pairs between two song groups.
        train: ids of the pairs to learn from, none of which has a song of the block.
        validation: ids of pairs held out of these to choose a checkpoint; often none.
        test: ids of the block's pairs.
    """

    name: str
    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]


# Trains and scores one fold into a folder that then holds predictions.csv; goes on with an interrupted one.
RunFold = Callable[[Mapping[str, PairTable], Path], None]


def all_pairs(splits: Mapping[str, PairTable]) -> PairTable:
    """The pairs of all splits as one table, sorted by id.

    Raises:
        UserError: splits that share pairs.
    """
    tables = list(splits.values())
    whole = tables[0]
    for table in tables[1:]:
        whole = _joined(whole, table)
    if len(set(whole.pair_ids)) < len(whole):
        raise UserError(
            "splits that share pairs",
            "each pair in one split",
            "choose a configuration whose splits are disjoint",
        )
    return whole.take(sorted(range(len(whole)), key=lambda row: whole.pair_ids[row]))


def _joined(first: PairTable, second: PairTable) -> PairTable:
    return PairTable(
        pair_ids=first.pair_ids + second.pair_ids,
        song_ids_1=_both(first.song_ids_1, second.song_ids_1),
        song_ids_2=_both(first.song_ids_2, second.song_ids_2),
        lyrics_1=first.lyrics_1 + second.lyrics_1,
        lyrics_2=first.lyrics_2 + second.lyrics_2,
        scores=first.gold + second.gold,
    )


def _both(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if first is None or second is None else first + second


@dataclass(frozen=True)
class Plan:
    """A cross-validation, as asked for.

    Args:
        pairs: all pairs, with scores and song ids.
        folds: their tests hold every pair once.
        output: folder of the cross-validation; each fold has a folder of its own in it.
        settings: what decides the result, as plain JSON values.
        resume: go on with a cross-validation of the same settings.
        overwrite: replace an earlier one.

    Raises:
        UserError: folds that do not fit the pairs.
    """

    pairs: PairTable
    folds: Sequence[Fold]
    output: Path
    settings: Mapping[str, Any]
    resume: bool = False
    overwrite: bool = False

    def __post_init__(self) -> None:
        check_folds(self.pairs, self.folds)

    def splits(self, fold: Fold) -> dict[str, PairTable]:
        """The pairs of a fold, by split; without a validation split where the fold has none."""
        place = {pair_id: row for row, pair_id in enumerate(self.pairs.pair_ids)}
        parts = (("train", fold.train), ("validation", fold.validation), ("test", fold.test))
        return {name: self.pairs.take([place[i] for i in ids]) for name, ids in parts if ids}


def cross_validate(plan: Plan, run_fold: RunFold, team: Team | None = None) -> dict[str, Any]:
    """Run every fold that is not complete, then score all predictions as one table.

    Args:
        plan: what to do.
        run_fold: trains and scores a fold; every process calls it.
        team: the processes; None for one.

    Returns:
        What ``metrics.json`` holds: the scores with their 95 % intervals, songs being resampled.

    Raises:
        UserError: an output folder that is not ours, or anything that a fold meets.
    """
    team = team or Alone()
    settings = {**plan.settings, "data_fingerprint": fingerprint({SPLIT: plan.pairs})}
    with contextlib.ExitStack() as stack:

        def begin() -> State:
            stack.enter_context(locked(plan.output))
            return claim(plan.output, settings, resume=plan.resume, overwrite=plan.overwrite)

        if from_main(team, begin) == "complete":
            return from_main(team, lambda: read_metrics(plan.output))
        _run_folds(plan, run_fold, team)
        return from_main(team, lambda: write_result(plan, settings))


def _run_folds(plan: Plan, run_fold: RunFold, team: Team) -> None:
    for fold in tqdm(plan.folds, desc="blocks", unit="block", disable=None if team.is_main else True):
        folder = plan.output / BLOCKS / fold.name
        run_fold(plan.splits(fold), folder)
        if team.is_main:
            names = [p.relative_to(plan.output).as_posix() for p in folder.rglob("*") if p.is_file()]
            write_manifest(plan.output, names)


def write_result(plan: Plan, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Gather the predictions of all folds, score them, write the files of a run."""
    pairs, output = plan.pairs, plan.output
    predictions = gather_predictions(pairs, plan.folds, output)
    scores = {
        **all_scores(predictions, pairs.gold),
        **intervals(predictions, pairs),
        "blocks": len(plan.folds),
    }
    write_manifest(output, [PREDICTIONS_FILE, METRICS_FILE])
    write_text(output / PREDICTIONS_FILE, prediction_rows({SPLIT: pairs}, {SPLIT: predictions}))
    write_json(output / METRICS_FILE, {SPLIT: scores})
    record = {
        "status": "complete",
        "settings": dict(settings),
        "data": {SPLIT: describe_pairs(pairs)},
        "versions": versions(),
        "git_revision": git_revision(Path(__file__).parent),
    }
    write_json(output / RUN_FILE, record)
    return {SPLIT: scores}


def check_folds(pairs: PairTable, folds: Sequence[Fold]) -> None:
    """Make sure that every pair is tested once, by a model that saw neither of its songs.

    Raises:
        UserError: a pair that is tested never or twice, a song on both sides, or a block too small to score.
    """
    songs = dict(zip(pairs.pair_ids, song_pairs(pairs), strict=True))
    if sorted(pair for fold in folds for pair in fold.test) != sorted(songs):
        raise UserError(
            "folds that miss or repeat pairs", "each pair tested once", "use the data set's own groups"
        )
    for fold in folds:
        tested = {song for pair in fold.test for song in songs[pair]}
        known = {song for pair in (*fold.train, *fold.validation) for song in songs[pair]}
        if tested & known:
            shared = ", ".join(sorted(tested & known)[:3])
            raise UserError(
                f"block {fold.name} trains on songs it tests: {shared}", "none", "correct the groups"
            )
        if len(fold.test) < _SMALLEST_BLOCK or not fold.train:
            raise UserError(
                f"block {fold.name} has {len(fold.test)} pairs to test and {len(fold.train)} to train on",
                f"at least {_SMALLEST_BLOCK} and 1",
                "use more pairs",
            )


def gather_predictions(pairs: PairTable, folds: Sequence[Fold], output: Path) -> np.ndarray:
    """The prediction of every pair by the fold that tested it, shape (pairs,).

    Raises:
        UserError: a fold lacks a prediction.
    """
    found: dict[str, float] = {}
    for fold in folds:
        path = output / BLOCKS / fold.name / PREDICTIONS_FILE
        with path.open(encoding="utf-8", newline="") as stream:
            own = {row["pair_id"]: float(row["prediction"]) for row in csv.DictReader(stream)}
        if missing := [pair for pair in fold.test if pair not in own]:
            raise UserError(
                f"{path} lacks {missing[0]}", "a prediction for every pair", "run the block again"
            )
        found |= {pair: own[pair] for pair in fold.test}
    return np.array([found[pair] for pair in pairs.pair_ids])


def intervals(predictions: np.ndarray, pairs: PairTable) -> dict[str, list[float | None]]:
    """95 % intervals of the three scores, resampling songs: pairs that share a song are not independent."""
    found = score(predictions, pairs.gold, clusters=song_pairs(pairs), confidence_level=0.95)
    return {
        name: [bound if math.isfinite(bound) else None for bound in bounds]
        for name, bounds in found.items()
        if name.endswith("_ci")
    }
