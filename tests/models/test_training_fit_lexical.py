"""Fitting the lexical scorer as users do it."""

import json

import pytest
from invented import invented_rows, write_rows

from lyricsim_models.lexical import read_lexical_scorer
from lyricsim_models.provenance import digest


@pytest.fixture
def run(run_script):
    return lambda *arguments: run_script("fit_lexical", *arguments)


def test_a_scorer_is_fitted_on_the_training_split_alone_and_says_so(run, pairs_file, tmp_path):
    assert run("--dataset", pairs_file, "--output", tmp_path / "own.json").returncode == 0
    rows = list(invented_rows())
    trained = [row["pair_id"] for row in rows if row["split"] == "train"]
    provenance = json.loads((tmp_path / "own.json").read_text())["provenance"]
    assert provenance["split"] == "train"
    assert provenance["dataset"] == "pairs.csv"
    assert provenance["trained_on"]["pairs"] == len(trained) == 84
    assert provenance["trained_on"]["pair_ids_sha256"] == digest(trained)
    other = [{**row, "score": 5 - row["score"]} if row["split"] != "train" else row for row in rows]
    changed = write_rows(tmp_path / "pairs.csv", other)
    assert run("--dataset", changed, "--output", tmp_path / "again.json").returncode == 0
    first, again = (read_lexical_scorer(tmp_path / name) for name in ("own.json", "again.json"))
    assert (again.weights, again.intercept) == (first.weights, first.intercept)


def test_an_earlier_scorer_is_replaced_and_nothing_else(run, pairs_file, tmp_path):
    output = tmp_path / "own.json"
    assert run("--dataset", pairs_file, "--output", output).returncode == 0
    assert run("--dataset", pairs_file, "--output", output).returncode == 0
    output.write_text('{"mine": 1}')
    refused = run("--dataset", pairs_file, "--output", output)
    assert refused.returncode == 2
    assert "own.json is no lexical scorer" in refused.stderr
    assert output.read_text() == '{"mine": 1}'


def test_a_dataset_that_is_not_there_is_one_message(run, tmp_path):
    done = run("--dataset", tmp_path / "none.csv", "--output", tmp_path / "own.json")
    assert done.returncode == 2
    assert "none.csv" in done.stderr
    assert not (tmp_path / "own.json").exists()
