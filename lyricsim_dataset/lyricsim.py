"""The dataset's builder: one class says which configurations there are, what their columns are and mean.

It runs in this process (``LyricSIM(config_name="filtered").download_and_prepare()``): since version 4
``datasets`` runs no script from the Hub, which gets the Parquet files that ``publish`` makes with it.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import datasets

from lyricsim_dataset.annotations import read_tables
from lyricsim_dataset.configurations import CONFIGURATIONS, DEFAULT_CONFIG, Configuration, Kind
from lyricsim_dataset.consensus import RATERS_A_PAIR
from lyricsim_dataset.records import RATING_MAX, RATING_MIN
from lyricsim_dataset.release import Release, Row, assemble, rows
from lyricsim_dataset.sources import (
    SourceTree,
    fingerprint,
    locate,
    named_folder,
    pinned_fingerprint,
    sample_tree,
)
from lyricsim_tools.citation import PAPER_BIBTEX, PAPER_URL

DATASET_NAME = "lyricsim"
SAMPLE_NAME = "lyricsim-sample"
# Upstream states no licence; the sample's verses are ours, under the code's licence.
LICENCE, SAMPLE_LICENCE = "other", "apache-2.0"
VERSION = datasets.Version("1.0.0")

_DESCRIPTION = (
    "LyricSIM: pairs of Spanish song lyrics with three human ratings of their semantic similarity, "
    f"{RATING_MIN} (completely different) to {RATING_MAX} (outstanding)."
)
_SAMPLE_DESCRIPTION = (
    "NOT LyricSIM: verses written for this project's tests, paired, with ratings made up by a rule. "
    "It has LyricSIM's columns and configurations and none of its lyrics or judgements."
)
_CAMPAIGN_DESCRIPTION = (
    "NOT LyricSIM as its authors published it: pairs of Spanish song lyrics with ratings from the "
    f"annotation campaign {{campaign}}, {RATING_MIN} (completely different) to {RATING_MAX} (outstanding), "
    "in LyricSIM's columns and configurations."
)
_MODIFIED_DESCRIPTION = "MODIFIED SOURCE: built from files that differ from {expected} ({files})."


@dataclass(frozen=True)
class Column:
    """One column of a configuration.

    Args:
        name: as in the data.
        feature: its type.
        meaning: one line for the card.
        from_lyrics: whether it holds more than ids and ratings, so that ``--without-lyrics`` drops it.
    """

    name: str
    feature: Any
    meaning: str
    from_lyrics: bool = False


_TEXT, _WHOLE = datasets.Value("string"), datasets.Value("int64")
_PAIR_IDS = (
    Column("pair_id", _TEXT, "upstream's id of the pair: its two song ids in upstream's order"),
    Column("song_id_1", _TEXT, "upstream's id of the first song"),
    Column("song_id_2", _TEXT, "upstream's id of the second song"),
)
_SCALE_RANGE = f"{RATING_MIN} to {RATING_MAX}"

COLUMNS: dict[Kind, tuple[Column, ...]] = {
    "pairs": (
        *_PAIR_IDS,
        Column("artist_1", _TEXT, "performer of the first song", from_lyrics=True),
        Column("artist_2", _TEXT, "performer of the second song", from_lyrics=True),
        Column("title_1", _TEXT, "title of the first song", from_lyrics=True),
        Column("title_2", _TEXT, "title of the second song", from_lyrics=True),
        Column("lyrics_1", _TEXT, "the first song's text, proof-read by upstream", from_lyrics=True),
        Column("lyrics_2", _TEXT, "the second song's text, proof-read by upstream", from_lyrics=True),
        Column("ratings", datasets.List(_WHOLE), f"what each rater said, {_SCALE_RANGE}"),
        Column("score", datasets.Value("float64"), f"the label: the mean of the ratings, {_SCALE_RANGE}"),
        Column("length_1", _WHOLE, "words of `lyrics_1` by `str.split()`", from_lyrics=True),
        Column("length_2", _WHOLE, "words of `lyrics_2` by `str.split()`", from_lyrics=True),
    ),
    "songs": (
        Column("song_id", _TEXT, "upstream's id of the song"),
        Column("artist", _TEXT, "performer", from_lyrics=True),
        Column("title", _TEXT, "title", from_lyrics=True),
        Column("lyrics", _TEXT, "the text, proof-read by upstream", from_lyrics=True),
        Column("lyrics_as_annotated", _TEXT, "the text as the raters read it", from_lyrics=True),
        Column("length", _WHOLE, "words of `lyrics` by `str.split()`", from_lyrics=True),
        Column("song_group", _WHOLE, "0 to 4: the song's group for block cross-validation"),
    ),
    "annotations": (
        *_PAIR_IDS,
        Column("annotator", _WHOLE, "the rater, renumbered from 1 in the order of first rows upstream"),
        Column("rating", _WHOLE, f"what this rater said, {_SCALE_RANGE}"),
    ),
}


@dataclass
class LyricSIMConfig(datasets.BuilderConfig):
    """What a user may choose beside the configuration's name.

    ``data_dir``, inherited, is a folder in upstream's layout; None: ``LYRICSIM_SOURCE``, else a download.

    Args:
        allow_modified: accept files that differ from upstream's.
        sample: build the embedded sample, which is not LyricSIM.
        min_raters: accept pairs with this many ratings or more; None: exactly three.
        with_lyrics: False leaves ids and ratings only.
    """

    allow_modified: bool = False
    sample: bool = False
    min_raters: int | None = None
    with_lyrics: bool = True


class LyricSIM(datasets.GeneratorBasedBuilder):
    """Builds any configuration from upstream's files."""

    BUILDER_CONFIG_CLASS = LyricSIMConfig
    BUILDER_CONFIGS = [  # noqa: RUF012 - the name and type that the base class wants
        LyricSIMConfig(name=c.name, version=VERSION, description=c.summary) for c in CONFIGURATIONS
    ]
    DEFAULT_CONFIG_NAME = DEFAULT_CONFIG

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Take the base class's arguments and ``LyricSIMConfig``'s fields."""
        kwargs.setdefault("dataset_name", SAMPLE_NAME if kwargs.get("sample") else DATASET_NAME)
        kwargs.setdefault("hash", _cache_key(kwargs))
        super().__init__(*args, **kwargs)

    @cached_property
    def source(self) -> SourceTree:
        """The files that are read, located and verified once."""
        if self.config.sample:
            return sample_tree()
        folder = Path(self.config.data_dir) if self.config.data_dir else None
        return locate(folder, self.config.allow_modified)

    @property
    def release(self) -> Release:
        """Everything that is published, shared by the builders of all configurations."""
        return _release(self.source, self.config.min_raters)

    @property
    def plain_description(self) -> str:
        """What the data is."""
        if self.source.campaign:
            return _CAMPAIGN_DESCRIPTION.format(campaign=self.source.campaign)
        return _SAMPLE_DESCRIPTION if self.source.sample else _DESCRIPTION

    @property
    def description(self) -> str:
        """What the data is, and first of all whether it was built from changed files."""
        changed = ", ".join(self.source.modified)
        expected = "what was exported" if self.source.campaign else "upstream's"
        marked = _MODIFIED_DESCRIPTION.format(expected=expected, files=changed) + " " if changed else ""
        return marked + self.plain_description

    @property
    def licence(self) -> str:
        """The Hub's name of the data's licence."""
        return SAMPLE_LICENCE if self.config.sample else LICENCE

    @property
    def three_ratings_a_pair(self) -> bool:
        """Whether the consensus rule and the figures on reliability apply to every pair."""
        return all(len(pair.ratings) == RATERS_A_PAIR for pair in self.release.tables.pairs)

    @property
    def configuration(self) -> Configuration:
        """The record of the chosen configuration."""
        return next(c for c in CONFIGURATIONS if c.name == self.config.name)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The chosen configuration's columns."""
        return self.columns_of(self.configuration.kind)

    def columns_of(self, kind: Kind) -> tuple[Column, ...]:
        """The columns of a kind of configuration in this build; the sample's say what they are."""
        kept = [c for c in COLUMNS[kind] if self.config.with_lyrics or not c.from_lyrics]
        if not self.config.sample:
            return tuple(kept)
        return tuple(replace(c, meaning=f"{c.meaning} (made up: sample, not LyricSIM)") for c in kept)

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(
            description=_SAMPLE_DESCRIPTION if self.config.sample else _DESCRIPTION,
            features=datasets.Features({column.name: column.feature for column in self.columns}),
            homepage=PAPER_URL,
            citation="" if self.config.sample else PAPER_BIBTEX,
            license=self.licence,
        )

    def _split_generators(self, dl_manager: object) -> list[datasets.SplitGenerator]:
        # Only here, not in _info: finding the files may download them.
        self.info.description = self.description
        names = rows(self.release, self.configuration)
        return [datasets.SplitGenerator(name=name, gen_kwargs={"split": name}) for name in names]

    def _generate_examples(self, split: str) -> Iterator[tuple[int, Row]]:
        names = [column.name for column in self.columns]
        for key, row in enumerate(rows(self.release, self.configuration)[split]):
            yield key, {name: row[name] for name in names}


@lru_cache(maxsize=4)
def _release(source: SourceTree, min_raters: int | None) -> Release:
    return assemble(read_tables(source, min_raters))


def _cache_key(kwargs: dict[str, Any]) -> str:
    """What the cache must depend on: this package's code and the content of the files read."""
    folder = named_folder(kwargs.get("data_dir"))
    if kwargs.get("sample"):
        content = sample_tree().fingerprint
    else:
        content = fingerprint(folder) if folder else pinned_fingerprint()
    digest = hashlib.sha256(content.encode())
    for module in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(module.read_bytes())
    return digest.hexdigest()
