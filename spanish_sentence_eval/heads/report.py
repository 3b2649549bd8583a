"""Feature rows → the result of a task, under upstream's keys."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.heads.cosine import averages, correlate, similarities
from spanish_sentence_eval.heads.fitting import Classifier, Table, f1_of_class_1, percent
from spanish_sentence_eval.heads.relatedness import Start, train_and_score
from spanish_sentence_eval.heads.selection import (
    Outcome,
    choose_by_folds,
    choose_by_inner_folds,
    choose_on_split,
)
from spanish_sentence_eval.params import Settings, read_classifier
from spanish_sentence_eval.protocol import Schedule, inner_fold_seed
from spanish_sentence_eval.reading import TaskData
from spanish_sentence_eval.task import Head, Task

Blocks = Mapping[str, tuple[np.ndarray, np.ndarray]]
"""For each split, feature rows (n, d) and labels (n,)."""

Result = dict[str, Any]

# The published scikit-learn figures were made with two BLAS threads; one thread sums in another order.
_LOGISTIC_THREADS = 2


def _classifier(task: Task, settings: Settings) -> Classifier:
    if not settings.usepytorch:
        from spanish_sentence_eval.heads.logistic import LogisticHead

        place = f"{task.name}: {task.source(settings.task_path).folder} ({', '.join(task.files)})"
        return LogisticHead(settings.seed, settings.threads or _LOGISTIC_THREADS, place)
    from spanish_sentence_eval.heads.exact import ExactTorch
    from spanish_sentence_eval.heads.fast import FastTorch

    classifier = read_classifier({**vars(settings.classifier), **task.overrides})
    schedule = Schedule.of(classifier, settings.protocol)
    if settings.path == "fast":
        return FastTorch(classifier, schedule, settings.seed, settings.device)
    return ExactTorch(classifier, schedule, settings.seed, settings.device)


def _table(
    task: Task, data: TaskData, blocks: Blocks, settings: Settings
) -> tuple[Table, dict[str, np.ndarray]]:
    """All rows under each other, and where each split's are; torch's heads compute in single precision."""
    x = np.vstack([x for x, _ in blocks.values()])
    x = _finite(task, x, np.float32 if settings.usepytorch else x.dtype)
    y = np.concatenate([labels for _, labels in blocks.values()]).astype(np.int64)
    ends = np.cumsum([len(labels) for _, labels in blocks.values()])
    rows = np.split(np.arange(len(y)), ends[:-1])
    return Table(x, y, task.classes or len(data.label_names)), dict(zip(blocks, rows, strict=True))


def _finite(task: Task, x: np.ndarray, kind: npt.DTypeLike) -> np.ndarray:
    with np.errstate(over="ignore"):
        x = x.astype(kind, copy=False)
    if not np.isfinite(x).all():
        raise UserError(
            f"{task.name}: differences or products of the vectors overflow their precision",
            "vectors whose features are finite in the batcher's type and in single precision",
            "return float32 or smaller values",
        )
    return x


def classify(task: Task, data: TaskData, blocks: Blocks, settings: Settings) -> Outcome:
    """Choose a strength and test it, by the task's kind of head."""
    table, rows = _table(task, data, blocks, settings)
    classifier = _classifier(task, settings)
    if task.head == "innerkfold":
        seed = inner_fold_seed(settings.protocol, settings.seed)
        return choose_by_inner_folds(table, classifier, settings.kfold, seed)
    if task.head == "kfold":
        return choose_by_folds(table, rows["train"], rows["test"], classifier, settings.kfold, settings.seed)
    return choose_on_split(table, rows["train"], rows["dev"], rows["test"], classifier, task.noreg)


def _classification(task: Task, data: TaskData, blocks: Blocks, settings: Settings) -> Result:
    outcome = classify(task, data, blocks, settings)
    names = list(blocks)
    dev = "dev" if "dev" in blocks else names[0]
    result: Result = {
        "devacc": outcome.dev,
        "acc": outcome.test,
        "ndev": len(blocks[dev][1]),
        "ntest": len(outcome.gold),
    }
    if task.f1:
        result["f1"] = percent(f1_of_class_1(outcome.predicted, outcome.gold))
    return _with_predictions(result, {names[-1]: (outcome.predicted, outcome.gold)}, settings)


def _relatedness(task: Task, data: TaskData, blocks: Blocks, settings: Settings) -> Result:
    from spanish_sentence_eval.heads.exact_relatedness import ExactTrainer
    from spanish_sentence_eval.heads.fast_relatedness import FastTrainer

    single = {name: (_finite(task, x, np.float32), y) for name, (x, y) in blocks.items()}
    start: Start = partial(
        {"exact": ExactTrainer, "fast": FastTrainer}[settings.path],
        seed=settings.seed,
        device=settings.device,
    )
    found = train_and_score(single, start, settings.protocol == "corrected")
    result: Result = {
        "devpearson": found.dev_pearson,
        "pearson": found.pearson,
        "spearman": found.spearman,
        "mse": found.mse,
        "yhat": found.predicted.tolist(),
        "ndev": len(blocks["dev"][1]),
        "ntest": len(blocks["test"][1]),
    }
    return _with_predictions(result, {"test": (found.predicted, blocks["test"][1])}, settings)


def _cosine(task: Task, data: TaskData, blocks: Blocks, settings: Settings) -> Result:
    subsets = {}
    for name, (rows, gold) in blocks.items():
        u, v = np.hsplit(rows, 2)
        subsets[name] = correlate(similarities(task.name, u, v, settings.similarity), gold)
    result: Result = {
        name: {
            "pearson": subset.pearson[0],
            "spearman": subset.spearman[0],
            "pearson_p": subset.pearson[1],
            "spearman_p": subset.spearman[1],
            "nsamples": len(subset.gold),
        }
        for name, subset in subsets.items()
    }
    result["all"] = averages(subsets)
    pairs = {name: (subset.predicted, subset.gold) for name, subset in subsets.items()}
    return _with_predictions(result, pairs, settings)


def _with_predictions(
    result: Result, pairs: Mapping[str, tuple[np.ndarray, np.ndarray]], settings: Settings
) -> Result:
    if settings.return_predictions:
        result["predictions"] = {
            split: {"predicted": predicted.tolist(), "gold": gold.tolist()}
            for split, (predicted, gold) in pairs.items()
        }
    return result


HEADS: Mapping[Head, Callable[[Task, TaskData, Blocks, Settings], Result]] = {
    "split": _classification,
    "kfold": _classification,
    "innerkfold": _classification,
    "relatedness": _relatedness,
    "cosine": _cosine,
}
"""What runs each kind of head."""
