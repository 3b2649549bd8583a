"""Runs as child processes: what they leave behind, whatever ends them."""

import signal
import subprocess
import sys

import psutil
import pytest

from lyricsim_models import guard
from lyricsim_models.subruns import lost_its_port, run_logged


def python(text):
    return [sys.executable, "-c", text]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("pass", 0),
        ("raise SystemExit(3)", 3),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
    ],
)
def test_a_runs_exit_status_is_known(tmp_path, text, status):
    assert run_logged(python(text), tmp_path / "log") == status


def test_what_a_run_says_is_in_its_log_behind_its_command(tmp_path):
    run_logged(
        python("import sys; print('out', flush=True); print('err', file=sys.stderr)"), tmp_path / "log"
    )
    command, *words = (tmp_path / "log").read_text().splitlines()
    assert command.startswith(sys.executable)
    assert words == ["out", "err"]


def test_a_setpriv_of_another_kind_harms_no_run(tmp_path, monkeypatch):
    other = tmp_path / "setpriv"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert run_logged(python("pass"), tmp_path / "log") == 0


def test_what_a_dead_launcher_left_running_is_ended(tmp_path):
    sleeper = "import time; time.sleep(600)"
    launcher = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {sleeper!r}]).pid)"
    assert run_logged(python(launcher), tmp_path / "log") == 0
    assert not psutil.pid_exists(int((tmp_path / "log").read_text().splitlines()[-1]))


def test_a_run_that_does_not_end_when_asked_is_killed(tmp_path):
    deaf = (
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
    )
    with subprocess.Popen(python(deaf), stdout=subprocess.PIPE, process_group=0) as run:
        assert run.stdout.readline() == b"deaf\n"
        guard.end_group(run, patience=0.5)
        assert run.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("status", "words", "is_lost"),
    [
        (
            1,
            "port: 29500, useIpv6: false, code: -98, name: EADDRINUSE",
            True,
        ),
        (1, "ConnectionError: Tried to launch distributed communication on port `29500`, but", True),
        (1, "the loss is NaN at step 3", False),
        (0, "Address already in use, taking another", False),
    ],
)
def test_a_taken_port_is_told_from_a_failure_of_the_run(tmp_path, status, words, is_lost):
    (tmp_path / "log").write_text(f"command\n{words}\nlast line\n")
    assert lost_its_port(status, tmp_path / "log") is is_lost
