"""Whose data a page is about: LyricSIM's own, changed ones, a campaign's or the sample's (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lyricsim_dataset.sources import SourceTree

_SAMPLE_WARNING = (
    "The embedded sample: original verses with ratings made up by a rule. It is not LyricSIM, and nothing "
    "here says anything about LyricSIM."
)
_CAMPAIGN_WARNING = "The ratings of an annotation campaign and not LyricSIM's: nothing here is the paper's."


@dataclass(frozen=True)
class Origin:
    """Where data come from.

    Args:
        sample: whether they are the embedded sample.
        campaign: the annotation campaign whose ratings they are; None for LyricSIM's and the sample's.
        modified: files that are not byte for byte those of upstream, or of the campaign.
        fingerprint: of all files.
    """

    sample: bool
    campaign: str | None
    modified: tuple[str, ...]
    fingerprint: str

    @property
    def is_upstreams(self) -> bool:
        """Whether these are LyricSIM's own files, unchanged: the only data that the paper's stand beside."""
        return not (self.sample or self.campaign or self.modified)

    @property
    def name(self) -> str:
        """What a row or a panel calls the data."""
        if self.sample:
            return "lyricsim-sample"
        name = f"campaign {self.campaign}" if self.campaign else "lyricsim"
        return f"{name}, modified" if self.modified else name

    @property
    def described(self) -> str:
        """What a title calls the data."""
        if self.sample:
            return "the sample"
        what = f"the annotation campaign {self.campaign}" if self.campaign else "LyricSIM"
        return f"a modified copy of {what}" if self.modified else what

    @property
    def warning(self) -> str:
        """What a reader must be told before any figure; empty for LyricSIM's own files."""
        if self.sample:
            return _SAMPLE_WARNING
        owner = "the campaign's" if self.campaign else "upstream's"
        changed = f"NOT {owner} own files: {', '.join(self.modified)} changed."
        return " ".join([_CAMPAIGN_WARNING] * bool(self.campaign) + [changed] * bool(self.modified))


def origin_of_source(source: SourceTree) -> Origin:
    """The origin of files in upstream's layout."""
    return Origin(source.sample, source.campaign or None, source.modified, source.fingerprint)


def origin_of_record(record: Mapping[str, Any]) -> Origin:
    """The origin of a built folder, from its build's record."""
    source = record["source"]
    return Origin(
        bool(record["sample"]), source.get("campaign"), tuple(source["modified"]), source["fingerprint"]
    )
