"""The 11 tasks of Spanish DiscoEval that have data."""

from typing import Any

from spanish_sentence_eval import features, loaders
from spanish_sentence_eval.task import ACC, DEEP, SHORT, Task, split_sizes

_WIKI = "Wikipedia text, CC BY-SA; not stated upstream"
_MLSUM = "non-commercial research only; rights stay with the publishers"
_THESIS = "nothing found; abstracts from Chilean repositories"
_DISCOURSE_FILES = ("train.txt", "valid.txt", "test.txt")


def _positions(source: str, sizes: dict[str, int | None], chance: float, licence: str, *aliases: str) -> Task:
    return Task(
        f"SP{source}",
        "discoeval",
        "5 sentences, original place of the first",
        f"SP/{source}",
        _DISCOURSE_FILES,
        loaders.label_then_sentences,
        features.differences,
        "split",
        sizes,
        ACC,
        chance,
        licence,
        classes=5,
        sentences=5,
        aliases=aliases,
    )


def _ordering(source: str, sizes: dict[str, int | None], licence: str, *aliases: str) -> Task:
    return Task(
        f"BSO{source}",
        "discoeval",
        "2 sentences, which comes first",
        f"BSO/{source}",
        _DISCOURSE_FILES,
        loaders.ordered_sentences,
        features.both_orders,
        "split",
        sizes,
        ACC,
        50.0,
        licence,
        classes=2,
        sentences=2,
        aliases=aliases,
    )


def _coherence(source: str, sizes: dict[str, int | None], licence: str, **differs: Any) -> Task:
    return Task(
        f"DC{source}",
        "discoeval",
        "6 sentences, coherent or not",
        f"DC/{source}",
        _DISCOURSE_FILES,
        loaders.label_then_sentences,
        features.concatenation,
        "split",
        sizes,
        ACC,
        50.0,
        licence,
        classes=2,
        sentences=6,
        noreg=True,
        overrides=DEEP,
        **differs,
    )


DISCOEVAL = (
    _positions("thesis", split_sizes(None, 2805, 2805), 21.46, _THESIS),
    _positions("wiki", split_sizes(None, 4000, 4000), 20.75, _WIKI),
    _positions("mlsum", split_sizes(None, 4000, 4000), 20.68, _MLSUM, "SPnews"),
    _ordering("thesis", split_sizes(8419, 2805, 2805), _THESIS),
    _ordering("wiki", split_sizes(10000, 4000, 4000), _WIKI),
    _ordering("mlsum", split_sizes(10000, 4000, 4000), _MLSUM, "BSOnews"),
    _coherence("wiki", split_sizes(None, 4000, 4000), _WIKI, cleaning=("shared_sentences",)),
    _coherence(
        "opus", split_sizes(10000, 4000, 4000), "OpenSubtitles through OPUS: non-commercial, asks for a link"
    ),
    _coherence(
        "gdd",
        split_sizes(6215, 306, 128),
        "Project Gutenberg's text, free in the US; build unlicensed",
        cleaning=("shared_sentences",),
    ),
    Task(
        "SSPmlsum",
        "discoeval",
        "sentence, from the summary or the body",
        "SSP/mlsum",
        _DISCOURSE_FILES,
        loaders.label_then_sentences,
        features.vector,
        "split",
        split_sizes(10000, 4000, 4000),
        ACC,
        50.0,
        _MLSUM,
        classes=2,
        noreg=True,
        cleaning=("repeated",),
        aliases=("SSP", "SSPnews"),
    ),
    Task(
        "RST",
        "discoeval",
        "two lists of discourse units, their relation",
        "RST",
        ("RST_TRAIN.pkl", "RST_DEV.pkl", "RST_TEST.pkl"),
        loaders.discourse_relations,
        features.full,
        "split",
        split_sizes(2189, 570, 556),
        ACC,
        20.68,
        "citation asked for; no licence found",
        encoding="spans",
        noreg=True,
        overrides=SHORT,
        cleaning=("repeated",),
    ),
)
