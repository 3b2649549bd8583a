"""The one figure that a task is judged by, with its interval (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spanish_sentence_eval.features import both_orders
from spanish_sentence_eval.intervals import Interval, bootstrap, fisher, pearson, resampled_rows, wilson
from spanish_sentence_eval.task import Package, Task
from spanish_sentence_eval.tasks import GROUPS, TASKS

Unit = Literal["percent", "correlation"]

GROUP_NAMES: Mapping[Package, tuple[str, ...]] = {
    "senteval": ("SC", "SPC", "SS", "LPT"),
    "discoeval": ("SP", "BSO", "DC", "SSP", "DR"),
}
"""The source document's short names of the groups, by ``--task_index``."""

GROUP_OF: Mapping[str, str] = {
    task: GROUP_NAMES[package][index]
    for package, groups in GROUPS.items()
    for index, names in enumerate(groups)
    for task in names
}
"""The group of every task."""


@dataclass(frozen=True)
class Evidence:
    """What a task's figure was computed from, item by item.

    Args:
        hits: for accuracies, "1" where an item was classified rightly and "0" elsewhere.
        scores: for correlations, the predicted score of each pair, by subset.
        gold: for correlations, the gold score of each pair, by subset.
    """

    hits: str = ""
    scores: Mapping[str, Sequence[float]] | None = None
    gold: Mapping[str, Sequence[float]] | None = None


@dataclass(frozen=True)
class Headline:
    """A task's declared figure.

    Args:
        name: the figure's path in the task's result, joined by dots.
        value: in its unit; None where it is undefined.
        unit: "percent" (0 to 100) or "correlation" (-1 to 1).
        n: independent items it rests on.
        interval: 95 %; None where it is undefined.
    """

    name: str
    value: float | None
    unit: Unit
    n: int
    interval: Interval | None


def headline_of(task: Task, figures: Mapping[str, Any], evidence: Evidence | None, seed: int) -> Headline:
    """A finished task's headline figure and its 95 % interval.

    Accuracies have Wilson's interval; a single Pearson correlation Fisher's; the mean over several subsets
    the percentile bootstrap over pairs, drawn within each subset, where ``evidence`` is at hand.
    """
    value = _at(figures, task.headline)
    name = ".".join(task.headline)
    if task.headline == ("acc",):
        n = independent_items(task, int(figures["ntest"]))
        return Headline(name, value, "percent", n, _percent(wilson(value / 100, n)))
    n = items_of(task, figures)
    defined = value if np.isfinite(value) else None
    return Headline(name, defined, "correlation", n, _interval_of_correlation(task, value, n, evidence, seed))


def items_of(task: Task, figures: Mapping[str, Any]) -> int:
    """How many test pairs a correlation rests on."""
    if task.head == "cosine":
        return sum(int(figures[subset]["nsamples"]) for subset in task.sizes)
    return int(figures["ntest"])


def independent_items(task: Task, n: int) -> int:
    """The number of independent items among n classified ones: an ordering pair counts once, not twice."""
    return n // 2 if task.features is both_orders else n


def unit_of(task: Task) -> Unit:
    """The unit of a task's headline figure."""
    return "percent" if task.headline == ("acc",) else "correlation"


def group_averages(values: Mapping[str, float | None]) -> dict[str, tuple[float, int, int]]:
    """The mean headline value of each group of which a task was run.

    Args:
        values: headline value by task; None where undefined (then the task does not count).

    Returns:
        By group, in the source document's order: mean, tasks in it, tasks of the group.
    """
    averages = {}
    for group in dict.fromkeys(GROUP_OF.values()):
        names = [name for name in TASKS if GROUP_OF[name] == group]
        found = [value for name in names if (value := values.get(name)) is not None]
        if found:
            averages[group] = (float(np.mean(found)), len(found), len(names))
    return averages


def mean_correlation(
    scores: Mapping[str, np.ndarray], gold: Mapping[str, np.ndarray], rows: Sequence[np.ndarray] | None = None
) -> float:
    """The plain mean over subsets of Pearson's correlation, of all pairs or of the given rows of each."""
    chosen = rows or [np.arange(len(gold[subset])) for subset in gold]
    parts = zip(gold, chosen, strict=True)
    return float(np.mean([pearson(scores[subset][take], gold[subset][take]) for subset, take in parts]))


def _at(figures: Mapping[str, Any], path: Sequence[str]) -> float:
    found: Any = figures
    for step in path:
        found = found[step]
    return float(found)


def _percent(interval: Interval) -> Interval:
    return Interval(100 * interval.low, 100 * interval.high, interval.method)


def _interval_of_correlation(
    task: Task, value: float, n: int, evidence: Evidence | None, seed: int
) -> Interval | None:
    if len(task.sizes) == 1 or task.head != "cosine":
        return fisher(value, n)
    if evidence is None or evidence.scores is None or evidence.gold is None:
        return None
    scores = {subset: np.array(values) for subset, values in evidence.scores.items()}
    gold = {subset: np.array(values) for subset, values in evidence.gold.items()}
    draws = resampled_rows([len(values) for values in gold.values()], seed)
    return bootstrap(np.array([mean_correlation(scores, gold, rows) for rows in draws]))
