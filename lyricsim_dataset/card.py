"""The dataset's card: a template's sections, filled with the builder's facts and the build's figures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from lyricsim_dataset.card_head import card_head
from lyricsim_dataset.card_values import fact_values, identity_values, split_values, table_values
from lyricsim_dataset.facts import facts
from lyricsim_dataset.lyricsim import LyricSIM
from lyricsim_dataset.manifest import BuiltConfig
from lyricsim_tools.card_blocks import block, join_head
from lyricsim_tools.markdown import template_sections

TEMPLATE = Path(__file__).parent / "card_template.md"
#: Permutations behind the card's figures for chance: enough for the two decimals that it prints.
_REPETITIONS = 200


def render_card(builder: LyricSIM, built: Sequence[BuiltConfig], record: Mapping[str, Any]) -> str:
    """The whole ``README.md``: its YAML head, then one generated block a section.

    Args:
        builder: any configuration's builder of this build.
        built: what was written.
        record: the build's record (see ``manifest.build_record``).
    """
    values = identity_values(builder) | table_values(builder, built) | split_values(record)
    if builder.three_ratings_a_pair:
        values |= fact_values(facts(builder.release.tables, repetitions=_REPETITIONS))
    texts = template_sections(TEMPLATE.read_text("utf-8"))
    ending = "-sample" if builder.source.sample else "-campaign" if builder.source.campaign else ""
    blocks = [
        block(name.removesuffix(ending), Template(texts[name]).substitute(values))
        for name in _section_names(builder, ending)
    ]
    return join_head(card_head(builder, built), "\n\n".join(blocks) + "\n")


def _section_names(builder: LyricSIM, ending: str) -> list[str]:
    """Which sections a card has, in order."""
    wanted = {
        f"introduction{ending}": True,
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
