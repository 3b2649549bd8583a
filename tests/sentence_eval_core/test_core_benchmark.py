"""The benchmark of the heads measures what it says."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from support import REPOSITORY

from spanish_sentence_eval.heads.report import classify
from spanish_sentence_eval.params import read_settings
from spanish_sentence_eval.tasks import TASKS


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    """benchmarks/sentence_eval.py as a module."""
    path = REPOSITORY / "benchmarks" / "sentence_eval.py"
    spec = importlib.util.spec_from_file_location("benchmark_sentence_eval", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_outer_folds_measured_alone_are_those_of_the_whole_task(
    benchmark: ModuleType, small: dict[str, Any]
) -> None:
    settings = read_settings({**small, "kfold": 3})
    data, blocks = benchmark.rows_of_task(TASKS["MC"], 64, settings)
    whole = classify(TASKS["MC"], data, blocks, settings)
    parts = benchmark.parts_of(TASKS["MC"], blocks, settings, outer_folds=3)
    found = [classify(task, data, rows, settings) for task, rows in parts]
    assert benchmark.strengths(found) == list(whole.strengths)
    assert benchmark.accuracies(found) == (whole.dev, whole.test)
    assert sum(len(outcome.gold) for outcome in found) == len(whole.gold)


def test_the_command_compares_both_paths_on_every_kind_of_head(
    benchmark: ModuleType, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = ["MC", "SQC", "SICKEntailment"]
    options = ["--dimensions", "8", "--kfold", "2", "--max-epoch", "4", "--outer-folds", "1", "--json"]
    benchmark.main(["--data", str(tree), "--tasks", *tasks, *options])
    cases = json.loads(capsys.readouterr().out)
    assert [(case["task"], case["fits"]) for case in cases] == [("MC", 9), ("SQC", 9), ("SICKEntailment", 4)]
    assert all(case["ratio"] > 0 and case["exact"] == case["fast"] for case in cases)
    assert cases[2]["ratio_with_refit"] == pytest.approx(1.25 * cases[2]["ratio"])


def test_wide_vectors_depend_on_the_words_alone(benchmark: ModuleType) -> None:
    first, second = (benchmark.wide_encoder(8)([["a", "b"], ["b"]]) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.shape == (2, 8)
