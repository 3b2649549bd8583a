"""HTML that cannot be broken by what is put into it: text is escaped unless it says that it is markup."""

import base64
import hashlib
import html
from functools import cache
from importlib.resources import files
from string import Template

from lyricsim_annotation.texts import Language, texts

_VOID = ("input",)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(value: object) -> Markup:
    """A value as HTML text, fit for attributes too."""
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def joined(parts: "list[Markup]") -> Markup:
    """Pieces of HTML one after the other."""
    return Markup("".join(parts))


def tag(name: str, content: object = "", /, **attributes: object) -> Markup:
    """An element; an underscore at the end of an attribute's name is left away, others are hyphens."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(value)}"' for key, value in attributes.items()
    )
    return Markup(f"<{name}{given}>" + ("" if name in _VOID else f"{escaped(content)}</{name}>"))


def fill(template: str, language: Language, **values: object) -> Markup:
    """A template of ``pages/``, its ``$names`` replaced by values, else by the language's texts."""
    known = {key: escaped(text) for key, text in texts()[language].items()}
    return Markup(_template(template).substitute(known | {key: escaped(v) for key, v in values.items()}))


def page(language: Language, title: str, body: Markup, script: bool = False) -> Markup:
    """A whole document with our style and, if asked for, our script."""
    return fill(
        "frame.html",
        language,
        lang=language,
        title=title,
        style=Markup(_source("style.html")),
        body=body,
        script=Markup(_source("script.html") if script else ""),
    )


@cache
def content_policy() -> str:
    """The Content-Security-Policy of all pages: nothing runs or loads but our own style and script."""
    return (
        f"default-src 'none'; style-src '{_digest('style.html')}'; script-src '{_digest('script.html')}'; "
        "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def _digest(name: str) -> str:
    """The hash by which a policy lets one inline element through: of what stands between its tags."""
    inner = _source(name).partition(">")[2].rpartition("</")[0]
    return f"sha256-{base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()}"


@cache
def _source(name: str) -> str:
    return (files(__package__) / "pages" / name).read_text("utf-8").strip()


@cache
def _template(name: str) -> Template:
    return Template(_source(name))
