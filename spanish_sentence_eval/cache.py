"""What need not be computed twice: sentence vectors and finished tasks, on disk, checked when read."""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_tools.atomic import write_bytes, write_json

_KEY_BYTES = 16
_SUFFIX = ".vectors"
_log = logging.getLogger(__name__)


def digest_of(value: object) -> str:
    """SHA-256 of a JSON-able value, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def sentence_key(tokens: Sequence[str]) -> bytes:
    """The 16-byte name of a sentence; tokens hold no space, so the joined text stands for the list."""
    return hashlib.blake2b(" ".join(tokens).encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()


class VectorStore:
    """The vectors of one encoder by sentence, float32, written in shards that are whole or not there.

    A shard is a line of JSON, the sentence keys, then the matrix; its first line holds the SHA-256 of the
    rest. A shard that does not agree with it is reported, removed and computed again.

    Args:
        folder: the encoder's own folder; None: keep everything in memory.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._shards: list[np.ndarray] = []
        self._place: dict[bytes, tuple[int, int]] = {}
        self._opened: set[str] = set()
        self.refresh()

    def __len__(self) -> int:
        """How many sentences have a vector."""
        return len(self._place)

    def __contains__(self, key: bytes) -> bool:
        """Whether a sentence has a vector."""
        return key in self._place

    def refresh(self) -> None:
        """Open the shards that have come since, from this or another run."""
        if self._folder is not None and self._folder.is_dir():
            for path in sorted(self._folder.glob(f"*{_SUFFIX}")):
                if path.name not in self._opened:
                    self._open(path)

    def add(self, keys: Sequence[bytes], vectors: np.ndarray) -> None:
        """Keep the vectors, shape (len(keys), d), and put them on disk before returning."""
        matrix = np.ascontiguousarray(vectors, dtype="<f4")
        if self._folder is not None:
            body = b"".join(keys) + matrix.tobytes()
            head = {
                "rows": len(keys),
                "dimension": matrix.shape[1],
                "sha256": hashlib.sha256(body).hexdigest(),
            }
            name = hashlib.sha256(b"".join(keys)).hexdigest()[:20] + _SUFFIX
            write_bytes(self._folder / name, json.dumps(head).encode() + b"\n" + body)
            self._opened.add(name)
        self._remember(keys, matrix)

    def rows(self, keys: Sequence[bytes]) -> np.ndarray:
        """The vectors of known sentences, shape (len(keys), d), float32."""
        places = np.array([self._place[key] for key in keys])
        out = np.empty((len(keys), self._shards[0].shape[1]), dtype=np.float32)
        for shard in np.unique(places[:, 0]):
            chosen = places[:, 0] == shard
            out[chosen] = self._shards[shard][places[chosen, 1]]
        return out

    def _remember(self, keys: Iterable[bytes], matrix: np.ndarray) -> None:
        shard = len(self._shards)
        self._shards.append(matrix)
        self._place.update((key, (shard, row)) for row, key in enumerate(keys))

    def _open(self, path: Path) -> None:
        shard = _read_shard(path)
        if shard is None:
            _log.warning("the cached vectors %s are damaged: they are removed and computed again", path)
            path.unlink(missing_ok=True)
        else:
            self._remember(*shard)
            self._opened.add(path.name)


def _read_shard(path: Path) -> tuple[list[bytes], np.ndarray] | None:
    first, _, body = path.read_bytes().partition(b"\n")
    try:
        head = json.loads(first)
        rows, dimension, expected = head["rows"], head["dimension"], head["sha256"]
    except (ValueError, TypeError, KeyError):
        return None
    if hashlib.sha256(body).hexdigest() != expected or len(body) != rows * (_KEY_BYTES + 4 * dimension):
        return None
    keys = [body[i : i + _KEY_BYTES] for i in range(0, rows * _KEY_BYTES, _KEY_BYTES)]
    matrix = np.frombuffer(body, dtype="<f4", offset=rows * _KEY_BYTES).reshape(rows, dimension)
    return keys, matrix


class ResultCache:
    """Finished tasks by everything their figures depend on.

    Args:
        folder: where they lie; None: nothing is kept and nothing is found.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def get(self, key: Mapping[str, object]) -> dict[str, Any] | None:
        """The finished task, or None if there is none or its file is damaged."""
        path = self._path(key)
        if path is None or not path.is_file():
            return None
        try:
            kept = json.loads(path.read_text("utf-8"))
            whole = kept["sha256"] == digest_of(kept["result"]) and kept["key"] == dict(key)
        except (ValueError, TypeError, KeyError):
            whole = False
        if not whole:
            _log.warning("the cached result %s is damaged: the task is run again", path)
            return None
        result: dict[str, Any] = kept["result"]
        return result

    def put(self, key: Mapping[str, object], result: Mapping[str, Any]) -> None:
        """Keep a finished task; written whole or not at all."""
        path = self._path(key)
        if path is not None:
            write_json(path, {"key": dict(key), "sha256": digest_of(result), "result": dict(result)})

    def _path(self, key: Mapping[str, object]) -> Path | None:
        return self._folder / f"{digest_of(dict(key))[:32]}.json" if self._folder else None
