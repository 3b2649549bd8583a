"""Spanish SentEval: ``senteval.engine.SE(params, batcher, prepare).eval(tasks)``.

The engine is the one of both benchmarks, so a list of tasks may mix them.
"""

from spanish_sentence_eval import engine
from spanish_sentence_eval.encoding import strings_batcher
from spanish_sentence_eval.tasks import TASKS

NAMES = tuple(task.name for task in TASKS.values() if task.package == "senteval")
"""The benchmark's tasks."""

__all__ = ["NAMES", "engine", "strings_batcher"]
