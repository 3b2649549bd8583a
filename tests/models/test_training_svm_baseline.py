"""The baseline command on a user's own file of pairs."""

import json

import numpy as np
import pytest
from invented import invented_rows, read_rows, write_rows
from scipy.stats import pearsonr, spearmanr


@pytest.fixture
def run(run_script):
    return lambda *arguments: run_script("svm_baseline", *arguments)


def test_a_run_writes_the_files_of_every_other_model_and_its_scores_follow_from_them(
    run, pairs_file, tmp_path
):
    output = tmp_path / "run"
    done = run("--dataset", pairs_file, "--output", output, "--json")
    assert done.returncode == 0, done.stderr
    metrics = json.loads((output / "metrics.json").read_text())
    assert json.loads(done.stdout) == {"output": str(output), "metrics": metrics}
    rows = read_rows(pairs_file)
    predicted = {r["pair_id"]: float(r["prediction"]) for r in read_rows(output / "predictions.csv")}
    assert list(predicted) == [
        r["pair_id"] for split in ("train", "validation", "test") for r in rows if r["split"] == split
    ]
    for split in ("validation", "test"):
        own = [row for row in rows if row["split"] == split]
        x, y = [predicted[row["pair_id"]] for row in own], [float(row["score"]) for row in own]
        assert metrics[split]["pairs"] == len(own)
        assert metrics[split]["pearson"] == pytest.approx(pearsonr(x, y)[0], abs=1e-6)
        assert metrics[split]["spearmanr"] == pytest.approx(spearmanr(x, y)[0], abs=1e-6)
    assert metrics["test"]["combined_score"] > 0.5
    record = json.loads((output / "run.json").read_text())
    assert record["status"] == "complete"
    assert record["settings"]["recipe"]["estimator"] == "svr"
    assert record["data"]["train"]["pairs"] == 84
    assert "scikit-learn" in record["versions"]
    assert (output / "seen.json").is_file()


def test_the_same_command_gives_the_same_predictions(run, pairs_file, tmp_path):
    for name in ("a", "b"):
        assert (
            run("--dataset", pairs_file, "--output", tmp_path / name, "--baseline", "ridge").returncode == 0
        )
    assert (tmp_path / "a/predictions.csv").read_bytes() == (tmp_path / "b/predictions.csv").read_bytes()


def test_a_zero_shot_cosine_needs_no_score_to_learn_from(run, pairs_file, tmp_path, tiny_encoder):
    options = ("--baseline", "zero-shot", "--encoder", tiny_encoder)
    done = run("--dataset", pairs_file, "--output", tmp_path / "run", *options)
    assert done.returncode == 0, done.stderr
    predictions = np.loadtxt(tmp_path / "run" / "predictions.csv", delimiter=",", skiprows=1, usecols=1)
    assert np.abs(predictions).max() <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--baseline", "svm"), "no baseline called 'svm'"),
        (("--baseline", "zero-shot"), "zero-shot without --encoder"),
        (("--baseline", "svr", "--encoder", "e5-small"), "svr with --encoder"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_written(run, pairs_file, tmp_path, options, message):
    done = run("--dataset", pairs_file, "--output", tmp_path / "run", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "run").exists()


def test_an_earlier_run_is_replaced_only_when_asked(run, pairs_file, tmp_path):
    command = ("--dataset", pairs_file, "--output", tmp_path / "run", "--baseline", "word-overlap")
    assert run(*command).returncode == 0
    refused = run(*command)
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr
    assert run(*command, "--overwrite").returncode == 0
    (tmp_path / "run" / "notes.txt").write_text("mine")
    refused = run(*command, "--overwrite")
    assert "notes.txt" in refused.stderr
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


def test_pairs_that_training_saw_are_not_scored_unless_asked_and_then_marked(run, tmp_path):
    rows = list(invented_rows())
    leaked = [{**row, "pair_id": f"again_{row['pair_id']}", "split": "test"} for row in rows[:5]]
    path = write_rows(tmp_path / "leak.csv", rows + leaked)
    refused = run("--dataset", path, "--output", tmp_path / "run")
    assert refused.returncode == 2
    assert "5 of 29 pairs of the test split were used to train" in refused.stderr
    assert run("--dataset", path, "--output", tmp_path / "run", "--allow-seen").returncode == 0
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["test"]["seen_pairs"] == 5
