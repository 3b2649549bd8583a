"""One run from a checkpoint and pairs to a model folder with its scores and its story."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError

from lyricsim_models.checkpoints import explained
from lyricsim_models.job import Job, refuse_bad_job
from lyricsim_models.outcome import finish
from lyricsim_models.pair_table import PairTable
from lyricsim_models.provenance import fingerprint
from lyricsim_models.run_files import read_metrics
from lyricsim_models.run_folder import TRACKER_FOLDER, State, claim, decisive, fingerprint_of, locked, mark
from lyricsim_models.signals import listening
from lyricsim_models.team import everywhere, from_main, refuse_disagreement
from lyricsim_models.training import Training
from lyricsim_models.workers import Workers


def run(job: Job, splits: Mapping[str, PairTable], workers: Workers) -> dict[str, Any]:
    """Train, select, export and score; every process calls this.

    Args:
        job: what to do.
        splits: ``train`` and perhaps ``validation`` and ``test``, the same on every process. Without
            ``validation`` nothing is selected and the last weights are kept.
        workers: the processes.

    Returns:
        What ``metrics.json`` holds: split → scores. A complete run under ``resume`` is not repeated.

    Raises:
        UserError: anything about the input or the output folder; nothing of the user's is lost.
        Interrupted: a signal came; a checkpoint was written.
    """
    before = refuse_bad_job(job, splits)
    with _held(job.output, workers):
        settings = {**job.settings(fingerprint(splits)), "mixed_precision": workers.mixed_precision}
        refuse_disagreement(workers, decisive(settings))
        if _claim(job, settings, workers) == "complete":
            return from_main(workers, lambda: read_metrics(job.output))
        workers.start_tracking(job.output / TRACKER_FOLDER, {**settings, **job.recipe.to_dict()})
        with listening() as request:
            training = Training(job, splits, workers, request)
            try:
                with explained(workers, job.output, "the run's files", OSError, SafetensorError):
                    position = training.go()
            finally:
                training.release()
        workers.stop_tracking()
        with explained(workers, job.output, "the trained model", OSError, SafetensorError):
            return finish(job, splits, workers, position, training.facts, before)


@contextlib.contextmanager
def _held(folder: Path, workers: Workers) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        main = workers.is_main
        workers.together(lambda: stack.enter_context(locked(folder)) if main else None)
        yield


def _claim(job: Job, settings: Mapping[str, Any], workers: Workers) -> State:
    def begin() -> State:
        state = claim(job.output, settings, resume=job.resume, overwrite=job.overwrite)
        if state != "complete":
            mark(job.output)
        return state

    state = from_main(workers, begin)
    if state != "complete":
        seen = everywhere(workers, lambda: fingerprint_of(job.output))
        refuse_disagreement(workers, {"--output": seen})
    return state
