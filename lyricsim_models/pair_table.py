"""Pairs of lyrics with their gold scores, checked once at the door; imports no torch."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from numbers import Real
from typing import Any

from lyricsim_models.config import SCORE_MAXIMUM, SCORE_MINIMUM
from lyricsim_tools.errors import UserError

REQUIRED_COLUMNS = ("lyrics_1", "lyrics_2", "score")
_SHOWN = 5


@dataclass(frozen=True)
class PairTable:
    """n pairs of lyrics.

    Args:
        pair_ids: unique names.
        song_ids_1: identity of the first song of each pair; None where the data has none.
        song_ids_2: of the second.
        lyrics_1: first lyric of each pair.
        lyrics_2: second lyric.
        scores: gold similarity, 0 (completely different) to 5 (outstanding); None where unknown.
    """

    pair_ids: tuple[str, ...]
    song_ids_1: tuple[str, ...] | None
    song_ids_2: tuple[str, ...] | None
    lyrics_1: tuple[str, ...]
    lyrics_2: tuple[str, ...]
    scores: tuple[float, ...] | None

    def __len__(self) -> int:
        return len(self.pair_ids)

    def take(self, rows: Iterable[int]) -> "PairTable":
        """The chosen rows, in the order given."""
        chosen = list(rows)
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        return PairTable(
            **{name: column and tuple(column[row] for row in chosen) for name, column in columns.items()}
        )

    @property
    def gold(self) -> tuple[float, ...]:
        """The scores of a table that must have them.

        Raises:
            UserError: it has none.
        """
        if self.scores is None:
            raise UserError("pairs without gold scores", "a column 'score'", "add it, or only predict")
        return self.scores


def pair_table(columns: Mapping[str, Sequence[Any]], name: str, *, need_scores: bool = True) -> PairTable:
    """Check columns and turn them into a table.

    Args:
        columns: column name → n values. Needed: ``lyrics_1``, ``lyrics_2`` and, for training, ``score``;
            used where present: ``pair_id``, ``song_id_1``, ``song_id_2``. Others are left aside.
        name: what to call the data in messages, such as ``train of lyricsim/filtered``.
        need_scores: refuse data without a ``score``.

    Raises:
        UserError: a column is missing, there is no row, or a value is wrong; many at once, with their rows.
    """
    needed = REQUIRED_COLUMNS if need_scores else REQUIRED_COLUMNS[:2]
    if missing := [column for column in needed if column not in columns]:
        raise UserError(
            f"{name} has no column {', '.join(missing)}; it has {', '.join(columns) or 'none'}",
            f"columns {', '.join(needed)} (and pair_id, song_id_1, song_id_2 if known)",
            "rename or add the columns",
        )
    if not len(columns["lyrics_1"]):
        raise UserError(f"{name} is empty", "at least one pair", "check the data, or leave this split out")
    lyrics = [_texts(columns[column], column, name) for column in REQUIRED_COLUMNS[:2]]
    scores = _scores(columns["score"], name) if "score" in columns else None
    songs = [_identities(columns, f"song_id_{side}", name) for side in (1, 2)]
    return PairTable(_pair_ids(columns, name), songs[0], songs[1], lyrics[0], lyrics[1], scores)


def _texts(values: Sequence[Any], column: str, name: str) -> tuple[str, ...]:
    _refuse(values, is_lyric, "a non-empty text", column, name)
    return tuple(values)


def is_lyric(value: Any) -> bool:
    """Whether a value is a text with something in it; a torn half of a character is none."""
    return isinstance(value, str) and bool(value.strip()) and _is_whole(value)


def is_identity(value: Any) -> bool:
    """Whether a value can name a pair or a song: a text or a whole number."""
    if isinstance(value, str):
        return bool(value.strip()) and _is_whole(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _is_whole(text: str) -> bool:
    """JSON can escape half of a surrogate pair, which no file and no tokenizer takes."""
    return text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)


def _scores(values: Sequence[Any], name: str) -> tuple[float, ...]:
    _refuse(values, _is_score, f"a number from {SCORE_MINIMUM:g} to {SCORE_MAXIMUM:g}", "score", name)
    return tuple(float(value) for value in values)


def _is_score(value: Any) -> bool:
    # Text that looks like a number is refused: a CSV reader has converted it long before.
    is_number = isinstance(value, Real | Decimal) and not isinstance(value, bool)
    return is_number and bool(SCORE_MINIMUM <= value <= SCORE_MAXIMUM)


def _refuse(
    values: Sequence[Any], is_good: Callable[[Any], bool], expected: str, column: str, name: str
) -> None:
    bad = [(row, value) for row, value in enumerate(values, start=1) if not is_good(value)]
    if bad:
        shown = "; ".join(f"row {row}: {value!r}" for row, value in bad[:_SHOWN])
        more = f"; and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
        raise UserError(
            f"column {column} of {name}: {shown}{more}", f"{expected} in every row", "correct the data"
        )


def _identities(columns: Mapping[str, Sequence[Any]], column: str, name: str) -> tuple[str, ...] | None:
    """Ids as texts; an empty one would make one song of all songs without an id."""
    if column not in columns:
        return None
    _refuse(columns[column], is_identity, "an id (a text or a whole number)", column, name)
    return tuple(map(str, columns[column]))


def _pair_ids(columns: Mapping[str, Sequence[Any]], name: str) -> tuple[str, ...]:
    if "pair_id" not in columns:
        return tuple(str(row) for row in range(1, len(columns["lyrics_1"]) + 1))
    ids = _identities(columns, "pair_id", name) or ()
    seen: dict[str, int] = {}
    for row, pair_id in enumerate(ids, start=1):
        if seen.setdefault(pair_id, row) != row:
            raise UserError(
                f"pair_id {pair_id!r} of {name} stands in rows {seen[pair_id]} and {row}",
                "each pair_id once",
                "remove one of the rows, or give them different ids",
            )
    return ids
