"""Markdown for generated cards and reports."""

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table; bars and line breaks inside cells are made harmless."""
    lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
    return "\n".join(lines)


def number(value: float | None, decimals: int = 0) -> str:
    """A figure with thousands separated; a dash for one that is undefined or absent."""
    return "–" if value is None else f"{value:,.{decimals}f}"


def template_sections(template: str) -> dict[str, str]:
    """The sections of a card's template, by the names on their ``%%`` lines."""
    pieces = [piece.partition("\n") for piece in ("\n" + template).split("\n%% ")[1:]]
    return {name.strip(): body.strip() for name, _, body in pieces}


def _line(cells: Sequence[object]) -> str:
    return "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
