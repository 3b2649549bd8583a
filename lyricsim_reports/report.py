"""The paper's tables and figures beside ours, as one document (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lyricsim_dataset.facts_tables import Comparison, compare
from lyricsim_reports.figure_data import BANDWIDTH, FigureData
from lyricsim_reports.origin import Origin
from lyricsim_reports.page import Heading, Page, Part, Picture, Table, Text
from lyricsim_reports.paper import TABLE_2
from lyricsim_reports.reliability import Reliability
from lyricsim_reports.reliability_part import reliability_parts

# The paper prints two decimals.
_HALF = 0.005


@dataclass(frozen=True)
class Findings:
    """Everything that was computed for a report.

    Args:
        origin: whose data they are.
        facts: the document of ``lyricsim_dataset.facts.facts``.
        reliability: what goes beyond it.
        figures: what the pictures show.
        seed: of all draws.
    """

    origin: Origin
    facts: Mapping[str, Any]
    reliability: Reliability
    figures: FigureData
    seed: int

    @property
    def comparisons(self) -> list[Comparison]:
        """The paper's figures beside ours; none for other data than the paper's."""
        return compare(dict(self.facts)) if self.origin.is_upstreams else []

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "dataset": self.origin.name,
            "source": asdict(self.origin),
            "seed": self.seed,
            "facts": dict(self.facts),
            "paper": [asdict(comparison) for comparison in self.comparisons],
            "table_2_quoted": [asdict(row) for row in TABLE_2] if self.origin.is_upstreams else [],
            "reliability": self.reliability.to_dict(),
            "figures": asdict(self.figures),
        }


def report_page(findings: Findings) -> Page:
    """The report: what is compared, Tables 1 and 2, Figures 1 to 5, reliability."""
    parts: list[Part] = [
        *_opening(findings),
        Heading("Table 1: ratings before and after filtering"),
        _table_1(findings),
        Heading("Table 2: size, length and agreement"),
        *_table_2(findings),
        Heading("Figures 1 to 5"),
        *_pictures(findings.figures),
        *reliability_parts(findings.facts, findings.reliability),
    ]
    return Page(_title(findings), tuple(parts))


def _title(findings: Findings) -> str:
    if findings.origin.is_upstreams:
        return "LyricSIM: the paper's figures recomputed"
    described = findings.origin.described
    return f"{described[0].upper()}{described[1:]}, reported"


def _opening(findings: Findings) -> list[Part]:
    source = f"Built from files whose fingerprint is {findings.origin.fingerprint}."
    if not findings.origin.is_upstreams:
        return [Text(f"{findings.origin.warning} {source}")]
    return [
        Text(f"Every figure below is recomputed from the data, unless it is marked as quoted. {source}"),
        Heading("The paper's figures and ours, cell by cell"),
        _comparison_table(findings.comparisons),
    ]


def _comparison_table(comparisons: Sequence[Comparison]) -> Table:
    rows = tuple(
        (c.what, c.where, _printed(c.paper), _exact(c.ours), _exact(c.difference), _verdict(c))
        for c in comparisons
    )
    return Table(("figure", "place", "paper", "ours", "difference", "verdict"), rows)


def _exact(value: float | None) -> object:
    if value is None:
        return None
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4f}"


def _verdict(comparison: Comparison) -> str:
    if comparison.difference is None:
        return "undefined here"
    if float(comparison.paper).is_integer():
        return "same" if comparison.difference == 0 else "differs"
    if abs(comparison.difference) <= _HALF:
        return "same"
    return "same, cut not rounded" if 0 < comparison.difference < 2 * _HALF else "differs"


def _printed(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.2f}"


def _table_1(findings: Findings) -> Table:
    claims = {c.what: c.paper for c in findings.comparisons}
    rows = [
        (
            name if row["rating"] == 0 else "",
            row["rating"],
            row["count"],
            None if row["percent"] is None else f"{row['percent']:.2f} %",
            *_claimed(claims, name, row),
        )
        for name in ("raw", "filtered")
        for row in findings.facts["table_1"][name]
    ]
    quoted = ("paper: count", "paper: percent") if claims else ()
    return Table(("dataset", "rating", "count", "percent", *quoted), tuple(rows))


def _claimed(claims: Mapping[str, float], name: str, row: Mapping[str, Any]) -> tuple[object, ...]:
    key = f"{name}: ratings of {row['rating']}"
    return (int(claims[key]), f"{claims[key + ', %']:.2f} %") if claims else ()


def _table_2(findings: Findings) -> list[Part]:
    ours = findings.facts["table_2"]
    rows: list[tuple[object, ...]] = [
        (row.dataset, "quoted", row.pairs, _length(row.mean, row.deviation), f"{row.alpha:.2f}")
        for row in TABLE_2
        if findings.origin.is_upstreams
    ]
    rows.append(
        (
            findings.origin.name,
            "recomputed",
            ours["pairs"],
            _length(ours["mean"], ours["deviation"]),
            "undefined" if ours["alpha"] is None else f"{ours['alpha']:.2f}",
        )
    )
    columns = ("dataset", "source", "size in pairs", "words (mean ± deviation)", "alpha")
    table = Table(columns, tuple(rows), marked=frozenset({len(rows) - 1}))
    if not findings.origin.is_upstreams:
        return [table]
    note = (
        "Rows marked quoted are the paper's own; their data are not part of this project. The alpha of a "
        "filtered set can't be set beside that of an unfiltered one: see Reliability."
    )
    return [table, Text(note)]


def _length(mean: float | None, deviation: float | None) -> str:
    return (
        "–" if mean is None else f"{mean:.2f} ± {deviation:.2f}" if deviation is not None else f"{mean:.2f}"
    )


def _pictures(data: FigureData) -> list[Part]:
    lengths = (
        f"mean {data.histogram.mean:.2f}, sample standard deviation {data.histogram.deviation:.2f} words"
    )
    raw, filtered = (sum(data.counts[name]) for name in ("raw", "filtered"))
    return [
        Picture(
            "figure-1",
            f"Figure 1. Lyrics by length: {lengths}; words as str.split() counts them.",
            f"Histogram of lyric lengths, {lengths}.",
        ),
        Picture(
            "figure-2",
            "Figure 2. Filtered pairs by the lengths of their two lyrics. The size of a circle and the "
            "number in it say how many pairs there are, the colour their mean score. Which lyric of a "
            "pair comes first means nothing, so the shorter one is on the horizontal axis.",
            "Scatter plot of pair compositions: the mean score by the lengths of both lyrics.",
        ),
        Picture(
            "figure-3",
            f"Figure 3. Ratings of each value before (left, {raw:,}) and after filtering (right, "
            f"{filtered:,}).",
            "Two bar charts of rating counts, before and after filtering; the counts are those of Table 1.",
        ),
        Picture("figure-4", _densities_caption(data), "Kernel density curves of ratings over the scale."),
        Picture(
            "figure-5",
            "Figure 5. Mean score by the words of both lyrics, with 95 % intervals of the mean (Student's "
            "t over pairs; since pairs share songs they are too narrow). An open marker is a single pair. "
            f"Pearson's correlation of score and length: raw {_figure(data.correlations['raw'])}, filtered "
            f"{_figure(data.correlations['filtered'])}.",
            "Mean score against total length, with error bars.",
        ),
    ]


def _densities_caption(data: FigureData) -> str:
    caption = f"Figure 4. Kernel density of ratings, Gaussian kernel of {BANDWIDTH} points for every curve."
    if not data.sts_curves:
        return caption + " A comparison with STS needs gold scores that were not given here."
    shares = ", ".join(f"{curve.name} {100 * curve.zero_share:.1f} %" for curve in data.sts_curves)
    own = ", ".join(f"{curve.name} {100 * curve.zero_share:.1f} %" for curve in data.lyrics_curves)
    return (
        f"{caption} Left: gold scores of the Spanish STS sets, which are means of raters and not single "
        "ratings, and go from 0 to 4 in STS14 and STS15, from 0 to 5 in STS17 (the paper used ratings of the "
        "English sets). Right: single ratings of lyrics, 0 to 5. Share of "
        f"values below 0.5: {shares}; {own}."
    )


def _figure(value: float) -> str:
    return "undefined" if value != value else f"{value:.3f}"
