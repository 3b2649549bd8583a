import contextlib
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from lyricsim_models import study as study_module
from lyricsim_models import study_storage
from lyricsim_models.grid import GridRun, grid_runs, points_of
from lyricsim_models.study import GridStudy
from lyricsim_tools.errors import UserError

RUNS = grid_runs(["m"], points_of(), [1])


@pytest.fixture(params=["journal", "database"])
def address(request, tmp_path):
    return str(tmp_path / "journal.log") if request.param == "journal" else f"sqlite:///{tmp_path}/grid.db"


def open_study(address, **options):
    return GridStudy(address, "grid", **{"interval": 1, "grace": 600, **options})


@pytest.fixture
def let_an_hour_pass(address, tmp_path, monkeypatch):
    """For what tells the dead from the living, and nothing else: no test waits, and none is too slow."""
    hours = 0
    real = time.monotonic
    monkeypatch.setattr(study_storage, "time", SimpleNamespace(monotonic=lambda: real() + 3600 * hours))

    def let_pass():
        nonlocal hours
        hours += 1
        if "sqlite" in address:
            with contextlib.closing(sqlite3.connect(tmp_path / "grid.db")) as database, database:
                database.execute("UPDATE trial_heartbeats SET heartbeat = datetime(heartbeat, '-1 hour')")

    return let_pass


def take_all(address):
    study = open_study(address)
    taken = []
    while claim := study.claim(RUNS[:12]):
        taken.append(claim)
    return taken


def test_many_workers_at_once_claim_every_run_exactly_once(address):
    first = open_study(address)
    first.release(first.claim(RUNS[:12]))
    with ThreadPoolExecutor(3) as workers:
        taken = [claim for claims in workers.map(take_all, [address] * 3) for claim in claims]
    assert sorted(claim.run.key for claim in taken) == sorted(run.key for run in RUNS[:12])


def test_scores_and_failures_are_kept_and_nothing_is_run_again(address):
    study = open_study(address)
    first, second = study.claim(RUNS[:2]), study.claim(RUNS[:2])
    assert study.complete(first, 0.5, 0.4, "folder")
    assert study.fail(second, "out of memory")
    assert study.claim(RUNS[:2]) is None
    again = open_study(address).attempts()
    assert [(a.state, a.development, a.test, a.failure) for a in again] == [
        ("complete", 0.5, 0.4, ""),
        ("failed", None, None, "out of memory"),
    ]


def test_a_silent_workers_run_goes_to_another_and_its_late_result_is_left_aside(address, let_an_hour_pass):
    dead, living = open_study(address), open_study(address)
    lost = dead.claim(RUNS[:1])
    assert living.claim(RUNS[:1]) is None
    let_an_hour_pass()
    claim = living.claim(RUNS[:1])
    assert claim.run == lost.run
    assert not dead.complete(lost, 0.9, None, "folder")
    assert living.complete(claim, 0.5, None, "folder")
    assert [a.state for a in living.attempts()] == ["dead", "complete"]


@pytest.mark.parametrize("failures", [0, 1])
def test_a_worker_that_beats_keeps_its_run_also_if_a_beat_fails(address, let_an_hour_pass, failures):
    slow, other = open_study(address), open_study(address)
    claim = slow.claim(RUNS[:1])
    assert other.claim(RUNS[:1]) is None
    let_an_hour_pass()
    failing, has_beaten = [RuntimeError("the server is gone")] * failures, threading.Event()
    beat = slow._liveness.beat

    def beat_or_fail(trial_id):
        if failing:
            raise failing.pop()
        beat(trial_id)
        has_beaten.set()

    slow._liveness.beat = beat_or_fail
    with slow.beating(claim):
        assert has_beaten.wait(60)
        assert other.claim(RUNS[:1]) is None
    assert slow.complete(claim, 0.5, None, "folder")


def failing_calls(function, failures, is_written):
    """The function, whose first calls fail: before or after they have done what they should."""
    left = [ConnectionError("the server is gone")] * failures

    def call(*arguments):
        result = function(*arguments) if is_written or not left else None
        if left:
            raise left.pop()
        return result

    return call


@pytest.mark.parametrize("is_written", [False, True])
@pytest.mark.parametrize(("failures", "is_kept"), [(3, True), (4, False)])
def test_scores_are_told_again_when_the_storage_fails(address, monkeypatch, failures, is_kept, is_written):
    monkeypatch.setattr(study_module, "_PAUSES", (0.0, 0.0, 0.0))
    study = open_study(address)
    claim = study.claim(RUNS[:1])
    storage = study._storage
    monkeypatch.setattr(
        storage, "set_trial_user_attr", failing_calls(storage.set_trial_user_attr, failures, is_written)
    )
    if is_kept:
        assert study.complete(claim, 0.5, None, "folder")
        assert [a.state for a in open_study(address).attempts()] == ["complete"]
    else:
        with pytest.raises(ConnectionError):
            study.complete(claim, 0.5, None, "folder")


def test_scores_that_were_written_though_it_seemed_not_are_not_told_twice(address, monkeypatch):
    monkeypatch.setattr(study_module, "_PAUSES", (0.0,))
    study = open_study(address)
    claim = study.claim(RUNS[:1])
    monkeypatch.setattr(study._study, "tell", failing_calls(study._study.tell, 1, is_written=True))
    assert study.complete(claim, 0.5, None, "folder")
    assert [a.state for a in study.attempts()] == ["complete"]


def test_a_released_run_is_taken_at_once_however_often(address):
    study = open_study(address, most_attempts=2)
    for _ in range(4):
        study.release(study.claim(RUNS[:1]))
    assert open_study(address, most_attempts=2).claim(RUNS[:1]).run == RUNS[0]
    assert [a.state for a in study.attempts()] == ["released"] * 4 + ["running"]


def test_a_run_that_kills_its_workers_is_given_up(address, let_an_hour_pass):
    study = open_study(address, most_attempts=2)
    for _ in range(2):
        assert study.claim(RUNS[:1])
        assert study.claim(RUNS[:1]) is None
        let_an_hour_pass()
    assert study.claim(RUNS[:1]) is None
    assert [a.state for a in study.attempts()] == ["dead", "dead"]
    assert study.is_over(RUNS[:1], study.attempts())


def test_more_seeds_and_models_may_join_a_study(address):
    study = open_study(address)
    study.complete(study.claim(RUNS[:1]), 0.5, None, "folder")
    later = GridRun("another", RUNS[0].point, 7)
    assert study.claim([RUNS[0], later]).run == later


def test_workers_must_agree_on_what_is_searched(address):
    open_study(address).agree_on({"options": ["--dataset", "lyricsim"]})
    open_study(address).agree_on({"options": ["--dataset", "lyricsim"]})
    with pytest.raises(UserError, match="begun with another options"):
        open_study(address).agree_on({"options": ["--dataset", "mine"]})


def test_of_two_workers_that_begin_at_once_with_other_options_one_is_refused(address, monkeypatch):
    early, late = open_study(address), open_study(address)
    add = early._charter.add_trial

    def add_too_late(trial):
        late.agree_on({"options": ["--dataset", "mine"]})
        add(trial)

    monkeypatch.setattr(early._charter, "add_trial", add_too_late)
    with pytest.raises(UserError, match="begun with another options"):
        early.agree_on({"options": ["--dataset", "lyricsim"]})
    assert open_study(address).search() == {"options": ["--dataset", "mine"]}


@pytest.mark.parametrize("address", ["sqlite:////no/such/folder/grid.db", "nonsense://user:secret@host/x"])
def test_a_storage_that_cannot_be_opened_is_refused_without_its_password(address):
    with pytest.raises(UserError, match="cannot be opened") as error:
        open_study(address)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("content", ["garbage\n", "garbage", "{}\n", None])
def test_a_file_that_is_no_journal_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "journal.log"
    path.write_text(content) if content else path.mkdir()
    with pytest.raises(UserError, match="cannot be opened"):
        open_study(str(path))
    assert path.is_dir() or path.read_text() == content


def test_a_journal_on_a_path_with_blanks_is_shared_as_any_other(tmp_path):
    address = str(tmp_path / "a folder" / "the journal.log")
    study = open_study(address)
    study.complete(study.claim(RUNS[:1]), 0.5, None, "folder")
    assert [a.state for a in open_study(address).attempts()] == ["complete"]


@pytest.mark.timeout(120)
def test_a_dead_workers_lock_is_taken_also_where_the_journals_path_is_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dead, living = (open_study("grid/journal.log", grace=6) for _ in range(2))
    dead._storage._backend._lock.acquire()
    assert living.claim(RUNS[:1])


@pytest.mark.parametrize("is_opened_again", [True, False])
def test_a_line_torn_by_a_full_disk_costs_no_other(tmp_path, is_opened_again):
    path = tmp_path / "journal.log"
    study = open_study(str(path))
    study.complete(study.claim(RUNS), 0.5, None, "folder")
    with path.open("ab") as stream:
        stream.write(b'{"op_code":9,"wor')
    if is_opened_again:
        study = open_study(str(path))
    for _ in range(2):
        assert study.complete(study.claim(RUNS), 0.5, None, "folder")
    assert [a.state for a in open_study(str(path)).attempts()].count("complete") == 3


@pytest.mark.parametrize("content", [b"", b'{"op_co', b'{"op_code":0,"wor'])
def test_a_journal_torn_in_its_first_line_begins_anew(tmp_path, content):
    (tmp_path / "journal.log").write_bytes(content)
    assert open_study(str(tmp_path / "journal.log")).claim(RUNS)


def test_a_study_of_something_else_is_refused(address):
    study = open_study(address)
    study._study.enqueue_trial({"x": 1})
    with pytest.raises(UserError, match="no grid search of this project"):
        study.attempts()
