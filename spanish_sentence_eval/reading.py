"""The records that loaders fill, and the reading, checking and sorting that they share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_tools.errors import UserError

Tokens = list[str]


@dataclass(frozen=True)
class Split:
    """The items of one split, row by row.

    Args:
        columns: for each sentence position, every item's tokens.
        labels: shape (n,), class ids or gold scores.
        spans: for each argument, every item's list of units (RST alone; ``columns`` is empty then).
    """

    columns: tuple[list[Tokens], ...]
    labels: np.ndarray
    spans: tuple[list[list[Tokens]], ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: np.ndarray) -> "Split":
        """The given rows, in the given order."""
        return Split(
            tuple([column[row] for row in rows] for column in self.columns),
            self.labels[rows],
            tuple([column[row] for row in rows] for column in self.spans),
        )


@dataclass(frozen=True)
class TaskData:
    """One task's content.

    Args:
        splits: by name, in the order in which they are encoded.
        samples: the token lists that ``prepare`` sees, in the order upstream hands them over.
        label_names: the name of each class id, where the file has names.
    """

    splits: Mapping[str, Split]
    samples: list[Tokens]
    label_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """Where a task's files are.

    Args:
        task: the task's name, for messages.
        folder: the folder that holds the files.
        files: the task's files inside ``folder``; what each is depends on the loader.
        classes: how many classes there are; 0 where the file decides or there is none.
        label_ids: the class id of each label text, where labels are texts.
        sentences: how many sentences a row holds.
    """

    task: str
    folder: Path
    files: tuple[str, ...]
    classes: int = 0
    label_ids: Mapping[str, int] = field(default_factory=dict)
    sentences: int = 1


@dataclass(frozen=True)
class Row:
    """One line of a file, cut into fields; ``number`` counts from 1."""

    path: Path
    number: int
    fields: list[str]

    def fault(self, task: str, expected: str) -> UserError:
        """The error to raise where the row is not as ``expected``."""
        return UserError(
            f"{task}: {self.path}, row {self.number} has {len(self.fields)} field(s) and does not fit",
            expected,
            "the file may be cut off or edited: fetch it again",
        )


def require_file(task: str, path: Path) -> None:
    """Raise a UserError that says where the file should be, unless it is there."""
    if not path.is_file():
        raise UserError(
            f"{task}: {path} is missing",
            "upstream's file at this place",
            "fetch the data (spanish-senteval fetch), or set task_path to the folder above senteval/ "
            "and discoeval/",
        )


def lines_of(task: str, path: Path) -> list[str]:
    """A file's lines without their line feed.

    Raises:
        UserError: the file is missing, empty or no UTF-8.
    """
    require_file(task, path)
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(
            f"{task}: {path} is no UTF-8 text at byte {error.start}", "UTF-8", "fetch the file again"
        ) from error
    lines = text.removesuffix("\n").split("\n")
    if not text.strip():
        raise UserError(f"{task}: {path} is empty", "upstream's file", "fetch the file again")
    return lines


def rows_of(source: Source, name: str, width: int, skip: int = 0) -> Iterator[Row]:
    """The rows after the first ``skip``, each of ``width`` tab-separated fields; else a UserError."""
    path = source.folder / name
    lines = lines_of(source.task, path)
    if len(lines) <= skip:
        raise too_few(source, path, 0, 1)
    for number, line in enumerate(lines, start=1):
        if number > skip:
            row = Row(path, number, line.strip().split("\t"))
            if len(row.fields) != width:
                raise row.fault(source.task, f"{width} fields separated by tabulators")
            yield row


def whole_label(source: Source, row: Row, text: str) -> int:
    """A class id written as a number; a UserError unless it is one of the task's."""
    if text.isascii() and text.isdigit() and int(text) < source.classes:
        return int(text)
    raise row.fault(source.task, f"a label from 0 to {source.classes - 1}, not {text!r}")


def real_number(source: Source, row: Row, text: str) -> float:
    """A finite number; else a UserError."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not np.isfinite(value):
        raise row.fault(source.task, f"a number, not {text!r}")
    return value


def named_label(source: Source, row: Row, text: str) -> int:
    """The class id of a label text; a UserError unless it is one of the task's."""
    if text not in source.label_ids:
        raise row.fault(source.task, f"one of the labels {', '.join(source.label_ids)}, not {text!r}")
    return source.label_ids[text]


def sorted_by(split: Split, keys: Sequence[Any]) -> Split:
    """The rows in the stable order of their keys."""
    return split.take(np.array(sorted(range(len(split)), key=keys.__getitem__), dtype=np.int64))


def by_length(split: Split, last: Sequence[Any]) -> Split:
    """Stable order by the token counts of each position, then by ``last``."""
    lengths = [[len(tokens) for tokens in column] for column in split.columns]
    return sorted_by(split, list(zip(*lengths, last, strict=True)))


def column_samples(splits: Mapping[str, Split]) -> list[Tokens]:
    """Split by split and position by position, every item's tokens."""
    return [tokens for split in splits.values() for column in split.columns for tokens in column]


def item_samples(splits: Mapping[str, Split]) -> list[Tokens]:
    """Split by split and item by item, every sentence's tokens."""
    return [
        tokens for split in splits.values() for item in zip(*split.columns, strict=True) for tokens in item
    ]


def sorted_data(splits: dict[str, Split], last: Callable[[Split], Sequence[Any]]) -> TaskData:
    """Samples in the files' order, splits in length order."""
    ordered = {name: by_length(split, last(split)) for name, split in splits.items()}
    return TaskData(ordered, column_samples(splits))


def labels_of(split: Split) -> Sequence[Any]:
    """The labels as plain numbers, to sort by."""
    return split.labels.tolist()


def stripped_lines(source: Source, name: str) -> list[str]:
    """A file's lines without surrounding white space."""
    return [line.strip() for line in lines_of(source.task, source.folder / name)]


def tokenised(rows: Sequence[Row], *positions: int) -> tuple[list[Tokens], ...]:
    """The fields at ``positions``, split at white space (a no-break space splits too)."""
    return tuple([row.fields[position].split() for row in rows] for position in positions)


def too_few(source: Source, path: Path, found: int, least: int) -> UserError:
    """The error to raise where a file has fewer items than a figure takes."""
    return UserError(
        f"{source.task}: {path} has {found} item(s)",
        f"at least {least}",
        "fetch the file again, or add items",
    )


def unequal_files(source: Source, counts: Mapping[str, int]) -> UserError:
    """The error to raise where parallel files have different numbers of rows."""
    shown = ", ".join(f"{name} has {count} rows" for name, count in counts.items())
    return UserError(
        f"{source.task}: {source.folder}: {shown}",
        "files with one row for each item",
        "a file may be cut off: fetch it again",
    )
