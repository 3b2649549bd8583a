"""The grid search as users run it: real worker processes on one storage, one of them killed."""

import contextlib
import importlib.util
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from support import REPOSITORY

from lyricsim_models import study_storage
from lyricsim_models.grid import grid_runs, points_of
from lyricsim_models.study import GridStudy
from lyricsim_tools.errors import UserError

SCRIPT = REPOSITORY / "training" / "grid_search.py"
SPECIFICATION = importlib.util.spec_from_file_location("grid_search", SCRIPT)
grid_search = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(grid_search)
FAKE = Path(__file__).with_name("fake_finetune.py")
FAKE_LAUNCHER = Path(__file__).with_name("fake_launcher.py")


def command(output, storage, *options):
    launcher = shlex.join([sys.executable, str(FAKE)])
    return [
        *(sys.executable, str(SCRIPT), "--output", str(output), "--storage", storage),
        *("--interval", "1", "--grace", "3", "--launcher", launcher, *options),
    ]


SMALL = (
    "--dataset",
    "d",
    "--models",
    "bertin",
    "--batch-sizes",
    "8",
    "16",
    "--learning-rates",
    "1e-5",
    "5e-5",
)


def start(output, storage, *options, **environment):
    return subprocess.Popen(
        command(output, storage, *SMALL, *options),
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(*arguments, **environment):
    return subprocess.run(
        command(*arguments), env=os.environ | environment, capture_output=True, text=True, check=False
    )


def begun(output):
    path = output / "begun.txt"
    return (
        [line.split()[0].split("_", 1)[1] for line in path.read_text().splitlines()] if path.exists() else []
    )


def is_alive(process):
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    return False


def training(output):
    return int((output / "begun.txt").read_text().split()[1])


def wait_for(condition, seconds=240):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["journal", "database"])
def test_a_killed_workers_run_is_made_again_and_no_other_twice(tmp_path, kind):
    storage = str(tmp_path / "journal.log") if kind == "journal" else f"sqlite:///{tmp_path}/grid.db"
    doomed = start(tmp_path, storage, FAKE_SECONDS="600")
    wait_for(lambda: len(begun(tmp_path)) == 1)
    lost = begun(tmp_path)[0]
    survivor = start(tmp_path, storage, FAKE_SECONDS="0.3")
    wait_for(lambda: len(begun(tmp_path)) > 1)
    doomed.kill()
    doomed.communicate()
    _, errors = survivor.communicate(timeout=240)
    assert survivor.returncode == 0, errors
    runs = begun(tmp_path)
    assert len(set(runs)) == 8
    assert {name for name in runs if runs.count(name) > 1} == {lost}
    assert runs.count(lost) == 2
    table = json.loads(run(tmp_path, storage, "--table", "--json").stdout)
    assert [len(row["seeds"]) for row in table] == [1] * 8


def test_a_failed_run_is_recorded_and_the_search_goes_on(tmp_path):
    journal = str(tmp_path / "journal.log")
    done = run(tmp_path, journal, *SMALL, "--weight-decays", "0.1", FAKE_FAILING_RATE="5e-5")
    assert done.returncode == 0, done.stderr
    assert "the loss is NaN at step 3" in done.stderr
    rows = json.loads(run(tmp_path, journal, "--table", "--json").stdout)
    assert [(row["learning_rate"], row["failed"], row["seeds"]) for row in rows] == [
        (1e-5, 0, [42]),
        (1e-5, 0, [42]),
        (5e-5, 1, []),
        (5e-5, 1, []),
    ]
    again = run(tmp_path, journal, *SMALL, "--weight-decays", "0.1")
    assert again.returncode == 0
    assert len(begun(tmp_path)) == 4


def test_the_best_command_trains_the_winner_with_its_seeds_and_options(tmp_path):
    journal = str(tmp_path / "journal.log")
    options = ("--weight-decays", "0.01", "--seeds", "1", "2", "--discard-weights", "--", "--epochs", "2")
    assert run(tmp_path, journal, *SMALL, *options).returncode == 0
    best = shlex.split(run(tmp_path, journal, "--best", "--launcher", "accelerate launch").stdout)
    assert best == [
        *("accelerate", "launch", "training/finetune.py", "--dataset", "d", "--config", "filtered"),
        *("--epochs", "2", "--model", "bertin", "--global-batch-size", "16", "--weight-decay", "0.01"),
        *("--learning-rate", "1e-05", "--seeds", "1", "2", "--output", str(tmp_path / "best")),
    ]
    assert not list(tmp_path.rglob("*.safetensors"))
    assert run(tmp_path, journal, "--plot", str(tmp_path / "grid.png")).returncode == 0
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")
    refused = run(tmp_path, journal, "--plot", str(tmp_path / "grid.jpg"))
    assert refused.returncode != 0
    assert "a name ending in .png, .svg, .pdf" in refused.stderr


def test_runs_of_another_precision_are_refused_and_given_back(tmp_path):
    journal = str(tmp_path / "journal.log")
    options = (*SMALL, "--weight-decays", "0.01")
    assert run(tmp_path, journal, *options[:-1], "0.1", FAKE_PRECISION="bf16").returncode == 0
    other = run(tmp_path, journal, *options)
    assert other.returncode != 0
    assert "a run in mixed precision 'no', finished ones in bf16" in other.stderr
    states = [a.state for a in GridStudy(journal, "lyricsim-grid").attempts()]
    assert (states.count("complete"), states.count("released")) == (4, 1)
    assert run(tmp_path, journal, *options, FAKE_PRECISION="bf16").returncode == 0
    best = run(tmp_path, journal, "--best", "--launcher", "accelerate launch --num_processes 2").stdout
    assert best.startswith(
        "accelerate launch --num_processes 2 --mixed_precision bf16 training/finetune.py --dataset d "
    )


@pytest.mark.parametrize(
    ("given", "found", "launcher"),
    [
        (None, {"no"}, "accelerate launch"),
        (None, {"bf16"}, "accelerate launch --mixed_precision bf16"),
        ("accelerate launch --mixed_precision=fp16", {"fp16"}, "accelerate launch --mixed_precision=fp16"),
        ("torchrun --nproc-per-node 2", {"bf16"}, "torchrun --nproc-per-node 2"),
    ],
)
def test_the_winner_is_started_as_the_search_was(given, found, launcher):
    assert shlex.join(grid_search.best_launcher(given, found)) == launcher


def test_a_model_is_one_model_by_whatever_name(tmp_path):
    journal = str(tmp_path / "journal.log")
    options = ("--dataset", "d", "--batch-sizes", "8", "--learning-rates", "1e-5", "--weight-decays", "0.1")
    for name in ("maria-base", "MarIA base", "PlanTL-GOB-ES/roberta-base-bne"):
        assert run(tmp_path, journal, *options, "--models", name).returncode == 0
        assert json.loads(run(tmp_path, journal, "--table", "--json", "--models", name).stdout)
    assert [a.run.model for a in GridStudy(journal, "lyricsim-grid").attempts()] == ["maria-base"]
    twice = run(tmp_path, journal, *options, "--models", "maria-base", "MarIA base")
    assert twice.returncode != 0
    assert "--models names maria-base twice" in twice.stderr


def test_a_stopped_worker_gives_its_run_back_and_ends_its_training(tmp_path):
    journal = str(tmp_path / "journal.log")
    worker = start(tmp_path, journal, "--weight-decays", "0.1", FAKE_SECONDS="600")
    wait_for(lambda: begun(tmp_path))
    worker.send_signal(signal.SIGTERM)
    _, errors = worker.communicate(timeout=240)
    assert worker.returncode != 0
    assert "the same command goes on" in errors
    assert not is_alive(training(tmp_path))
    assert [a.state for a in GridStudy(journal, "lyricsim-grid").attempts()].count("released") == 1
    assert run(tmp_path, journal, *SMALL, "--weight-decays", "0.1").returncode == 0
    assert len(begun(tmp_path)) == 5


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_launcher_that_knows_no_signals_leaves_no_training_behind_its_worker(tmp_path, number):
    launcher = shlex.join([sys.executable, str(FAKE_LAUNCHER), str(FAKE)])
    journal = str(tmp_path / "journal.log")
    worker = start(tmp_path, journal, "--launcher", launcher, FAKE_SECONDS="600")
    wait_for(lambda: begun(tmp_path))
    worker.send_signal(number)
    worker.communicate(timeout=240)
    wait_for(lambda: not is_alive(training(tmp_path)))


def worker_of(folder, text):
    return grid_search.Worker((sys.executable, "-c", text), folder, 0.01, False)


def test_a_run_whose_port_is_taken_is_given_back_and_the_worker_told(tmp_path):
    runs = grid_runs(["m"], points_of(), [1])[:1]
    study = GridStudy(str(tmp_path / "journal.log"), "grid")
    text = "import sys; sys.exit('port: 29500, name: EADDRINUSE\\n' + 20 * 'a line of the launcher\\n')"
    with pytest.raises(UserError, match="--main_process_port 0"):
        grid_search.work(study, runs, worker_of(tmp_path, text))
    assert [a.state for a in study.attempts()] == ["released"]
    assert study.claim(runs).run == runs[0]


def test_a_run_given_back_in_the_last_moment_is_still_made(tmp_path, monkeypatch):
    runs = grid_runs(["m"], points_of(), [1])[:1]
    leaving, staying = (GridStudy(str(tmp_path / "journal.log"), "grid") for _ in range(2))
    theirs = leaving.claim(runs)
    claim = staying.claim

    def claim_while_the_other_leaves(wanted):
        mine = claim(wanted)
        leaving.release(theirs)
        return mine

    monkeypatch.setattr(staying, "claim", claim_while_the_other_leaves)
    grid_search.work(staying, runs, worker_of(tmp_path, "raise SystemExit('made')"))
    assert [a.state for a in staying.attempts()] == ["released", "failed"]


def test_the_report_names_runs_that_were_given_up(tmp_path, monkeypatch, capsys):
    journal = str(tmp_path / "journal.log")
    runs = grid_runs(["m"], points_of(), [1])[:1]
    study = GridStudy(journal, "lyricsim-grid", most_attempts=1)
    study.claim(runs)
    study.claim(runs)
    later = time.monotonic() + 3600
    monkeypatch.setattr(study_storage, "time", SimpleNamespace(monotonic=lambda: later))
    assert study.claim(runs) is None
    grid_search.main([*command(tmp_path, journal, "--table", "--max-attempts", "1")[2:]])
    assert f"given up, since its workers died (--max-attempts): {runs[0].key}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--best",), "there is no search in"),
        (("--table",), "there is no search in"),
        ((*SMALL[:2], "--models", "maria-bse"), "did you mean maria-base"),
        ((*SMALL, "--learning-rates", "0"), "--learning-rates 0"),
        ((*SMALL, "--batch-sizes", "8", "0"), "--batch-sizes 0"),
        ((*SMALL, "--seeds", "-1"), "--seeds -1"),
        ((*SMALL, "--interval", "0"), "--interval 0"),
        ((*SMALL, "--grace", "1"), "--grace 1"),
        ((*SMALL, "--launcher", "no-such-program --fast"), "names no program"),
        ((), "--dataset is needed"),
    ],
)
def test_what_cannot_be_done_is_said_and_enters_no_run(tmp_path, monkeypatch, capsys, options, message):
    journal = tmp_path / "journal.log"
    with pytest.raises(SystemExit) as end:
        grid_search.main([*command(tmp_path, str(journal), *options)[2:]])
    assert message in f"{end.value.code}{capsys.readouterr().err}"
    assert not journal.exists() or GridStudy(str(journal), "lyricsim-grid").attempts() == []


@pytest.mark.parametrize("options", [("--best",), ("--plot", "x.png")])
def test_a_search_without_a_score_has_no_best_point(tmp_path, options):
    GridStudy(str(tmp_path / "journal.log"), "lyricsim-grid")
    with pytest.raises(SystemExit, match="no run has a development score"):
        grid_search.main(command(tmp_path, str(tmp_path / "journal.log"), *options)[2:])
