import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lyricsim_models.grid import GridRun, grid_runs, points_of
from lyricsim_models.study import GridStudy
from lyricsim_tools.errors import UserError

RUNS = grid_runs(["m"], points_of(), [1])


@pytest.fixture(params=["journal", "database"])
def address(request, tmp_path):
    return str(tmp_path / "journal.log") if request.param == "journal" else f"sqlite:///{tmp_path}/grid.db"


def open_study(address, **options):
    return GridStudy(address, "grid", **{"interval": 1, "grace": 2, **options})


def take_all(address):
    study = open_study(address, grace=600)
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


def test_a_silent_workers_run_goes_to_another_and_its_late_result_is_left_aside(address):
    dead, living = open_study(address), open_study(address)
    lost = dead.claim(RUNS[:1])
    assert living.claim(RUNS[:1]) is None
    deadline = time.monotonic() + 60
    while (claim := living.claim(RUNS[:1])) is None:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert claim.run == lost.run
    assert not dead.complete(lost, 0.9, None, "folder")
    assert living.complete(claim, 0.5, None, "folder")
    assert [a.state for a in living.attempts()] == ["dead", "complete"]


def test_a_worker_that_beats_keeps_its_run(address):
    slow, other = open_study(address), open_study(address)
    claim = slow.claim(RUNS[:1])
    with slow.beating(claim):
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            assert other.claim(RUNS[:1]) is None
            time.sleep(0.2)
    assert slow.complete(claim, 0.5, None, "folder")


def test_a_released_run_is_taken_at_once(address):
    study = open_study(address)
    claim = study.claim(RUNS[:1])
    study.release(claim)
    assert open_study(address).claim(RUNS[:1]).run == claim.run


def test_a_run_that_kills_its_workers_is_given_up(address):
    study = open_study(address, most_attempts=2)
    for _ in range(2):
        study.release(study.claim(RUNS[:1]))
    assert study.claim(RUNS[:1]) is None


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


@pytest.mark.parametrize("address", ["sqlite:////no/such/folder/grid.db", "nonsense://user:secret@host/x"])
def test_a_storage_that_cannot_be_opened_is_refused_without_its_password(address):
    with pytest.raises(UserError, match="cannot be opened") as error:
        open_study(address)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("content", ["garbage\n", "{}\n", None])
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


def test_a_study_of_something_else_is_refused(address):
    study = open_study(address)
    study._study.enqueue_trial({"x": 1})
    with pytest.raises(UserError, match="no grid search of this project"):
        study.attempts()
