"""Real processes: a killed run goes on, and two launched processes share the encoding."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from made_up_benchmark import write_tree

from lyricsim_tools.errors import UserError
from spanish_sentence_eval import cli, processes

pytestmark = pytest.mark.slow


def arguments(tree, folder, *tasks):
    places = ["--data", str(tree), "--output", str(folder / "results.json"), "--cache", str(folder / "cache")]
    return ["run", "--model", "chars64", "--any-data", "--path", "exact", *places, "--tasks", *tasks]


def figures(folder):
    tasks = json.loads((folder / "results.json").read_text())["tasks"]
    return {name: (record["figures"], record.get("hits")) for name, record in tasks.items()}


def wait_for(path, process, seconds=600):
    deadline = time.monotonic() + seconds
    while not path.exists():
        assert process.poll() is None, "the run ended before its first task was written"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_killed_run_goes_on_at_the_next_task_with_the_same_figures(tmp_path):
    tree = write_tree(tmp_path / "data", rows=600)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "spanish_sentence_eval.cli", *arguments(tree, killed, "STS17", "TASS1")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_for(killed / "results.json", process)
    finally:
        process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert set(figures(killed)) == {"STS17"}
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "STS17 was finished before" in again.stderr
    assert "TASS1 was finished before" not in again.stderr
    assert cli.main(arguments(tree, whole, "STS17", "TASS1")) == 0
    assert figures(killed) == figures(whole)


def test_two_launched_processes_each_encode_half_and_give_the_same_figures(tree, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    assert cli.main(arguments(tree, one, "STS17", "SSPmlsum")) == 0
    launch = [sys.executable, "-m", "accelerate.commands.accelerate_cli", "launch", "--multi_gpu"]
    ports = ["--num_processes", "2", "--main_process_port", "0", "-m", "spanish_sentence_eval.cli"]
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true"}
    run = subprocess.run(
        [*launch, *ports, *arguments(tree, two, "STS17", "SSPmlsum")],
        capture_output=True,
        text=True,
        env=environment,
        timeout=500,
    )
    assert run.returncode == 0, run.stderr
    assert "encoder processes: 2" in run.stderr
    shares = {int(rank): int(count) for rank, count in re.findall(r"process (\d) encoded (\d+)", run.stderr)}
    assert set(shares) == {0, 1}
    assert abs(shares[0] - shares[1]) <= 2
    assert min(shares.values()) > 50
    assert figures(two) == figures(one)


def test_processes_that_do_not_know_of_each_other_are_refused(monkeypatch):
    class Alone:
        def __init__(self, **options):
            self.num_processes = 1

    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr("accelerate.PartialState", Alone)
    with pytest.raises(UserError, match="2 processes were started, but each believes"):
        processes.launched_processes()


def unknown_key(sentences):
    return {}["layer 12"]


def test_whatever_fails_in_the_first_process_reaches_the_others_and_is_told(monkeypatch, caplog):
    sent, gathered = [], []
    monkeypatch.setattr(processes, "_broadcast", sent.append)
    monkeypatch.setattr(processes, "_gather", lambda part: gathered.append(part) or [part, np.ones((1, 2))])
    with pytest.raises(UserError, match="process 0: KeyError: 'layer 12'"):
        processes.Processes(rank=0, count=2).encode(unknown_key, [["a"], ["b"]])
    assert sent == [[["a"], ["b"]]]
    assert gathered == ["process 0: KeyError: 'layer 12'"]
    assert "in unknown_key" in caplog.text


def test_whatever_fails_in_another_process_is_sent_and_it_goes_on_serving(monkeypatch):
    chunks, gathered = [[["a"], ["b"]], [["c"], ["d"]], None], []
    monkeypatch.setattr(processes, "_broadcast", lambda _: chunks.pop(0))
    monkeypatch.setattr(processes, "_gather", gathered.append)
    processes.Processes(rank=1, count=2).serve(unknown_key)
    assert gathered == ["process 1: KeyError: 'layer 12'"] * 2


def test_a_failing_share_is_an_error_with_the_processs_number(monkeypatch):
    monkeypatch.setattr(processes, "_broadcast", lambda sentences: sentences)
    monkeypatch.setattr(processes, "_gather", lambda part: [part, "process 1: out of memory"])
    pair = processes.Processes(rank=0, count=2)
    with pytest.raises(UserError, match="process 1: out of memory"):
        pair.encode(lambda sentences: [[0.0]] * len(sentences), [["a"], ["b"]])
