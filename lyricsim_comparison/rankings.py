"""Every system against every other, corrected for the number of pairs that are looked at."""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from .correlations import SCORE_NAMES, is_constant, report_constant
from .differences import CompareOptions, checked_systems, compare_systems
from .inputs import checked_columns, refusal, refuse_too_few
from .significance import holm


def compare_all(
    systems: Mapping[str, object], references: object, clusters: object = None, **options: Any
) -> list[dict[str, Any]]:
    """Compare each two of several systems on the same references.

    Args:
        systems: name → predictions, at least two.
        references: the gold similarities.
        clusters: the ids of the two songs of every row, shape (n, 2).
        options: the fields of :class:`.differences.CompareOptions`.

    Returns:
        One record a pair in the order of ``systems``: ``system1``, ``system2``, all that
        :func:`.differences.compare` returns of them, and for each score the ``_holm_pvalue``: its permutation
        p-value (with ``clusters`` its bootstrap p-value) after Holm's correction over all defined pairs.

    Raises:
        ValueError: fewer than two systems, or bad input or options; a constant side under
            ``undefined="raise"``. Warnings and errors call a system by its name.

    Example:
        >>> gold = [0, 1, 2, 3, 4, 5]
        >>> systems = {"a": [0, 1, 2, 3, 5, 4], "b": [1, 0, 2, 3, 4, 5], "c": [3, 0, 5, 1, 4, 2]}
        >>> [(row["system1"], row["system2"]) for row in compare_all(systems, gold, n_resamples=100)]
        [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    if len(systems) < 2:
        raise refusal(f"{len(systems)} systems", "at least two to compare", "pass name → predictions of each")
    checked = CompareOptions(**options)
    scores, gold = _checked_scores(systems, references, checked)
    pairs = list(itertools.combinations(systems, 2))
    found = [
        compare_systems(checked_systems(scores[one], scores[other], gold, clusters), checked)
        for one, other in pairs
    ]
    source = "permutation_pvalue" if clusters is None else "bootstrap_pvalue"
    corrected = {
        f"{name}_holm_pvalue": _holm_of_defined(np.array([row[f"{name}_{source}"] for row in found]))
        for name in SCORE_NAMES
    }
    return [
        {"system1": one, "system2": other}
        | row
        | {name: float(values[position]) for name, values in corrected.items()}
        for position, ((one, other), row) in enumerate(zip(pairs, found, strict=True))
    ]


def _checked_scores(
    systems: Mapping[str, object], references: object, options: CompareOptions
) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Each system's scores and the references; those that are constant are reported once."""
    columns = checked_columns(
        {f"system {name!r}": values for name, values in systems.items()} | {"references": references}
    )
    *scores, gold = columns.values()
    refuse_too_few(len(gold))
    if constant := [name for name, side in columns.items() if is_constant(side)]:
        report_constant(constant, options.undefined)
    return dict(zip(systems, scores, strict=True)), gold


def _holm_of_defined(p_values: np.ndarray) -> np.ndarray:
    corrected = p_values.copy()
    defined = ~np.isnan(p_values)
    corrected[defined] = holm(p_values[defined])
    return corrected
