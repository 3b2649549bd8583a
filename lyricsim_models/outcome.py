"""The end of a run: the best checkpoint reloaded, every split scored with it, and the files written."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lyricsim_models import checkpoints
from lyricsim_models.batches import split_rows
from lyricsim_models.checkpoints import Position
from lyricsim_models.diagnostics import all_scores
from lyricsim_models.encoders import Loaded
from lyricsim_models.evaluation import asymmetry
from lyricsim_models.job import Job, seen_in_training
from lyricsim_models.loop import Batch, score_rows
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import SEEN_FILE, Seen, git_revision, mark_seen, versions, write_seen
from lyricsim_models.registry import Model
from lyricsim_models.run_files import (
    METRICS_FILE,
    PREDICTIONS_FILE,
    Predictions,
    describe_pairs,
    prediction_rows,
)
from lyricsim_models.run_folder import RUN_FILE, drop_checkpoints, write_manifest
from lyricsim_models.scoring import load_trained
from lyricsim_models.training import DEVELOPMENT_FILE, Facts
from lyricsim_models.workers import Workers
from lyricsim_tools.atomic import write_json, write_text
from lyricsim_tools.errors import UserError
from lyricsim_tools.files import place

# How far the reloaded model's predictions may be from those it was chosen by, in points of the 0–5 scale:
# rounding only, unless training computed in 8 or 11 bits of mantissa and the export is scored in 24.
_TOLERANCES = {"no": 1e-3}
_TOLERANCE_MIXED = 0.5


def finish(
    job: Job,
    splits: Mapping[str, PairTable],
    workers: Workers,
    position: Position,
    facts: Facts,
    before: tuple[Seen, Seen],
) -> dict[str, Any]:
    """Score every split with the reloaded best checkpoint and write the run's files.

    Args:
        job: the run.
        splits: its pairs.
        workers: the processes; the training's module may be gone.
        position: where training ended.
        facts: what was found out about the model and data.
        before: what the model that the run starts from learned from, and what it was selected by.

    Returns:
        What ``metrics.json`` holds.

    Raises:
        UserError: the reloaded model does not predict as it did when it was chosen; nothing is exported.
    """
    best = checkpoints.best_folder(job.output, position.selection.step)
    loaded = load_trained(Model(str(best)), job.recipe.max_length)
    loaded.scorer.to(workers.device)
    metrics: dict[str, Any] = {}
    predictions: dict[str, NDArray[np.float64]] = {}
    truncated = dict(facts.truncated)
    for name, table in splits.items():
        predictions[name], measured, truncated[name] = _score(job, workers, loaded, table, name)
        if name != "train":
            metrics[name] = {**all_scores(predictions[name], table.gold), **measured}
    reload_difference = None
    if "validation" in predictions:
        reload_difference = _refuse_other_model(predictions["validation"], best, workers.mixed_precision)
    seen = seen_in_training(splits, before)
    mark_seen(metrics, splits, *seen)
    record = _record(job, splits, workers, position, facts, truncated)
    record["reload_difference"] = reload_difference
    if workers.is_main:
        workers.together(lambda: _write(job, splits, seen, best, metrics, predictions, record))
    else:
        workers.together(lambda: None)
    return metrics


def _score(
    job: Job, workers: Workers, loaded: Loaded, table: PairTable, name: str
) -> tuple[NDArray[np.float64], dict[str, Any], int]:
    """Predictions of a split, how far they depend on the order, and how many pairs were cut."""
    batch = Batch(loaded.pad_id, loaded.max_length)
    per_device, title = job.recipe.per_device_batch_size, f"scoring {name}"
    first, second = list(table.lyrics_1), list(table.lyrics_2)
    rows = loaded.tokenize(first, second)
    forward = score_rows(workers, loaded.scorer, rows, batch, per_device, exact=True, title=title)
    truncated = int(rows.truncated.sum())
    if loaded.architecture == "bi-encoder" or not (name != "train" or job.recipe.symmetric):
        return forward, {}, truncated
    backward = score_rows(
        workers, loaded.scorer, loaded.tokenize(second, first), batch, per_device, exact=True
    )
    scores = (forward + backward) / 2 if job.recipe.symmetric else forward
    return scores, {"asymmetry": asymmetry(forward, backward)}, truncated


def _refuse_other_model(found: NDArray[np.float64], best: Path, precision: str) -> float:
    """The largest difference to what the model predicted when it was chosen, if rounding explains it."""
    chosen = np.array(json.loads((best / DEVELOPMENT_FILE).read_text("utf-8")))
    difference = float(np.abs(found - chosen).max())
    # Not "greater than": a difference that is no number must fail too.
    if not difference <= _TOLERANCES.get(precision, _TOLERANCE_MIXED):
        raise UserError(
            f"the reloaded best checkpoint scores validation pairs up to {difference:.3g} points otherwise "
            "than when it was chosen",
            "the same scores but for rounding",
            "report this with the run's metrics.jsonl; the checkpoints are kept",
        )
    return difference


def _record(
    job: Job,
    splits: Mapping[str, PairTable],
    workers: Workers,
    position: Position,
    facts: Facts,
    truncated: Mapping[str, int],
) -> dict[str, Any]:
    settings = json.loads((job.output / RUN_FILE).read_text("utf-8"))["settings"]
    return {
        "status": "complete",
        "settings": settings,
        "base_model_revision": facts.revision,
        "model_type": facts.model_type,
        "prompt": facts.prompt,
        "max_length": facts.max_length,
        "truncated_pairs": dict(truncated),
        "data": {name: describe_pairs(table) for name, table in splits.items()},
        "steps": position.step,
        "best_step": position.selection.step,
        "selection_score": position.selection.score,
        "topology": topology(job, workers, facts),
        "seconds": round(position.seconds, 1),
        "versions": versions(),
        "git_revision": git_revision(Path(__file__).parent),
    }


def topology(job: Job, workers: Workers, facts: Facts) -> dict[str, Any]:
    """How a run was spread; none of it decides the result."""
    size = min(job.recipe.global_batch_size, facts.training_rows)
    full_step = split_rows(
        np.arange(size), np.zeros(size, dtype=np.int64), workers.world, job.recipe.per_device_batch_size
    )
    return {
        "name": workers.topology,
        "world_size": workers.world,
        "per_device_batch_size": job.recipe.per_device_batch_size,
        "accumulation_steps": len(full_step),
        "global_batch_size": job.recipe.global_batch_size,
        "mixed_precision": workers.mixed_precision,
        "device": workers.device_name,
        "cpus": os.cpu_count(),
    }


def _write(
    job: Job,
    splits: Mapping[str, PairTable],
    seen: tuple[Seen, Seen],
    best: Path,
    metrics: Mapping[str, Any],
    predictions: Predictions,
    record: Mapping[str, Any],
) -> None:
    """Write everything, the run's completion last: until then ``--resume`` comes here again."""
    folder = job.output
    files = (p for p in best.rglob("*") if p.is_file() and p.name != DEVELOPMENT_FILE)
    names = sorted(p.relative_to(best).as_posix() for p in files)
    write_manifest(folder, [*names, SEEN_FILE, PREDICTIONS_FILE, METRICS_FILE])
    for name in names:
        place(best / name, folder / name)
    write_seen(folder, *seen)
    write_text(folder / PREDICTIONS_FILE, prediction_rows(splits, predictions))
    write_json(folder / METRICS_FILE, metrics)
    write_json(folder / RUN_FILE, record)
    drop_checkpoints(folder)
