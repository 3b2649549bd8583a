"""Small pieces of Markdown, and templates in sections."""

from collections.abc import Mapping, Sequence
from string import Template

from lyricsim_tools.card_blocks import block

NOT_MEASURED = "not measured"


def percent(value: float | None) -> str:
    """A score of the 0–1 scale times 100 with two decimals; "not measured" without one."""
    return NOT_MEASURED if value is None else f"{100 * value:.2f}"


def short(value: float) -> str:
    """A number as people write it: 5e-5, 0.01."""
    return f"{value:g}".replace("e-0", "e-")


def fill_sections(sections: Mapping[str, str], names: Sequence[str], values: Mapping[str, str]) -> str:
    """A card's body: one generated block a section.

    Args:
        sections: name → text with ``$name`` fields.
        names: which sections, in order; what follows the first ``-`` picks a variant and is no part of the
            block's name.
        values: field → text. A field without a value is an error, never left in.
    """
    blocks = [block(name.split("-")[0], Template(sections[name]).substitute(values)) for name in names]
    return "\n\n".join(blocks) + "\n"
