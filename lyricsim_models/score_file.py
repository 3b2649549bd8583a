"""A file of predictions that grows window by window and gets its name only when it is whole."""

import contextlib
import csv
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_tools.atomic import sha256_of, umask_mode, write_json
from lyricsim_tools.errors import UserError
from lyricsim_tools.files import only_writer

COLUMNS = ("pair_id", "prediction")
KINDS = (".csv", ".jsonl")


class ScoreFile:
    """Predictions of one input by one model.

    What is written lies in a hidden file beside ``path``; how much of it counts, in another one, which is
    replaced as a whole after each window. So a kill at any moment loses one window at most.

    Args:
        path: of the finished file, ending in .csv or .jsonl.
        settings: what decides the predictions, as plain JSON values.
        resume: go on with what an earlier process wrote for the same settings.
        overwrite: replace a finished file.

    Raises:
        UserError: another kind of file, one that exists, or an earlier part of other settings.
    """

    def __init__(
        self, path: Path, settings: Mapping[str, Any], *, resume: bool = False, overwrite: bool = False
    ) -> None:
        refuse_output(path, overwrite)
        self.path = path
        self._settings = json.loads(json.dumps(settings))
        self._partial = path.with_name(f".{path.name}.partial")
        self._progress = path.with_name(f".{path.name}.progress.json")
        self.rows, self._bytes = self._begun() if resume else (0, 0)

    def _begun(self) -> tuple[int, int]:
        if not (self._progress.exists() and self._partial.exists()):
            return 0, 0
        begun = self._read_progress()
        changed = sorted(k for k in self._settings if begun["settings"].get(k) != self._settings[k])
        if changed:
            raise UserError(
                f"what was begun for {self.path} had another {', '.join(changed)}",
                "the same input, model and options for --resume",
                "repeat that command, or leave --resume out to begin anew",
            )
        return int(begun["rows"]), int(begun["bytes"])

    def _read_progress(self) -> dict[str, Any]:
        try:
            begun: dict[str, Any] = json.loads(self._progress.read_text("utf-8"))
            whole = begun.keys() == {"settings", "rows", "bytes"}
            if not whole or self._partial.stat().st_size < begun["bytes"]:
                raise ValueError("it does not fit what was written")
        except (ValueError, AttributeError, TypeError) as error:
            raise UserError(
                f"{self._progress} cannot be used: {error}",
                "what an interrupted run of this program left",
                "leave --resume out to begin anew",
            ) from error
        return begun

    def append(self, pair_ids: Sequence[str], predictions: np.ndarray) -> None:
        """Add one window.

        Args:
            pair_ids: of the window's pairs.
            predictions: shape (pairs,).

        Raises:
            UserError: a prediction is not finite; nothing of the window is written.
        """
        refuse_non_finite(pair_ids, predictions, self.rows)
        text = _lines(self.path.suffix, pair_ids, predictions, header=self.rows == 0).encode()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.rows == 0:
            # What another run left would otherwise vouch for this one's bytes, should a kill come now.
            self._progress.unlink(missing_ok=True)
        with self._partial.open("r+b" if self._partial.exists() else "w+b") as stream:
            # What a killed process wrote after its last progress does not count.
            stream.truncate(self._bytes)
            stream.seek(self._bytes)
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        self.rows, self._bytes = self.rows + len(pair_ids), self._bytes + len(text)
        write_json(self._progress, {"settings": self._settings, "rows": self.rows, "bytes": self._bytes})

    def digest(self) -> str:
        """SHA-256 of what was written, in hexadecimal."""
        return sha256_of(self._partial)

    def finish(self) -> None:
        """Give the file its name."""
        self._partial.chmod(umask_mode())
        self._partial.replace(self.path)
        self._progress.unlink(missing_ok=True)


def refuse_output(path: Path, overwrite: bool) -> None:
    """Find out before any work whether a file of predictions may be written.

    Raises:
        UserError: another kind of file, a folder, or a file that exists without ``overwrite``.
    """
    if path.suffix not in KINDS:
        raise UserError(f"--output {path}", f"a name ending in {' or '.join(KINDS)}", "rename it")
    refuse_existing(path, overwrite)


def refuse_existing(path: Path, overwrite: bool) -> None:
    """Refuse to replace what is there unasked, and a folder in any case.

    Raises:
        UserError: see above.
    """
    if path.is_dir():
        raise UserError(f"{path} is a folder", "a file to write", "choose another --output")
    if path.exists() and not overwrite:
        raise UserError(f"{path} exists", "a new name", "pass --overwrite, or choose another --output")


def refuse_own_input(output: Path, source: Path) -> None:
    """Refuse to write over what is read.

    Raises:
        UserError: both are the same file.
    """
    linked = output.exists() and source.exists() and output.samefile(source)
    if linked or output.resolve() == source.resolve():
        raise UserError(
            f"--output {output} is the file that is read", "another file", "choose another --output"
        )


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold an output for one process at a time; a killed one lets go by itself.

    Raises:
        UserError: another process is writing it.
    """
    lock = path.with_name(f".{path.name}.lock")
    with only_writer(lock, path):
        yield
    lock.unlink(missing_ok=True)


def refuse_non_finite(pair_ids: Sequence[str], predictions: np.ndarray, rows_before: int = 0) -> None:
    """Stop at a score that is no number.

    Raises:
        UserError: names the row, from 1, and the pair.
    """
    bad = np.flatnonzero(~np.isfinite(predictions))
    if len(bad):
        row = int(bad[0])
        raise UserError(
            f"row {rows_before + row + 1} (pair {pair_ids[row]}) got the score {predictions[row]}, "
            f"{len(bad)} such rows in its window",
            "a finite score for every pair",
            "use another precision or another model; what is finished is kept for --resume",
        )


def _lines(kind: str, pair_ids: Sequence[str], predictions: np.ndarray, header: bool) -> str:
    if kind == ".jsonl":
        return "".join(
            json.dumps({"pair_id": pair_id, "prediction": float(value)}, ensure_ascii=False) + "\n"
            for pair_id, value in zip(pair_ids, predictions, strict=True)
        )
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    if header:
        writer.writerow(COLUMNS)
    writer.writerows(
        [pair_id, repr(float(value))] for pair_id, value in zip(pair_ids, predictions, strict=True)
    )
    return stream.getvalue()
