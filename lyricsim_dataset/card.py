"""The dataset's card: a template's sections, filled with the builder's facts and the build's figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from lyricsim_dataset.card_head import card_head
from lyricsim_dataset.card_values import fact_values, identity_values, split_values, table_values
from lyricsim_dataset.configurations import DEFAULT_CONFIG
from lyricsim_dataset.facts import facts
from lyricsim_dataset.lyricsim import LyricSIM
from lyricsim_dataset.manifest import BuiltConfig
from lyricsim_tools.card_blocks import block, blocks_of, join_head
from lyricsim_tools.errors import UserError
from lyricsim_tools.markdown import template_sections

TEMPLATE = Path(__file__).parent / "card_template.md"
#: Permutations behind the card's figures for chance: enough for the two decimals that it prints.
_REPETITIONS = 200
_LOADING = "loading"


def render_card(
    builder: LyricSIM, built: Sequence[BuiltConfig], record: Mapping[str, Any], folder: str
) -> str:
    """The whole ``README.md``: its YAML head, then one generated block a section.

    Args:
        builder: any configuration's builder of this build.
        built: what was written.
        record: the build's record (see ``manifest.build_record``).
        folder: name of the built folder, by which ``load_dataset`` finds it.
    """
    values = identity_values(builder) | table_values(builder, built) | split_values(record)
    values |= _loading_values(folder)
    if builder.three_ratings_a_pair:
        values |= fact_values(facts(builder.release.tables, repetitions=_REPETITIONS))
    texts = _texts()
    ending = "-sample" if builder.source.sample else "-campaign" if builder.source.campaign else ""
    blocks = [
        block(name.removesuffix(ending), Template(texts[name]).substitute(values))
        for name in _section_names(builder, ending)
    ]
    return join_head(card_head(builder, built), "\n\n".join(blocks) + "\n")


def published_card(card: str, repo_id: str) -> str:
    """A built folder's card as it stands on the Hub: the code loads the repository, not a folder.

    Args:
        card: what ``render_card`` wrote, perhaps edited outside the generated blocks.
        repo_id: ``owner/name``.

    Raises:
        UserError: the generated block with that code is not there.
    """
    blocks = blocks_of(card)
    if _LOADING not in blocks:
        raise UserError(
            f"the card has no generated block {_LOADING!r}",
            "the card as it was built, edited outside the generated blocks only",
            "run `lyricsim-dataset build` again; what you wrote into the card is kept",
        )
    text = Template(_texts()[f"{_LOADING}-published"]).substitute(_loading_values(repo_id))
    return card.replace(blocks[_LOADING], block(_LOADING, text))


def _texts() -> dict[str, str]:
    return template_sections(TEMPLATE.read_text("utf-8"))


def _loading_values(name: str) -> dict[str, str]:
    return {"dataset": name, "default": DEFAULT_CONFIG}


def _section_names(builder: LyricSIM, ending: str) -> list[str]:
    """Which sections a card has, in order."""
    wanted = {
        f"introduction{ending}": True,
        _LOADING: True,
        "modified": bool(builder.source.modified),
        "without-lyrics": not builder.config.with_lyrics,
        "task": True,
        "scale": True,
        "configurations": True,
        "columns": True,
        "splits": True,
        # The consensus rule, chance included, is about three ratings a pair.
        "reliability": builder.three_ratings_a_pair,
        "annotators": builder.three_ratings_a_pair,
        f"rights{ending}": True,
        f"provenance{ending}": True,
        "citation": not builder.source.sample,
    }
    return [name for name, shown in wanted.items() if shown]
