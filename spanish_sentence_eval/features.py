"""Sentence vectors → the feature rows of a task (pure)."""

from collections.abc import Callable, Sequence

import numpy as np

Columns = Sequence[np.ndarray]
Features = Callable[[Columns, np.ndarray, np.random.RandomState], tuple[np.ndarray, np.ndarray]]
"""Vectors of each position (n, d), labels (n,), the task's random stream → rows and their labels."""


def vector(
    columns: Columns, labels: np.ndarray, stream: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """The sentence's vector itself, width d."""
    return columns[0], labels


def symmetric(
    columns: Columns, labels: np.ndarray, stream: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """``[|u−v|, u·v]``, width 2d: the same for both orders of a pair."""
    u, v = columns
    return np.hstack([np.abs(u - v), u * v]), labels


def full(
    columns: Columns, labels: np.ndarray, stream: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """``[u, v, u·v, |u−v|]``, width 4d."""
    u, v = columns
    return np.hstack([u, v, u * v, np.abs(u - v)]), labels


def differences(
    columns: Columns, labels: np.ndarray, stream: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """``[e1, e1−e2, …, e1−eN]``, width N·d."""
    first, *others = columns
    return np.hstack([first, *(first - other for other in others)]), labels


def concatenation(
    columns: Columns, labels: np.ndarray, stream: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """``[e1, …, eN]``, width N·d."""
    return np.hstack(list(columns)), labels


def both_orders(
    columns: Columns, labels: np.ndarray, stream: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """``[u, v, u−v]`` of class 1 and ``[v, u, v−u]`` of class 0 for each pair, shuffled, width 3d."""
    u, v = columns
    rows = np.vstack([np.hstack([u, v, u - v]), np.hstack([v, u, v - u])])
    classes = np.repeat(np.array([1, 0]), len(u))
    order = stream.permutation(len(rows))
    return rows[order], classes[order]
