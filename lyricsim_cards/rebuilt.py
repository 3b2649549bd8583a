"""A dataset's card as a new build gives it, where its sources are at hand; nothing is downloaded."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lyricsim_dataset.sources import SOURCE_VARIABLE, cache_folder
from lyricsim_dataset.verify import BUILD_RECORD
from lyricsim_tools.errors import UserError

_BUILD = "import sys; from lyricsim_dataset.cli import main; sys.exit(main(sys.argv[1:]))"


def rebuilt_card(folder: Path) -> str | None:
    """The card that a new build of a built folder's data has; None where its sources are not at hand.

    Args:
        folder: with the build's record. The embedded sample is always at hand; other data are where
            ``LYRICSIM_SOURCE`` says, or where an earlier build's download is.

    Raises:
        UserError: the record is not what a build writes.
    """
    path = folder / BUILD_RECORD
    try:
        record = json.loads(path.read_text("utf-8"))
        options, fingerprint = _options(record), record["source"]["fingerprint"]
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path} is not a build's record: {error}", "the file as it was built", "build again"
        ) from error
    return None if options is None else _card_of_build(options, fingerprint)


def _card_of_build(options: Sequence[str], fingerprint: str) -> str | None:
    with tempfile.TemporaryDirectory() as place:
        # The sample is written to no name that could be taken for LyricSIM's.
        again = Path(place) / "sample-or-not"
        built = build_dataset(again, *options)
        if built.returncode:
            return None
        made = json.loads((again / BUILD_RECORD).read_text("utf-8"))
        same = made["source"]["fingerprint"] == fingerprint
        return (again / "README.md").read_text("utf-8") if same else None


def build_dataset(out: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run ``lyricsim-dataset build`` in a process of its own."""
    command = [sys.executable, "-c", _BUILD, "build", "--out", str(out), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _options(record: Mapping[str, Any]) -> list[str] | None:
    if record["sample"]:
        place = ["--sample"]
    else:
        named = os.environ.get(SOURCE_VARIABLE)
        source = Path(named) if named else cache_folder() / str(record["source"]["commit"])
        if not source.is_dir():
            return None
        place = ["--source", str(source)]
    place += ["--min-raters", str(record["min_raters"])] if record["min_raters"] else []
    place += ["--allow-modified"] if record["source"]["modified"] else []
    return place + ([] if record["with_lyrics"] else ["--without-lyrics"])
