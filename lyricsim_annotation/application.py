"""From requests to pages: the raters' and the organiser's, knowing no sockets."""

import secrets
import sqlite3
import traceback
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie

from lyricsim_annotation.guard import forgery_token, form_fields, host_is_allowed, is_same_origin, same
from lyricsim_annotation.markup import fill, page
from lyricsim_annotation.organiser_page import render_organiser
from lyricsim_annotation.progress import Figures, campaign_figures
from lyricsim_annotation.rater_page import View, render_rater
from lyricsim_annotation.records import NOTE_LIMIT, SKIP_REASONS, Outcome, Rater, Verdict
from lyricsim_annotation.selection_folder import Selection
from lyricsim_annotation.store import Store
from lyricsim_annotation.texts import Language, known_language, say
from lyricsim_dataset.records import RATING_MAX, RATING_MIN

RATER_PATH, ORGANISER_PATH = "/r", "/o"
_RATINGS = {str(rating): rating for rating in range(RATING_MIN, RATING_MAX + 1)}
_SAID = {outcome.value for outcome in Outcome} - {Outcome.STORED.value}


@dataclass(frozen=True)
class Request:
    """What came in.

    Args:
        method: GET or POST.
        path: without the query.
        query: name to value.
        headers: by lower-case name.
        body: of a POST.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True)
class Response:
    """What goes out: a page, or with ``location`` a way to one.

    Args:
        status: of HTTP.
        text: HTML.
        location: where to go on.
        cookie: a ``Set-Cookie`` value.
    """

    status: HTTPStatus
    text: str = ""
    location: str | None = None
    cookie: str | None = None


@dataclass
class Application:
    """One campaign's pages.

    Args:
        store: the ratings.
        selection: the texts.
        hosts: names under which the server may be addressed.
        language: of pages whose reader chose none.
    """

    store: Store
    selection: Selection
    hosts: frozenset[str]
    language: Language = "es"
    _figures: tuple[object, Figures] | None = None

    def respond(self, request: Request) -> Response:
        """Answer a request; a rater learns it if the database fails, a full disk for example."""
        try:
            return self._respond(request)
        except sqlite3.Error:
            traceback.print_exc()
            return self.refuse(HTTPStatus.INTERNAL_SERVER_ERROR)

    def _respond(self, request: Request) -> Response:
        # What is unknown is not told apart from what is forbidden.
        if not host_is_allowed(request.headers.get("host"), self.hosts):
            return self._note(HTTPStatus.MISDIRECTED_REQUEST, "lost")
        kind, _, rest = request.path.removeprefix("/").partition("/")
        link, _, action = rest.partition("/")
        if request.method == "GET" and f"/{kind}" == ORGANISER_PATH and not action:
            if same(link, self.store.campaign.organiser):
                return self._organiser(request)
        elif f"/{kind}" == RATER_PATH and (rater := self.store.rater(link)) is not None:
            return self._rater(request, rater, action)
        return self._note(HTTPStatus.NOT_FOUND, "lost")

    def refuse(self, status: HTTPStatus = HTTPStatus.BAD_REQUEST) -> Response:
        """The page for a request that cannot be used."""
        return self._note(status, "refused")

    def _rater(self, request: Request, rater: Rater, action: str) -> Response:
        if request.method == "GET" and not action:
            return self._rater_page(request, rater)
        if request.method != "POST" or action not in ("answer", "undo"):
            return self._note(HTTPStatus.NOT_FOUND, "lost")
        fields = form_fields(request.body) or {}
        token = forgery_token(self.store.campaign.secret, rater.token)
        if not is_same_origin(request.headers, self.hosts) or not same(fields.get("token", ""), token):
            return self.refuse(HTTPStatus.FORBIDDEN)
        outcome = self._answer(rater, fields) if action == "answer" else self._undo(rater, fields)
        if outcome is None:
            return self.refuse()
        said = f"?said={outcome.value}" if outcome.value in _SAID else ""
        return Response(HTTPStatus.SEE_OTHER, location=f"{RATER_PATH}/{rater.token}{said}")

    def _rater_page(self, request: Request, rater: Rater) -> Response:
        said = request.query.get("said")
        view = View(
            self.selection,
            self.store.current(rater.number),
            self._language(request),
            f"{RATER_PATH}/{rater.token}",
            forgery_token(self.store.campaign.secret, rater.token),
            secrets.token_urlsafe(12),
            f"said_{said}" if said in _SAID else None,
        )
        return self._page(request, render_rater(view))

    def _answer(self, rater: Rater, fields: Mapping[str, str]) -> Outcome | None:
        verdict = verdict_of(fields)
        if verdict is None or not fields.get("request") or not fields.get("pair"):
            return None
        return self.store.answer(rater.number, fields["pair"], fields["request"], verdict)

    def _undo(self, rater: Rater, fields: Mapping[str, str]) -> Outcome | None:
        event = fields.get("event", "")
        if not fields.get("request") or not (event.isascii() and event.isdigit() and len(event) < 16):
            return None
        return self.store.undo(rater.number, int(event), fields["request"])

    def _organiser(self, request: Request) -> Response:
        figures, hours = self._current_figures(), self.store.timing.idle / 3600
        return self._page(request, render_organiser(figures, self.selection, self._language(request), hours))

    def _current_figures(self) -> Figures:
        """The figures, recomputed where anything has changed since they were last asked for."""
        judgements, raters, board = self.store.snapshot()
        state = (judgements, raters, board.active)
        if self._figures is None or self._figures[0] != state:
            self._figures = (state, campaign_figures(self.selection.pairs, judgements, raters, board))
        return self._figures[1]

    def _page(self, request: Request, text: str) -> Response:
        chosen = known_language(request.query.get("lang"))
        cookie = f"language={chosen}; Path=/; SameSite=Strict; HttpOnly; Max-Age=31536000" if chosen else None
        return Response(HTTPStatus.OK, text, cookie=cookie)

    def _language(self, request: Request) -> Language:
        chosen = known_language(request.query.get("lang")) or known_language(_cookie(request, "language"))
        return chosen or self.language

    def _note(self, status: HTTPStatus, key: str) -> Response:
        heading, what = (say(self.language, name) for name in (f"{key}_heading", key))
        body = fill("note.html", self.language, heading=heading, what=what)
        return Response(status, page(self.language, heading, body))


def verdict_of(fields: Mapping[str, str]) -> Verdict | None:
    """The rating or the reason that a form gives; None: neither, both, or one that does not exist."""
    if ("rating" in fields) == ("reason" in fields):
        return None
    if "rating" in fields:
        return Verdict(_RATINGS[fields["rating"]]) if fields["rating"] in _RATINGS else None
    note = fields.get("note", "")
    if fields["reason"] not in SKIP_REASONS or len(note) > NOTE_LIMIT:
        return None
    return Verdict(reason=fields["reason"], note=_plain(note))


def _plain(note: str) -> str:
    """A note without control characters, which no reader of it needs."""
    return "".join(" " if unicodedata.category(c) == "Cc" else c for c in note).strip()


def _cookie(request: Request, name: str) -> str | None:
    try:
        found = SimpleCookie(request.headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return found.value if found else None
