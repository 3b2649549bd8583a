"""Upstream's files → token lists with labels: a function a file format, rows in the order figures need."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.pickles import load_plain
from spanish_sentence_eval.reading import (
    Row,
    Source,
    Split,
    TaskData,
    by_length,
    column_samples,
    item_samples,
    labels_of,
    lines_of,
    named_label,
    real_number,
    require_file,
    rows_of,
    sorted_by,
    sorted_data,
    stripped_lines,
    tokenised,
    too_few,
    unequal_files,
    whole_label,
)

# A correlation needs two.
LEAST_PAIRS = 2
_SPLITS = ("train", "dev", "test")
_PARTITIONS = {"tr": "train", "va": "dev", "te": "test"}


def two_files(source: Source) -> TaskData:
    """A file of class 1 and a file of class 0, one sentence a line; one pool (MC, FAC)."""
    positive, negative = ([line.split() for line in stripped_lines(source, name)] for name in source.files)
    labels = np.array([1] * len(positive) + [0] * len(negative))
    return sorted_data({"pool": Split((positive + negative,), labels)}, labels_of)


def text_then_label(source: Source) -> TaskData:
    """``text TAB integer`` in train, dev and test (TASS)."""
    splits = {}
    for split, name in zip(_SPLITS, source.files, strict=True):
        rows = list(rows_of(source, name, 2))
        labels = np.array([whole_label(source, row, row.fields[1]) for row in rows])
        splits[split] = Split(([row.fields[0].split() for row in rows],), labels)
    return sorted_data(splits, labels_of)


def coarse_and_fine(source: Source) -> TaskData:
    """``COARSE:fine question`` in train and test (SQC); the fine label may be empty and is not used."""
    splits = {}
    for split, name in zip(("train", "test"), source.files, strict=True):
        rows = list(rows_of(source, name, 1))
        parts = [row.fields[0].partition(":") for row in rows]
        labels = [named_label(source, row, coarse) for row, (coarse, _, _) in zip(rows, parts, strict=True)]
        questions = [rest.partition(" ")[2].split() for _, _, rest in parts]
        splits[split] = Split((questions,), np.array(labels))
    return sorted_data(splits, labels_of)


def paraphrases(source: Source) -> TaskData:
    """A header, then ``label TAB s1 TAB s2`` in train and test (PAWS)."""
    splits = {}
    for split, name in zip(("train", "test"), source.files, strict=True):
        rows = list(rows_of(source, name, 3, skip=1))
        labels = np.array([whole_label(source, row, row.fields[0]) for row in rows])
        splits[split] = Split(tokenised(rows, 1, 2), labels)
    return sorted_data(splits, labels_of)


def parallel_files(source: Source) -> TaskData:
    """Premises, hypotheses and labels in parallel files (NLI); already sorted when ``prepare`` sees them."""
    splits = {split: _parallel(source, split) for split in _SPLITS}
    return TaskData(splits, column_samples(splits))


def _parallel(source: Source, split: str) -> Split:
    names = [f"{name}.{split}" for name in source.files]
    premises, hypotheses, labels = (stripped_lines(source, name) for name in names)
    counts = {name: len(lines) for name, lines in zip(names, (premises, hypotheses, labels), strict=True)}
    if len(set(counts.values())) != 1:
        raise unequal_files(source, counts)
    path = source.folder / names[2]
    ids = [named_label(source, Row(path, i, [text]), text) for i, text in enumerate(labels, start=1)]
    columns = ([text.split() for text in premises], [text.split() for text in hypotheses])
    keys = [(len(h), len(p), label) for p, h, label in zip(*columns, labels, strict=True)]
    return sorted_by(Split(columns, np.array(ids)), keys)


def entailment(source: Source) -> TaskData:
    """SICK's entailment judgements."""
    return sorted_data(_sick(source, lambda row: named_label(source, row, row.fields[4])), labels_of)


def relatedness(source: Source) -> TaskData:
    """SICK's relatedness scores, 1 to 5."""
    splits = _sick(source, lambda row: _score_in_range(source, row))
    for (split, items), name in zip(splits.items(), source.files, strict=True):
        if split != "train" and len(items) < LEAST_PAIRS:
            raise too_few(source, source.folder / name, len(items), LEAST_PAIRS)
    return sorted_data(splits, labels_of)


def _score_in_range(source: Source, row: Row) -> float:
    score = real_number(source, row, row.fields[3])
    if 1 <= score <= 5:
        return score
    raise row.fault(source.task, f"a score from 1 to 5, not {row.fields[3]!r}")


def _sick(source: Source, label_of: Callable[[Row], float]) -> dict[str, Split]:
    """A header, then pair id, two sentences, score and judgement."""
    splits = {}
    for split, name in zip(_SPLITS, source.files, strict=True):
        rows = list(rows_of(source, name, 5, skip=1))
        splits[split] = Split(tokenised(rows, 1, 2), np.array([label_of(row) for row in rows]))
    return splits


def similarity_subsets(source: Source) -> TaskData:
    """``STS.input.X.txt`` and ``STS.gs.X.txt`` for each subset X; an empty gold line skips its pair."""
    splits = {
        subset: _subset(source, f"STS.input.{subset}.txt", f"STS.gs.{subset}.txt") for subset in source.files
    }
    return TaskData(splits, column_samples(splits))


def _subset(source: Source, pairs: str, gold: str) -> Split:
    rows = list(rows_of(source, pairs, 2))
    path = source.folder / gold
    scores = [Row(path, i, [line]) for i, line in enumerate(stripped_lines(source, gold), start=1)]
    if len(rows) != len(scores):
        raise unequal_files(source, {pairs: len(rows), gold: len(scores)})
    kept = [(row, score) for row, score in zip(rows, scores, strict=True) if score.fields[0]]
    if len(kept) < LEAST_PAIRS:
        raise too_few(source, path, len(kept), LEAST_PAIRS)
    labels = np.array([real_number(source, score, score.fields[0]) for _, score in kept])
    split = Split(tokenised([row for row, _ in kept], 0, 1), labels)
    return by_length(split, labels_of(split))


def probing(source: Source) -> TaskData:
    """``tr|va|te TAB label TAB … TAB sentence``; class ids are the sorted labels of the training rows."""
    path = source.folder / source.files[0]
    lines = enumerate(lines_of(source.task, path), start=1)
    rows = [Row(path, number, line.rstrip().split("\t")) for number, line in lines]
    for row in rows:
        if len(row.fields) < 3 or row.fields[0] not in _PARTITIONS:
            raise row.fault(source.task, "tr, va or te, a label and a sentence, separated by tabulators")
    names = sorted({row.fields[1] for row in rows if row.fields[0] == "tr"})
    numbered = replace(source, label_ids={name: i for i, name in enumerate(names)})
    splits = {split: _probe(numbered, rows, mark) for mark, split in _PARTITIONS.items()}
    data = sorted_data(splits, labels_of)
    return replace(data, label_names=tuple(names))


def _probe(source: Source, rows: Sequence[Row], mark: str) -> Split:
    chosen = [row for row in rows if row.fields[0] == mark]
    if not chosen:
        raise UserError(
            f"{source.task}: {source.folder / source.files[0]} has no row marked {mark!r}",
            "training (tr), dev (va) and test (te) rows",
            "the file may be cut off: fetch it again",
        )
    labels = np.array([named_label(source, row, row.fields[1]) for row in chosen])
    return Split(([row.fields[-1].split() for row in chosen],), labels)


def label_then_sentences(source: Source) -> TaskData:
    """``label TAB s1 … sN`` in train, valid and test, in the files' order (SP, DC, SSP)."""
    splits = {}
    for split, name in zip(_SPLITS, source.files, strict=True):
        rows = list(rows_of(source, name, 1 + source.sentences))
        labels = np.array([whole_label(source, row, row.fields[0]) for row in rows])
        splits[split] = Split(tokenised(rows, *range(1, 1 + source.sentences)), labels)
    return TaskData(splits, item_samples(splits))


def ordered_sentences(source: Source) -> TaskData:
    """``s1 TAB s2`` in their true order in train, valid and test, in the files' order (BSO)."""
    splits = {}
    for split, name in zip(_SPLITS, source.files, strict=True):
        rows = list(rows_of(source, name, source.sentences))
        splits[split] = Split(tokenised(rows, 0, 1), np.ones(len(rows), dtype=np.int64))
    return TaskData(splits, item_samples(splits))


def discourse_relations(source: Source) -> TaskData:
    """Pickled lists of ``[label, [unit, …], [unit, …]]`` in train, dev and test (RST).

    Class ids are the sorted labels of the three files: upstream's followed the hash order of strings.
    """
    items = {
        split: _relations(source, source.folder / name)
        for split, name in zip(_SPLITS, source.files, strict=True)
    }
    names = sorted({label for rows in items.values() for label, _, _ in rows})
    splits = {split: _relation_split(rows, names) for split, rows in items.items()}
    samples = [
        unit
        for split in splits.values()
        for item in zip(*split.spans, strict=True)
        for span in item
        for unit in span
    ]
    return TaskData(splits, samples, tuple(names))


def _relations(source: Source, path: Path) -> list[tuple[str, list[str], list[str]]]:
    require_file(source.task, path)
    rows = load_plain(path)
    if not isinstance(rows, list) or not rows:
        raise UserError(
            f"{source.task}: {path} holds no items", "a list of relations", "fetch the file again"
        )
    for number, row in enumerate(rows, start=1):
        if not _is_relation(row):
            raise UserError(
                f"{source.task}: {path}, item {number} is no relation",
                "[label, [unit, …], [unit, …]], all texts",
                "fetch the file again",
            )
    return rows


def _is_relation(row: object) -> bool:
    if not isinstance(row, list | tuple) or len(row) != 3 or not isinstance(row[0], str):
        return False
    return all(
        isinstance(span, list) and span and all(isinstance(unit, str) for unit in span) for span in row[1:]
    )


def _relation_split(rows: Sequence[tuple[str, list[str], list[str]]], names: Sequence[str]) -> Split:
    labels = np.array([names.index(label) for label, _, _ in rows])
    firsts = [[unit.split() for unit in first] for _, first, _ in rows]
    seconds = [[unit.split() for unit in second] for _, _, second in rows]
    return Split((), labels, (firsts, seconds))
