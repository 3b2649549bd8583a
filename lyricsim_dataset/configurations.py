"""The configurations as data: what each holds and how it is split."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["pairs", "songs", "annotations"]
Population = Literal["raw", "filtered"]
SplitRule = Literal["clean", "song-disjoint", "paper", "none"]

#: The one split of a configuration that isn't split; the Hub's usual name, not an invitation to train on it.
WHOLE = "train"


@dataclass(frozen=True)
class Configuration:
    """One configuration of the dataset.

    Args:
        name: the second argument of ``load_dataset``.
        kind: what a row is.
        population: all pairs or those that the consensus rule keeps.
        rule: how the rows are split.
        summary: one sentence for the card.
    """

    name: str
    kind: Kind
    population: Population
    rule: SplitRule
    summary: str


CONFIGURATIONS = (
    Configuration(
        "filtered",
        "pairs",
        "filtered",
        "clean",
        "The pairs whose raters agree (paper, section 4.1), split 85-5-10 with no pair shared. "
        "Songs are shared between splits. The default.",
    ),
    Configuration(
        "raw",
        "pairs",
        "raw",
        "clean",
        "All rated pairs, split the same way; every filtered pair keeps its split.",
    ),
    Configuration(
        "filtered-song-disjoint",
        "pairs",
        "filtered",
        "song-disjoint",
        "The pairs whose raters agree; no song of a test pair occurs in train or validation.",
    ),
    Configuration(
        "raw-song-disjoint",
        "pairs",
        "raw",
        "song-disjoint",
        "All rated pairs with the same test songs as `filtered-song-disjoint`.",
    ),
    Configuration(
        "songs", "songs", "raw", "none", "Every song once, with its group for block cross-validation."
    ),
    Configuration(
        "annotations",
        "annotations",
        "raw",
        "none",
        "Every single rating. Annotators are renumbered from 1 in the order of their first row upstream.",
    ),
    Configuration(
        "filtered-paper-split",
        "pairs",
        "filtered",
        "paper",
        "The paper's own split sizes, in which **every test pair is also in train or validation**: "
        "for reproduction only, never for a result.",
    ),
)

CONFIG_NAMES = tuple(configuration.name for configuration in CONFIGURATIONS)
DEFAULT_CONFIG = CONFIG_NAMES[0]
PAIR_CONFIGS = tuple(configuration for configuration in CONFIGURATIONS if configuration.kind == "pairs")
