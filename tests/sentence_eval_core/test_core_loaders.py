import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.encoding import Batcher
from spanish_sentence_eval.engine import SE
from spanish_sentence_eval.reading import TaskData
from spanish_sentence_eval.tasks import TASKS

_INCOMPLETE = {"PAWS", "DCwiki", "SPwiki", "SPmlsum", "SPthesis"} | {
    name for name, task in TASKS.items() if task.folder == "Probing"
}


def _load(root: Path, name: str) -> TaskData:
    return TASKS[name].loader(TASKS[name].source(root))


@pytest.mark.parametrize("name", sorted(set(TASKS) - _INCOMPLETE))
def test_upstreams_files_have_the_sizes_that_the_record_states(
    sentence_evaluation_source: Path, name: str
) -> None:
    data = _load(sentence_evaluation_source / "data", name)
    assert {split: len(rows) for split, rows in data.splits.items()} == dict(TASKS[name].sizes)


@pytest.mark.parametrize(
    ("name", "split", "counts"),
    [
        ("MC", "pool", [1273, 1350]),
        ("TASS1", "train", [1523, 1885, 1394]),
        ("TASS2", "test", [817, 360, 200, 170, 68, 32, 18]),
        ("SQC", "test", [3, 157, 146, 141, 109, 119]),
        ("NLI", "dev", [830, 830, 830]),
        ("SICKEntailment", "test", [712, 2790, 1404]),
        ("SSPmlsum", "dev", [2000, 2000]),
        ("DCgdd", "test", [64, 64]),
    ],
)
def test_labels_are_numbered_as_upstream_does(
    sentence_evaluation_source: Path, name: str, split: str, counts: list[int]
) -> None:
    labels = _load(sentence_evaluation_source / "data", name).splits[split].labels
    assert np.bincount(labels).tolist() == counts


def test_rst_has_29_sorted_labels_with_upstreams_counts(sentence_evaluation_source: Path) -> None:
    data = _load(sentence_evaluation_source / "data", "RST")
    assert list(data.label_names) == sorted(data.label_names)
    counts = [Counter(data.label_names[i] for i in split.labels) for split in data.splits.values()]
    assert [c["NS-Elaboración"] for c in counts] == [497, 140, 115]
    assert [c["NN-Same-unit"] for c in counts] == [28, 4, 5]
    assert [len(c) for c in counts] == [29, 25, 23]


def test_rows_are_sorted_by_lengths_then_label(tree: Path) -> None:
    for name in ("MC", "TASS2", "SICKRelatedness", "PAWS", "STS17"):
        for split in _load(tree, name).splits.values():
            keys = list(zip(*[map(len, c) for c in split.columns], split.labels.tolist(), strict=True))
            assert keys == sorted(keys)


def test_nli_is_sorted_by_the_hypothesis_first_and_the_label_text_last(tree: Path) -> None:
    names = ("entailment", "neutral", "contradiction")
    for split in _load(tree, "NLI").splits.values():
        premises, hypotheses = split.columns
        texts = [names[label] for label in split.labels]
        keys = [(len(h), len(p), t) for p, h, t in zip(premises, hypotheses, texts, strict=True)]
        assert keys == sorted(keys)


def test_discourse_rows_keep_the_files_order(tree: Path) -> None:
    lines = (tree / "discoeval/DC/gdd/valid.txt").read_text("utf-8").splitlines()
    dev = _load(tree, "DCgdd").splits["dev"]
    assert [" ".join(tokens) for tokens in dev.columns[5]] == [line.split("\t")[6] for line in lines]


def test_probing_labels_are_the_sorted_training_labels(tree: Path) -> None:
    data = _load(tree, "Depth")
    assert data.label_names == ("etiqueta0", "etiqueta1", "etiqueta2")
    assert {name: len(split) for name, split in data.splits.items()} == {"train": 60, "dev": 60, "test": 60}


def test_sqc_reads_a_question_whose_fine_label_is_empty(fresh_tree: Path) -> None:
    path = fresh_tree / "senteval/SQC/test.txt"
    path.write_text("NUM: ¿ cuántos ?\nHUM:ind ¿ quién : él ?", "utf-8")
    split = _load(fresh_tree, "SQC").splits["test"]
    assert split.columns[0] == [["¿", "cuántos", "?"], ["¿", "quién", ":", "él", "?"]]
    assert split.labels.tolist() == [5, 3]


def test_a_no_break_space_separates_tokens(fresh_tree: Path) -> None:
    path = fresh_tree / "senteval/TASS/task1/dev.txt"
    path.write_text("uno\u00a0dos tres\t2\n", "utf-8")
    assert _load(fresh_tree, "TASS1").splits["dev"].columns[0] == [["uno", "dos", "tres"]]


def test_an_empty_gold_line_skips_its_pair(fresh_tree: Path) -> None:
    path = fresh_tree / "senteval/STS/STS17-es-test/STS.gs.track3.es-es.txt"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(["", *lines[1:]]) + "\n", "utf-8")
    assert len(_load(fresh_tree, "STS17").splits["track3.es-es"]) == len(lines) - 1


def _replace(path: Path, row: int, text: str) -> None:
    lines = path.read_text("utf-8").split("\n")
    lines[row - 1] = text
    path.write_text("\n".join(lines), "utf-8")


@pytest.mark.parametrize(
    ("task", "file", "row", "text", "message"),
    [
        ("TASS1", "senteval/TASS/task1/dev.txt", 3, "sin etiqueta", "2 fields"),
        ("TASS1", "senteval/TASS/task1/dev.txt", 3, "texto\t3", "a label from 0 to 2, not '3'"),
        ("TASS1", "senteval/TASS/task1/dev.txt", 3, "texto\t²", "a label from 0 to 2"),
        ("SQC", "senteval/SQC/train.txt", 7, "OTRO:x ¿ qué ?", "ABBR, DESC, ENTY, HUM, LOC, NUM, not 'OTRO'"),
        ("PAWS", "senteval/PAWS/paraphrase_test.txt", 4, "1\tuna", "3 fields"),
        (
            "SICKRelatedness",
            "senteval/SICK/SICK_trial.txt",
            2,
            "1\ta\tb\t5.5\tNEUTRAL",
            "a score from 1 to 5",
        ),
        ("SICKRelatedness", "senteval/SICK/SICK_trial.txt", 2, "1\ta\tb\tx\tNEUTRAL", "a number, not 'x'"),
        ("SICKEntailment", "senteval/SICK/SICK_test.txt", 2, "1\ta\tb\t2\tnada", "not 'nada'"),
        ("STS14", "senteval/STS/STS14-es-test/STS.gs.news.txt", 9, "nan", "a number, not 'nan'"),
        ("NLI", "senteval/NLI/labels.test", 5, "quizás", "entailment, neutral, contradiction"),
        ("Tense", "senteval/Probing/past_present.txt", 1, "xx\tPAST\tfrase", "tr, va or te"),
        ("Tense", "senteval/Probing/past_present.txt", 61, "va\tFUT\tfrase", "not 'FUT'"),
        ("SPwiki", "discoeval/SP/wiki/valid.txt", 6, "5\ta\tb\tc\td\te", "a label from 0 to 4"),
        ("BSOwiki", "discoeval/BSO/wiki/train.txt", 6, "sola", "2 fields"),
    ],
)
def test_a_row_that_does_not_fit_is_named(
    fresh_tree: Path, task: str, file: str, row: int, text: str, message: str
) -> None:
    _replace(fresh_tree / file, row, text)
    with pytest.raises(UserError, match=rf"{task}: .*{Path(file).name}, row {row} [\s\S]*{message}"):
        _load(fresh_tree, task)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_a_missing_file_is_named(fresh_tree: Path, name: str) -> None:
    folder = fresh_tree / TASKS[name].package / TASKS[name].folder
    victim = sorted(path for path in folder.iterdir() if any(f in path.name for f in TASKS[name].files))[0]
    victim.unlink()
    with pytest.raises(UserError, match=rf"{name}: .*{victim.name} is missing"):
        _load(fresh_tree, name)


def test_parallel_files_of_unequal_length_are_refused(fresh_tree: Path) -> None:
    path = fresh_tree / "senteval/NLI/s2.dev"
    path.write_text("\n".join(path.read_text("utf-8").split("\n")[:-1]), "utf-8")
    with pytest.raises(UserError, match=r"NLI: .*s1.dev has 60 rows, s2.dev has 59 rows"):
        _load(fresh_tree, "NLI")
    gold = fresh_tree / "senteval/STS/STS17-es-test/STS.gs.track3.es-es.txt"
    gold.write_text("1.0\n", "utf-8")
    with pytest.raises(UserError, match=r"STS17: .*has 60 rows, STS.gs.track3.es-es.txt has 1 rows"):
        _load(fresh_tree, "STS17")


def test_an_empty_file_and_one_that_is_no_text_are_refused(fresh_tree: Path) -> None:
    path = fresh_tree / "senteval/MC/muchocine.neg"
    path.write_bytes(b"")
    with pytest.raises(UserError, match=r"muchocine.neg is empty"):
        _load(fresh_tree, "MC")
    path.write_bytes(b"bien\n\xff\xfe\n")
    with pytest.raises(UserError, match=r"muchocine.neg is no UTF-8 text at byte 5"):
        _load(fresh_tree, "MC")


def test_a_probing_file_cut_before_its_test_rows_is_refused(fresh_tree: Path) -> None:
    path = fresh_tree / "senteval/Probing/tree_depth.txt"
    path.write_text("\n".join(path.read_text("utf-8").split("\n")[:120]), "utf-8")
    with pytest.raises(UserError, match=r"tree_depth.txt has no row marked 'te'"):
        _load(fresh_tree, "Depth")


@pytest.mark.parametrize(
    "rows", [[], "text", [["NS-Causa", ["a"]]], [["NS-Causa", ["a"], []]], [[1, ["a"], ["b"]]]]
)
def test_a_pickle_without_relations_is_refused(fresh_tree: Path, rows: object) -> None:
    import pickle

    (fresh_tree / "discoeval/RST/RST_DEV.pkl").write_bytes(pickle.dumps(rows, protocol=3))
    with pytest.raises(UserError, match=r"RST: .*RST_DEV.pkl"):
        _load(fresh_tree, "RST")


def test_a_file_cut_inside_its_last_row_is_refused_by_its_bytes(
    sentence_evaluation_source: Path, tmp_path: Path, characters: Batcher
) -> None:
    folder = "senteval/STS/STS17-es-test"
    shutil.copytree(sentence_evaluation_source / "data" / folder, tmp_path / folder)
    pairs = tmp_path / folder / "STS.input.track3.es-es.txt"
    whole = pairs.read_bytes()
    pairs.write_bytes(whole[:-9])
    with pytest.raises(UserError, match=f"STS17: .*{pairs.name} has {len(whole) - 9} bytes"):
        SE({"task_path": tmp_path}, characters).eval("STS17")
    assert SE({"task_path": tmp_path, "check_sizes": False}, characters).eval("STS17")["all"]


def test_a_file_cut_at_a_line_end_is_refused_by_its_size(
    tree: Path, characters: Batcher, settings_for: Callable[[Path], dict[str, Any]]
) -> None:
    checked = {**settings_for(tree), "check_sizes": True}
    with pytest.raises(UserError, match=r"TASS1: the train rows in TASS/task1/ are 60\n.*4802"):
        SE(checked, characters).eval("TASS1")
