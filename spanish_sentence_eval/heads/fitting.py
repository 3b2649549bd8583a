"""What a head asks of a classifier: many fits on the rows of one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

HOLD_OUT = 0.05
"""The share of the training rows that drives early stopping where no dev rows are given."""


@dataclass(frozen=True)
class Table:
    """All feature rows of a task.

    Args:
        x: shape (n, d); float32 for torch's heads.
        y: shape (n,), class ids from 0.
        classes: how many.
    """

    x: np.ndarray
    y: np.ndarray
    classes: int


@dataclass(frozen=True)
class Job:
    """One fit for each regularisation strength.

    Args:
        train: row numbers to train on, in the order that the epochs' permutations refer to.
        dev: row numbers that drive early stopping; None: a random twentieth of ``train``.
        test: row numbers to predict with the best weights.
        strengths: L2 strengths (torch) or inverse strengths (scikit-learn).
    """

    train: np.ndarray
    dev: np.ndarray | None
    test: np.ndarray
    strengths: tuple[float, ...]


@dataclass(frozen=True)
class Fit:
    """A trained classifier, as far as a head wants to know it.

    Args:
        dev: best accuracy on the dev rows, a fraction in [0, 1]; NaN if there were none.
        predicted: shape (len(job.test),), class ids.
    """

    dev: float
    predicted: np.ndarray


@dataclass(frozen=True)
class Grids:
    """The strengths that are tried, by head."""

    split: tuple[float, ...]
    kfold: tuple[float, ...]
    innerkfold: tuple[float, ...]
    noreg: tuple[float, ...]


class Classifier(Protocol):
    """Anything that fits jobs: the exact torch path, the fast one, or scikit-learn."""

    grids: Grids

    def fit(self, table: Table, jobs: Sequence[Job]) -> list[list[Fit]]:
        """One :class:`Fit` for each job and each of its strengths, in that order."""


def percent(fraction: float) -> float:
    """A fraction in percent with two decimals, rounded as Python does it, before figures are compared."""
    return round(100 * float(fraction), 2)


def rounded_mean(values: Sequence[float]) -> float:
    """The mean with two decimals, rounded as numpy does it: halves may differ from Python's rounding."""
    return float(np.round(np.mean(values), 2))


def first_best(scores: Sequence[float]) -> int:
    """The position of the first maximum."""
    return int(np.argmax(scores))


def f1_of_class_1(predicted: np.ndarray, gold: np.ndarray) -> float:
    """Harmonic mean of precision and recall of class 1, in [0, 1]; 0 where neither side has one."""
    either = int((predicted == 1).sum() + (gold == 1).sum())
    return 2 * int(((predicted == 1) & (gold == 1)).sum()) / either if either else 0.0


def held_out(train: np.ndarray, stream: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """The first draw of a fit without dev rows: what is left to train on, and the hold-out."""
    order = stream.permutation(len(train))
    count = max(1, int(HOLD_OUT * len(train)))
    return train[order[count:]], train[order[:count]]
