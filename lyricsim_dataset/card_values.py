"""What the card's template is filled with (pure, but for the builder that it asks)."""

from collections.abc import Mapping, Sequence
from typing import Any

from lyricsim_dataset.configurations import CONFIGURATIONS
from lyricsim_dataset.lyricsim import COLUMNS, LyricSIM
from lyricsim_dataset.manifest import BuiltConfig
from lyricsim_dataset.records import SCALE, SPLITS
from lyricsim_dataset.sources import UPSTREAM_COMMIT, UPSTREAM_REPOSITORY
from lyricsim_tools.citation import PAPER_BIBTEX, PAPER_TITLE, PAPER_URL
from lyricsim_tools.markdown import number, table

Values = dict[str, str]


def identity_values(builder: LyricSIM) -> Values:
    """What the dataset is and where it comes from."""
    return {
        "description": builder.plain_description,
        "modified_description": builder.description,
        "counts": _counts(builder),
        "paper_title": PAPER_TITLE,
        "paper_url": PAPER_URL,
        "bibtex": PAPER_BIBTEX,
        "repository": UPSTREAM_REPOSITORY,
        "commit": UPSTREAM_COMMIT,
        "fingerprint": builder.source.fingerprint,
        "campaign": builder.source.campaign,
    }


def _counts(builder: LyricSIM) -> str:
    tables = builder.release.tables
    songs, pairs, ratings = (number(len(rows)) for rows in (tables.songs, tables.pairs, tables.ratings))
    kept = number(len(builder.release.filtered))
    return f"{songs} songs; {pairs} rated pairs, of which the consensus rule keeps {kept}; {ratings} ratings."


def table_values(builder: LyricSIM, built: Sequence[BuiltConfig]) -> Values:
    """The tables of scale, configurations and columns."""
    scale = [(s.rating, s.spanish, s.meaning_spanish, s.english, s.meaning_english) for s in SCALE]
    return {
        "scale_table": table(("", "Grado", "Significado", "Step", "Meaning"), scale),
        "configuration_table": table(("configuration", "what", *SPLITS), list(map(_built_row, built))),
        "column_tables": _column_tables(builder),
    }


def _built_row(config: BuiltConfig) -> tuple[str, ...]:
    rows = {file.split: file.rows for file in config.files}
    return (f"`{config.name}`", config.summary, *(number(rows.get(split)) for split in SPLITS))


def _column_tables(builder: LyricSIM) -> str:
    parts = []
    for kind in COLUMNS:
        names = ", ".join(f"`{c.name}`" for c in CONFIGURATIONS if c.kind == kind)
        rows = [(f"`{c.name}`", _type_name(c.feature), c.meaning) for c in builder.columns_of(kind)]
        parts.append(f"In {names}:\n\n{table(('column', 'type', 'meaning'), rows)}")
    return "\n\n".join(parts)


def _type_name(feature: Any) -> str:
    inner = getattr(feature, "feature", None)
    return f"list of {inner.dtype}" if inner is not None else str(feature.dtype)


def split_values(record: Mapping[str, Any]) -> Values:
    """Sizes, leaks and digests of the splits.

    Args:
        record: the build's record.
    """
    splits = record["splits"]
    paper = splits["filtered-paper-split"]["shared"]
    head = (
        "configuration",
        "train / validation / test",
        "left out",
        "pairs shared",
        "songs shared with test",
    )
    return {
        "seed": str(record["seed"]),
        "test_songs": number(len(record["test_songs"])),
        "straddling": number(splits["filtered-song-disjoint"]["left_out"]),
        "compared": _compared(record["compared_with_upstream"]),
        "paper_leak": number(sum(leak["pairs"] for leak in paper if "test" in leak["splits"])),
        "split_table": table(head, [_split_row(name, split) for name, split in splits.items()]),
        "digest_table": table(
            ("configuration", "digest"),
            [(f"`{name}`", f"`{split['digest']}`") for name, split in splits.items()],
        ),
    }


def _compared(agreement: Mapping[str, int] | None) -> str:
    if agreement is None:
        return "The source has no list of filtered means to compare with."
    return (
        f"Of the {number(agreement['upstream'])} pairs in the source's own list of filtered means, "
        f"{number(agreement['shared'])} are kept here, {number(agreement['equal'])} with exactly its label."
    )


def _split_row(name: str, split: Mapping[str, Any]) -> tuple[str, ...]:
    with_test = [leak for leak in split["shared"] if "test" in leak["splits"] and leak["songs"]]
    return (
        f"`{name}`",
        " / ".join(number(rows) for rows in split["rows"].values()),
        number(split["left_out"]),
        number(sum(leak["pairs"] for leak in split["shared"])),
        ", ".join(f"{leak['splits'][0]} {leak['songs']}" for leak in with_test) or "none",
    )


def fact_values(document: Mapping[str, Any]) -> Values:
    """What a user must be told about the ratings, from the figures of this very build.

    Args:
        document: what ``facts.facts`` returned.
    """
    return _agreement_values(document) | _label_values(document) | _annotator_values(document["annotators"])


def _agreement_values(document: Mapping[str, Any]) -> Values:
    alpha, reliability = document["alpha"], document["reliability"]
    rows = [(level, _two(alpha["raw"][level]), _two(alpha["filtered"][level])) for level in alpha["raw"]]
    over_all, each = reliability["permuted"]
    against = reliability["one_against_the_others"]
    return {
        "alpha_table": table(("level of measurement", "raw", "filtered"), rows),
        "alpha_filtered": _two(alpha["filtered"]["ordinal"]),
        "repetitions": str(over_all["repetitions"]),
        "chance_all": f"{_two(over_all['mean'])} ± {_two(over_all['deviation'])}",
        "chance_each": f"{_two(each['mean'])} ± {_two(each['deviation'])}",
        "kept_all": number(over_all["kept"]),
        "kept_each": number(each["kept"]),
        "against_raw": _two(against["raw"]),
        "against_filtered": _two(against["filtered"]),
        **{f"share_{name}": _percent(share) for name, share in reliability["variance_shares"].items()},
    }


def _label_values(document: Mapping[str, Any]) -> Values:
    labels, lengths = document["labels"], document["pair_lengths"]
    return {
        "kept_by_text": number(document["counts"]["pairs_kept_by_text"]),
        "label_values": number(labels["distinct"]),
        "zero_pairs": number(labels["zero"]),
        "zero_percent": number(labels["zero_percent"], 1),
        "high_pairs": number(labels["at_least_four"]),
        "length_raw": _two(lengths["raw"]["pearson_with_score"]),
        "length_filtered": _two(lengths["filtered"]["pearson_with_score"]),
    }


def _annotator_values(load: Mapping[str, Any]) -> Values:
    return {
        "annotators": number(load["annotators"]),
        "annotators_kept": number(load["annotators_kept"]),
        "most_ratings": number(load["most_ratings"]),
        "most_percent": number(load["most_ratings_percent"], 1),
        "five_percent": number(load["top_five_percent"], 1),
        "median_ratings": number(load["median_ratings"]),
        "fewest_ratings": number(load["fewest_ratings"]),
    }


def _two(value: float | None) -> str:
    return number(value, 2)


def _percent(share: float | None) -> str:
    return number(None if share is None else 100 * share)
