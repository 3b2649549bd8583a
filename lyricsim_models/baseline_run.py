"""A baseline's run: the same splits, checks, folder and files as a trained model's."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyricsim_models.baselines import Baseline, fit_baseline
from lyricsim_models.datafiles import config_of
from lyricsim_models.diagnostics import all_scores
from lyricsim_models.features import Embed
from lyricsim_models.job import refuse_bad_splits, seen_before, seen_in_training
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import SEEN_FILE, fingerprint, git_revision, mark_seen, versions, write_seen
from lyricsim_models.run_files import (
    METRICS_FILE,
    PREDICTIONS_FILE,
    describe_pairs,
    prediction_rows,
    read_metrics,
)
from lyricsim_models.run_folder import RUN_FILE, claim, locked, write_manifest
from lyricsim_tools.atomic import write_json, write_text
from lyricsim_tools.errors import UserError


@dataclass(frozen=True)
class BaselineJob:
    """One baseline run, as asked for.

    Args:
        name: of the baseline.
        baseline: its record.
        encoder: model of the zero-shot cosine; None where the baseline has none.
        dataset: where the pairs come from, for the record.
        config: its configuration.
        output: folder of the run.
        overwrite: replace an earlier run in ``output``.
        resume: leave a complete run in ``output`` as it is.
        allow_seen: score test pairs that training saw, and mark the result.
        prompt: text before each lyric for the encoder; None for what its authors prescribe.
    """

    name: str
    baseline: Baseline
    encoder: str | None
    dataset: str
    config: str | None
    output: Path
    overwrite: bool = False
    resume: bool = False
    allow_seen: bool = False
    prompt: str | None = None

    def __post_init__(self) -> None:
        if self.prompt is not None and self.encoder is None:
            raise UserError(
                f"--prompt {self.prompt!r} with {self.name}, which has no encoder",
                "a baseline with an encoder to prompt",
                "drop --prompt",
            )

    def settings(self, data_fingerprint: str) -> dict[str, Any]:
        """What decides the result, as plain JSON values."""
        return {
            "model": self.name,
            "dataset": self.dataset,
            "config": config_of(self.dataset, self.config),
            "data_fingerprint": data_fingerprint,
            "recipe": {
                "features": list(self.baseline.features),
                "estimator": self.baseline.estimator,
                "encoder": self.encoder,
                "prompt": self.prompt,
            },
        }


def run_baseline(
    job: BaselineJob, splits: Mapping[str, PairTable], embed: Embed | None = None
) -> dict[str, dict[str, Any]]:
    """Fit on ``train``, score every split, write the run's files.

    Args:
        job: what to do.
        splits: ``train`` and perhaps ``validation`` and ``test``.
        embed: the encoder, if the baseline needs one.

    Returns:
        What ``metrics.json`` holds.

    Raises:
        UserError: test pairs that training sees, bad splits, an output folder that is not ours.
    """
    before = seen_before(job.encoder)
    refuse_bad_splits(splits, job.allow_seen, before)
    with locked(job.output):
        settings = job.settings(fingerprint(splits))
        if claim(job.output, settings, resume=job.resume, overwrite=job.overwrite) == "complete":
            return read_metrics(job.output)
        predict = fit_baseline(job.baseline, splits["train"], embed)
        predictions = {name: predict(table) for name, table in splits.items()}
        metrics = {
            name: all_scores(predictions[name], table.gold)
            for name, table in splits.items()
            if name != "train"
        }
        seen = seen_in_training(splits, before)
        mark_seen(metrics, splits, *seen)
        write_manifest(job.output, [SEEN_FILE, PREDICTIONS_FILE, METRICS_FILE])
        write_seen(job.output, *seen)
        write_text(job.output / PREDICTIONS_FILE, prediction_rows(splits, predictions))
        write_json(job.output / METRICS_FILE, metrics)
        write_json(job.output / RUN_FILE, _record(settings, splits))
    return metrics


def _record(settings: Mapping[str, Any], splits: Mapping[str, PairTable]) -> dict[str, Any]:
    return {
        "status": "complete",
        "settings": dict(settings),
        "data": {name: describe_pairs(table) for name, table in splits.items()},
        "versions": versions(),
        "git_revision": git_revision(Path(__file__).parent),
    }
