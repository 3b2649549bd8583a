"""What a user must be told about the ratings, with the figures of this very build."""

from collections.abc import Mapping
from typing import Any

from lyricsim_dataset.markdown import number, table

_SHARES = {
    "songs": "the two songs",
    "annotator": "the annotator",
    "pair": "the pair",
    "rest": "none of these",
}


def reliability_section(document: Mapping[str, Any]) -> str:
    """Agreement before and after the filter, and what the filter does to chance.

    Args:
        document: what ``facts.facts`` returned.
    """
    alpha, reliability = document["alpha"], document["reliability"]
    rows = [(level, _two(alpha["raw"][level]), _two(alpha["filtered"][level])) for level in alpha["raw"]]
    return "\n\n".join(
        [
            "## How far the ratings can be trusted",
            "Krippendorff's alpha (1: full agreement, 0: chance):",
            table(("level", "raw", "filtered"), rows),
            _selection(document),
            _single_rating(reliability),
            _labels(document["labels"]),
        ]
    )


def annotator_section(document: Mapping[str, Any]) -> str:
    """How the work was shared out among the raters.

    Args:
        document: what ``facts.facts`` returned.
    """
    load = document["annotators"]
    return (
        "## Annotators\n\n"
        f"{number(load['annotators'])} annotators, of whom {number(load['annotators_kept'])} rated at least one "
        f"filtered pair. The busiest gave {number(load['most_ratings'])} ratings "
        f"({number(load['most_ratings_percent'], 1)} %), the five busiest {number(load['top_five_percent'], 1)} %, the "
        f"median annotator {number(load['median_ratings'])}, the least busy {number(load['fewest_ratings'])}."
    )


def _selection(document: Mapping[str, Any]) -> str:
    lines = [
        f"- permuted within {p['within']}: ordinal alpha {_two(p['mean'])} ± {_two(p['deviation'])}, "
        f"about {number(p['kept'])} pairs kept"
        for p in document["reliability"]["permuted"]
    ]
    filtered, repetitions = (
        document["alpha"]["filtered"]["ordinal"],
        document["reliability"]["permuted"][0]["repetitions"],
    )
    return (
        "**The filter selects agreement, so the filtered alpha says little about the raters.** Ratings dealt out at "
        f"random and then filtered by the same rule ({repetitions} times) still reach, against the {_two(filtered)} above:\n\n"
        + "\n".join(lines)
    )


def _single_rating(reliability: Mapping[str, Any]) -> str:
    against = reliability["one_against_the_others"]
    shares = ", ".join(
        f"{number(_percent(value))} % by {_SHARES[name]}"
        for name, value in reliability["variance_shares"].items()
    )
    return (
        f"One rating against the mean of the other two correlates {_two(against['raw'])} raw and "
        f"{_two(against['filtered'])} filtered (Pearson). The variance of a single raw rating is explained {shares}."
    )


def _labels(labels: Mapping[str, Any]) -> str:
    return (
        f"The filtered labels take {labels['distinct']} values; {number(labels['zero'])} pairs "
        f"({number(labels['zero_percent'], 1)} %) are exactly 0 and {number(labels['at_least_four'])} reach 4. A correlation "
        "on them measures above all whether zero and non-zero pairs are told apart: report that, and the correlation "
        "among the non-zero pairs, beside it."
    )


def _two(value: float | None) -> str:
    return number(value, 2)


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value
