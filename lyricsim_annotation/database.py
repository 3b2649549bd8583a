"""A campaign's SQLite file: its tables, how it is opened, and what it belongs to."""

import os
import secrets
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from lyricsim_annotation.selection_folder import Selection
from lyricsim_dataset.consensus import RATERS_A_PAIR
from lyricsim_tools.errors import UserError

_FORMAT = "1"
_WAIT_SECONDS = 30.0
_TABLES = """
CREATE TABLE campaign (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE rater (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token TEXT NOT NULL UNIQUE, seen REAL NOT NULL
);
CREATE TABLE event (
    number INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, at REAL NOT NULL,
    rater INTEGER NOT NULL REFERENCES rater, pair TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('rate', 'skip', 'undo')),
    rating INTEGER, reason TEXT, note TEXT NOT NULL
);
CREATE TABLE judgement (
    pair TEXT NOT NULL, rater INTEGER NOT NULL REFERENCES rater,
    rating INTEGER CHECK (rating BETWEEN 0 AND 5), reason TEXT, note TEXT NOT NULL, at REAL NOT NULL,
    event INTEGER NOT NULL UNIQUE REFERENCES event, PRIMARY KEY (pair, rater),
    CHECK ((rating IS NULL) <> (reason IS NULL))
);
CREATE TABLE reservation (
    rater INTEGER PRIMARY KEY REFERENCES rater, pair TEXT NOT NULL, expires REAL NOT NULL
);
"""


@dataclass(frozen=True)
class Campaign:
    """What a database belongs to.

    Args:
        name: eight hexadecimal digits that set this campaign's raters apart from all others'.
        fingerprint: of the selection that is rated.
        raters_per_pair: how many ratings a pair gets.
        organiser: the unguessable part of the organiser's link.
        secret: from which the pages' tokens against forged requests are made.
    """

    name: str
    fingerprint: str
    raters_per_pair: int
    organiser: str
    secret: str


def connect(path: Path) -> sqlite3.Connection:
    """A connection whose commits are on disk when they return; transactions are the caller's."""
    database = sqlite3.connect(path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    # Fold the log into the file at each commit: whoever copies the file alone finds what was acknowledged.
    database.execute("PRAGMA wal_autocheckpoint = 1")
    return database


def open_campaign(path: Path, selection: Selection, raters_per_pair: int | None = None) -> Campaign:
    """Open a selection's database, made if there is none.

    Args:
        path: the SQLite file.
        selection: what is rated.
        raters_per_pair: None: as in the database, else ``RATERS_A_PAIR``.

    Raises:
        UserError: the file cannot be made, is something else, or belongs to other pairs or another number
            of raters.
    """
    if raters_per_pair is not None and raters_per_pair < RATERS_A_PAIR:
        raise UserError(
            f"{raters_per_pair} raters a pair",
            f"at least {RATERS_A_PAIR}: the consensus rule is about {RATERS_A_PAIR} ratings",
            f"invite {RATERS_A_PAIR} raters or more",
        )
    if not path.exists():
        _create(path, selection, raters_per_pair or RATERS_A_PAIR)
    campaign = read_campaign(path, selection)
    if raters_per_pair not in (None, campaign.raters_per_pair):
        raise UserError(
            f"{raters_per_pair} raters a pair, where {path} was made for {campaign.raters_per_pair}",
            "the same number throughout a campaign",
            "leave --raters-per-pair away, or name another database",
        )
    return campaign


def read_campaign(path: Path, selection: Selection) -> Campaign:
    """What an existing database belongs to.

    Raises:
        UserError: there is none, it is something else, or belongs to other pairs.
    """
    if not path.is_file():
        raise UserError(
            f"there is no database {path}", "what `lyricsim-annotate serve` made", "check its path"
        )
    found = _campaign_rows(path)
    if found.get("format") != _FORMAT:
        raise _not_ours(path)
    try:
        campaign = Campaign(
            found["name"],
            found["fingerprint"],
            int(found["raters_per_pair"]),
            found["organiser"],
            found["secret"],
        )
    except (KeyError, ValueError) as error:
        raise _not_ours(path) from error
    if campaign.fingerprint != selection.fingerprint:
        raise UserError(
            f"{path} holds ratings of other pairs or texts than this folder's",
            "the folder that the database was made for, unchanged",
            "name that folder, or another database for this one; nothing was changed",
        )
    return campaign


def _create(path: Path, selection: Selection, raters_per_pair: int) -> None:
    """Make the file whole or not at all, readable by its owner only: it holds names and links."""
    values = {
        "format": _FORMAT,
        "name": secrets.token_hex(4),
        "fingerprint": selection.fingerprint,
        "raters_per_pair": str(raters_per_pair),
        "organiser": secrets.token_urlsafe(24),
        "secret": secrets.token_hex(32),
    }
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600))
        database = connect(partial)
        database.executescript(f"BEGIN; {_TABLES} COMMIT;")
        database.executemany("INSERT INTO campaign VALUES (?, ?)", values.items())
        database.execute("PRAGMA journal_mode = WAL")
        database.close()
        os.link(partial, path)
    except FileExistsError:
        # Another server was quicker: its campaign is the one.
        return
    except OSError as error:
        raise UserError(
            f"{path} cannot be made: {error.strerror}",
            "a folder that you may write to",
            "choose another place",
        ) from error
    finally:
        partial.unlink(missing_ok=True)


def _campaign_rows(path: Path) -> dict[str, str]:
    try:
        database = connect(path)
        try:
            return dict(database.execute("SELECT key, value FROM campaign").fetchall())
        finally:
            database.close()
    except sqlite3.DatabaseError as error:
        raise _not_ours(path) from error


def _not_ours(path: Path) -> UserError:
    return UserError(
        f"{path} is not a database of this program",
        "what `lyricsim-annotate serve` made",
        "name another file; nothing was changed",
    )
