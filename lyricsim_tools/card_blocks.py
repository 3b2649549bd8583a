"""Cards that a program and a person write together.

What the program writes stands between ``<!-- lyricsim:begin NAME -->`` and ``<!-- lyricsim:end NAME -->``;
everything else in the body belongs to whoever edits the card. In the YAML head the keys that the program
writes are the program's, all others the editor's.
"""

import re
from collections.abc import Mapping
from typing import Any

import yaml

from lyricsim_tools.errors import UserError

_HEAD = re.compile(r"\A(?:\ufeff)?---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_BLOCK = re.compile(r"<!-- lyricsim:begin ([\w-]+) -->.*?<!-- lyricsim:end \1 -->", re.DOTALL)


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
        that precedes them, blocks that are no longer generated taken out, and the generated YAML keys set.
        Merging the result again changes nothing.

    Raises:
        UserError: the head of either card is not a YAML mapping.
    """
    new_head, new_body = split_head(generated)
    old_head, old_body = split_head(edited)
    head = {**new_head, **{key: value for key, value in old_head.items() if key not in new_head}}
    return join_head(head, _merge_bodies(blocks_of(new_body), old_body))


def _merge_bodies(new_blocks: Mapping[str, str], body: str) -> str:
    present = blocks_of(body)
    for name, text in present.items():
        if name in new_blocks:
            body = body.replace(text, new_blocks[name], 1)
        else:
            body = body.replace(f"{text}\n\n", "", 1).replace(text, "", 1)
    previous = ""
    for name, text in new_blocks.items():
        if name not in present:
            body = _insert_after(body, previous, text)
        previous = text
    return body


def _insert_after(body: str, previous: str, text: str) -> str:
    if not previous:
        return f"{text}\n\n{body.lstrip()}"
    end = body.index(previous) + len(previous)
    return f"{body[:end]}\n\n{text}{body[end:]}"
