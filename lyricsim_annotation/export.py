"""From a campaign's ratings to upstream's raw files, which ``lyricsim-dataset build`` reads."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lyricsim_annotation.database import Campaign, read_campaign
from lyricsim_annotation.progress import ratings_of
from lyricsim_annotation.records import Judgement, SongText
from lyricsim_annotation.selection_folder import (
    PAIRS_FILE,
    SELECTION_FILE,
    SONGS_FILE,
    Selection,
    read_selection,
)
from lyricsim_annotation.store import Store
from lyricsim_dataset.annotations import Tables, group_pairs
from lyricsim_dataset.consensus import RATERS_A_PAIR, kept_pairs
from lyricsim_dataset.raw_format import means_text, pairs_text, ratings_text, songs_text
from lyricsim_dataset.records import Pair, Rating, Song
from lyricsim_dataset.release import assemble, empty_splits
from lyricsim_dataset.sources import (
    ANNOTATED_LYRICS_FILE,
    CAMPAIGN_FILE,
    LYRICS_FILE,
    RATINGS_FILE,
    REFERENCE_FILE,
    campaign_record,
)
from lyricsim_tools.atomic import atomic_folder, sha256_of, write_bytes, write_json
from lyricsim_tools.errors import UserError

#: What stands for an artist or a title that the catalogue does not name; the format has no empty fields.
UNKNOWN = "(desconocido)"


@dataclass(frozen=True)
class LeftOut:
    """A pair that is not exported.

    Args:
        pair_id: the pair.
        ratings: how many it has.
        skipped: how many raters skipped it.
    """

    pair_id: str
    ratings: int
    skipped: int


@dataclass(frozen=True)
class Export:
    """What an export holds.

    Args:
        campaign: its name.
        songs: of the exported pairs.
        ratings: of them, raters under the names that are published.
        pairs: the exported ones, all with three ratings or more.
        left_out: the others.
        unnamed: ids of songs whose artist or title was unknown.
    """

    campaign: str
    songs: tuple[Song, ...]
    ratings: tuple[Rating, ...]
    pairs: tuple[Pair, ...]
    left_out: tuple[LeftOut, ...]
    unnamed: tuple[str, ...]

    @property
    def with_three(self) -> list[Pair]:
        """The pairs with exactly three ratings: the consensus rule and the builder's default want these."""
        return [pair for pair in self.pairs if len(pair.ratings) == RATERS_A_PAIR]

    @property
    def empty_splits(self) -> list[str]:
        """The splits that no pair would fall into, so that the dataset can't be built yet."""
        release = assemble(Tables(self.songs, self.ratings, self.pairs))
        return [f"{split} of {name}" for name, split in empty_splits(release)]

    @property
    def files(self) -> dict[str, bytes]:
        """Path to content of the files in upstream's layout."""
        kept = kept_pairs(self.with_three)
        texts = {
            RATINGS_FILE: ratings_text(self.ratings),
            LYRICS_FILE: songs_text(self.songs),
            ANNOTATED_LYRICS_FILE: pairs_text(self.songs, self.ratings),
            REFERENCE_FILE: means_text(self.songs, kept),
        }
        return {path: text.encode() for path, text in texts.items()}

    def summary(self) -> dict[str, Any]:
        """Counts and what was left out, as plain JSON values."""
        return {
            "campaign": self.campaign,
            "pairs": len(self.pairs),
            "pairs_kept_by_the_rule": len(kept_pairs(self.with_three)),
            "pairs_with_more_than_three_ratings": len(self.pairs) - len(self.with_three),
            "songs": len(self.songs),
            "ratings": len(self.ratings),
            "raters": len({rating.annotator for rating in self.ratings}),
            "left_out": [asdict(pair) for pair in self.left_out],
            "ratings_left_out": sum(pair.ratings for pair in self.left_out),
            "songs_without_artist_or_title": list(self.unnamed),
            "empty_splits": self.empty_splits,
        }


def export(folder: Path, database: Path, output: Path) -> dict[str, Any]:
    """Write a campaign's complete pairs in upstream's layout.

    Args:
        folder: the selection.
        database: its ratings.
        output: replaced if an earlier export wrote it.

    Returns:
        The summary that also stands in the folder's record.

    Raises:
        UserError: bad folder or database, no complete pair, or an output that holds something else.
    """
    selection = read_selection(folder)
    campaign = read_campaign(database, selection)
    store = Store(database, campaign, [pair.pair_id for pair in selection.pairs])
    try:
        made = assemble_export(selection, campaign, store.judgements())
    finally:
        store.close()
    summary, files = made.summary(), made.files
    record = {
        **campaign_record(made.campaign, files),
        **summary,
        "raters_per_pair": campaign.raters_per_pair,
        "selection": {"fingerprint": selection.fingerprint, "sha256": _digests(folder)},
    }
    with atomic_folder(output) as partial:
        for path, content in files.items():
            write_bytes(partial / path, content)
        write_json(partial / CAMPAIGN_FILE, record)
    return summary


def assemble_export(selection: Selection, campaign: Campaign, judgements: Sequence[Judgement]) -> Export:
    """Decide what is exported (pure).

    Raises:
        UserError: no pair has three ratings.
    """
    name = f"annotation-{campaign.name}"
    ratings = [_published(rating, campaign.name) for rating in ratings_of(selection.pairs, judgements)]
    pairs = [pair for pair in group_pairs(ratings) if len(pair.ratings) >= RATERS_A_PAIR]
    complete = {pair.pair_id for pair in pairs}
    left_out = [
        _left_out(pair.pair_id, judgements) for pair in selection.pairs if pair.pair_id not in complete
    ]
    if not pairs:
        raise UserError(
            f"none of the {len(selection.pairs)} pairs has {RATERS_A_PAIR} ratings",
            "at least one such pair",
            "let raters go on; the organiser's page shows how far they are",
        )
    used = {song for pair in pairs for song in (pair.song_id_1, pair.song_id_2)}
    songs = [song for song in selection.songs.values() if song.song_id in used]
    return Export(
        name,
        tuple(_published_song(song) for song in songs),
        tuple(rating for rating in ratings if rating.pair_id in complete),
        tuple(pairs),
        tuple(left_out),
        tuple(song.song_id for song in songs if not (song.artist and song.title)),
    )


def _published(rating: Rating, campaign: str) -> Rating:
    """The rating under a name that tells nobody who gave it and that no other campaign's rater has."""
    return Rating(f"{campaign}-{rating.annotator}", rating.song_id_1, rating.song_id_2, rating.rating)


def _published_song(song: SongText) -> Song:
    return Song(song.song_id, song.artist or UNKNOWN, song.title or UNKNOWN, song.lyric, song.lyric)


def _left_out(pair_id: str, judgements: Sequence[Judgement]) -> LeftOut:
    its = [judgement for judgement in judgements if judgement.pair_id == pair_id]
    skipped = sum(judgement.verdict.rating is None for judgement in its)
    return LeftOut(pair_id, len(its) - skipped, skipped)


def _digests(folder: Path) -> Mapping[str, str]:
    names = sorted((PAIRS_FILE, SONGS_FILE, SELECTION_FILE))
    return {name: sha256_of(folder / name) for name in names if (folder / name).exists()}
