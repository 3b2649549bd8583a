"""The metric inside evaluate: loading, batches, several processes, shared caches."""

import json
import math

import evaluate
import numpy as np
import pytest
import torch
from filelock import FileLock
from launch import IMPORT_EVALUATE, run
from support import REPOSITORY

from lyricsim_metric.scores import score
from lyricsim_metric.tests import test_cases as CASES

GENERATOR = np.random.default_rng(3)
GOLD = GENERATOR.integers(0, 6, 101).astype(float)
GUESS = GOLD + GENERATOR.normal(size=101)


@pytest.fixture
def metric():
    return evaluate.load(str(REPOSITORY / "lyricsim_metric"))


@pytest.mark.parametrize("case", CASES)
def test_the_cases_that_the_space_ships_hold(metric, case):
    found = metric.compute(predictions=case["predictions"], references=case["references"])
    assert found == pytest.approx(case["result"], abs=1e-12)
    assert list(found) == ["pearson", "spearmanr", "combined_score"]
    assert {type(value) for value in found.values()} == {float}


@pytest.mark.parametrize(
    "name", ["lyricsim_metric", "./lyricsim_metric", "lyricsim_metric/lyricsim_metric.py"]
)
def test_it_loads_by_name_from_the_repository(name, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    assert evaluate.load(name, module_type="metric").name == "lyricsim_metric"


def test_all_ways_of_giving_rows_score_the_same(metric):
    expected = score(GUESS, GOLD)
    assert metric.compute(predictions=GUESS, references=GOLD) == expected
    for start_of_batch in range(0, 101, 32):
        batch = slice(start_of_batch, start_of_batch + 32)
        metric.add_batch(predictions=torch.tensor(GUESS[batch])[:, None], references=GOLD[batch].tolist())
    assert len(metric) == 101
    assert metric.compute() == expected
    for guess, gold in zip(GUESS, GOLD, strict=True):
        metric.add(prediction=guess, reference=torch.tensor(gold))
    assert metric.compute() == expected
    metric.add_batch(predictions=GUESS[:50], references=GOLD[:50])
    assert metric.compute(predictions=GUESS[50:], references=GOLD[50:]) == expected


def test_options_and_clusters_reach_rows_that_were_added_before(metric):
    songs = [(f"s{row}", f"s{row + 1 + row % 7}") for row in range(101)]
    options = {"scale": 100, "confidence_level": 0.9, "n_resamples": 200, "p_values": True, "clusters": songs}
    metric.add_batch(predictions=GUESS, references=GOLD)
    assert metric.compute(**options) == score(GUESS, GOLD, **options)


def test_scores_closer_than_single_precision_stay_apart(metric):
    close = 1 + np.arange(4) * 1e-12
    metric.add_batch(predictions=close, references=[0, 1, 2, 4])
    assert metric.compute()["spearmanr"] == 1.0


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        (["1", "2"], "are not real numbers"),
        ([1, None], "None in row 1"),
        ([1, float("nan")], "NaN in 1 row: 1"),
        ([[1, 2], [3, 4]], r"shape \(2, 2\)"),
        ([1, 2, 3], "predictions has 3 rows and references has 2"),
        (None, "predictions is None"),
    ],
)
def test_what_evaluate_would_cast_is_refused_and_rows_before_it_are_kept(metric, predictions, message):
    metric.add_batch(predictions=[1, 2, 3], references=[1, 2, 4])
    with pytest.raises(ValueError, match=message):
        metric.add_batch(predictions=predictions, references=[1, 2])
    with pytest.raises(ValueError, match=message):
        metric.compute(predictions=predictions, references=[1, 2])
    assert metric.compute() == score([1, 2, 3], [1, 2, 4])


@pytest.mark.parametrize("row", [{"prediction": "1"}, {"prediction": None}, {"prediction": [1, 2]}, {}])
def test_a_bad_single_row_is_refused(metric, row):
    with pytest.raises(ValueError, match="predictions"):
        metric.add(**row, reference=1.0)


def test_an_input_of_another_name_is_refused(metric):
    with pytest.raises(ValueError, match="unknown input labels"):
        metric.add_batch(predictions=[1], references=[1], labels=[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": -1}, "scale"),
        ({"clusters": [("a", "b")]}, "clusters has 1 rows"),
        ({"confidence_level": 95}, "confidence_level"),
        ({"clusters": [("a", "b")] * 3}, "clusters without confidence_level"),
        ({"n_resamples": 200}, "n_resamples without confidence_level"),
    ],
)
def test_a_bad_option_costs_no_rows(metric, options, message):
    metric.add_batch(predictions=[1, 2, 3], references=[1, 2, 4])
    with pytest.raises(ValueError, match=message):
        metric.compute(**options)
    with pytest.raises(TypeError, match="nonsense"):
        metric.compute(nonsense=1)
    assert metric.compute() == score([1, 2, 3], [1, 2, 4])


def test_no_rows_and_one_row_are_refused_and_more_may_follow(metric):
    with pytest.raises(ValueError, match="0 rows to score"):
        metric.compute()
    metric.add(prediction=1, reference=1)
    with pytest.raises(ValueError, match="1 row to score"):
        metric.compute()
    assert metric.compute(predictions=[2], references=[3])["pearson"] == 1.0


def test_a_constant_side_warns_once_or_raises(metric):
    with pytest.warns(UserWarning, match="predictions is constant") as caught:
        found = metric.compute(predictions=[2, 2, 2], references=[1, 2, 4])
    assert len(caught) == 1
    assert all(math.isnan(value) for value in found.values())
    with pytest.raises(ValueError, match="references is constant"):
        metric.compute(predictions=[1, 2, 4], references=[2, 2, 2], undefined="raise")


def test_it_combines_with_others_and_with_itself(metric):
    other = evaluate.load(str(REPOSITORY / "lyricsim_metric"))
    both = evaluate.combine([metric, other])
    both.add_batch(predictions=GUESS[:-1], references=GOLD[:-1])
    both.add(prediction=GUESS[-1], reference=GOLD[-1])
    expected = score(GUESS, GOLD)
    assert both.compute() == {
        f"lyricsim_metric_{place}_{name}": value for place in range(2) for name, value in expected.items()
    }
    assert evaluate.combine({"one": metric}, force_prefix=True).compute(
        predictions=GUESS, references=GOLD
    ) == {f"one_{name}": value for name, value in expected.items()}


def test_rows_in_files_are_scored_as_rows_in_memory(tmp_path):
    metric = evaluate.load(str(REPOSITORY / "lyricsim_metric"), cache_dir=str(tmp_path))
    metric.add_batch(predictions=GUESS, references=GOLD)
    assert list(tmp_path.rglob("*.arrow"))
    assert metric.compute() == score(GUESS, GOLD)
    assert not list(tmp_path.rglob("*.arrow"))


@pytest.mark.parametrize("in_files", [False, True])
def test_a_failure_keeps_the_rows_added_before_and_no_others(tmp_path, in_files):
    settings = {"cache_dir": str(tmp_path)} if in_files else {}
    metric = evaluate.load(str(REPOSITORY / "lyricsim_metric"), **settings)
    metric.add_batch(predictions=[1, 1, 1], references=[1, 2, 3])
    for rows in ({}, {"predictions": [1, 1], "references": [4, 5]}):
        with pytest.raises(ValueError, match="constant"):
            metric.compute(undefined="raise", **rows)
        assert len(metric) == 3
    metric.add_batch(predictions=[2, 3], references=[4, 4])
    assert metric.compute() == score([1, 1, 1, 2, 3], [1, 2, 3, 4, 4])
    assert len(metric) == 0


def test_a_failure_leaves_no_file_and_no_lock_behind_but_those_of_the_kept_rows(tmp_path):
    metric = evaluate.load(str(REPOSITORY / "lyricsim_metric"), cache_dir=str(tmp_path))
    metric.add_batch(predictions=[1, 1, 1], references=[1, 2, 3])
    (before,) = tmp_path.rglob("*.arrow")
    with pytest.raises(ValueError, match="constant"):
        metric.compute(undefined="raise")
    (kept,) = tmp_path.rglob("*.arrow")
    assert kept != before
    FileLock(f"{before}.lock").acquire(timeout=0)
    metric.add_batch(predictions=[1, 2, 3], references=[1, 2, 4])
    assert metric.compute() == score([1, 1, 1, 1, 2, 3], [1, 2, 3, 1, 2, 4])
    assert not list(tmp_path.rglob("*.arrow"))


def test_a_failure_of_several_processes_leaves_no_file_and_drops_the_rows(tmp_path):
    run(IMPORT_EVALUATE + FAILING_RANKS, tmp_path)
    assert not list(tmp_path.rglob("*.arrow"))


FAILING_RANKS = """
import multiprocessing

def run(rank):
    metric = evaluate.load("lyricsim_metric", num_process=2, process_id=rank, experiment_id="flat")
    metric.add_batch(predictions=[1, 1], references=[1, 2])
    try:
        assert metric.compute(undefined="raise") is None and rank == 1
    except ValueError as error:
        assert rank == 0 and "constant" in str(error)
    metric.add_batch(predictions=[1, 2], references=[1, 2])
    found = metric.compute()
    assert (found or {"pearson": 1})["pearson"] == 1

with multiprocessing.get_context("fork").Pool(2) as pool:
    pool.map(run, range(2), chunksize=1)
"""


NO_CONNECTIONS = """
import socket

def refuse(*arguments, **others):
    raise AssertionError("a connection was tried")

socket.socket.connect = refuse
"""

LOCAL_LOAD = """
import json
print(json.dumps(evaluate.load(sys.argv[1]).compute(predictions=[1, 2, 3, 4], references=[0, 1, 3, 2])))
"""


@pytest.mark.parametrize(
    ("path", "cwd", "offline"),
    [
        ("lyricsim_metric", REPOSITORY, {"HF_HUB_OFFLINE": "1"}),
        (str(REPOSITORY / "lyricsim_metric"), None, {}),
    ],
    ids=["by name, offline", "by path from elsewhere, not offline"],
)
def test_a_local_folder_loads_with_an_empty_cache_and_tries_no_connection(tmp_path, path, cwd, offline):
    printed = run(
        NO_CONNECTIONS + IMPORT_EVALUATE + LOCAL_LOAD,
        tmp_path / "cache",
        path,
        cwd=cwd or tmp_path,
        **offline,
    )
    assert json.loads(printed) == {"pearson": 0.8, "spearmanr": 0.8, "combined_score": 0.8}


IMPORTS = """
import sys
import lyricsim_metric.correlations, lyricsim_metric.scores, lyricsim_comparison.rankings
print(sorted({"torch", "evaluate", "datasets", "pandas", "transformers"} & set(sys.modules)))
"""


def test_the_plain_functions_import_neither_torch_nor_evaluate(tmp_path):
    assert run(IMPORTS, tmp_path) == "[]"


EIGHT_RUNS = """
import json, multiprocessing, numpy as np

def run(seed):
    generator = np.random.default_rng(seed)
    gold = generator.normal(size=200)
    guess = gold + generator.normal(size=200)
    for _ in range(3):
        metric = evaluate.load("lyricsim_metric")
        for row in range(0, 200, 50):
            metric.add_batch(predictions=guess[row:row + 50], references=gold[row:row + 50])
        found = metric.compute()
    return found

# Forked, so that evaluate is imported once; the cache is still empty when they start.
with multiprocessing.get_context("fork").Pool(8) as pool:
    print(json.dumps(pool.map(run, range(8), chunksize=1)))
"""


def test_eight_runs_at_once_share_one_empty_cache(tmp_path):
    found = json.loads(run(IMPORT_EVALUATE + EIGHT_RUNS, tmp_path / "cache"))
    for seed, scores in enumerate(found):
        generator = np.random.default_rng(seed)
        gold = generator.normal(size=200)
        assert scores == score(gold + generator.normal(size=200), gold)


SEVERAL_RANKS = """
import json, multiprocessing, numpy as np
generator = np.random.default_rng(0)
gold = generator.normal(size=97)
guess = gold + generator.normal(size=97)

def run(task):
    group, rank, ranks, empty = task
    working = [rank for rank in range(ranks) if rank != empty]
    metric = evaluate.load("lyricsim_metric", num_process=ranks, process_id=rank, experiment_id=group)
    found = []
    for _ in range(2):
        share = slice(working.index(rank), None, len(working)) if rank != empty else slice(0, 0)
        metric.add_batch(predictions=guess[share], references=gold[share])
        found.append(metric.compute(confidence_level=0.9, n_resamples=200))
    return found

tasks = [(group, rank, 2, None) for group in ("one", "other") for rank in range(2)]
tasks += [("three", rank, 3, 1) for rank in range(3)]
with multiprocessing.get_context("fork").Pool(len(tasks)) as pool:
    print(json.dumps(pool.map(run, tasks, chunksize=1)))
"""


def test_several_processes_score_table_after_table_in_whatever_shares(tmp_path):
    found = json.loads(run(IMPORT_EVALUATE + SEVERAL_RANKS, tmp_path))
    generator = np.random.default_rng(0)
    gold = generator.normal(size=97)
    expected = score(gold + generator.normal(size=97), gold, confidence_level=0.9, n_resamples=200)
    first_ranks = [found[place] for place in (0, 2, 4)]
    assert [found[place] for place in (1, 3, 5, 6)] == [[None, None]] * 4
    for scores in [scores for tables in first_ranks for scores in tables]:
        for name, value in expected.items():
            assert scores[name] == pytest.approx(value, abs=1e-12)
    assert not list(tmp_path.rglob("*.arrow"))
