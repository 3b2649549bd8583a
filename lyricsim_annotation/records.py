"""What the raters' page, the store and the export speak of."""

import enum
import unicodedata
from dataclasses import dataclass

from lyricsim_dataset.delimited import clean

#: Why a rater may pass a pair by; the texts are in ``texts.toml``.
SKIP_REASONS = ("unclear", "text", "language", "uneasy", "other")
#: Characters of the note that may go with a reason.
NOTE_LIMIT = 500


@dataclass(frozen=True)
class SongText:
    """One song as raters and scorers see it.

    Args:
        song_id: its name, unique in a catalogue; see ``is_song_id``.
        title: for people; may be empty.
        artist: for people; may be empty.
        lyric: its text with its line breaks.
    """

    song_id: str
    title: str
    artist: str
    lyric: str

    @property
    def text_key(self) -> str:
        """What two songs share whose texts differ in case, white space and the coding of accents alone."""
        return " ".join(unicodedata.normalize("NFC", self.lyric).casefold().split())


def is_song_id(text: str) -> bool:
    """Whether a text can name a song.

    No underscore, which joins the ids of a pair; no comma, which parts the fields of upstream's file of
    ratings; nothing unprintable, and no outer blanks.
    """
    return text.isprintable() and not set("_,") & set(text) and text == clean(text)


@dataclass(frozen=True)
class Rater:
    """One invited rater.

    Args:
        number: from 1, in the order of invitation; what an export calls him by.
        name: as the organiser wrote it; never exported.
        token: the unguessable part of his link.
        seen: when he last opened his page or answered (at first: was invited), in seconds since 1970.
    """

    number: int
    name: str
    token: str
    seen: float


@dataclass(frozen=True)
class Verdict:
    """What a rater said of a pair: a rating, or a reason for skipping it.

    Args:
        rating: 0 to 5; None: skipped.
        reason: one of ``SKIP_REASONS``; None: rated.
        note: the rater's own words on the reason; may be empty.
    """

    rating: int | None = None
    reason: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Judgement:
    """A verdict that stands.

    Args:
        pair_id: the pair.
        rater: the rater's number.
        verdict: what he said.
        at: when, in seconds since 1970.
        event: its place in the history, rising with time.
    """

    pair_id: str
    rater: int
    verdict: Verdict
    at: float
    event: int


class Outcome(enum.Enum):
    """What became of a request; the value names the message for the rater."""

    #: On disk, now or by an earlier copy of the same request.
    STORED = "stored"
    #: The latest answer was taken back, and its pair is on the screen again.
    UNDONE = "undone"
    #: This rater answered the pair before, in another tab; that answer stands.
    ALREADY = "already"
    #: The page was out of date: another tab had moved on.
    STALE = "stale"
    #: The reservation had expired and others have completed the pair.
    TAKEN = "taken"


@dataclass(frozen=True)
class Task:
    """What a rater's page shows.

    Args:
        pair_id: the pair to rate; None: nothing for now.
        before: the rating of this pair that the rater took back; None: there is none.
        last: the latest standing judgement, which undo would take back.
        rated: ratings given so far.
        skipped: pairs skipped so far.
        share: ratings that are this rater's part, as things stand.
        left: unfinished pairs that this rater has not seen.
    """

    pair_id: str | None
    before: int | None
    last: Judgement | None
    rated: int
    skipped: int
    share: int
    left: int
