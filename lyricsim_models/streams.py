"""Tables of any size read row by row, from CSV, JSONL or Parquet; imports no torch.

A file is read twice: once to find everything that is wrong with it, before any work is done on it, and once
in windows to do the work.
"""

import csv
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lyricsim_models.pair_table import PairTable
from lyricsim_tools.errors import UserError

Row = Mapping[str, Any]

LYRICS = ("lyrics_1", "lyrics_2")
_SHOWN = 5
_PARQUET_ROWS = 1024


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file, one at a time, values as the file has them (text, in a CSV file).

    Raises:
        UserError: no such file, another kind of file, or a line that cannot be parsed, named.
    """
    if path.suffix.lower() not in _READERS:
        raise UserError(
            f"{path} ends in {path.suffix or 'nothing'}", ", ".join(_READERS), "convert it, or rename it"
        )
    try:
        yield from _READERS[path.suffix.lower()](path)
    except FileNotFoundError as error:
        raise UserError(f"{path} does not exist", "a file of rows", "check the path") from error
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise UserError(
            f"{path} cannot be read: {error}", "UTF-8 text or Parquet", "correct the file"
        ) from error


def _csv_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream, strict=True)
        for number, row in enumerate(reader, start=1):
            if None in row or None in row.values():
                raise UserError(
                    f"row {number} of {path} has another number of fields than the header",
                    f"{len(reader.fieldnames or ())} fields",
                    "quote texts that hold commas, quotes or line breaks",
                )
            yield row


def _jsonl_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise _bad_line(path, number, str(error)) from error
            if not isinstance(row, dict):
                raise _bad_line(path, number, "no object")
            yield row


def _bad_line(path: Path, number: int, why: str) -> UserError:
    return UserError(
        f"line {number} of {path} is no JSON row: {why}", "one JSON object a line", "correct the line"
    )


def _parquet_rows(path: Path) -> Iterator[Row]:
    import pyarrow
    import pyarrow.parquet

    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=_PARQUET_ROWS):
                yield from batch.to_pylist()
    except pyarrow.ArrowInvalid as error:
        raise UserError(f"{path} cannot be read: {error}", "a Parquet file", "write it anew") from error


_READERS: Mapping[str, Callable[[Path], Iterator[Row]]] = {
    ".csv": _csv_rows,
    ".jsonl": _jsonl_rows,
    ".ndjson": _jsonl_rows,
    ".parquet": _parquet_rows,
}


def check_rows(path: Path, texts: Sequence[str]) -> int:
    """Read a file once and find out what is wrong with it.

    Args:
        path: of the file.
        texts: columns that must hold a text with at least one character that is not blank, in every row.

    Returns:
        The number of rows.

    Raises:
        UserError: no row, a missing column, or rows with an empty text: which ones.
    """
    bad: list[str] = []
    faults = rows = 0
    for rows, row in enumerate(read_rows(path), start=1):
        if missing := [column for column in texts if column not in row]:
            raise _missing(path, rows, missing, row)
        for column in texts:
            if not (isinstance(row[column], str) and row[column].strip()):
                faults += 1
                bad += [f"row {rows}: {column} is {row[column]!r}"] if faults <= _SHOWN else []
    if faults:
        more = f"; and {faults - _SHOWN} more" if faults > _SHOWN else ""
        raise UserError(
            f"{path}: {'; '.join(bad)}{more}", "a lyric in every row", "correct or drop these rows"
        )
    if not rows:
        raise UserError(f"{path} has no row", "at least one", "check the file")
    return rows


def _missing(path: Path, number: int, missing: Sequence[str], row: Row) -> UserError:
    return UserError(
        f"row {number} of {path} has no column {', '.join(missing)}; it has {', '.join(map(str, row))}",
        f"columns {', '.join(LYRICS)} (and pair_id, song_id_1, song_id_2 if known)",
        "rename or add the columns",
    )


def pair_windows(path: Path, size: int, skip: int = 0) -> Iterator[PairTable]:
    """The pairs of a checked file in windows.

    Args:
        path: of the file.
        size: rows of a window; the last one may hold fewer.
        skip: rows at the start to leave out.

    Returns:
        Tables in the order of the file; a row without ``pair_id`` is named by its number, from 1.
    """
    numbered = itertools.islice(enumerate(read_rows(path), start=1), skip, None)
    while window := list(itertools.islice(numbered, size)):
        yield _table(window)


def _table(window: Sequence[tuple[int, Row]]) -> PairTable:
    songs: list[tuple[str, ...] | None] = []
    for column in ("song_id_1", "song_id_2"):
        values = [row.get(column) for _, row in window]
        songs.append(None if any(value in (None, "") for value in values) else tuple(map(str, values)))
    return PairTable(
        pair_ids=tuple(str(row.get("pair_id") or number) for number, row in window),
        song_ids_1=songs[0] if songs[1] else None,
        song_ids_2=songs[1] if songs[0] else None,
        lyrics_1=tuple(row["lyrics_1"] for _, row in window),
        lyrics_2=tuple(row["lyrics_2"] for _, row in window),
        scores=None,
    )
