from pathlib import Path

import numpy as np
import pytest

from spanish_sentence_eval.cleaning import kept_rows
from spanish_sentence_eval.reading import Split, TaskData
from spanish_sentence_eval.tasks import TASKS


def _pairs(*texts: str) -> Split:
    pairs = [text.split("|") for text in texts]
    return Split(
        ([first.split() for first, _ in pairs], [second.split() for _, second in pairs]), np.zeros(len(pairs))
    )


def _kept(task: str, **splits: Split) -> dict[str, list[bool]]:
    return {name: rows.tolist() for name, rows in kept_rows(TASKS[task], TaskData(splits, [])).items()}


def test_a_pair_that_was_trained_on_is_left_out_in_either_order() -> None:
    kept = _kept(
        "SICKEntailment",
        train=_pairs("a|b", "a|b"),
        dev=_pairs("b|a", "c|d"),
        test=_pairs("d|c", "a|c", "c|a"),
    )
    assert kept == {"train": [True, True], "dev": [False, True], "test": [False, True, False]}


def test_repeated_training_rows_are_left_out_where_folds_are_made_of_them() -> None:
    data = {
        "train": Split(([["a"], ["a"], ["b"]],), np.zeros(3)),
        "test": Split(([["b"], ["c"]],), np.zeros(2)),
    }
    assert _kept("SQC", **data) == {"train": [True, False, True], "test": [False, True]}


def test_placeholders_are_left_out() -> None:
    kept = _kept("PAWS", train=_pairs("a|b"), test=_pairs("NS|b", "a|c"))
    assert kept == {"train": [True], "test": [False, True]}


def test_rows_that_share_a_sentence_with_a_later_split_are_left_out() -> None:
    kept = _kept("DCgdd", train=_pairs("a|b", "c|d", "e|f"), dev=_pairs("d|g", "h|i"), test=_pairs("i|a"))
    assert kept == {"train": [False, False, True], "dev": [True, False], "test": [True]}


@pytest.mark.parametrize(
    ("task", "left_out"),
    [
        ("TASS1", {"train": 0, "dev": 4, "test": 9}),
        ("SQC", {"train": 57, "test": 14}),
        ("SICKEntailment", {"train": 0, "dev": 16, "test": 255}),
        ("DCgdd", {"train": 1216, "dev": 32, "test": 0}),
        ("SSPmlsum", {"train": 0, "dev": 60, "test": 78}),
        ("RST", {"train": 0, "dev": 0, "test": 317}),
    ],
)
def test_upstreams_files_lose_these_rows(
    sentence_evaluation_source: Path, task: str, left_out: dict[str, int]
) -> None:
    data = TASKS[task].loader(TASKS[task].source(sentence_evaluation_source / "data"))
    assert {name: int((~rows).sum()) for name, rows in kept_rows(TASKS[task], data).items()} == left_out
