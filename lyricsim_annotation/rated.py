"""Pairs that were rated before, or chosen before: not to be chosen again."""

from collections.abc import Iterable
from pathlib import Path

from lyricsim_annotation.catalogue import Row, dataset_rows
from lyricsim_annotation.selection_folder import PAIRS_FILE
from lyricsim_dataset.delimited import clean
from lyricsim_dataset.sources import RATINGS_FILE
from lyricsim_models.pair_table import is_identity
from lyricsim_tools.errors import UserError

# A selection's, our dataset's, and upstream's two names of the same two columns.
_COLUMNS = (("song_a", "song_b"), ("song_id_1", "song_id_2"), ("id1", "id2"), ("id_1", "id_2"))

RatedPair = frozenset[str]


def read_rated(source: str) -> set[RatedPair]:
    """The pairs that a source has, without their order.

    Args:
        source: a built dataset folder or Hub id (its ``annotations``), an earlier selection folder, a folder
            in upstream's layout, or a file with the columns ``song_a`` and ``song_b`` (or ``song_id_1`` and
            ``song_id_2``, or ``id1`` and ``id2``).

    Raises:
        UserError: it cannot be read, or its rows name no two songs.
    """
    return set(_pairs(dataset_rows(_file_of(source), "annotations"), source))


def _file_of(source: str) -> str:
    folder = Path(source).expanduser()
    inside = [folder / name for name in (PAIRS_FILE, RATINGS_FILE)]
    return next((str(path) for path in inside if path.is_file()), source)


def _pairs(rows: Iterable[Row], source: str) -> Iterable[RatedPair]:
    for number, row in enumerate(rows, start=1):
        names = next((columns for columns in _COLUMNS if all(name in row for name in columns)), None)
        found = [] if names is None else [row[name] for name in names]
        # Upstream's file has a blank before each id, and a catalogue's ids are clean.
        ids = [clean(str(value)) for value in found if is_identity(value)]
        if len(ids) < 2:
            raise UserError(
                f"row {number} of {source} names no two songs; it has the columns {', '.join(map(str, row))}",
                "columns song_a and song_b (or song_id_1, song_id_2, or id1, id2) with an id each",
                "rename the columns, or correct the row",
            )
        yield frozenset(ids)
