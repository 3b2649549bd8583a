"""What a card's text must not have: unfilled fields and dead links."""

import re
from pathlib import Path
from urllib.parse import unquote

_PLACEHOLDER = re.compile(
    r"more information needed|\bTODO\b|\bTBD\b|\bFIXME\b|\bXXX\b|lorem ipsum|\{\{[^}]*\}\}"
    r"|\[(?:insert|your|fill)[^\]]*\]",
    re.IGNORECASE,
)
# Values of Python and fields of a template, which prose never has in this spelling.
_RAW_VALUE = re.compile(r"\bNone\b|(?<![\w.])nan(?!\w)|\$\{?[a-z_]{2,}\}?")
_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$", re.MULTILINE)


def placeholders(card: str) -> list[str]:
    """Unfilled fields in a card's prose, as they stand there."""
    prose = _CODE.sub("", card)
    return sorted({match[0] for pattern in (_PLACEHOLDER, _RAW_VALUE) for match in pattern.finditer(prose)})


def dead_links(card: str, folder: Path, root: Path) -> list[str]:
    """Links to files or headings that are not there; addresses on the web are not visited.

    Args:
        card: its text.
        folder: where the card is; relative links start here.
        root: the repository; a link out of it is dead, and one that starts with ``/`` starts here.
    """
    prose = _CODE.sub("", card)
    targets = {match[1] for match in _LINK.finditer(prose)}
    local = [target for target in targets if not re.match(r"[a-z][a-z0-9+.-]*:", target)]
    return sorted(target for target in local if not _leads_somewhere(target, prose, folder, root))


def _leads_somewhere(target: str, prose: str, folder: Path, root: Path) -> bool:
    path, _, anchor = unquote(target).partition("#")
    if not path:
        return anchor in {_anchor(heading) for heading in _HEADING.findall(prose)}
    found = (root / path.lstrip("/") if path.startswith("/") else folder / path).resolve()
    return found.exists() and (found.is_relative_to(root.resolve()) or found.is_relative_to(folder.resolve()))


def _anchor(heading: str) -> str:
    """The name that GitHub and the Hub give a heading."""
    plain = re.sub(r"[^\w\- ]", "", heading.lower())
    return plain.replace(" ", "-")
