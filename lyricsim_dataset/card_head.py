"""The YAML head of the dataset's card: what the Hub and ``load_dataset`` read."""

from collections.abc import Sequence
from typing import Any

import datasets
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCardData

from lyricsim_dataset.configurations import DEFAULT_CONFIG
from lyricsim_dataset.lyricsim import LyricSIM
from lyricsim_dataset.manifest import BuiltConfig

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def card_head(builder: LyricSIM, built: Sequence[BuiltConfig]) -> dict[str, Any]:
    """The head as a mapping in the order in which it is printed.

    Each configuration's description ends with a digest of its rows. ``datasets`` takes the whole
    entry into the key of its cache, so rows that change are never served from an older cache.

    Args:
        builder: any configuration's builder of this build.
        built: what was written.
    """
    data = DatasetCardData()
    datasets.info.DatasetInfosDict({config.name: config.info for config in built}).to_dataset_card_data(data)
    MetadataConfigs({config.name: _entry(config) for config in built}).to_dataset_card_data(data)
    return {**_described(builder), "configs": data["configs"], "dataset_info": data["dataset_info"]}


def _described(builder: LyricSIM) -> dict[str, Any]:
    sample = builder.config.sample
    named = {} if sample else {"license_name": "lyrics-belong-to-their-rights-holders"}
    return {
        "pretty_name": _pretty_name(builder),
        "language": ["es"],
        "license": builder.licence,
        **named,
        "annotations_creators": ["machine-generated" if sample else "crowdsourced"],
        "language_creators": ["machine-generated" if sample else "found"],
        "multilinguality": ["monolingual"],
        "source_datasets": ["original"],
        "task_categories": ["text-classification", "sentence-similarity"],
        "task_ids": ["semantic-similarity-scoring"],
        "size_categories": [size_category(len(builder.release.tables.pairs))],
        "tags": [
            "lyrics",
            "music",
            "semantic-textual-similarity",
            "spanish",
            *(["sample"] if sample else []),
        ],
    }


def _pretty_name(builder: LyricSIM) -> str:
    if builder.source.campaign:
        return f"Lyric similarity, annotation campaign {builder.source.campaign}"
    return "A sample that is not LyricSIM" if builder.config.sample else "LyricSIM"


def size_category(rows: int) -> str:
    """The Hub's name for a number of rows."""
    return next((name for limit, name in _SIZES if rows < limit), "n>1M")


def _entry(config: BuiltConfig) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "description": f"{config.summary} Content {config.digest[:16]}.",
        "data_files": [{"split": file.split, "path": file.path} for file in config.files],
    }
    return entry | ({"default": True} if config.name == DEFAULT_CONFIG else {})
