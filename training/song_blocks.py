"""Song groups of a data set, and the blocks of cross-validation that they make."""

from collections.abc import Mapping
from pathlib import Path

from lyricsim_dataset import song_splits
from lyricsim_dataset.records import Pair
from lyricsim_dataset.splits import SEED, draw
from lyricsim_models.baselines import song_pairs
from lyricsim_models.cross_validation import Fold
from lyricsim_models.pair_table import PairTable
from lyricsim_tools.errors import UserError
from lyricsim_tools.loading import dataset_place, fresh_cache

# The configuration and columns in which the published data set says which group a song is in.
SONGS, SONG_ID, SONG_GROUP = "songs", "song_id", "song_group"


def song_groups(dataset: str, pairs: PairTable) -> dict[str, int]:
    """The group of every song that occurs: as the data set publishes them, else five balanced ones.

    Raises:
        UserError: published groups that lack a song of the pairs; no such data set.
    """
    songs = {song for pair in song_pairs(pairs) for song in pair}
    published = {} if Path(dataset).is_file() else _published_groups(dataset)
    if not published:
        return song_splits.song_groups(as_records(pairs), set(pairs.pair_ids))
    if missing := sorted(songs - published.keys()):
        raise UserError(
            f"song {missing[0]} of {dataset} is in no group",
            "a group for every song",
            "build the data set anew",
        )
    return {song: published[song] for song in sorted(songs)}


def block_folds(
    pairs: PairTable,
    groups: Mapping[str, int],
    validation_share: float = 0.0,
    training_share: float = 1.0,
) -> list[Fold]:
    """The folds of block cross-validation.

    Args:
        pairs: those to test and to train on.
        groups: group of every song that occurs.
        validation_share: of each fold's training pairs, drawn by label, 0 to below 1.
        training_share: of what is left of them, drawn by label, above 0; below 1 for a learning curve.

    Returns:
        A fold for each two groups that have pairs, a group with itself included.

    Raises:
        UserError: a share that leaves nothing to train on.
    """
    if not 0 <= validation_share < 1:
        raise UserError(
            f"--validation-share {validation_share}", "at least 0 and below 1", "pass another value"
        )
    if not 0 < training_share <= 1:
        raise UserError(f"--training-share {training_share}", "above 0, up to 1", "pass another value")
    records = {pair.pair_id: pair for pair in as_records(pairs)}
    folds = []
    for fold in song_splits.block_folds(list(records.values()), groups):
        known = {pair_id: records[pair_id] for pair_id in fold.train}
        held = _drawn(known, validation_share)
        left = {pair_id: pair for pair_id, pair in known.items() if pair_id not in held}
        train = _drawn(left, training_share)
        folds.append(Fold("-".join(map(str, fold.groups)), train, held, fold.test))
    return [fold for fold in folds if fold.test]


def _drawn(known: Mapping[str, Pair], share: float) -> tuple[str, ...]:
    """Ids of a share of the pairs, drawn by label, sorted."""
    return tuple(sorted(pair.pair_id for pair in draw(known.values(), round(share * len(known)), SEED)))


def as_records(pairs: PairTable) -> list[Pair]:
    """Pairs as the data set's rules know them, strata being thirds of a point: the means of three ratings."""
    return [
        Pair(pair_id, *songs, (round(3 * score),))
        for pair_id, songs, score in zip(pairs.pair_ids, song_pairs(pairs), pairs.gold, strict=True)
    ]


def _published_groups(dataset: str) -> dict[str, int]:
    from datasets import get_dataset_config_names, load_dataset

    place = dataset_place(dataset)
    if SONGS not in get_dataset_config_names(place):
        return {}
    with fresh_cache(Path(place).is_dir()) as cache:
        parts = load_dataset(place, SONGS, cache_dir=cache)
        rows = [row for part in parts.values() for row in part.select_columns([SONG_ID, SONG_GROUP])]
    return {row[SONG_ID]: row[SONG_GROUP] for row in rows if row[SONG_GROUP] >= 0}
