"""Processes as threads: work is shared only where all have the same, and fails everywhere or nowhere."""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from invented import invented_rows, write_rows

from lyricsim_models.pair_scorers import OpenScorer
from lyricsim_models.prediction import PredictionJob, predict_file
from lyricsim_models.team import Alone, Team, everywhere, refuse_disagreement
from lyricsim_tools.errors import UserError

WORLD = 2


class Meeting:
    """Where the threads of a team exchange what they have."""

    def __init__(self) -> None:
        self.barrier = threading.Barrier(WORLD, timeout=30)
        self.items: list[list[Any]] = [[] for _ in range(WORLD)]


class Member:
    """One thread of a team."""

    world = WORLD

    def __init__(self, rank: int, meeting: Meeting) -> None:
        self.rank, self.is_main, self._meeting = rank, rank == 0, meeting

    def gather(self, items: list[Any]) -> list[Any]:
        self._meeting.items[self.rank] = list(items)
        self._meeting.barrier.wait()
        found = [item for own in self._meeting.items for item in own]
        self._meeting.barrier.wait()
        return found

    def together(self, action: Callable[[], Any]) -> None:
        failure = None
        try:
            action()
        except UserError as error:
            failure = error
        failures = [error for error in self.gather([failure]) if error]
        if failures:
            raise failure or UserError("another process failed", "all to succeed", "see there")

    def close(self) -> None:
        """Threads end by themselves."""


def played(act: Callable[[Member], Any]) -> list[Any]:
    """What each thread of a team returned, or the error that it met."""
    meeting, found = Meeting(), [None] * WORLD

    def run(rank: int) -> None:
        try:
            found[rank] = act(Member(rank, meeting))
        except (UserError, threading.BrokenBarrierError) as error:
            found[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(WORLD)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_what_differs_between_processes_is_named_in_all_of_them() -> None:
    found = played(lambda m: refuse_disagreement(m, {"input": "same", "progress": m.rank}))
    assert all("do not have the same progress" in str(error) for error in found)
    assert played(lambda m: refuse_disagreement(m, {"input": "same"})) == [None, None]
    lacking = played(lambda m: refuse_disagreement(m, {"epochs": 3} if m.rank else {}))
    assert all("do not have the same epochs" in str(error) for error in lacking)


def test_an_action_gives_its_value_everywhere_or_fails_everywhere() -> None:
    def refused(rank: int) -> int:
        if rank:
            raise UserError("no such file", "a file", "name another")
        return rank

    assert played(lambda m: everywhere(m, lambda: m.rank)) == [0, 1]
    assert all(
        isinstance(found, UserError) for found in played(lambda m: everywhere(m, lambda: refused(m.rank)))
    )


def scorer(member: Team) -> OpenScorer:
    """Scores a pair by the length of its first lyric."""
    return OpenScorer(
        lambda first, _: np.array([float(len(text)) for text in first]), {"model": "m"}, team=member
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "pairs.csv", invented_rows(6))


def job(source: Path, folder: Path, **options: Any) -> PredictionJob:
    folder.mkdir(exist_ok=True)
    return PredictionJob(source, folder / "scores.csv", window=4, **options)


def test_processes_that_share_one_output_write_what_one_process_writes(source: Path, tmp_path: Path) -> None:
    played(lambda m: predict_file(job(source, tmp_path / "shared"), scorer(m)))
    predict_file(job(source, tmp_path / "alone"), scorer(Alone()))
    assert (tmp_path / "shared" / "scores.csv").read_bytes() == (
        tmp_path / "alone" / "scores.csv"
    ).read_bytes()


def test_machines_with_an_output_each_do_not_go_on_from_different_places(
    source: Path, tmp_path: Path
) -> None:
    folders = [tmp_path / str(rank) for rank in range(WORLD)]
    begun = scorer_that_stops_after_a_window()
    with pytest.raises(KeyboardInterrupt):
        predict_file(job(source, folders[0]), begun)
    assert (folders[0] / ".scores.csv.progress.json").exists()
    found = played(lambda m: predict_file(job(source, folders[m.rank], resume=True), scorer(m)))
    assert all("do not have the same progress of the output" in str(error) for error in found)
    assert not (folders[0] / "scores.csv").exists()
    assert not (folders[1] / "scores.csv").exists()


def scorer_that_stops_after_a_window() -> OpenScorer:
    """Is interrupted when it is given a second window."""
    windows = iter([True])

    def score(first: Any, _: Any) -> np.ndarray:
        if not next(windows, False):
            raise KeyboardInterrupt
        return np.array([float(len(text)) for text in first])

    return OpenScorer(score, {"model": "m"})


def test_machines_with_an_input_each_are_refused(source: Path, tmp_path: Path) -> None:
    other = write_rows(tmp_path / "other.csv", invented_rows(6, seed=5))
    found = played(lambda m: predict_file(job(other if m.rank else source, tmp_path / "out"), scorer(m)))
    assert all("do not have the same input, model or options" in str(error) for error in found)
    assert not (tmp_path / "out" / "scores.csv").exists()


def test_processes_on_xla_exchange_objects_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from accelerate.utils import DistributedType

    from lyricsim_models.workers import Workers

    names = ("torch_xla", "torch_xla.core", "torch_xla.core.xla_model")
    package, core, xla_model = (ModuleType(name) for name in names)
    package.core, core.xla_model = core, xla_model
    first = json.dumps([{"rank": 0}]).encode()
    xla_model.rendezvous = lambda tag, payload: [first, payload]
    for name, module in zip(names, (package, core, xla_model), strict=True):
        monkeypatch.setitem(sys.modules, name, module)
    second = Workers.__new__(Workers)
    second._accelerator = SimpleNamespace(
        num_processes=2, process_index=1, distributed_type=DistributedType.XLA
    )
    assert second.gather([{"rank": 1}, None]) == [{"rank": 0}, {"rank": 1}, None]
