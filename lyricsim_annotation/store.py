"""Ratings in SQLite: each one on disk before it is acknowledged, none of them twice.

Every operation is one transaction that excludes other writers, so threads, tabs and even two servers on one
file see each other's work whole or not at all. Nothing is forgotten: ``event`` keeps what was undone, too.
"""

import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lyricsim_annotation.assignment import Board, fair_shares, has_room, next_pair
from lyricsim_annotation.database import Campaign, connect
from lyricsim_annotation.guard import same
from lyricsim_annotation.records import Judgement, Outcome, Rater, Task, Verdict
from lyricsim_tools.errors import UserError


@dataclass(frozen=True)
class Timing:
    """How long things last, in seconds.

    Args:
        reservation: that a pair stays with the rater who was shown it; each look at the page renews it.
        idle: after which a rater who was not seen no longer counts when the work is shared out.
    """

    reservation: float = 30 * 60
    idle: float = 48 * 3600


class Store:
    """One campaign's database."""

    def __init__(
        self,
        path: Path,
        campaign: Campaign,
        pairs: Sequence[str],
        timing: Timing | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Use a database that ``database.open_campaign`` found or made.

        Args:
            path: the database.
            campaign: what it belongs to.
            pairs: ids in the order in which they are wanted.
            timing: of reservations and idle raters.
            clock: seconds since 1970.
        """
        self.campaign = campaign
        self._path, self._pairs = path, tuple(pairs)
        self.timing, self._clock = timing or Timing(), clock
        # SQLite folds its log away with the last connection: one kept open spares that at every request.
        self._anchor = connect(path)

    def close(self) -> None:
        """Let the file go."""
        self._anchor.close()

    def invite(self, names: Sequence[str]) -> list[Rater]:
        """Make a link for each name that has none yet; returns all raters.

        Raises:
            UserError: a name is empty or stands twice.
        """
        tidy = [name.strip() for name in names]
        if "" in tidy or len(set(tidy)) < len(tidy):
            raise UserError(
                f"raters {', '.join(map(repr, names))}", "a different name for each", "name each rater once"
            )
        with self._transaction() as database:
            for name in tidy:
                database.execute(
                    "INSERT INTO rater (name, token, seen) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING",
                    (name, secrets.token_urlsafe(24), self._clock()),
                )
        return self.raters()

    def raters(self) -> list[Rater]:
        """Everybody invited, in that order."""
        with self._transaction() as database:
            return _raters(database)

    def rater(self, token: str) -> Rater | None:
        """Whose link this is."""
        return next((rater for rater in self.raters() if same(rater.token, token)), None)

    def judgements(self) -> list[Judgement]:
        """All verdicts that stand, oldest first."""
        with self._transaction() as database:
            return _judgements(database)

    def snapshot(self) -> tuple[list[Judgement], list[Rater], Board]:
        """Verdicts, raters and the board, all of one moment."""
        with self._transaction() as database:
            return _judgements(database), _raters(database), self._board(database)

    def current(self, rater: int) -> Task:
        """The pair that a rater is to see, reserved for him; asking again gives the same one."""
        with self._transaction() as database:
            now = self._clock()
            database.execute("UPDATE rater SET seen = ? WHERE number = ?", (now, rater))
            board = self._board(database)
            held = _reserved(database, rater)
            pair = held if held and has_room(board, rater, held) else next_pair(board, rater)
            self._reserve(database, rater, pair)
            return self._task(database, board, rater, pair)

    def answer(self, rater: int, pair_id: str, request: str, verdict: Verdict) -> Outcome:
        """Store a verdict on the pair that is on the rater's screen.

        Args:
            rater: the rater's number.
            pair_id: the pair as the page says.
            request: a name of this one answer: a second copy of it changes nothing.
            verdict: the rating or the reason.
        """
        with self._transaction() as database:
            if (earlier := _request(database, request)) is not None:
                same = earlier == (rater, pair_id, verdict.rating, verdict.reason)
                return Outcome.STORED if same else Outcome.ALREADY
            if any(judgement.pair_id == pair_id for judgement in _judgements(database, rater)):
                return Outcome.ALREADY
            if _reserved(database, rater) != pair_id:
                return Outcome.STALE
            if not has_room(self._board(database), rater, pair_id):
                return Outcome.TAKEN
            self._record(database, rater, pair_id, request, verdict)
            return Outcome.STORED

    def undo(self, rater: int, event: int, request: str) -> Outcome:
        """Take the latest verdict back and put its pair on the screen again.

        Args:
            rater: the rater's number.
            event: which judgement the page said would be taken back.
            request: a name of this one wish.
        """
        with self._transaction() as database:
            if _request(database, request) is not None:
                return Outcome.UNDONE
            last = max(_judgements(database, rater), key=lambda judgement: judgement.event, default=None)
            if last is None or last.event != event:
                return Outcome.STALE
            database.execute("DELETE FROM judgement WHERE event = ?", (event,))
            if not has_room(self._board(database), rater, last.pair_id):
                database.execute("ROLLBACK")
                return Outcome.TAKEN
            self._log(database, rater, last.pair_id, request, "undo", last.verdict)
            self._reserve(database, rater, last.pair_id)
            return Outcome.UNDONE

    def _record(
        self, database: sqlite3.Connection, rater: int, pair_id: str, request: str, verdict: Verdict
    ) -> None:
        kind = "skip" if verdict.rating is None else "rate"
        event = self._log(database, rater, pair_id, request, kind, verdict)
        database.execute(
            "INSERT INTO judgement (pair, rater, rating, reason, note, at, event) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (pair_id, rater, verdict.rating, verdict.reason, verdict.note, self._clock(), event),
        )
        self._reserve(database, rater, None)

    def _log(
        self,
        database: sqlite3.Connection,
        rater: int,
        pair_id: str,
        request: str,
        kind: str,
        verdict: Verdict,
    ) -> int:
        row = (request, self._clock(), rater, pair_id, kind, verdict.rating, verdict.reason, verdict.note)
        added = database.execute(
            "INSERT INTO event (request, at, rater, pair, kind, rating, reason, note) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        database.execute("UPDATE rater SET seen = ? WHERE number = ?", (self._clock(), rater))
        return int(added.lastrowid or 0)

    def _reserve(self, database: sqlite3.Connection, rater: int, pair_id: str | None) -> None:
        database.execute("DELETE FROM reservation WHERE rater = ?", (rater,))
        if pair_id is not None:
            expires = self._clock() + self.timing.reservation
            database.execute("INSERT INTO reservation VALUES (?, ?, ?)", (rater, pair_id, expires))

    def _board(self, database: sqlite3.Connection) -> Board:
        rated: dict[str, set[int]] = {}
        skipped: dict[str, set[int]] = {}
        for pair, rater, rating in database.execute("SELECT pair, rater, rating FROM judgement"):
            (skipped if rating is None else rated).setdefault(pair, set()).add(rater)
        now = self._clock()
        live = database.execute("SELECT rater, pair FROM reservation WHERE expires > ?", (now,))
        reserved = dict(live.fetchall())
        seen = database.execute("SELECT number FROM rater WHERE seen > ?", (now - self.timing.idle,))
        return Board(
            self._pairs,
            self.campaign.raters_per_pair,
            {pair: frozenset(raters) for pair, raters in rated.items()},
            {pair: frozenset(raters) for pair, raters in skipped.items()},
            reserved,
            frozenset(number for (number,) in seen),
        )

    def _task(self, database: sqlite3.Connection, board: Board, rater: int, pair: str | None) -> Task:
        mine = _judgements(database, rater)
        rated = board.loads.get(rater, 0)
        undone = database.execute(
            "SELECT rating FROM event WHERE rater = ? AND pair = ? AND kind = 'rate' ORDER BY number DESC",
            (rater, pair),
        ).fetchone()
        return Task(
            pair_id=pair,
            before=undone[0] if undone else None,
            last=mine[-1] if mine else None,
            rated=rated,
            skipped=len(mine) - rated,
            share=max(rated, fair_shares(board).get(rater, 0)),
            left=board.capacity(rater),
        )

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        database = connect(self._path)
        try:
            database.execute("BEGIN IMMEDIATE")
            yield database
            if database.in_transaction:
                database.execute("COMMIT")
        finally:
            database.close()


def _raters(database: sqlite3.Connection) -> list[Rater]:
    rows = database.execute("SELECT number, name, token, seen FROM rater ORDER BY number")
    return [Rater(*row) for row in rows]


def _judgements(database: sqlite3.Connection, rater: int | None = None) -> list[Judgement]:
    rows = database.execute(
        "SELECT pair, rater, rating, reason, note, at, event FROM judgement "
        "WHERE ?1 IS NULL OR rater = ?1 ORDER BY event",
        (rater,),
    )
    return [
        Judgement(pair, who, Verdict(rating, reason, note), at, event)
        for pair, who, rating, reason, note, at, event in rows
    ]


def _reserved(database: sqlite3.Connection, rater: int) -> str | None:
    found = database.execute("SELECT pair FROM reservation WHERE rater = ?", (rater,)).fetchone()
    return str(found[0]) if found else None


def _request(database: sqlite3.Connection, request: str) -> tuple[object, ...] | None:
    found = database.execute(
        "SELECT rater, pair, rating, reason FROM event WHERE request = ?", (request,)
    ).fetchone()
    return tuple(found) if found else None
