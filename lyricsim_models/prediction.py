"""Scoring a file of pairs: find out what is wrong with it, score it window by window, say what was done."""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from lyricsim_models.pair_scorers import OpenScorer
from lyricsim_models.provenance import Seen, refuse_seen, seen_pairs, versions
from lyricsim_models.score_file import ScoreFile, held, refuse_output, refuse_own_input
from lyricsim_models.streams import check_pairs, pair_windows
from lyricsim_models.team import everywhere, from_main, refuse_disagreement
from lyricsim_tools.atomic import sha256_of, write_json

RECORD_SUFFIX = ".run.json"
WINDOW = 8192


@dataclass(frozen=True)
class PredictionJob:
    """One file of pairs to score.

    Args:
        source: CSV, JSONL or Parquet with ``lyrics_1`` and ``lyrics_2``.
        output: CSV or JSONL with ``pair_id`` and ``prediction``.
        window: rows held at once; the output grows by as many.
        resume: go on with an interrupted job.
        overwrite: replace a finished output.
        allow_seen: score pairs that the model was trained or selected on, and mark the result.
    """

    source: Path
    output: Path
    window: int = WINDOW
    resume: bool = False
    overwrite: bool = False
    allow_seen: bool = False


def predict_file(job: PredictionJob, scorer: OpenScorer) -> dict[str, Any]:
    """Score every row of a file; every process calls this.

    Args:
        job: what to score.
        scorer: with what.

    Returns:
        The record that is written beside the output.

    Raises:
        UserError: bad rows, pairs that the model has seen, a score that is not finite, an output that exists.
            The output then does not exist; what was finished is kept for ``resume``.
    """
    team = scorer.team
    settings = everywhere(team, lambda: _settings(job, scorer))
    finished = everywhere(team, lambda: _finished(job, settings) if job.resume else None)
    refuse_disagreement(team, {"input, model or options": settings, "output": finished})
    if finished:
        return finished
    record = everywhere(team, lambda: _checked(job, scorer, settings))
    with contextlib.ExitStack() as stack:
        team.together(lambda: stack.enter_context(held(job.output)) if team.is_main else None)
        # Every process has read the progress before one of them writes on.
        file = everywhere(
            team, lambda: ScoreFile(job.output, settings, resume=job.resume, overwrite=job.overwrite)
        )
        refuse_disagreement(team, {"progress of the output": file.rows})
        _score_rest(job, scorer, file, record["rows"])
        return from_main(team, lambda: _finish(job, file, record))


def _settings(job: PredictionJob, scorer: OpenScorer) -> dict[str, Any]:
    return {**scorer.identity, "input_sha256": sha256_of(job.source) if job.source.is_file() else None}


def _checked(job: PredictionJob, scorer: OpenScorer, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The record of what is about to be scored, once input and output are known to be good."""
    refuse_own_input(job.output, job.source)
    refuse_output(job.output, job.overwrite)
    rows = check_pairs(job.source)
    return {"rows": rows, **count_seen(job, scorer.seen), "settings": settings, "versions": versions()}


def _score_rest(job: PredictionJob, scorer: OpenScorer, file: ScoreFile, rows: int) -> None:
    main, begun = scorer.team.is_main, file.rows
    with tqdm(total=rows, initial=begun, unit="pair", disable=None if main else True) as bar:
        for table in pair_windows(job.source, job.window, skip=begun):
            predictions = scorer(table)
            scorer.team.together(
                lambda t=table, p=predictions: file.append(t.pair_ids, p) if main else None  # type: ignore[misc]
            )
            bar.update(len(table))


def _finished(job: PredictionJob, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record of a complete output of the same settings, which need not be made again."""
    path = _record_path(job)
    if not (job.output.exists() and path.is_file()):
        return None
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
        same = record["settings"] == json.loads(json.dumps(settings))
        # A kill between the record and the output leaves the new record beside the old output.
        same = same and record["output_sha256"] == sha256_of(job.output)
    except (ValueError, KeyError, TypeError):
        # Not our record: the output is then treated as anybody's file, which is never replaced unasked.
        return None
    return record if same else None


def _record_path(job: PredictionJob) -> Path:
    return job.output.with_name(job.output.name + RECORD_SUFFIX)


def _finish(job: PredictionJob, file: ScoreFile, record: Mapping[str, Any]) -> dict[str, Any]:
    whole = {**record, "output_sha256": file.digest()}
    write_json(_record_path(job), whole)
    file.finish()
    return whole


def count_seen(job: PredictionJob, seen: Seen | None) -> dict[str, int | None]:
    """How many of the pairs the model knows; None where it does not say.

    Raises:
        UserError: it knows some, and that was not allowed.
    """
    if seen is None:
        return {"seen_pairs": None}
    known = 0
    for table in pair_windows(job.source, job.window):
        if job.allow_seen:
            known += len(seen_pairs(table, seen))
        else:
            refuse_seen(table, seen, str(job.source), allow=False)
    return {"seen_pairs": known}
