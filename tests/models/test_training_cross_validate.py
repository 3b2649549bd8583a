"""Cross-validation as users run it: baselines, and a tiny encoder that is stopped and resumed."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from invented import invented_rows, write_rows
from support import REPOSITORY


@pytest.fixture
def run(run_script):
    return lambda *arguments: run_script("cross_validate", *arguments)


def read(path):
    return json.loads(path.read_text())


def test_fifteen_blocks_give_every_pair_one_prediction_by_a_model_that_saw_neither_song(
    run, pairs_file, tmp_path
):
    output = tmp_path / "cv"
    done = run("--dataset", pairs_file, "--output", output, "--baseline", "ridge", "--json")
    assert done.returncode == 0, done.stderr
    metrics = read(output / "metrics.json")["cross_validation"]
    assert json.loads(done.stdout)["metrics"]["ridge"]["cross_validation"] == metrics
    assert metrics["blocks"] == 15
    assert metrics["pairs"] == 120
    assert metrics["combined_score"] > 0.5
    with (output / "predictions.csv").open() as stream:
        assert len({row["pair_id"] for row in csv.DictReader(stream)}) == 120
    for block in (output / "blocks").iterdir():
        assert read(block / "metrics.json")["test"]["seen_song_share"] == 0
    assert read(output / "run.json")["settings"]["protocol"]["groups"] == 5


def test_a_share_of_the_training_pairs_makes_a_point_of_a_learning_curve(run, pairs_file, tmp_path):
    command = ("--dataset", pairs_file, "--baseline", "ridge", "--output")
    assert run(*command, tmp_path / "whole").returncode == 0
    done = run(*command, tmp_path / "half", "--training-share", "0.5")
    assert done.returncode == 0, done.stderr
    whole, half = (read(tmp_path / name / "run.json")["settings"]["protocol"] for name in ("whole", "half"))
    assert (whole["training_share"], half["training_share"]) == (1, 0.5)
    for block in (tmp_path / "half" / "blocks").iterdir():
        used, known = (
            read(tmp_path / name / "blocks" / block.name / "run.json")["data"]["train"]["pairs"]
            for name in ("half", "whole")
        )
        assert used == round(known / 2)
    scored = [(tmp_path / name / "predictions.csv").read_text().splitlines() for name in ("whole", "half")]
    assert len(scored[0]) == len(scored[1])
    assert scored[0] != scored[1]


def test_resuming_a_complete_one_repeats_nothing(run, pairs_file, tmp_path):
    command = ("--dataset", pairs_file, "--output", tmp_path / "cv", "--baseline", "word-overlap")
    assert run(*command).returncode == 0
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "cv").rglob("*.csv")}
    assert run(*command, "--resume").returncode == 0
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "cv").rglob("*.csv")} == before
    assert run(*command).returncode == 2


def test_song_identity_says_nothing_of_songs_never_seen(run, pairs_file, tmp_path):
    done = run("--dataset", pairs_file, "--output", tmp_path / "cv", "--baseline", "song-identity")
    assert done.returncode == 0, done.stderr
    blocks = [read(p)["test"]["combined_score"] for p in (tmp_path / "cv").rglob("blocks/*/metrics.json")]
    assert blocks == [None] * 15


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--baseline", "nothing"), "no baseline called"),
        (("--baseline", "ridge", "--epochs", "3"), "--baseline with --epochs 3"),
        (("--baseline", "ridge", "--validation-share", "1"), "--validation-share"),
        (("--baseline", "ridge", "--training-share", "0"), "--training-share 0.0"),
        (("--baseline", "zero-shot"), "--baseline zero-shot without --encoder"),
        (("--baseline", "jaccard", "--encoder", "e5-small"), "--baseline jaccard with --encoder"),
        (("--model", "m", "--encoder", "e5-small"), "--encoder without --baseline"),
        (("--model", "m", "--push-to-hub", "me/m", "--public"), "with --push-to-hub, --public"),
        (("--model", "m", "--report-to", "wandb"), "with --report-to"),
    ],
)
def test_what_cannot_be_done_is_said(run, pairs_file, tmp_path, options, message):
    done = run("--dataset", pairs_file, "--output", tmp_path / "cv", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "cv" / "run.json").exists()


def test_a_place_that_cannot_be_written_is_a_message(run, pairs_file, tmp_path):
    (tmp_path / "cv").write_text("no folder")
    done = run("--dataset", pairs_file, "--output", tmp_path / "cv", "--baseline", "word-overlap")
    assert done.returncode == 2
    assert "what to do:" in done.stderr
    assert (tmp_path / "cv").read_text() == "no folder"


@pytest.mark.parametrize("json_asked", [True, False])
def test_processes_without_the_result_print_nothing(run, capsys, json_asked, monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "training"))
    from cross_validate import report

    report(SimpleNamespace(json=json_asked, output="cv"), {})
    assert capsys.readouterr().out == ""


@pytest.mark.slow
def test_a_trained_recipe_that_is_stopped_goes_on_block_by_block(tmp_path, tiny_encoder):
    data = write_rows(tmp_path / "pairs.csv", invented_rows(15))
    output = tmp_path / "cv"
    command = [
        *(sys.executable, str(REPOSITORY / "training" / "cross_validate.py"), "--dataset", str(data)),
        *("--output", str(output), "--model", str(tiny_encoder), "--architecture", "bi-encoder"),
        *("--max-steps", "1", "--max-length", "32", "--resume", "--json"),
    ]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 240
    while not list(output.glob("blocks/0-2")):
        assert time.monotonic() < deadline, first.communicate()[1]
        assert first.poll() is None, first.communicate()[1]
        time.sleep(0.1)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    complete = [p for p in output.glob("blocks/*/run.json") if read(p)["status"] == "complete"]
    assert complete
    done = {p.with_name("metrics.json"): p.with_name("metrics.json").stat().st_mtime_ns for p in complete}
    second = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    assert second.returncode == 0, second.stderr
    assert {p: p.stat().st_mtime_ns for p in done} == done
    metrics = read(output / "metrics.json")["cross_validation"]
    assert metrics["pairs"] == 105
    assert metrics["blocks"] == 15
    # Libraries that announce themselves on standard output do so before the result.
    printed = second.stdout[second.stdout.index("{\n") :]
    assert json.loads(printed)["metrics"] == {"seed 42": {"cross_validation": metrics}}
    assert not list(output.rglob("*.safetensors"))
