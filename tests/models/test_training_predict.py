"""Scoring files of pairs as users do it: every model, killed and resumed, several processes, bad rows."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from invented import invented_rows, read_rows, write_rows
from support import REPOSITORY, RUN_AND_PART

from lyricsim_models.lexical import default_lexical_scorer

SCRIPT = str(REPOSITORY / "training" / "predict.py")


@pytest.fixture
def run(run_script):
    return lambda *arguments: run_script("predict", *arguments)


@pytest.fixture
def other_pairs(tmp_path):
    """45 pairs of songs that the trained models have not seen."""
    rows = [
        {**row, "song_id_1": "x" + row["song_id_1"], "song_id_2": "x" + row["song_id_2"]}
        for row in invented_rows(10, seed=9)
    ]
    return write_rows(tmp_path / "other.csv", rows)


def test_the_lexical_scorer_scores_every_row_in_order(run, other_pairs, tmp_path):
    done = run("--model", "lexical", "--input", other_pairs, "--output", tmp_path / "s.csv", "--window", "7")
    assert done.returncode == 0, done.stderr
    rows, scores = read_rows(other_pairs), read_rows(tmp_path / "s.csv")
    assert [s["pair_id"] for s in scores] == [r["pair_id"] for r in rows]
    expected = default_lexical_scorer().score([(r["lyrics_1"], r["lyrics_2"]) for r in rows])
    assert [float(s["prediction"]) for s in scores] == pytest.approx(expected, rel=1e-6)
    record = json.loads((tmp_path / "s.csv.run.json").read_text())
    assert record["rows"] == 45
    assert record["seen_pairs"] is None


def test_resuming_a_finished_file_changes_nothing_and_another_input_is_refused(run, other_pairs, tmp_path):
    command = ("--model", "lexical", "--output", tmp_path / "s.csv", "--resume", "--json", "--input")
    first, again = run(*command, other_pairs), run(*command, other_pairs)
    assert first.returncode == again.returncode == 0
    assert json.loads(first.stdout) == json.loads(again.stdout)
    other = write_rows(tmp_path / "more.csv", invented_rows(5))
    assert "--overwrite" in run(*command, other).stderr


def test_the_lexical_scorer_needs_neither_torch_nor_network(other_pairs, tmp_path):
    code = (
        "import runpy, sys, socket\n"
        "sys.modules.update(dict.fromkeys(['torch', 'transformers', 'datasets', 'accelerate', 'sklearn']))\n"
        "socket.socket = None\n"
        f"sys.argv = ['predict.py', '--model', 'lexical', '--input', {str(other_pairs)!r}, "
        f"'--output', {str(tmp_path / 's.csv')!r}]\n"
        f"runpy.run_path({SCRIPT!r}, run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(read_rows(tmp_path / "s.csv")) == 45


@pytest.mark.parametrize("architecture", ["cross-encoder", "bi-encoder"])
def test_a_trained_model_gives_its_own_scores_whatever_the_window_and_batch(
    run, trained, other_pairs, tmp_path, architecture
):
    from lyricsim_models.scoring import load_scorer

    model = trained / architecture
    for name, options in (("a.csv", ("--window", "10", "--batch-size", "3")), ("b.csv", ())):
        done = run("--model", model, "--input", other_pairs, "--output", tmp_path / name, *options)
        assert done.returncode == 0, done.stderr
    rows = read_rows(other_pairs)
    expected = load_scorer(str(model)).predict([r["lyrics_1"] for r in rows], [r["lyrics_2"] for r in rows])
    for name in ("a.csv", "b.csv"):
        found = [float(row["prediction"]) for row in read_rows(tmp_path / name)]
        assert found == pytest.approx(expected, abs=1e-5)


def test_pairs_a_model_was_trained_or_selected_on_are_refused_unless_allowed_and_marked(
    run, trained, tmp_path
):
    command = (
        "--model",
        trained / "bi-encoder",
        "--input",
        trained / "pairs.csv",
        "--output",
        tmp_path / "s.csv",
    )
    refused = run(*command)
    assert refused.returncode == 2
    assert "were used to train or select this model" in refused.stderr
    assert not (tmp_path / "s.csv").exists()
    assert run(*command, "--allow-seen").returncode == 0
    assert json.loads((tmp_path / "s.csv.run.json").read_text())["seen_pairs"] == 96


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was_and_ends_with_the_same_file(tmp_path):
    rows = [
        {**row, "pair_id": f"{row['pair_id']}_{again}"}
        for again in range(3)
        for row in invented_rows(60, seed=3)
    ]
    path = write_rows(tmp_path / "pairs.csv", rows)
    command = [sys.executable, SCRIPT, "--model", "lexical", "--input", str(path), "--window", "10"]
    whole = subprocess.run([*command, "--output", str(tmp_path / "whole.csv")], check=False)
    assert whole.returncode == 0
    output = tmp_path / "scores.csv"
    killed = subprocess.Popen([*command, "--output", str(output)])
    progress = tmp_path / ".scores.csv.progress.json"
    deadline = time.monotonic() + 60
    while not progress.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not output.exists()
    begun = json.loads(progress.read_text())["rows"]
    assert 0 < begun < len(rows)
    assert subprocess.run([*command, "--output", str(output), "--resume"], check=False).returncode == 0
    assert output.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert not progress.exists()


def test_what_goes_wrong_is_said_once_on_each_machine(run, tmp_path, monkeypatch):
    command = ("--model", "lexical", "--input", tmp_path / "absent.csv", "--output", tmp_path / "s.csv")
    for rank, local, said in ((0, 0, True), (1, 1, False), (2, 0, True), (3, 1, False)):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("LOCAL_RANK", str(local))
        done = run(*command)
        assert done.returncode == 2
        assert ("absent.csv" in done.stderr) is said


@pytest.mark.slow
def test_two_processes_share_the_work_and_give_the_scores_of_one(run, trained, other_pairs, tmp_path):
    model = str(trained / "cross-encoder")
    options = ("--model", model, "--input", str(other_pairs), "--window", "20")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    done = subprocess.run(
        [sys.executable, *launch, str(RUN_AND_PART), SCRIPT, *options, "--output", str(tmp_path / "two.csv")],
        env=os.environ | {"ACCELERATE_USE_CPU": "true"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("45 pairs scored") == 1
    assert run(*options, "--output", tmp_path / "one.csv").returncode == 0
    two, one = (read_rows(tmp_path / name) for name in ("two.csv", "one.csv"))
    assert [row["pair_id"] for row in two] == [row["pair_id"] for row in one]
    assert [float(r["prediction"]) for r in two] == pytest.approx(
        [float(r["prediction"]) for r in one], abs=1e-5
    )


def test_a_score_that_is_no_number_names_its_row_and_leaves_no_file(run, other_pairs, tmp_path, monkeypatch):
    from lyricsim_models.lexical import LexicalScorer

    genuine = LexicalScorer.score

    def broken(self, pairs):
        scores = genuine(self, pairs)
        scores[-1] = np.nan
        return scores

    monkeypatch.setattr(LexicalScorer, "score", broken)
    done = run("--model", "lexical", "--input", other_pairs, "--output", tmp_path / "s.csv")
    assert done.returncode == 2
    assert "got the score nan" in done.stderr
    assert not (tmp_path / "s.csv").exists()


def test_the_same_score_however_the_work_is_shared():
    from lyricsim_models.pair_scorers import shared_rows
    from lyricsim_models.pair_table import pair_table

    class Three:
        world = 3

    rows = list(invented_rows())
    table = pair_table({name: [row[name] for row in rows] for name in rows[0]}, "rows")
    shares = shared_rows(table, Three())
    assert sorted(np.concatenate(shares)) == list(range(120))
    assert {len(share) for share in shares} == {40}
    lengths = np.array([len(a) + len(b) for a, b in zip(table.lyrics_1, table.lyrics_2, strict=True)])
    # Dealt out like cards, shortest first: the n-th pairs of all processes are neighbours in length.
    dealt = np.stack([lengths[share] for share in shares], axis=1).ravel()
    assert dealt.tolist() == sorted(lengths)
    assert len(set(dealt)) > 10


def test_pairs_of_like_length_share_a_batch(trained):
    from lyricsim_models.scoring import load_scorer

    rows = list(invented_rows())
    scorer = load_scorer(str(trained / "cross-encoder"))
    batches = []
    scorer.loaded.scorer.register_forward_pre_hook(
        lambda module, args, inputs: batches.append(inputs["attention_mask"].sum(1).tolist()),
        with_kwargs=True,
    )
    scorer.predict([row["lyrics_1"] for row in rows], [row["lyrics_2"] for row in rows], batch_size=16)
    assert sum(map(len, batches)) == 120
    ranges = sorted((min(batch), max(batch)) for batch in batches)
    assert all(longest <= shortest for (_, longest), (shortest, _) in itertools.pairwise(ranges))
    assert ranges[0][1] < ranges[-1][0]


def test_an_encoder_that_was_never_trained_to_score_is_refused(run, tiny_encoder, other_pairs, tmp_path):
    done = run("--model", tiny_encoder, "--input", other_pairs, "--output", tmp_path / "s.csv")
    assert done.returncode == 2
    assert "is an encoder that was not trained to score pairs" in done.stderr
    assert "svm_baseline.py --baseline zero-shot" in done.stderr
    assert not (tmp_path / "s.csv").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "lexical", "--input", "no.csv", "--output", "s.csv"), "does not exist"),
        (("--model", "lexical", "--input", "no.csv"), "--input without --output"),
        (("--model", "lexical", "--catalogue", "no.csv"), "without a query"),
        (("--model", "nothing-such", "--input", "no.csv", "--output", "s.csv"), "no model called"),
        (("--model", "lexical", "--input", "no.csv", "--output", "s.csv", "--window", "0"), "--window 0"),
        (("--model", "no.json", "--input", "no.csv", "--output", "s.csv"), "no.json is no lexical scorer"),
        (
            ("--model", "lexical", "--input", "no.csv", "--output", "s.csv", "--query", "1"),
            "--input with --query",
        ),
        (
            ("--model", "lexical", "--catalogue", "no.csv", "--query", "1", "--resume"),
            "--catalogue with --resume",
        ),
        (("--model", "no/such", "--catalogue", "no.csv", "--query", "1"), "no.csv does not exist"),
        (
            ("--model", "lexical", "--catalogue", "no.csv", "--query", "1", "--output", "r.parquet"),
            "a name ending in .csv or .jsonl",
        ),
        (
            ("--model", "lexical", "--catalogue", "no.csv", "--query", "1", "--top", "8", "--recall", "4"),
            "--recall 4 with --top 8",
        ),
        (
            (
                "--model",
                "m",
                "--catalogue",
                "no.csv",
                "--query",
                "1",
                "--output",
                "x.csv",
                "--vectors",
                "x.csv",
            ),
            "--output x.csv is the file that is read",
        ),
    ],
)
def test_what_cannot_be_done_is_said(run, tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    done = run(*options)
    assert done.returncode == 2
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("used", ["--input", "--catalogue"])
def test_what_is_read_is_never_written_over(run, tmp_path, used):
    path = write_rows(
        tmp_path / "own.csv", [{"song_id": "1", "lyrics": "a", "lyrics_1": "a", "lyrics_2": "b"}]
    )
    before = path.read_bytes()
    query = ("--query", "1") if used == "--catalogue" else ()
    done = run("--model", "lexical", used, path, *query, "--output", path, "--overwrite")
    assert done.returncode == 2
    assert "is the file that is read" in done.stderr
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_one_message(run, other_pairs, tmp_path):
    (tmp_path / "file").touch()
    done = run("--model", "lexical", "--input", other_pairs, "--output", tmp_path / "file" / "s.csv")
    assert done.returncode == 2
    assert "cannot be read or written" in done.stderr
    assert "what to do" in done.stderr


def test_an_empty_lyric_is_named_before_anything_is_scored(run, tmp_path):
    rows = list(invented_rows(5))
    rows[7] = {**rows[7], "lyrics_2": " "}
    path = write_rows(tmp_path / "pairs.csv", rows)
    done = run("--model", "lexical", "--input", path, "--output", tmp_path / "s.csv", "--window", "2")
    assert done.returncode == 2
    assert "row 8: lyrics_2 is ' '" in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["pairs.csv"]
