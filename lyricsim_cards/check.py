"""``lyricsim-cards check``: what is wrong with cards, each fault in one line."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lyricsim_cards.check_options import CheckOptions
from lyricsim_cards.figures import differing_figures
from lyricsim_cards.prose import dead_links, placeholders
from lyricsim_cards.schema import head_faults
from lyricsim_cards.stage import run_snippets
from lyricsim_tools.card_blocks import read_card, split_head
from lyricsim_tools.errors import UserError


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong.

    Args:
        card: the card's path.
        kind: metadata, placeholder, link, figure or snippet.
        what: the fault, in words.
    """

    card: str
    kind: str
    what: str


def check_cards(cards: Sequence[Path], options: CheckOptions) -> list[Fault]:
    """Check cards.

    Args:
        cards: ``README.md`` files.
        options: how.

    Returns:
        The faults, in the order of the cards; empty if all is well.

    Raises:
        UserError: a card doesn't exist, or there is no Hub to run the code against.
    """
    for path in cards:
        if not path.is_file():
            raise UserError(f"{path} is not a file", "a card, README.md", "check the path")
    faults = [fault for path in cards for fault in static_faults(path, options.root)]
    if options.snippets:
        faults += [Fault(str(path), "snippet", what) for path, what in run_snippets(cards, options)]
    return sorted(faults, key=lambda fault: [str(path) for path in cards].index(fault.card))


def static_faults(path: Path, root: Path) -> list[Fault]:
    """The faults of one card that can be seen without running its code."""
    try:
        card = read_card(path)
        head = split_head(card)[0]
    except UserError as error:
        return [Fault(str(path), "metadata", error.given)]
    found = {
        "metadata": head_faults(head),
        "placeholder": placeholders(card),
        "link": [f"{target} leads nowhere" for target in dead_links(card, path.parent, root)],
        "figure": differing_figures(path),
    }
    return [Fault(str(path), kind, what) for kind, all_of_it in found.items() for what in all_of_it]
