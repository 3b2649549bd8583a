"""Is a built folder still what the build wrote, and are its splits what its record says?"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyricsim_dataset.configurations import PAIR_CONFIGS
from lyricsim_dataset.splits import membership_digest
from lyricsim_tools.atomic import sha256_of
from lyricsim_tools.errors import UserError

BUILD_RECORD = "build.json"


@dataclass(frozen=True)
class Check:
    """One thing that was checked.

    Args:
        what: a file, or a configuration's splits.
        problem: what is wrong with it; None: nothing.
    """

    what: str
    problem: str | None


def read_record(folder: Path) -> dict[str, Any]:
    """The build's record of a folder.

    Raises:
        UserError: the folder holds no such record.
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
    return record


def checks(folder: Path) -> Iterator[Check]:
    """Check every file's hash, then every configuration's split digest from the pair ids in its files.

    Raises:
        UserError: the folder was not built by this program.
    """
    record = read_record(folder)
    intact = True
    for config in record["configurations"].values():
        for file in config["files"]:
            problem = _file_problem(Path(folder) / file["path"], file)
            intact = intact and problem is None
            yield Check(file["path"], problem)
    yield from (
        Check(str(path.relative_to(folder)), "a script") for path in sorted(Path(folder).rglob("*.py"))
    )
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


def _splits_check(folder: Path, record: dict[str, Any], name: str) -> Check:
    from pyarrow import parquet

    ids = {
        file["split"]: parquet.read_table(folder / file["path"], columns=["pair_id"])["pair_id"].to_pylist()
        for file in record["configurations"][name]["files"]
    }
    found, recorded = membership_digest(ids), record["splits"][name]["digest"]
    return Check(f"splits of {name}", None if found == recorded else f"digest {found}, recorded {recorded}")
