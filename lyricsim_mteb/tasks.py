"""All our mteb tasks, and how mteb comes to know them by name."""

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from mteb.results import TaskResult

from lyricsim_mteb.lyric_tasks import LYRIC_TASKS
from lyricsim_mteb.senteval_tasks import SENTEVAL_TASKS
from lyricsim_mteb.similarity_task import SimilarityTask
from lyricsim_tools.errors import UserError

TASKS: Mapping[str, type[SimilarityTask]] = {
    task.metadata.name: task for task in (*LYRIC_TASKS, *SENTEVAL_TASKS)
}


def register() -> None:
    """Make ``mteb.get_tasks`` know the tasks; a second call changes nothing.

    Raises:
        UserError: this version of mteb keeps its tasks elsewhere.
    """
    # The package's attribute of this name is the function; mteb has no public way to add a task.
    module: Any = importlib.import_module("mteb.get_tasks")
    if not (hasattr(module, "_TASKS_REGISTRY") and hasattr(module, "TASK_LIST")):
        raise UserError(
            "a version of mteb that keeps its tasks elsewhere",
            "mteb 2.26",
            "pass the tasks to mteb.evaluate: lyricsim_mteb.tasks.TASKS['LyricSIM']()",
        )
    new = [task for name, task in TASKS.items() if name not in module._TASKS_REGISTRY]
    module._TASKS_REGISTRY.update({task.metadata.name: task for task in new})
    module.TASK_LIST = (*module.TASK_LIST, *new)


def weighted_mean(result: TaskResult, sizes: Mapping[str, int], score: str) -> float:
    """The mean over subsets weighted by their pairs, SentEval's ``wmean``; ``get_score`` gives its ``mean``.

    Args:
        result: of one task.
        sizes: pairs of each subset, such as ``TASKS["STS14"].sizes`` of ``spanish_sentence_eval.tasks``.
        score: name of the score, such as ``cosine_pearson``.
    """
    rows = result.scores["test"]
    weights = [sizes[row["hf_subset"]] for row in rows]
    return float(np.average([row[score] for row in rows], weights=weights))
