"""Is a built folder still what the build wrote, and are its splits what its record says?"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyricsim_dataset.configurations import PAIR_CONFIGS
from lyricsim_dataset.splits import membership_digest
from lyricsim_tools.atomic import sha256_of
from lyricsim_tools.card_blocks import read_card, split_head
from lyricsim_tools.errors import UserError

BUILD_RECORD, CARD, CROISSANT = "build.json", "README.md", "croissant.json"
_KEYS = {"configurations", "splits", "source", "sample"}


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Args:
        what: a file, a configuration's splits, or what describes the files.
        problem: what is wrong with it; None: nothing.
    """

    what: str
    problem: str | None


def read_record(folder: Path) -> dict[str, Any]:
    """The build's record of a folder.

    Raises:
        UserError: the folder holds no such record, or one that no build wrote.
    """
    path = Path(folder) / BUILD_RECORD
    if not path.is_file():
        raise UserError(
            f"{folder} holds no {BUILD_RECORD}",
            "a folder that `lyricsim-dataset build` wrote",
            "build it first, or name another folder",
        )
    try:
        record: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise UserError(f"{path} is not JSON: {error}", "the file as it was built", "build again") from error
    if not isinstance(record, dict) or not record.keys() >= _KEYS:
        raise UserError(f"{path} is not the record of a build", "the file as it was built", "build again")
    return record


def checks(folder: Path) -> Iterator[Check]:
    """Check what a build wrote: hashes, nothing added, what describes the files, each split's pair ids.

    The card may be edited but for the files that its head names.

    Raises:
        UserError: the folder was not built by this program.
    """
    record = read_record(folder)
    files = [file for config in record["configurations"].values() for file in config["files"]]
    intact = True
    for file in files:
        problem = _file_problem(Path(folder) / file["path"], file)
        intact = intact and problem is None
        yield Check(file["path"], problem)
    yield from _added(Path(folder), {file["path"] for file in files})
    yield Check(CARD, _card_problem(Path(folder) / CARD, record))
    yield Check(CROISSANT, _croissant_problem(Path(folder) / CROISSANT, files))
    if intact:
        yield from (_splits_check(Path(folder), record, c.name) for c in PAIR_CONFIGS)


def require_intact(folder: Path) -> dict[str, Any]:
    """The record of a folder in which all checks pass.

    Raises:
        UserError: a file is missing or changed, or splits are not what the record says.
    """
    wrong = [f"{check.what}: {check.problem}" for check in checks(folder) if check.problem]
    if wrong:
        listing = "\n".join(f"    {line}" for line in wrong)
        raise UserError(
            f"{folder} is not what the build wrote:\n{listing}",
            "an untouched built folder",
            "run `lyricsim-dataset build` again",
        )
    return read_record(folder)


def _file_problem(path: Path, file: dict[str, Any]) -> str | None:
    if not path.is_file():
        return "missing"
    found = sha256_of(path)
    return None if found == file["sha256"] else f"changed: SHA-256 {found}, recorded {file['sha256']}"


def _added(folder: Path, recorded: set[str]) -> Iterator[Check]:
    """Files that the build did not write; hidden ones are never published."""
    known = recorded | {BUILD_RECORD, CARD, CROISSANT}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and name.as_posix() not in known and not any(p.startswith(".") for p in name.parts):
            yield Check(name.as_posix(), "a script" if path.suffix == ".py" else "not written by the build")


def _card_problem(path: Path, record: Mapping[str, Any]) -> str | None:
    """Whether ``load_dataset`` would read other files than those of the build."""
    if not path.is_file():
        return "missing"
    try:
        named = {
            entry["config_name"]: [(part["split"], part["path"]) for part in entry["data_files"]]
            for entry in split_head(read_card(path))[0].get("configs", [])
        }
    except (UserError, ValueError, KeyError, TypeError, AttributeError):
        return "its head cannot be read"
    built = {
        name: [(file["split"], file["path"]) for file in config["files"]]
        for name, config in record["configurations"].items()
    }
    return None if named == built else "its head names other files than the record"


def _croissant_problem(path: Path, files: list[dict[str, Any]]) -> str | None:
    if not path.is_file():
        return "missing"
    try:
        listed = json.loads(path.read_text("utf-8"))["distribution"]
        named = {file["contentUrl"]: file["sha256"] for file in listed}
    except (ValueError, KeyError, TypeError):
        return "cannot be read"
    built = {file["path"]: file["sha256"] for file in files}
    return None if named == built else "names other files than the record"


def _splits_check(folder: Path, record: dict[str, Any], name: str) -> Check:
    from pyarrow import parquet

    ids = {
        file["split"]: parquet.read_table(folder / file["path"], columns=["pair_id"])["pair_id"].to_pylist()
        for file in record["configurations"][name]["files"]
    }
    found, recorded = membership_digest(ids), record["splits"][name]["digest"]
    return Check(f"splits of {name}", None if found == recorded else f"digest {found}, recorded {recorded}")
