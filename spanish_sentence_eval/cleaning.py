"""Which rows the corrected protocol leaves out for its second figures (specification, D21 to D27)."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

import numpy as np

from spanish_sentence_eval.reading import Split, TaskData
from spanish_sentence_eval.task import Cleaning, Task

Kept = dict[str, np.ndarray]
"""For each split, which rows stay, shape (n,), bool."""

_PLACEHOLDER = ["NS"]
# The longest real message has 43 tokens; the row in question has 472, of which 22 were rows of their own.
_LONGEST_MESSAGE = 200


def kept_rows(task: Task, data: TaskData) -> Kept:
    """The rows of each split that pass all of the task's rules."""
    kept = {name: np.ones(len(split), dtype=bool) for name, split in data.splits.items()}
    for rule in task.cleaning:
        for name, rows in _RULES[rule](data.splits).items():
            kept[name] &= rows
    return kept


def _repeated(splits: Mapping[str, Split]) -> Kept:
    """Test and dev rows are left out if an earlier split, or an earlier row of theirs, has the same item.

    Training rows stay, unless folds of them serve as dev rows.
    """
    return _without_repeats(splits, _items)


def _unordered(splits: Mapping[str, Split]) -> Kept:
    """As repeated; a pair is the same in either order."""
    return _without_repeats(splits, lambda split: [tuple(sorted(item)) for item in _items(split)])


def _without_repeats(splits: Mapping[str, Split], items_of: Callable[[Split], list[tuple[Any, ...]]]) -> Kept:
    seen: set[tuple[Any, ...]] = set()
    kept = {}
    for name, split in splits.items():
        keeps = []
        for item in items_of(split):
            keeps.append(item not in seen or (name == "train" and "dev" in splits))
            seen.add(item)
        kept[name] = np.array(keeps)
    return kept


def _items(split: Split) -> list[tuple[Any, ...]]:
    texts = [[tuple(tokens) for tokens in column] for column in split.columns]
    spans = [[tuple(tuple(unit) for unit in span) for span in column] for column in split.spans]
    return list(zip(*texts, *spans, strict=True))


def _placeholder(splits: Mapping[str, Split]) -> Kept:
    """Rows in which a sentence is the placeholder "NS"."""
    return {
        name: np.array([_PLACEHOLDER not in item for item in zip(*split.columns, strict=True)])
        for name, split in splits.items()
    }


def _swallowed(splits: Mapping[str, Split]) -> Kept:
    """Rows that swallowed others when the file was made."""
    return {
        name: np.array([len(tokens) <= _LONGEST_MESSAGE for tokens in split.columns[0]])
        for name, split in splits.items()
    }


def _shared_sentences(splits: Mapping[str, Split]) -> Kept:
    """Rows that share a sentence with a later split: training rows with dev or test, dev rows with test."""
    later: set[Hashable] = set()
    kept = {}
    for name in reversed(list(splits)):
        items = _items(splits[name])
        kept[name] = np.array([later.isdisjoint(item) for item in items])
        later.update(sentence for item in items for sentence in item)
    return kept


_RULES: Mapping[Cleaning, Callable[[Mapping[str, Split]], Kept]] = {
    "repeated": _repeated,
    "unordered": _unordered,
    "placeholder": _placeholder,
    "swallowed": _swallowed,
    "shared_sentences": _shared_sentences,
}
