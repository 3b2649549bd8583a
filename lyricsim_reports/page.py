"""A document as a list of parts, rendered as Markdown and as one self-contained HTML page (pure)."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lyricsim_tools import markdown


@dataclass(frozen=True)
class Heading:
    """A heading below the title; ``level`` 2 or 3."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """One paragraph. Both renderings show it as it stands, so it holds no markup."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table; the first column is text, the others are figures.

    Args:
        columns: their names.
        rows: cells; None is shown as a dash.
        caption: what the table shows; empty for none.
        marked: positions of rows that stand out (floors).
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    caption: str = ""
    marked: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Picture:
    """A picture.

    Args:
        name: of its files, without an ending: ``NAME.png`` and ``NAME.svg`` lie beside the Markdown.
        caption: what it shows, and how it was made.
        alternative: the same for someone who can't see it.
    """

    name: str
    caption: str
    alternative: str


Part = Heading | Text | Table | Picture


@dataclass(frozen=True)
class Page:
    """A document: its title and its parts in order."""

    title: str
    parts: tuple[Part, ...]


def to_markdown(page: Page, pictures: str = "") -> str:
    """The document as Markdown.

    Args:
        page: the document.
        pictures: what stands before a picture's file name, such as ``report/``.
    """
    parts = [f"# {page.title}", *[_markdown(part, pictures) for part in page.parts]]
    return "\n\n".join(parts) + "\n"


def _markdown(part: Part, pictures: str) -> str:
    match part:
        case Heading():
            return f"{'#' * part.level} {part.text}"
        case Text():
            return part.text
        case Table():
            table = markdown.table(part.columns, [[cell(value) for value in row] for row in part.rows])
            return f"{part.caption}\n\n{table}" if part.caption else table
        case Picture():
            return f"![{part.alternative}]({pictures}{part.name}.svg)\n\n{part.caption}"


def cell(value: object) -> str:
    """A table's cell: a dash for nothing, floats with four significant digits, ``undefined`` for NaN."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return "undefined" if value != value else f"{value:.4g}"
    return str(value)


def to_html(page: Page, svgs: Mapping[str, str]) -> str:
    """The document as one HTML page that loads nothing.

    Args:
        page: the document.
        svgs: the text of each picture's SVG file, by name.
    """
    body = "\n".join(_html(part, svgs) for part in page.parts)
    title = html.escape(page.title)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{title}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _html(part: Part, svgs: Mapping[str, str]) -> str:
    match part:
        case Heading():
            return f"<h{part.level}>{html.escape(part.text)}</h{part.level}>"
        case Text():
            return f"<p>{html.escape(part.text)}</p>"
        case Table():
            return _html_table(part)
        case Picture():
            label = html.escape(part.alternative, quote=True)
            image = _inline(svgs[part.name], part.name)
            caption = html.escape(part.caption)
            # The label stands for what it encloses, so the caption must be outside to be read at all.
            drawing = f'<div role="img" aria-label="{label}">{image}</div>'
            return f"<figure>{drawing}<figcaption>{caption}</figcaption></figure>"


def _html_table(table: Table) -> str:
    caption = f'<p class="caption">{html.escape(table.caption)}</p>\n' if table.caption else ""
    head = "".join(
        f'<th scope="col"{_class(any(_is_prose(row[place]) for row in table.rows))}>{html.escape(name)}</th>'
        for place, name in enumerate(table.columns)
    )
    rows = "\n".join(_html_row(row, number in table.marked) for number, row in enumerate(table.rows))
    body = f"<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody>"
    return f'{caption}<div class="wide"><table>{body}</table></div>'


def _html_row(row: Sequence[object], marked: bool) -> str:
    cells = f'<th scope="row">{html.escape(cell(row[0]))}</th>' + "".join(map(_html_cell, row[1:]))
    return f'<tr class="marked">{cells}</tr>' if marked else f"<tr>{cells}</tr>"


def _html_cell(value: object) -> str:
    return f"<td{_class(_is_prose(value))}>{html.escape(cell(value))}</td>"


def _is_prose(value: object) -> bool:
    return len(cell(value)) > _LONG


def _class(prose: bool) -> str:
    return ' class="long"' if prose else ""


def _inline(svg: str, name: str) -> str:
    """An SVG file as an element of a page that holds several: no prolog, no id twice."""
    element = svg[svg.index("<svg") :]
    for before in (' id="', "url(#", 'href="#'):
        element = element.replace(before, f"{before}{name}-")
    return element


# Characters from which a cell is prose, which wraps; figures never do.
_LONG = 40
# Pictures keep their white ground, for which they are drawn.
_STYLE = """
:root { color-scheme: light dark; --text: #1b1b1b; --soft: #333; --back: #fff; --line: #ddd; --rule: #555;
  --mark: #eef3f8; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e8e8e8; --soft: #c4c4c4; --back: #161616; --line: #3a3a3a; --rule: #999; --mark: #22303d; }
}
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--text); background: var(--back); }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; }
h2 { margin-top: 2.6rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
p, figcaption { max-width: 48rem; overflow-wrap: anywhere; }
.caption { margin: 1.6rem 0 -.6rem; color: var(--soft); font-size: .92rem; }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .92rem; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right; }
th, td { vertical-align: top; }
td { white-space: nowrap; }
td.long { white-space: normal; min-width: 16rem; }
th.long, td.long, th[scope=row], thead th:first-child { text-align: left; }
th[scope=row], thead th:first-child { min-width: 11rem; }
th[scope=row] { font-weight: normal; }
thead th { border-bottom: 2px solid var(--rule); font-weight: 600; vertical-align: bottom; }
tr.marked { background: var(--mark); }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; background: #fff; }
figcaption { color: var(--soft); font-size: .92rem; }
"""
