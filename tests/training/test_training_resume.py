"""What a run and its continuation must have in common: precision, kind of checkpoint, storage."""

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from training_support import Family, start

from lyricsim_models import run as run_module
from lyricsim_models.checkpoints import latest
from lyricsim_models.config import Recipe
from lyricsim_models.job import Job
from lyricsim_models.pair_table import PairTable
from lyricsim_models.run import run
from lyricsim_tools.errors import UserError

APART = Path(__file__).with_name("launched_apart.py")


def stop(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.fixture
def job(
    family: Family,
    splits: Mapping[str, PairTable],
    workers: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Job:
    """The continuation of a run that was stopped after its last checkpoint."""
    first = Job(str(family("bert")), "pairs.csv", None, tmp_path / "run", Recipe(max_steps=2))
    with monkeypatch.context() as patch:
        patch.setattr(run_module, "finish", stop)
        with pytest.raises(KeyboardInterrupt):
            run(first, splits, workers)
    return dataclasses.replace(first, resume=True)


def change(path: Path, **values: object) -> None:
    """Set keys of a JSON file; None removes one."""
    changed = {**json.loads(path.read_text()), **values}
    path.write_text(json.dumps({key: value for key, value in changed.items() if value is not None}))


def test_a_run_begun_in_another_precision_is_not_continued(
    job: Job, splits: Mapping[str, PairTable], workers: Any
) -> None:
    path = job.output / "run.json"
    settings = json.loads(path.read_text())["settings"]
    assert settings.pop("mixed_precision") == "no"
    change(path, settings={**settings, "mixed_precision": "bf16"})
    with pytest.raises(UserError, match="mixed_precision was 'bf16', is 'no'"):
        run(job, splits, workers)
    change(path, settings=settings)
    assert run(job, splits, workers)["test"]["pairs"] == 9


def test_a_checkpoint_of_another_kind_of_topology_is_refused_by_both_names(
    job: Job, splits: Mapping[str, PairTable], workers: Any
) -> None:
    checkpoint = latest(job.output)
    assert checkpoint is not None
    path = checkpoint / "position.json"
    assert json.loads(path.read_text())["topology"] == "NO"
    for topology in ("FSDP", "DEEPSPEED"):
        change(path, topology=topology)
        with pytest.raises(UserError, match=f"checkpoint of topology {topology}, resumed under NO"):
            run(job, splits, workers)
    change(path, topology=None)
    assert run(job, splits, workers)["test"]["pairs"] == 9


def test_a_checkpoint_of_several_plain_processes_is_continued_by_one(
    job: Job, splits: Mapping[str, PairTable], workers: Any
) -> None:
    checkpoint = latest(job.output)
    assert checkpoint is not None
    change(checkpoint / "position.json", topology="MULTI_GPU")
    assert run(job, splits, workers)["test"]["pairs"] == 9


@pytest.mark.slow
def test_machines_with_an_output_each_are_refused_before_training(
    family: Family, pairs_file: Path, tmp_path: Path
) -> None:
    outputs = [tmp_path / str(rank) / "run" for rank in range(2)]
    for output in outputs:
        output.mkdir(parents=True)
    arguments = ["--model", family("bert"), "--dataset", pairs_file, "--output", "run", "--max-steps", "1"]
    for _ in range(2):
        done = start(APART, [tmp_path, *arguments], processes=2)
        assert done.returncode != 0
        assert "processes that do not have the same --output" in done.stderr
        assert not list(tmp_path.rglob("metrics.jsonl"))
        # The second time, the other machine has a run of the same settings from an earlier launch.
        (outputs[1] / "run.json").write_bytes((outputs[0] / "run.json").read_bytes())
