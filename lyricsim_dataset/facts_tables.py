"""The facts beside the paper's, as tables for people and as one JSON document."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from tqdm import tqdm

from lyricsim_dataset.annotations import read_tables
from lyricsim_dataset.facts import REPETITIONS, facts
from lyricsim_dataset.sources import SourceTree
from lyricsim_dataset.splits import SEED
from lyricsim_tools.tables import print_json, print_table


@dataclass(frozen=True)
class Claim:
    """A figure that the paper states.

    Args:
        where: its place in the paper.
        what: in words.
        paper: the figure as printed.
        path: keys of our figure in the document of ``facts``.
    """

    where: str
    what: str
    paper: float
    path: tuple[str | int, ...]


@dataclass(frozen=True)
class Comparison:
    """A claim beside our figure; ``difference`` is ours minus the paper's, None where ours is undefined."""

    where: str
    what: str
    paper: float
    ours: float | None
    difference: float | None


@dataclass(frozen=True)
class Section:
    """One table: title, column names, rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


_TABLE_1 = {
    "raw": ((3058, 36.73), (3014, 36.20), (1058, 12.71), (746, 8.96), (347, 4.17), (102, 1.23)),
    "filtered": ((837, 41.27), (705, 34.76), (360, 17.75), (88, 4.34), (34, 1.68), (4, 0.20)),
}

_CLAIMS = (
    Claim("section 3", "songs", 75, ("counts", "songs")),
    Claim("section 3", "annotators", 63, ("annotators", "annotators")),
    Claim("section 4.1", "pairs kept", 676, ("counts", "pairs_kept")),
    Claim("section 4.1", "pairs kept by the rule as the text has it", 676, ("counts", "pairs_kept_by_text")),
    Claim("section 4.1", "ratings kept", 2028, ("counts", "ratings_kept")),
    Claim(
        "section 4.1", "pairs rated 0 by all (the paper counts ratings, 3 a pair)", 837, ("labels", "zero")
    ),
    Claim("Table 2", "LyricSIM: size in pairs", 676, ("table_2", "pairs")),
    Claim("Table 2", "LyricSIM: mean length in words", 77.61, ("table_2", "mean")),
    Claim("Table 2", "LyricSIM: its standard deviation", 34.88, ("table_2", "deviation")),
    Claim("Table 2", "LyricSIM: alpha, filtered", 0.90, ("table_2", "alpha")),
    Claim("section 4.2", "alpha, raw", 0.27, ("alpha", "raw", "ordinal")),
)


def claims() -> Iterator[Claim]:
    """All figures of the paper that ``facts`` recomputes."""
    yield from _CLAIMS
    for name, rows in _TABLE_1.items():
        for rating, (count, percent) in enumerate(rows):
            path = ("table_1", name, rating)
            yield Claim("Table 1", f"{name}: ratings of {rating}", count, (*path, "count"))
            yield Claim("Table 1", f"{name}: ratings of {rating}, %", percent, (*path, "percent"))


def compare(document: dict[str, Any]) -> list[Comparison]:
    """Set the paper's figures beside those of ``facts``."""
    return [_compared(claim, _at(document, claim.path)) for claim in claims()]


def _compared(claim: Claim, ours: float | None) -> Comparison:
    difference = None if ours is None else ours - claim.paper
    return Comparison(claim.where, claim.what, claim.paper, ours, difference)


def _at(document: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def report(
    source: SourceTree,
    as_json: bool = False,
    min_raters: int | None = None,
    repetitions: int = REPETITIONS,
    seed: int = SEED,
) -> None:
    """Recompute the facts of a source tree and print them: ``lyricsim-dataset report``.

    Args:
        source: what to read; only upstream's own files are compared with the paper.
        as_json: one JSON document instead of tables.
        min_raters: as in ``read_tables``.
        repetitions: permutations behind the agreement that chance gives.
        seed: of these permutations.

    Raises:
        UserError: the source is not what it should be.
    """
    bar = partial(tqdm, desc="permutations", unit="permutation")
    document = facts(read_tables(source, min_raters), repetitions, seed, bar)
    comparisons = compare(document) if source.is_upstreams and not source.modified else []
    if as_json:
        print_json(_with_origin(source, document, comparisons))
        return
    for note in _notes(source):
        print(note)
    for section in rows_for_table(document, comparisons):
        print_table(section.title, section.columns, section.rows)


def _notes(source: SourceTree) -> list[str]:
    """What a reader has to know about the source before any figure."""
    if source.sample:
        return ["The embedded sample: original verses with made-up ratings, not LyricSIM."]
    campaign = f"The annotation campaign {source.campaign}, not LyricSIM as published."
    owner = "the campaign's" if source.campaign else "upstream's"
    changed = f"Not {owner} own files, changed: {', '.join(source.modified)}"
    return [campaign] * bool(source.campaign) + [changed] * bool(source.modified)


def _with_origin(
    source: SourceTree, document: dict[str, Any], comparisons: Sequence[Comparison]
) -> dict[str, Any]:
    origin = {"sample": source.sample, "modified": list(source.modified), "fingerprint": source.fingerprint}
    return {"source": origin, **document, "paper": [asdict(comparison) for comparison in comparisons]}


def rows_for_table(document: dict[str, Any], comparisons: Sequence[Comparison] = ()) -> list[Section]:
    """The facts as tables, the paper's figures first where there are any to compare with."""
    paper = Section(
        "The paper's figures and ours",
        ("figure", "place", "paper", "ours", "difference"),
        tuple((c.what, c.where, c.paper, c.ours, c.difference) for c in comparisons),
    )
    ours = [
        _rating_section(document["table_1"]),
        _agreement_section(document["alpha"]),
        _chance_section(document["reliability"]),
        _label_section(document["labels"]),
        _plain_section("Lengths in words", _length_rows(document)),
        _plain_section("Annotators", list(document["annotators"].items())),
        _plain_section("Counts", list(document["counts"].items())),
    ]
    return [paper, *ours] if comparisons else ours


def _rating_section(table: dict[str, Any]) -> Section:
    rows = zip(table["raw"], table["filtered"], strict=True)
    return Section(
        "Ratings",
        ("rating", "raw", "%", "filtered", "%"),
        tuple((r["rating"], r["count"], r["percent"], f["count"], f["percent"]) for r, f in rows),
    )


def _agreement_section(alpha: dict[str, Any]) -> Section:
    rows = tuple((level, alpha["raw"][level], alpha["filtered"][level]) for level in alpha["raw"])
    return Section("Krippendorff's alpha", ("level", "raw", "filtered"), rows)


def _chance_section(reliability: dict[str, Any]) -> Section:
    rows: list[tuple[object, ...]] = [
        (f"ordinal alpha, ratings permuted within {p['within']}", p["mean"], p["deviation"], p["kept"])
        for p in reliability["permuted"]
    ]
    for name, value in reliability["one_against_the_others"].items():
        rows.append((f"{name}: one rating with the mean of the other two, Pearson", value, None, None))
    for name, value in reliability["variance_shares"].items():
        rows.append((f"share of a raw rating's variance: {name}", value, None, None))
    columns = ("figure", "value", "deviation", "pairs kept")
    return Section("Reliability, and what the filter makes of chance", columns, tuple(rows))


def _label_section(labels: dict[str, Any]) -> Section:
    rows = [(f"score {value['score']:.4g}", value["pairs"]) for value in labels["values"]]
    rows += [(f"two or three raters say {mode['rating']}", mode["pairs"]) for mode in labels["agreed_on"]]
    rows += [("distinct scores", labels["distinct"]), ("scores of 4 or more", labels["at_least_four"])]
    return _plain_section("Labels of the filtered pairs", [*rows, ("scores of 0, %", labels["zero_percent"])])


def _length_rows(document: dict[str, Any]) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for name, value in document["lengths"].items():
        inner = value.items() if isinstance(value, dict) else [("", value)]
        rows += [(f"{name} {key}".strip(), figure) for key, figure in inner]
    for name, figures in document["pair_lengths"].items():
        rows += [(f"{name} pairs: {key}", figure) for key, figure in figures.items()]
    return rows


def _plain_section(title: str, rows: Sequence[tuple[str, object]]) -> Section:
    readable = tuple((name.replace("_", " "), value) for name, value in rows)
    return Section(title, ("figure", "value"), readable)
