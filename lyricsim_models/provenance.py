"""What a run was made of (data, code, machine), and what a model has seen; imports no torch."""

import hashlib
import json
import platform
import subprocess
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lyricsim_models.pair_table import PairTable
from lyricsim_tools.atomic import write_text
from lyricsim_tools.errors import UserError
from lyricsim_tools.versions import installed_versions

SEEN_FILE = "seen.json"
_PACKAGES = (
    "lyricsim",
    "torch",
    "transformers",
    "accelerate",
    "datasets",
    "tokenizers",
    "numpy",
    "scipy",
    "scikit-learn",
)
_DIGITS = 16


def digest(items: Iterable[str]) -> str:
    """SHA-256 of a set of texts, whatever their order."""
    return hashlib.sha256("\n".join(sorted(set(items))).encode()).hexdigest()


def fingerprint(splits: Mapping[str, PairTable]) -> str:
    """SHA-256 of everything training sees of the data: splits, ids, lyrics, scores, in order."""
    hasher = hashlib.sha256()
    for name in sorted(splits):
        table = splits[name]
        scores = table.scores or [None] * len(table)
        for row in zip(table.pair_ids, table.lyrics_1, table.lyrics_2, scores, strict=True):
            hasher.update(json.dumps([name, *row], ensure_ascii=False).encode())
    return hasher.hexdigest()


def versions() -> dict[str, str]:
    """Python, operating system and the packages that decide numbers."""
    return {"platform": platform.platform(), **installed_versions(_PACKAGES)}


def git_revision(folder: Path) -> str | None:
    """Commit of the code, ``-dirty`` where files differ from it; None where git has no answer."""
    try:
        revision = _git(folder, "rev-parse", "HEAD")
        return f"{revision}-dirty" if _git(folder, "status", "--porcelain", "-uno") else revision
    except (OSError, subprocess.SubprocessError):
        return None


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout.strip()


@dataclass(frozen=True)
class Seen:
    """Pairs and songs that a model learned from or was chosen by, as short digests.

    A song is known by its id, where the data has one, and by its words: a pair is recognised under
    another id, in the other order, and with other punctuation.

    Args:
        pairs: digests of unordered pairs.
        songs: digests of songs.
    """

    pairs: frozenset[str]
    songs: frozenset[str]

    def __or__(self, other: "Seen") -> "Seen":
        return Seen(self.pairs | other.pairs, self.songs | other.songs)


NOTHING = Seen(frozenset(), frozenset())


def seen_of(table: PairTable) -> Seen:
    """Digests of all pairs and songs of a table."""
    keys = [_song_keys(table, row) for row in range(len(table))]
    songs = {key for row in keys for side in row for key in side}
    return Seen(frozenset(key for row in keys for key in _pair_keys(row)), frozenset(songs))


def seen_pairs(table: PairTable, seen: Seen) -> list[str]:
    """Ids of the table's pairs that a model has seen."""
    return [
        table.pair_ids[row] for row in range(len(table)) if not seen.pairs.isdisjoint(pair_keys(table, row))
    ]


def seen_song_share(table: PairTable, seen: Seen) -> float:
    """Share of the table's songs that a model has seen, 0 to 1."""
    songs = {side for row in range(len(table)) for side in _song_keys(table, row)}
    known = [not seen.songs.isdisjoint(song) for song in songs]
    return sum(known) / len(known)


def refuse_seen(table: PairTable, seen: Seen, what: str, allow: bool) -> int:
    """Refuse to score pairs that a model was trained or selected on.

    Args:
        table: pairs to score.
        seen: what the model knows.
        what: name of the pairs, for the message.
        allow: go on nevertheless; the caller marks the result.

    Returns:
        How many of the pairs were seen; more than 0 only with ``allow``.

    Raises:
        UserError: some were, and ``allow`` is false.
    """
    known = seen_pairs(table, seen)
    if known and not allow:
        raise UserError(
            f"{len(known)} of {len(table)} pairs of {what} were used to train or select this model, "
            f"{', '.join(known[:3])} among them",
            "pairs that the model has never seen",
            "score other pairs, or pass --allow-seen (the result is then marked)",
        )
    return len(known)


def write_seen(folder: Path, training: Seen, selection: Seen) -> None:
    """Keep what a model has seen beside it, without any id or lyric in clear."""
    value = {
        name: {"pairs": sorted(seen.pairs), "songs": sorted(seen.songs)}
        for name, seen in (("training", training), ("selection", selection))
    }
    write_text(folder / SEEN_FILE, json.dumps(value) + "\n")


def read_seen(folder: Path) -> Seen | None:
    """What a model has seen in all; None for a model that does not say."""
    parts = read_seen_parts(folder)
    return None if parts is None else parts[0] | parts[1]


def read_seen_parts(folder: Path) -> tuple[Seen, Seen] | None:
    """What a model learned from, and what it was selected by; None for a model that does not say.

    Raises:
        UserError: its file says neither.
    """
    path = folder / SEEN_FILE
    if not path.is_file():
        return None
    try:
        value: dict[str, Any] = json.loads(path.read_text("utf-8"))
        parts = [value[name] for name in ("training", "selection")]
        training, selection = (Seen(frozenset(part["pairs"]), frozenset(part["songs"])) for part in parts)
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{path} cannot be read: {error!r}",
            "the digests of pairs and songs that training wrote",
            "restore the file, or remove it if it is not from training",
        ) from error
    return training, selection


def mark_seen(
    metrics: Mapping[str, dict[str, Any]], splits: Mapping[str, PairTable], training: Seen, selection: Seen
) -> None:
    """Say in the scores how much of a split the model knew; of the development set only if it knew some.

    Args:
        metrics: split → scores, changed in place.
        splits: the pairs.
        training: what the model learned from.
        selection: what it was selected by.
    """
    if "test" in metrics:
        known, test = training | selection, splits["test"]
        share, pairs = seen_song_share(test, known), len(seen_pairs(test, known))
        metrics["test"].update(seen_song_share=share, seen_pairs=pairs)
    if "validation" in metrics and (learned := seen_pairs(splits["validation"], training)):
        metrics["validation"]["seen_pairs"] = len(learned)


def pair_keys(table: PairTable, row: int) -> list[str]:
    """Digests by which a row's pair is recognised; two rows that share one are the same pair."""
    return _pair_keys(_song_keys(table, row))


def _song_keys(table: PairTable, row: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    first = _keys_of(table.song_ids_1, table.lyrics_1, row)
    return first, _keys_of(table.song_ids_2, table.lyrics_2, row)


def _keys_of(ids: tuple[str, ...] | None, lyrics: tuple[str, ...], row: int) -> tuple[str, ...]:
    words = _short(f"words {_words(lyrics[row])}")
    return (words,) if ids is None else (words, _short(f"id {ids[row]}"))


def _pair_keys(songs: tuple[tuple[str, ...], tuple[str, ...]]) -> list[str]:
    return [_short(" ".join(sorted(pair))) for pair in zip(*songs, strict=False)]


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _words(text: str) -> str:
    """Lower-case words without accents or punctuation."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    kept = "".join(c if c.isalnum() else " " for c in plain if not unicodedata.combining(c))
    return " ".join(kept.split())
