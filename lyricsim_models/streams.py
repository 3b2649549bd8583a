"""Tables of any size read row by row, from CSV, JSONL or Parquet; imports no torch.

A file is read twice: once to find everything that is wrong with it, before any work is done on it, and once
in windows to do the work.
"""

import csv
import itertools
import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_models.pair_table import PairTable, is_identity, is_lyric
from lyricsim_tools.errors import UserError

Row = Mapping[str, Any]

LYRICS = ("lyrics_1", "lyrics_2")
_MORE_COLUMNS = " (and pair_id, song_id_1, song_id_2 if known)"
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
    except csv.Error as error:
        raise UserError(
            f"{path} cannot be read: {error}",
            f"CSV whose quotes are closed, with texts of at most {csv.field_size_limit():,} characters",
            "correct the file, or write it as .jsonl or .parquet",
        ) from error
    except (UnicodeDecodeError, OSError) as error:
        raise UserError(
            f"{path} cannot be read: {error}", "UTF-8 text or Parquet", "correct the file"
        ) from error


def _csv_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream, strict=True)
        _refuse_repeated_columns(path, reader.fieldnames or ())
        for number, row in enumerate(reader, start=1):
            if None in row or None in row.values():
                raise UserError(
                    f"row {number} of {path} has another number of fields than the header",
                    f"{len(reader.fieldnames or ())} fields",
                    "quote texts that hold commas, quotes or line breaks",
                )
            yield row


def _refuse_repeated_columns(path: Path, names: Sequence[str]) -> None:
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise UserError(
            f"{path} has the column {', '.join(repeated)} more than once", "each once", "rename or drop one"
        )


def _jsonl_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig") as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
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
            _refuse_repeated_columns(path, table.schema_arrow.names)
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


def check_rows(path: Path, texts: Sequence[str], others: str = "") -> int:
    """Read a file once and find out what is wrong with it.

    Args:
        path: of the file.
        texts: columns that must hold a text with at least one character that is not blank, in every row.
        others: columns that the file may have, for messages.

    Returns:
        The number of rows.

    Raises:
        UserError: no row, a missing column, or rows with an empty text: which ones.
    """
    return sum(1 for _ in _checked_rows(path, texts, others))


def check_pairs(path: Path) -> int:
    """Check a file of pairs: its lyrics, and that each ``pair_id`` stands once.

    Returns:
        The number of rows.

    Raises:
        UserError: see ``check_rows``; an id that is none, or that names two rows.
    """
    # Eight bytes a row, so that a file of any size can be checked; equal hashes are looked at once more.
    hashes = array("q")
    for number, row in enumerate(_checked_rows(path, LYRICS, _MORE_COLUMNS), start=1):
        hashes.append(hash(pair_name(path, number, row)))
    ordered = np.sort(np.frombuffer(hashes, dtype=np.int64))
    repeated = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
    if repeated:
        _refuse_repeated_ids(path, repeated)
    return len(hashes)


def _checked_rows(path: Path, texts: Sequence[str], others: str) -> Iterator[Row]:
    bad: list[str] = []
    faults = rows = 0
    for rows, row in enumerate(read_rows(path), start=1):
        if missing := [column for column in texts if column not in row]:
            raise UserError(
                f"row {rows} of {path} has no column {', '.join(missing)}; it has {', '.join(map(str, row))}",
                f"columns {', '.join(texts)}{others}",
                "rename or add the columns",
            )
        for column in texts:
            if not is_lyric(row[column]):
                faults += 1
                bad += [f"row {rows}: {column} is {row[column]!r}"] if faults <= _SHOWN else []
        yield row
    if faults:
        more = f"; and {faults - _SHOWN} more" if faults > _SHOWN else ""
        raise UserError(
            f"{path}: {'; '.join(bad)}{more}", "a lyric in every row", "correct or drop these rows"
        )
    if not rows:
        raise UserError(f"{path} has no row", "at least one", "check the file")


def pair_name(path: Path, number: int, row: Row) -> str:
    """What a row is called: its ``pair_id``; its number, from 1, where it has none.

    Raises:
        UserError: the id is neither a text nor a whole number.
    """
    value = row.get("pair_id")
    if value is None or value == "":
        return str(number)
    if not is_identity(value):
        raise UserError(
            f"row {number} of {path} has the pair_id {value!r}", "a text or a whole number", "correct the row"
        )
    return str(value)


def _refuse_repeated_ids(path: Path, hashes: set[int]) -> None:
    rows: dict[str, int] = {}
    for number, row in enumerate(read_rows(path), start=1):
        name = pair_name(path, number, row)
        if hash(name) in hashes and rows.setdefault(name, number) != number:
            raise UserError(
                f"pair_id {name!r} of {path} stands in rows {rows[name]} and {number}",
                "each pair_id once (a row without one is named by its number)",
                "remove one of the rows, or give them different ids",
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
        yield _table(path, window)


def _table(path: Path, window: Sequence[tuple[int, Row]]) -> PairTable:
    songs: list[tuple[str, ...] | None] = []
    for column in ("song_id_1", "song_id_2"):
        values = [row.get(column) for _, row in window]
        songs.append(None if any(value in (None, "") for value in values) else tuple(map(str, values)))
    return PairTable(
        pair_ids=tuple(pair_name(path, number, row) for number, row in window),
        song_ids_1=songs[0] if songs[1] else None,
        song_ids_2=songs[1] if songs[0] else None,
        lyrics_1=tuple(row["lyrics_1"] for _, row in window),
        lyrics_2=tuple(row["lyrics_2"] for _, row in window),
        scores=None,
    )
