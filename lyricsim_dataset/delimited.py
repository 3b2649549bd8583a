"""Delimited text as upstream writes it, read strictly: a fault is named by file, row, column and value."""

import csv
import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lyricsim_tools.errors import UserError

_SHOWN = 20
_VALUE_WIDTH = 60
# A lyric is one field; csv's own limit of 128 KiB would refuse a long one with a cryptic message.
_FIELD_LIMIT = 1 << 24


@dataclass(frozen=True)
class Row:
    """One record of a file.

    Args:
        number: the row as a spreadsheet counts it: the header is row 1, a multi-line field is one row.
        values: column name to value.
    """

    number: int
    values: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.values[column]


@dataclass
class Problems:
    """The faults found in one file, collected so that a user sees them together.

    Args:
        path: the file they are in.
    """

    path: Path
    found: list[str] = field(default_factory=list)

    def add(self, row: int, column: str, value: object, reason: str) -> None:
        """Note one fault."""
        shown = str(value)
        shown = shown if len(shown) <= _VALUE_WIDTH else shown[:_VALUE_WIDTH] + "…"
        self.found.append(f"row {row}, column {column}, value {shown!r}: {reason}")

    def raise_if_any(self, expected: str) -> None:
        """Raise one error that lists the faults.

        Raises:
            UserError: at least one fault was noted.
        """
        if not self.found:
            return
        more = [f"… and {len(self.found) - _SHOWN} more"] if len(self.found) > _SHOWN else []
        count = f"{len(self.found)} problem{'s' if len(self.found) > 1 else ''}"
        listing = "\n".join(f"    {line}" for line in [*self.found[:_SHOWN], *more])
        raise UserError(
            f"{self.path}: {count}\n{listing}",
            expected,
            "correct these rows, or fetch upstream's file again; nothing was written",
        )


def read_delimited(path: Path, delimiter: str, columns: Sequence[str]) -> list[Row]:
    """Read a file with a header: UTF-8 with or without BOM, any line ends, RFC 4180 quoting.

    Names and values are in Unicode NFC, their outer blanks removed, line ends inside them a line feed.

    Args:
        path: the file.
        delimiter: one character.
        columns: the columns that must be there; others are ignored.

    Raises:
        UserError: not UTF-8, broken quoting, a column is missing or doubled, or a row has another width.
    """
    header, *records = _records(path, delimiter) or [[]]
    names = [clean(name) for name in header]
    _require_columns(path, names, columns)
    problems = Problems(path)
    rows = []
    for number, record in enumerate(records, start=2):
        if len(record) == len(names):
            rows.append(Row(number, dict(zip(names, map(clean, record), strict=True))))
        elif record:
            problems.add(
                number, names[0], record[0], f"{len(record)} fields where the header has {len(names)}"
            )
    problems.raise_if_any(f"{len(names)} fields in every row")
    return rows


def clean(value: str) -> str:
    """A field's text in Unicode NFC, outer blanks removed, every line end a line feed."""
    if value.isascii() and "\r" not in value:
        return value.strip()
    return unicodedata.normalize("NFC", value.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _records(path: Path, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(_text(path), newline=""), delimiter=delimiter, strict=True)
    # The limit is the process's: whoever else reads CSV keeps the one he had.
    before = csv.field_size_limit(_FIELD_LIMIT)
    try:
        return list(reader)
    except csv.Error as error:
        raise UserError(
            f"{path}: line {reader.line_num} cannot be read: {error}",
            'fields that hold a quote, a line break or the delimiter enclosed in quotes, quotes doubled ("")',
            "correct the quoting near that line, or fetch upstream's file again",
        ) from error
    finally:
        csv.field_size_limit(before)


def _text(path: Path) -> str:
    try:
        content = Path(path).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise UserError(
            f"cannot read {path}: {error.strerror}", "a readable file", "check its path"
        ) from error
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise UserError(
            f"{path}: line {line} holds the byte {content[error.start]:#04x}, which is not UTF-8",
            "a file in UTF-8",
            "save the file as UTF-8, or fetch upstream's file again",
        ) from error


def _require_columns(path: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    missing = [name for name in columns if name not in names]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if missing or doubled:
        said = [f"lacks the column {name}" for name in missing]
        said += [f"has the column {name} more than once" for name in doubled]
        raise UserError(
            f"{path} {', '.join(said)}; its header is {', '.join(names) or 'empty'}",
            f"the columns {', '.join(columns)}",
            "correct the header, or fetch upstream's file again",
        )
