"""The report's section on reliability (pure)."""

from collections.abc import Mapping
from typing import Any

from lyricsim_reports.page import Heading, Part, Table, Text
from lyricsim_reports.reliability import FEWEST_RATINGS, Interval, Reliability, card_sentence

_SHOWN = 10
_SHARES = {
    "songs": "songs: some songs get higher ratings whatever they are paired with",
    "annotator": "annotator: some raters give higher ratings whatever they rate",
    "pair": "pair: what three raters of a pair have in common beyond its songs, the similarity itself",
    "rest": "rest: noise among it",
}


def reliability_parts(facts: Mapping[str, Any], found: Reliability) -> list[Part]:
    """Alpha with intervals, with what chance gives, and with single annotators left out."""
    return [
        Heading("Reliability, and what it says"),
        Text(card_sentence(facts)),
        _alpha_table(facts, found),
        _chance_table(facts),
        _against_table(facts),
        _share_table(facts),
        *_annotator_parts(found),
    ]


def _alpha_table(facts: Mapping[str, Any], found: Reliability) -> Table:
    rows = [
        (
            name,
            *[_three(facts["alpha"][name][level]) for level in ("ordinal", "interval", "nominal")],
            _bounds(interval.pairs_drawn),
            _bounds(interval.songs_drawn),
        )
        for name, interval in _intervals(found)
    ]
    caption = (
        "Krippendorff's alpha. The intervals are 95 % percentile intervals of ordinal alpha from "
        f"{found.resamples:,} resamples, of pairs and of songs; pairs that share a song are not "
        "independent, so the first is too narrow; the second errs on the wide side. Both hold the filter's "
        "choice of pairs fixed."
    )
    columns = ("pairs", "ordinal", "interval", "nominal", "pairs drawn", "songs drawn")
    return Table(columns, tuple(rows), caption)


def _intervals(found: Reliability) -> list[tuple[str, Interval]]:
    return [("raw", found.raw), ("filtered", found.filtered)]


def _chance_table(facts: Mapping[str, Any]) -> Table:
    permuted = facts["reliability"]["permuted"]
    rows = [
        (
            "the ratings as given",
            _three(facts["alpha"]["filtered"]["ordinal"]),
            facts["counts"]["pairs_kept"],
        ),
        *[
            (
                f"permuted within {p['within']}, mean ± deviation of {p['repetitions']:,}",
                f"{_three(p['mean'])} ± {_three(p['deviation'])}",
                f"{p['kept']:.0f}",
            )
            for p in permuted
        ],
    ]
    caption = "The same filter, given ratings that know nothing of the pairs: the null of the filtered alpha."
    return Table(("ratings", "ordinal alpha after the filter", "pairs kept"), tuple(rows), caption)


def _against_table(facts: Mapping[str, Any]) -> Table:
    rows = tuple((n, _three(v)) for n, v in facts["reliability"]["one_against_the_others"].items())
    caption = "One rating against the mean of the other two, Pearson's correlation."
    return Table(("pairs", "correlation"), rows, caption)


def _share_table(facts: Mapping[str, Any]) -> Table:
    shares = facts["reliability"]["variance_shares"]
    rows = tuple((_SHARES[n], "undefined" if v is None else f"{100 * v:.0f} %") for n, v in shares.items())
    return Table(("part", "share"), rows, "Where the variance of a single raw rating comes from.")


def _annotator_parts(found: Reliability) -> list[Part]:
    everyone = found.annotators
    known = [a.severity for a in everyone if a.severity is not None]
    spread = f" Severity goes from {min(known):+.2f} to {max(known):+.2f}." if known else ""
    note = (
        "Annotators are numbered as in the published data. Severity is how much lower than others an "
        f"annotator rates the same pairs, in rating points, for those with {FEWEST_RATINGS} ratings or "
        f"more.{spread} Without any one annotator, raw alpha is between "
        f"{_range(a.raw_without for a in everyone)}, filtered alpha between "
        f"{_range(a.filtered_without for a in everyone)}."
    )
    rows = tuple(
        (
            a.annotator,
            a.ratings,
            f"{100 * a.share:.1f} %",
            None if a.severity is None else f"{a.severity:+.2f}",
            _three(a.raw_without),
            _three(a.filtered_without),
        )
        for a in everyone[:_SHOWN]
    )
    columns = ("annotator", "ratings", "share", "severity", "raw alpha without", "filtered alpha without")
    caption = f"The {len(rows)} annotators with the most ratings, of {len(everyone)}; report.json has all."
    return [Heading("Single annotators", 3), Text(note), Table(columns, rows, caption)]


def _range(values: Any) -> str:
    defined = [value for value in values if value == value]
    return f"{min(defined):.3f} and {max(defined):.3f}" if defined else "undefined bounds"


def _three(value: float | None) -> str:
    return "undefined" if value is None or value != value else f"{value:.3f}"


def _bounds(bounds: tuple[float, float]) -> str:
    return f"{_three(bounds[0])} to {_three(bounds[1])}"
