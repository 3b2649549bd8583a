import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lyricsim_tools.errors import UserError
from spanish_sentence_eval import senteval
from spanish_sentence_eval.encoding import Batcher, sentences_of
from spanish_sentence_eval.engine import SE, evaluate_task
from spanish_sentence_eval.params import Params
from spanish_sentence_eval.reading import TaskData
from spanish_sentence_eval.tasks import TASKS


def _widths(width: int) -> Callable[[int], int]:
    calls = iter(range(1000))
    return lambda rows: width + (next(calls) > 1)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows: np.zeros((rows + 1, 4)), r"shape \(17, 4\), but the batch has 16 rows"),
        (lambda rows: np.zeros(rows), r"shape \(16,\)"),
        (lambda rows: np.zeros((rows, 4, 2)), r"shape \(16, 4, 2\)"),
        (lambda rows: np.zeros((rows, 0)), r"shape \(16, 0\)"),
        (lambda rows: np.full((rows, 4), "a"), "type <U1"),
        (lambda rows: [[1.0], [1.0, 2.0]], "is no array"),
        (lambda rows: np.array([[0.0]] * 3 + [[math.nan]] + [[0.0]] * (rows - 4)), "in row 3 of the batch"),
        (lambda rows: np.full((rows, 2), math.inf), "NaN or infinity in row 0"),
    ],
)
def test_a_wrong_answer_is_refused_with_task_place_and_shape(
    small: dict[str, Any], answer: Callable[[int], Any], message: str
) -> None:
    with pytest.raises(UserError, match=f"TASS1.*train, row 0.*{message}"):
        SE(small, lambda params, batch: answer(len(batch))).eval("TASS1")


def test_vectors_of_changing_width_are_refused(small: dict[str, Any]) -> None:
    width = _widths(3)
    with pytest.raises(UserError, match="earlier ones were 3 wide"):
        SE(small, lambda params, batch: np.zeros((len(batch), width(len(batch))))).eval("TASS1")


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("task", ["SICKEntailment", "SICKRelatedness", "STS17"])
@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_vectors_whose_features_overflow_are_refused(small: dict[str, Any], task: str, kind: type) -> None:
    large = np.sqrt(np.finfo(kind).max) * 2
    with pytest.raises(UserError, match=f"{task}: (differences or products .* overflow|the cosine is nan)"):
        SE(small, lambda params, batch: np.full((len(batch), 2), large, dtype=kind)).eval(task)


def test_whole_numbers_are_computed_with_and_not_wrapped_around(
    small: dict[str, Any], characters: Batcher
) -> None:
    def counts(kind: type) -> Batcher:
        return lambda params, batch: (characters(params, batch) * 255).astype(np.uint8).astype(kind)

    tasks = ["SICKEntailment", "STS17"]
    assert SE(small, counts(np.uint8)).eval(tasks) == SE(small, counts(np.float64)).eval(tasks)


def test_a_batcher_that_changes_its_lists_changes_no_task(small: dict[str, Any], characters: Batcher) -> None:
    def careless(params: Params, batch: list[list[str]]) -> Any:
        vectors = characters(params, batch)
        for tokens in batch:
            tokens[:] = ["."]
        return vectors

    corrected = {**small, "protocol": "corrected"}
    found = [SE(corrected, batcher).eval(["SICKEntailment", "RST"]) for batcher in (careless, characters)]
    assert found[0] == found[1]


class _Recorder:
    """A batcher that notes what it was given."""

    def __init__(self) -> None:
        self.batches: list[list[list[str]]] = []

    def __call__(self, params: Params, batch: list[list[str]]) -> np.ndarray:
        self.batches.append(batch)
        return np.array([[len(tokens), sum(map(len, tokens))] for tokens in batch], dtype=np.float32)


def _batches(task: str, params: dict[str, Any]) -> tuple[list[list[list[str]]], TaskData]:
    recorder = _Recorder()
    SE(params, recorder).eval(task)
    record = TASKS[task]
    return recorder.batches, record.loader(record.source(Path(params["task_path"])))


def test_batches_are_lists_of_token_lists_of_at_most_batch_size(small: dict[str, Any]) -> None:
    batches, _ = _batches("TASS1", small)
    assert {len(batch) for batch in batches} == {16, 12}
    assert all(isinstance(token, str) for batch in batches for tokens in batch for token in tokens)


def test_sick_encodes_all_first_sentences_before_the_second_ones(small: dict[str, Any]) -> None:
    batches, data = _batches("SICKEntailment", small)
    train = [tokens for batch in batches[:8] for tokens in batch]
    assert train == data.splits["train"].columns[0] + data.splits["train"].columns[1]


def test_nli_and_sts_alternate(small: dict[str, Any]) -> None:
    for task, split in (("NLI", "train"), ("STS17", "track3.es-es")):
        batches, data = _batches(task, small)
        first, second = data.splits[split].columns
        assert batches[:3] == [first[:16], second[:16], first[16:32]]


def test_rst_units_are_encoded_once_a_split_and_shortest_first(small: dict[str, Any]) -> None:
    batches, data = _batches("RST", small)
    units = [tuple(tokens) for batch in batches for tokens in batch]
    distinct = [
        {tuple(unit) for column in split.spans for span in column for unit in span}
        for split in data.splits.values()
    ]
    assert len(units) == sum(map(len, distinct))
    assert [len(tokens) for tokens in batches[0]] == sorted(len(tokens) for tokens in batches[0])


def test_a_batcher_for_strings_gets_them_joined(small: dict[str, Any]) -> None:
    seen: list[str] = []

    def batcher(params: Params, batch: list[str]) -> np.ndarray:
        seen.extend(batch)
        return np.ones((len(batch), 2)) * np.arange(len(batch))[:, None]

    adapted = senteval.strings_batcher(batcher)
    assert adapted(Params(), [["a", "b"], []]).shape == (2, 2)
    assert seen == ["a b", "."]


def _prepared(task: str, params: dict[str, Any], batcher: Batcher) -> tuple[Params, list[list[str]]]:
    calls: list[tuple[Params, list[list[str]]]] = []
    SE(params, batcher, lambda p, samples: calls.append((p, samples))).eval(task)
    [call] = calls
    return call


@pytest.mark.parametrize("task", ["MC", "SSPmlsum", "RST", "SPwiki", "STS14", "Length", "NLI"])
def test_prepare_gets_every_token_list(small: dict[str, Any], characters: Batcher, task: str) -> None:
    params, samples = _prepared(task, small, characters)
    record = TASKS[task]
    data = record.loader(record.source(Path(small["task_path"])))
    assert params.current_task == task
    assert all(isinstance(tokens, list) and tokens and isinstance(tokens[0], str) for tokens in samples)
    encoded = [tokens for split in data.splits.values() for tokens in sentences_of(split)]
    assert sorted(samples) == sorted(encoded)


def _columns_of_file(path: Path, skip: int, *positions: int) -> list[list[str]]:
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()[skip:]]
    return [row[position].split() for position in positions for row in rows]


def test_prepare_sees_sick_column_by_column_in_the_files_order(
    small: dict[str, Any], characters: Batcher
) -> None:
    _, samples = _prepared("SICKEntailment", small, characters)
    files = [Path(small["task_path"]) / f"senteval/SICK/SICK_{n}.txt" for n in ("train", "trial", "test")]
    assert samples == [tokens for path in files for tokens in _columns_of_file(path, 1, 1, 2)]


def test_prepare_sees_similarity_subset_by_subset_in_order_of_length(
    small: dict[str, Any], characters: Batcher
) -> None:
    _, samples = _prepared("STS14", small, characters)
    assert len(samples) == 240
    for start in (0, 120):
        first, second = samples[start : start + 60], samples[start + 60 : start + 120]
        keys = [(len(a), len(b)) for a, b in zip(first, second, strict=True)]
        assert keys == sorted(keys)


def test_prepare_sees_discourse_sentences_item_by_item(small: dict[str, Any], characters: Batcher) -> None:
    _, samples = _prepared("SPwiki", small, characters)
    line = (Path(small["task_path"]) / "discoeval/SP/wiki/train.txt").read_text("utf-8").split("\n")[0]
    assert samples[:5] == [text.split() for text in line.split("\t")[1:]]


def test_what_prepare_sets_reaches_the_batcher(small: dict[str, Any]) -> None:
    def prepare(params: Params, samples: list[list[str]]) -> None:
        params.longest = max(map(len, samples))

    def batcher(params: Params, batch: list[list[str]]) -> np.ndarray:
        return np.array([[len(tokens) / params.longest] for tokens in batch])

    assert SE(small, batcher, prepare).eval("STS17")["all"]


@pytest.mark.parametrize("task", ["TASS1", "SICKEntailment", "BSOwiki", "RST", "STS14", "DCgdd"])
def test_encoding_at_once_gives_the_same_and_sees_each_sentence_once(
    small: dict[str, Any], characters: Batcher, task: str
) -> None:
    given: list[tuple[str, ...]] = []

    def encode(sentences: list[list[str]]) -> np.ndarray:
        given.extend(map(tuple, sentences))
        return characters(Params(), sentences)

    found = evaluate_task(TASKS[task], Params(small), None, encode=encode)
    assert found == SE(small, characters).eval(task)
    assert len(given) == len(set(given))
