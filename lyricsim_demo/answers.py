"""What the page answers, as plain data; its words are Spanish, as the lyrics are."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lyricsim_dataset.records import RATING_MAX, RATING_MIN, SCALE, ScaleStep
from lyricsim_tools.errors import UserError

# Two lists of n lyrics → n scores.
Score = Callable[[Sequence[str], Sequence[str]], Sequence[float] | np.ndarray]

# Lyrics have empty lines of their own, between stanzas.
SEPARATOR = "---"
_SEPARATOR_LINE = re.compile(r"^[ \t]*-{3,}[ \t]*$", re.MULTILINE)
_SHOWN_LETTERS = 60


@dataclass(frozen=True)
class Verdict:
    """A score with the scale's words for it.

    Args:
        score: as the model gives it; may lie a little outside 0 to 5.
        step: the step of the raters' scale that is nearest.
    """

    score: float
    step: ScaleStep


@dataclass(frozen=True)
class Ranked:
    """One lyric of a ranked list.

    Args:
        place: from 1, the most alike first.
        verdict: its score.
        beginning: its first line.
    """

    place: int
    verdict: Verdict
    beginning: str


def compare(score: Score, first: str, second: str) -> Verdict:
    """How alike two lyrics are.

    Raises:
        UserError: a lyric is missing, or the model gives no number.
    """
    for name, text in (("La primera letra", first), ("La segunda letra", second)):
        _require_text(name, text)
    return _verdict(score([first], [second])[0])


def rank(score: Score, query: str, lyrics: str) -> list[Ranked]:
    """A pasted list of lyrics, the most alike to the query first; equal scores keep their order.

    Args:
        score: the model.
        query: the lyric to compare with.
        lyrics: lyrics divided by lines of three hyphens.

    Raises:
        UserError: the query or the list is empty, or the model gives no number.
    """
    _require_text("La letra de partida", query)
    candidates = split_lyrics(lyrics)
    verdicts = [_verdict(value) for value in score([query] * len(candidates), candidates)]
    order = sorted(range(len(candidates)), key=lambda row: -verdicts[row].score)
    return [Ranked(place, verdicts[row], first_line(candidates[row])) for place, row in enumerate(order, 1)]


def split_lyrics(text: str) -> list[str]:
    """The lyrics of a pasted list.

    Raises:
        UserError: there is none.
    """
    lyrics = [part.strip() for part in _SEPARATOR_LINE.split(text) if part.strip()]
    if not lyrics:
        raise UserError(
            "La lista está vacía",
            f"una o más letras, separadas por líneas con {SEPARATOR}",
            "pega al menos una letra",
        )
    return lyrics


def first_line(lyric: str) -> str:
    """A lyric's first line, cut to what a table shows."""
    line = lyric.strip().splitlines()[0]
    return line if len(line) <= _SHOWN_LETTERS else line[: _SHOWN_LETTERS - 1] + "…"


def _verdict(score: float) -> Verdict:
    value = float(score)
    if not math.isfinite(value):
        raise UserError("El modelo no da ninguna puntuación", "un número", "prueba con otro modelo o texto")
    nearest = min(RATING_MAX, max(RATING_MIN, math.floor(value + 0.5)))
    return Verdict(value, next(step for step in SCALE if step.rating == nearest))


def _require_text(name: str, text: str) -> None:
    if not text.strip():
        raise UserError(f"{name} está vacía", "la letra de una canción", "escríbela o pégala")
