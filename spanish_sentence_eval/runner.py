"""Runs tasks with an encoder by name: what is finished is not run again, what is encoded is kept."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from spanish_sentence_eval.cache import ResultCache, VectorStore, digest_of
from spanish_sentence_eval.embedding import StoredEncoder
from spanish_sentence_eval.encoders.base import Encoder
from spanish_sentence_eval.engine import evaluate_task
from spanish_sentence_eval.manifest import TaskFiles
from spanish_sentence_eval.params import Params
from spanish_sentence_eval.processes import Processes
from spanish_sentence_eval.results import document, earlier_tasks, environment, keep_in_file, task_record
from spanish_sentence_eval.tasks import TASKS

# Raise it when a figure of an unchanged setting would change: finished tasks are then run again.
FIGURES_VERSION = 2
# Settings of the engine that cannot change a figure, or are said elsewhere.
_NOT_IN_KEY = frozenset({"task_path", "threads", "return_predictions", "check_sizes"})
# The parts of a record that go item by item.
_ITEMS = frozenset({"hits", "scores", "gold"})
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """What to run.

    Args:
        tasks: names of tasks whose files have been checked, with those files.
        settings: the engine's ``params``, ``task_path`` among them.
        skipped: tasks that were asked for and are left out, with the reason.
        cache: where finished tasks and vectors are kept; None: in memory only.
        output: the results file.
        keep_items: keep hits and scores item by item in the results file.
    """

    tasks: Mapping[str, TaskFiles]
    settings: Mapping[str, Any]
    skipped: Mapping[str, str]
    cache: Path | None
    output: Path
    keep_items: bool = True


def run(request: Request, encoder: Encoder, processes: Processes) -> dict[str, Any]:
    """Run the tasks in order and write the results file after each.

    Args:
        request: what to run.
        encoder: makes the vectors.
        processes: share the encoding.

    Returns:
        The results document.

    Raises:
        UserError: the results file cannot be gone on with, or a task's data or vectors are not as they
            should be; what was finished before stays.
    """
    settings = request.settings
    shown = {key: value for key, value in settings.items() if key not in _NOT_IN_KEY}
    results = document(encoder.identity, shown, environment(settings), request.skipped)
    results["tasks"] = earlier_tasks(request.output, results)
    finished = ResultCache(request.cache / "results" if request.cache else None)
    stored = StoredEncoder(encoder, VectorStore(_vectors_folder(request, encoder)), processes)
    with logging_redirect_tqdm(), tqdm(request.tasks.items(), desc="tasks", unit="task") as bar:
        for name, files in bar:
            bar.set_postfix_str(name)
            results["tasks"][name] = _finished_or_run(name, files, request, stored, finished)
            keep_in_file(request.output, results)
    _log.info("%d sentences asked for, %d encoded", stored.counts.asked, stored.counts.encoded)
    return results


def result_key(name: str, files: TaskFiles, settings: Mapping[str, Any], encoder: Encoder) -> dict[str, Any]:
    """Everything that a task's figures depend on."""
    return {
        "figures_version": FIGURES_VERSION,
        "task": name,
        "data": files.digest,
        "encoder": encoder.identity.key(),
        "settings": {key: value for key, value in settings.items() if key not in _NOT_IN_KEY},
    }


def _finished_or_run(
    name: str, files: TaskFiles, request: Request, stored: StoredEncoder, finished: ResultCache
) -> dict[str, Any]:
    key = result_key(name, files, request.settings, stored.encoder)
    record = finished.get(key)
    if record is not None:
        _log.info("%s was finished before", name)
    else:
        record = _run_task(name, files, request.settings, stored)
        finished.put(key, record)
    if request.keep_items:
        return record
    return {part: value for part, value in record.items() if part not in _ITEMS}


def _run_task(
    name: str, files: TaskFiles, settings: Mapping[str, Any], stored: StoredEncoder
) -> dict[str, Any]:
    start = time.monotonic()
    params = Params({**settings, "return_predictions": True, "check_sizes": files.pinned})
    result = evaluate_task(TASKS[name], params, None, encode=stored.encode)
    seconds = time.monotonic() - start
    record = task_record(TASKS[name], result, files, int(settings["seed"]), seconds, keep_items=True)
    return {**record, "environment": environment(settings)}


def _vectors_folder(request: Request, encoder: Encoder) -> Path | None:
    if request.cache is None:
        return None
    return request.cache / "vectors" / digest_of(encoder.identity.key())[:32]
