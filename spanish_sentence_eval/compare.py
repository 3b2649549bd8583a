"""Two results files, task by task: how far apart, and how sure (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spanish_sentence_eval.features import both_orders
from spanish_sentence_eval.headline import mean_correlation, unit_of
from spanish_sentence_eval.intervals import (
    Interval,
    bootstrap,
    bootstrap_p,
    difference_of_correlations,
    difference_of_shares,
    holm,
    mcnemar,
    resampled_rows,
)
from spanish_sentence_eval.tasks import TASKS

# Settings under which two figures of one task may differ without the encoders differing.
_MUST_AGREE = ("protocol", "usepytorch", "kfold", "classifier")
_PAIRED = "paired: bootstrap, exact McNemar"
ORDERING_REMARK = "both orders of a pair count as two items: interval and p are too small"
SEED_REMARK = "another seed puts the items in another order"


@dataclass(frozen=True)
class Comparison:
    """One task in two results files.

    Args:
        task: its name.
        first: the first file's headline value.
        second: the second file's.
        difference: second minus first, in the figure's unit.
        interval: 95 % interval of the difference.
        p: two-sided p-value; None where undefined.
        method: how interval and p were computed.
        p_holm: p after Holm's adjustment over all compared tasks.
        remark: why the task could not be compared, or what to bear in mind.
    """

    task: str
    first: float | None
    second: float | None
    difference: float | None = None
    interval: Interval | None = None
    p: float | None = None
    method: str = ""
    p_holm: float | None = None
    remark: str = ""


def compare_documents(first: Mapping[str, Any], second: Mapping[str, Any], seed: int) -> list[Comparison]:
    """Compare every task that both results files hold.

    Args:
        first: a results document, as the command writes it.
        second: another one.
        seed: of the bootstrap.

    Returns:
        One comparison a task, in the first document's order; tasks on other data or under other settings
        are named with the reason and get no test.
    """
    names = [name for name in first["tasks"] if name in second["tasks"]]
    settings = first["settings"], second["settings"]
    clash = _clashing_settings(*settings)
    same_seed = settings[0].get("seed") == settings[1].get("seed")
    rows = [
        compare_task(name, first["tasks"][name], second["tasks"][name], seed, clash, same_seed)
        for name in names
    ]
    tested = [i for i, row in enumerate(rows) if row.p is not None]
    adjusted = holm([p for i in tested if (p := rows[i].p) is not None])
    for i, value in zip(tested, adjusted, strict=True):
        rows[i] = Comparison(**{**vars(rows[i]), "p_holm": value})
    return rows


def compare_task(
    name: str,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    seed: int,
    clash: str = "",
    same_seed: bool = True,
) -> Comparison:
    """Compare one task's two records; paired where both hold their predictions in one order.

    Args:
        name: the task.
        first: its record in the first document.
        second: its record in the second.
        seed: of the bootstrap.
        clash: settings that differ, in words; then there is no test.
        same_seed: whether both runs had one seed, in whose order an ordering task's items lie.
    """
    values = (first["headline"]["value"], second["headline"]["value"])
    if first["data"]["digest"] != second["data"]["digest"]:
        return Comparison(name, *values, remark="not comparable: the data differ")
    if clash:
        return Comparison(name, *values, remark=f"not comparable: {clash}")
    if None in values:
        return Comparison(name, *values, remark="not comparable: a figure is undefined")
    compared = _accuracies if unit_of(TASKS[name]) == "percent" else _correlations
    shuffled = TASKS[name].features is both_orders
    if shuffled and not same_seed:
        first = {**first, "hits": ""}
    interval, p, method = compared(first, second, seed)
    remark = _ordering_remark(method, same_seed) if shuffled else ""
    return Comparison(name, *values, values[1] - values[0], interval, p, method, remark=remark)


def _clashing_settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    differing = [key for key in _MUST_AGREE if first.get(key) != second.get(key)]
    return ", ".join(f"{key} {first.get(key)} and {second.get(key)}" for key in differing)


def _ordering_remark(method: str, same_seed: bool) -> str:
    """What to bear in mind of a task whose pairs are asked in both orders, in the seed's order."""
    if not same_seed:
        return SEED_REMARK
    return ORDERING_REMARK if method == _PAIRED else ""


def _accuracies(
    first: Mapping[str, Any], second: Mapping[str, Any], seed: int
) -> tuple[Interval | None, float | None, str]:
    hits = [_hits(record) for record in (first, second)]
    if not len(hits[0]) or len(hits[0]) != len(hits[1]):
        shares = [(record["headline"]["value"] / 100, record["headline"]["n"]) for record in (first, second)]
        interval, p = difference_of_shares(*shares[0], *shares[1])
        return _scaled(interval, 100), p, "unpaired: Newcombe, two-proportion z"
    difference = hits[1].astype(float) - hits[0]
    draws = resampled_rows([len(difference)], seed)
    replicates = np.array([difference[rows].mean() for (rows,) in draws])
    return _scaled(bootstrap(replicates), 100), mcnemar(*hits), _PAIRED


def _correlations(
    first: Mapping[str, Any], second: Mapping[str, Any], seed: int
) -> tuple[Interval | None, float | None, str]:
    if not _same_gold(first, second):
        parts = [(record["headline"]["value"], record["headline"]["n"]) for record in (first, second)]
        interval, p = difference_of_correlations(*parts[0], *parts[1])
        return interval, p, "unpaired: Fisher z"
    gold = _arrays(first["gold"])
    scores = [_arrays(record["scores"]) for record in (first, second)]
    draws = resampled_rows([len(values) for values in gold.values()], seed)
    replicates = np.array(
        [mean_correlation(scores[1], gold, rows) - mean_correlation(scores[0], gold, rows) for rows in draws]
    )
    return bootstrap(replicates), bootstrap_p(replicates), "paired bootstrap over pairs"


def _arrays(subsets: Mapping[str, Any]) -> dict[str, np.ndarray]:
    return {subset: np.array(values) for subset, values in subsets.items()}


def _hits(record: Mapping[str, Any]) -> np.ndarray:
    return np.array([mark == "1" for mark in record.get("hits") or ""], dtype=bool)


def _same_gold(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    return bool(first.get("scores")) and bool(second.get("scores")) and first["gold"] == second["gold"]


def _scaled(interval: Interval | None, factor: float) -> Interval | None:
    return interval and Interval(interval.low * factor, interval.high * factor, interval.method)
