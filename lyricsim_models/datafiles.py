"""Where pairs come from: a built dataset folder, a Hub id, or the user's own CSV, JSONL or Parquet."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lyricsim_models.pair_table import PairTable, pair_table
from lyricsim_models.provenance import pair_keys
from lyricsim_models.streams import read_rows
from lyricsim_tools.errors import UserError
from lyricsim_tools.loading import dataset_place, fresh_cache

SPLITS = ("train", "validation", "test")
_OTHER_NAMES = dict.fromkeys(("dev", "development", "val", "valid"), "validation")
FILE_KINDS = {".csv": "csv", ".jsonl": "json", ".ndjson": "json", ".json": "json", ".parquet": "parquet"}
# Shares of validation and test where a single file says nothing of splits (paper, section 5: 85-5-10).
_HELD_OUT = {"test": 0.10, "validation": 0.05}


def read_splits(dataset: str, config: str | None) -> dict[str, PairTable]:
    """Read and check every split that training knows.

    Args:
        dataset: a dataset folder, a Hub id, or one file of pairs. A file may name each row's split in a
            column ``split``; without it, 85-5-10 per cent are drawn by a hash of the pair.
        config: configuration of a folder or Hub dataset; None for its default. Files have none.

    Returns:
        ``train`` and, where the data has them, ``validation`` (also called ``dev`` or ``val``) and ``test``.

    Raises:
        UserError: it cannot be read, has no training split, or holds bad rows.
    """
    path, config = Path(dataset), config_of(dataset, config)
    columns = _file_splits(path) if path.is_file() else _dataset_splits(dataset, config)
    name = f"{dataset}, {config}" if config else dataset
    if "train" not in columns:
        raise UserError(
            f"{name} has the splits {', '.join(columns) or '(none)'}",
            "a split 'train' (and 'validation', 'test')",
            "name them so, or choose another --config",
        )
    for split, table in columns.items():
        rows = len(next(iter(table.values()), []))
        table.setdefault("pair_id", [f"{split}-{row}" for row in range(1, rows + 1)])
    return {split: pair_table(columns[split], f"{split} of {name}") for split in SPLITS if split in columns}


def config_of(dataset: str, config: str | None) -> str | None:
    """The configuration that is read of a dataset; None for a file of pairs, which has none."""
    return None if Path(dataset).is_file() else config


def read_file(path: Path) -> dict[str, list[Any]]:
    """Columns of a CSV, JSONL or Parquet file, by name.

    Raises:
        UserError: another kind of file, or one that cannot be parsed.
    """
    kind = FILE_KINDS.get(path.suffix.lower())
    if kind is None:
        raise UserError(
            f"{path} ends in {path.suffix or 'nothing'}", ", ".join(FILE_KINDS), "convert it, or rename it"
        )
    try:
        return _READERS[kind](path)
    except UserError:
        raise
    except (ValueError, TypeError, AttributeError, OSError) as error:
        raise UserError(f"{path} cannot be read: {error}", f"a {kind} file", "correct the file") from error


def _read_csv(path: Path) -> dict[str, list[Any]]:
    """Every value as the text it is, but for scores: "NA" may be a lyric, and 007 an id."""
    rows = list(read_rows(path))
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    if "score" in columns:
        columns["score"] = [_number(text) for text in columns["score"]]
    return columns


def _number(text: str) -> float | str | None:
    """A cell's number; None for an empty cell; text that is no number as it is, to be refused by row."""
    try:
        return float(text) if text.strip() else None
    except ValueError:
        return text


def _read_json(path: Path) -> dict[str, list[Any]]:
    lines = path.read_text("utf-8-sig").split("\n")
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines if line.strip()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: [row.get(name) for row in rows] for name in names}


def _read_parquet(path: Path) -> dict[str, list[Any]]:
    import pyarrow.parquet

    columns: dict[str, list[Any]] = pyarrow.parquet.read_table(path).to_pydict()
    return columns


_READERS = {"csv": _read_csv, "json": _read_json, "parquet": _read_parquet}


def _file_splits(path: Path) -> dict[str, dict[str, list[Any]]]:
    columns = read_file(path)
    rows = len(next(iter(columns.values()), []))
    if not rows:
        raise UserError(f"{path} has no row", "at least one pair", "check the file")
    columns.setdefault("pair_id", [str(row) for row in range(1, rows + 1)])
    given = columns.pop("split", None) or _drawn_splits(pair_table(columns, str(path)))
    ours = _our_names(map(str, given), str(path))
    names = [ours[str(name)] for name in given]
    if unknown := sorted(set(names) - set(SPLITS)):
        raise UserError(
            f"column split of {path} has {', '.join(map(repr, unknown[:5]))}",
            f"one of {', '.join(SPLITS)} in every row",
            "correct the column, or remove it to have 85-5-10 per cent drawn",
        )
    return {
        split: {
            key: [v for v, s in zip(values, names, strict=True) if s == split]
            for key, values in columns.items()
        }
        for split in SPLITS
        if split in names
    }


def _our_names(names: Iterable[str], where: str) -> dict[str, str]:
    """Each split's name to ours: a development set has several."""
    ours = {name: _OTHER_NAMES.get(name, name) for name in names}
    if len(set(ours.values())) < len(ours):
        raise UserError(
            f"{where} has the splits {', '.join(ours)}",
            "one validation split, by one name",
            "give all its rows the split 'validation'",
        )
    return ours


def _drawn_splits(table: PairTable) -> list[str]:
    """Held-out rows follow from the pairs, not from their order, so that adding rows moves few others.

    All rows of a pair stay together, in whichever order its songs stand. A validation split that could select
    nothing is not drawn.
    """
    pairs = _groups([pair_keys(table, row) for row in range(len(table))])
    names = ["train"] * len(table)
    room = {split: round(share * len(table)) for split, share in _HELD_OUT.items()}
    for pair in sorted(pairs, key=lambda pair: hashlib.sha256(pair.encode()).digest()):
        size = len(pairs[pair])
        if split := next((split for split, rows in room.items() if rows >= size), None):
            room[split] -= size
            for row in pairs[pair]:
                names[row] = split
    scores = {score for score, name in zip(table.gold, names, strict=True) if name == "validation"}
    return names if len(scores) > 1 else ["train" if name == "validation" else name for name in names]


def _groups(keys: Sequence[Sequence[str]]) -> dict[str, list[int]]:
    """Rows that share a key, directly or by way of other rows, under the first of all their keys."""
    above: dict[str, str] = {}

    def top(key: str) -> str:
        while above.setdefault(key, key) != key:
            key = above[key]
        return key

    for own in keys:
        tops = sorted(map(top, own))
        above.update(dict.fromkeys(tops, tops[0]))
    groups: dict[str, list[int]] = {}
    for row, own in enumerate(keys):
        groups.setdefault(top(own[0]), []).append(row)
    return groups


def _dataset_splits(dataset: str, config: str | None) -> dict[str, dict[str, list[Any]]]:
    from datasets import DatasetDict, load_dataset
    from datasets.exceptions import DatasetsError
    from huggingface_hub.errors import HfHubHTTPError

    place = dataset_place(dataset)
    with fresh_cache(Path(place).is_dir()) as cache:
        try:
            loaded = load_dataset(place, config, cache_dir=cache)
        except (ValueError, FileNotFoundError, ConnectionError, HfHubHTTPError, DatasetsError) as error:
            cause = f": {error.__cause__}" if isinstance(error, DatasetsError) and error.__cause__ else ""
            raise UserError(
                f"{dataset} cannot be loaded: {error}{cause}",
                "a dataset folder, a file of pairs, or a Hub id owner/name, with the configuration asked for",
                "check the path and --config; build the folder with `lyricsim-dataset build --out lyricsim`",
            ) from error
        if not isinstance(loaded, DatasetDict):
            raise UserError(
                f"{dataset} is streamed", "a dataset that is read whole", "load it without streaming=True"
            )
        ours = _our_names(map(str, loaded), dataset)
        return {
            ours[str(split)]: {name: list(part[name]) for name in part.column_names}
            for split, part in loaded.items()
        }
