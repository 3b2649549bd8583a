"""Cards that a program and a person write together.

What the program writes stands between ``<!-- lyricsim:begin NAME -->`` and ``<!-- lyricsim:end NAME -->``;
everything else in the body belongs to whoever edits the card. In the YAML head the keys that the program
writes are the program's, all others the editor's.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lyricsim_tools.errors import UserError

_HEAD = re.compile(r"\A(?:\ufeff)?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"<!-- lyricsim:begin ([\w-]+) -->.*?<!-- lyricsim:end \1 -->", re.DOTALL)
_BLOCK_AND_GAP = re.compile(_BLOCK.pattern + r"(\n\n)?", re.DOTALL)
# Figures, and the name of a licence: what is no longer generated no longer holds.
_NEVER_BY_HAND = ("model-index", "dataset_info", "license_name")


def block(name: str, body: str) -> str:
    """A generated block: ``body`` between the markers that name it.

    Args:
        name: letters, digits, ``_`` and ``-``; unique inside a card.
        body: Markdown, without markers of its own.
    """
    return f"<!-- lyricsim:begin {name} -->\n{body.strip()}\n<!-- lyricsim:end {name} -->"


def blocks_of(card: str) -> dict[str, str]:
    """The generated blocks of a card, name to text with its markers, in order."""
    return {match[1]: match[0] for match in _BLOCK.finditer(card)}


def read_card(path: Path) -> str:
    """A card's text.

    Raises:
        UserError: it is not UTF-8.
    """
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8: {error}", "a card in UTF-8", "save it as UTF-8") from error


def split_head(card: str) -> tuple[dict[str, Any], str]:
    """The YAML head of a card as a mapping (empty if there is none), and its body.

    Raises:
        UserError: the head is not YAML, or not a mapping.
    """
    match = _HEAD.match(card)
    if match is None:
        return {}, card
    try:
        head = yaml.safe_load(match[1]) or {}
    except yaml.YAMLError as error:
        raise _bad_head(f"not YAML: {error}") from error
    if not isinstance(head, dict):
        raise _bad_head(type(head).__name__)
    return head, card[match.end() :]


def _bad_head(found: str) -> UserError:
    return UserError(
        f"a card's head is {found}", "a YAML mapping between two lines of ---", "correct the card's head"
    )


def join_head(head: Mapping[str, Any], body: str) -> str:
    """A card from its head and body; the order of the keys is kept."""
    if not head:
        return body
    text = yaml.safe_dump(dict(head), sort_keys=False, allow_unicode=True, width=110)
    return f"---\n{text}---\n{body}"


def merge_cards(generated: str, edited: str) -> str:
    """The edited card with the generated parts brought up to date.

    Args:
        generated: what the program wrote now.
        edited: the card as it stands where it was published, perhaps edited by hand.

    Returns:
        ``edited`` with each generated block replaced by its present text, new blocks put after the block
        that precedes them, blocks that are no longer generated and second copies taken out, and the
        generated YAML keys set. Merging the result again changes nothing.

    Raises:
        UserError: the head of either card is not a YAML mapping.
    """
    new_head, new_body = split_head(generated)
    old_head, old_body = split_head(edited)
    kept = {key: value for key, value in old_head.items() if key not in (*new_head, *_NEVER_BY_HAND)}
    return join_head({**new_head, **kept}, _merge_bodies(blocks_of(new_body), old_body))


def keeping_edits(generated: str, path: Path) -> str:
    """``merge_cards`` with the card that is at a path, if there is one.

    Raises:
        UserError: the card there cannot be read; nothing was changed.
    """
    if not path.is_file():
        return generated
    edited = read_card(path)
    try:
        return merge_cards(generated, edited)
    except UserError as error:
        raise UserError(
            f"{path}: {error.given}",
            "a card whose head is YAML, so that your edits can be carried over",
            "correct the head or move the card away; nothing was changed",
        ) from error


def _merge_bodies(new_blocks: Mapping[str, str], body: str) -> str:
    missing = dict(new_blocks)

    def renewed(match: re.Match[str]) -> str:
        text = missing.pop(match[1], None)
        return "" if text is None else f"{text}{match[2] or ''}"

    body = _BLOCK_AND_GAP.sub(renewed, body)
    previous = ""
    for name, text in new_blocks.items():
        if name in missing:
            body = _insert_after(body, previous, text)
        previous = text
    return body


def _insert_after(body: str, previous: str, text: str) -> str:
    if not previous:
        return f"{text}\n\n{body.lstrip()}"
    end = body.index(previous) + len(previous)
    return f"{body[:end]}\n\n{text}{body[end:]}"
