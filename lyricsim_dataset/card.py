"""The dataset's card, generated from the builder and from figures computed at the build; nothing is typed in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lyricsim_dataset.card_head import card_head
from lyricsim_dataset.card_reliability import annotator_section, reliability_section
from lyricsim_dataset.configurations import CONFIGURATIONS, DEFAULT_CONFIG
from lyricsim_dataset.consensus import RATERS_A_PAIR
from lyricsim_dataset.facts import facts
from lyricsim_dataset.lyricsim import COLUMNS, LyricSIM
from lyricsim_dataset.manifest import BuiltConfig
from lyricsim_dataset.markdown import number, table
from lyricsim_dataset.records import SCALE
from lyricsim_dataset.sources import UPSTREAM_COMMIT, UPSTREAM_REPOSITORY
from lyricsim_tools.card_blocks import block, join_head
from lyricsim_tools.citation import PAPER_BIBTEX, PAPER_TITLE, PAPER_URL

#: Permutations behind the card's figures for chance: enough for the two decimals that it prints.
_REPETITIONS = 200

_TASK = """## La tarea

Dos letras de canciones en español: ¿cuánto se parecen en lo que dicen? Quien valora lee ambas y puntúa el
parecido de 0 a 5 según el tema, el mensaje, los sentimientos, lo que el texto dice al pie de la letra, la
relación entre quien canta y quien escucha, el estilo y el entorno social y cultural. La música no cuenta. Un
modelo recibe las dos letras y devuelve un número en la misma escala.

## The task

Two Spanish song lyrics: how alike is what they say? A rater reads both and scores the likeness from 0 to 5 by
theme, message, feelings, literal content, the relation between who sings and who is sung to, style, and social
and cultural setting. The music doesn't count. A model is given the two lyrics and returns a number on that scale."""

_RIGHTS = f"""## Rights

Upstream ([{UPSTREAM_REPOSITORY}](https://github.com/{UPSTREAM_REPOSITORY})) states no licence. The lyrics belong to
their rights holders; this dataset grants no right in them. Ids and ratings are separable from the lyrics:
`lyricsim-dataset build --without-lyrics` makes the same configurations with ids and ratings alone. The program that
builds the dataset is under the Apache licence 2.0."""

_SAMPLE_RIGHTS = """## Rights

The verses were written for this project and, like its code, are under the Apache licence 2.0."""

_LYRICS_LEFT_OUT = "> **Without lyrics.** This copy holds ids and ratings only; every column with text, names or lengths is left out."


def render_card(builder: LyricSIM, built: Sequence[BuiltConfig], record: Mapping[str, Any]) -> str:
    """The whole ``README.md``: its YAML head, then one generated block a section.

    Args:
        builder: any configuration's builder of this build.
        built: what was written.
        record: the build's record (see ``manifest.build_record``).
    """
    sections = {
        "introduction": _introduction(builder),
        "task": _TASK,
        "scale": _scale(),
        "configurations": _configurations(built),
        "columns": _columns(builder),
        "splits": _splits(record),
        **_measured(builder),
        "rights": _SAMPLE_RIGHTS if builder.source.sample else _RIGHTS,
        "provenance": _provenance(record),
        "citation": _citation(builder),
    }
    body = "\n\n".join(block(name, text) for name, text in sections.items() if text)
    return join_head(card_head(builder, built), f"{body}\n")


def _measured(builder: LyricSIM) -> dict[str, str]:
    tables = builder.release.tables
    if any(len(pair.ratings) != RATERS_A_PAIR for pair in tables.pairs):
        return {}
    document = facts(tables, repetitions=_REPETITIONS)
    return {"reliability": reliability_section(document), "annotators": annotator_section(document)}


def _introduction(builder: LyricSIM) -> str:
    title = "# A sample that is not LyricSIM" if builder.source.sample else "# LyricSIM"
    counts = (
        f"{number(len(builder.release.tables.songs))} songs, {number(len(builder.release.tables.pairs))} rated pairs, "
        f"of which {number(len(builder.release.filtered))} are kept by the consensus rule, "
        f"{number(len(builder.release.tables.ratings))} ratings."
    )
    described = builder.description
    marked = builder.source.sample or builder.source.modified
    parts = [
        title,
        f"> **{described}**" if marked else described,
        "" if builder.config.with_lyrics else _LYRICS_LEFT_OUT,
        counts,
        _usage(builder.dataset_name),
        "" if builder.source.sample else f"Paper: [{PAPER_TITLE}]({PAPER_URL}) (SEPLN 2023).",
    ]
    return "\n\n".join(part for part in parts if part)


def _usage(name: str) -> str:
    return (
        "```python\nfrom datasets import load_dataset\n\n"
        f'pairs = load_dataset("{name}", "{DEFAULT_CONFIG}")  # beside this folder; on the Hub "<owner>/{name}"\n```'
    )


def _scale() -> str:
    rows = [
        (step.rating, step.spanish, step.meaning_spanish, step.english, step.meaning_english)
        for step in SCALE
    ]
    head = ("", "Grado", "Significado", "Step", "Meaning")
    return "## Scale\n\n" + table(head, rows) + "\n\nThe label, `score`, is the mean of a pair's ratings."


def _configurations(built: Sequence[BuiltConfig]) -> str:
    rows = [(f"`{config.name}`", config.summary, *(number(n) for n in _three(config))) for config in built]
    head = ("configuration", "what", "train", "validation", "test")
    note = "`songs` and `annotations` aren't split: their one split is named `train` as the Hub does, whatever song it is."
    return "## Configurations\n\n" + table(head, rows) + f"\n\n{note}"


def _three(config: BuiltConfig) -> list[int | None]:
    rows = {file.split: file.rows for file in config.files}
    return [rows.get("train"), rows.get("validation"), rows.get("test")]


def _columns(builder: LyricSIM) -> str:
    parts = ["## Columns"]
    for kind, columns in COLUMNS.items():
        names = ", ".join(f"`{c.name}`" for c in CONFIGURATIONS if c.kind == kind)
        shown = [c for c in columns if builder.config.with_lyrics or not c.from_lyrics]
        rows = [(f"`{c.name}`", _type_name(c.feature), c.meaning) for c in shown]
        parts += [f"{names}:", table(("column", "type", "meaning"), rows)]
    return "\n\n".join(parts)


def _type_name(feature: Any) -> str:
    inner = getattr(feature, "feature", None)
    return f"list of {inner.dtype}" if inner is not None else str(feature.dtype)


def _splits(record: Mapping[str, Any]) -> str:
    rows = [_split_row(name, split) for name, split in record["splits"].items()]
    head = (
        "configuration",
        "rows",
        "left out",
        "pairs shared between splits",
        "songs shared with test",
        "digest",
    )
    return "\n\n".join(["## Splits", _split_story(record), table(head, rows), _DIGEST_NOTE])


_DIGEST_NOTE = (
    "The digest is the SHA-256 of the sorted lines `pair_id<TAB>split`: equal digests mean equal splits. Songs are "
    "shared by design where every song is paired with every other; a model can then learn the songs themselves. "
    "To see how it does on songs it has not met, use the song-disjoint configurations, or block cross-validation over "
    "the five groups in `songs`: the pairs of each two groups are tested by a model that saw no song of either, so "
    "every pair is tested once."
)


def _split_row(name: str, split: Mapping[str, Any]) -> tuple[str, ...]:
    shared = split["shared"]
    with_test = [leak for leak in shared if "test" in leak["splits"]]
    return (
        f"`{name}`",
        " / ".join(number(rows) for rows in split["rows"].values()),
        number(split["left_out"]),
        number(sum(leak["pairs"] for leak in shared)),
        _and(f"{leak['splits'][0]} {leak['songs']}" for leak in with_test if leak["songs"]) or "none",
        f"`{split['digest']}`",
    )


def _split_story(record: Mapping[str, Any]) -> str:
    disjoint = record["splits"]["filtered-song-disjoint"]
    paper = record["splits"]["filtered-paper-split"]
    leaked = sum(leak["pairs"] for leak in paper["shared"] if "test" in leak["splits"])
    return (
        "`filtered` and `raw` are split 85-5-10, stratified by label with rare labels pooled, by a draw that depends "
        f"on the seed {record['seed']} and the pair ids alone; a pair has the same split in both.\n\n"
        f"In the song-disjoint configurations the pairs of {len(record['test_songs'])} test songs are the test set. "
        "Validation is drawn from the train side, so it shares songs with train and tells less about unseen songs than "
        f"its name promises. Pairs of one test song and one other, {number(disjoint['left_out'])} of the filtered ones, "
        "are in no split.\n\n"
        f"The sizes that the paper prints add up to more pairs than there are. `filtered-paper-split` has these sizes by "
        f"drawing train and validation from all pairs, test pairs among them, so {number(leaked)} test pairs are seen "
        "before the test. That the paper did so is an inference from the sizes, not proven. Don't report results on it."
    )


def _provenance(record: Mapping[str, Any]) -> str:
    source = record["source"]
    if record["sample"]:
        origin = "the embedded sample"
    else:
        origin = f"{UPSTREAM_REPOSITORY} at commit `{UPSTREAM_COMMIT}`"
    changed = ", ".join(f"`{path}`" for path in source["modified"])
    marked = f" **with files that differ from upstream's: {changed}**" if changed else ""
    return (
        f"## Where it comes from\n\nBuilt from {origin}{marked}; SHA-256 over the files' hashes `{source['fingerprint']}`. "
        "`build.json` records every file with its hash, `croissant.json` describes the columns for machines."
    )


def _citation(builder: LyricSIM) -> str:
    return "" if builder.source.sample else f"## Citation\n\n```bibtex\n{PAPER_BIBTEX}\n```"


def _and(words: Iterable[str]) -> str:
    return " and ".join(words)
