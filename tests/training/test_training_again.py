"""A model that is trained further knows what it saw before."""

import json
from pathlib import Path

import pytest
from tiny_families import write_pairs
from training_support import Family

from lyricsim_models.config import Recipe
from lyricsim_models.datafiles import read_splits
from lyricsim_models.job import Job
from lyricsim_models.provenance import read_seen, seen_pairs
from lyricsim_models.run import run
from lyricsim_models.workers import Workers
from lyricsim_tools.errors import UserError


def test_what_an_earlier_run_saw_is_refused_marked_and_handed_on(
    family: Family, workers: Workers, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = read_splits(str(write_pairs(tmp_path / "first.csv", {"train": 6})), None)
    second = read_splits(str(write_pairs(tmp_path / "second.csv", {"train": 6, "test": 4}, seed=1)), None)
    second["test"] = first["train"].take(range(4))
    # No id in common with the second data's training pairs.
    second["train"] = read_splits(str(write_pairs(tmp_path / "third.csv", {"train": 20}, seed=2)), None)[
        "train"
    ].take(range(6, 20))
    models = [str(family("bert")), str(tmp_path / "a")]

    def train(model: str, name: str, allow_seen: bool = False) -> dict[str, dict[str, object]]:
        data = first if name == "a" else second
        job = Job(model, "d", None, tmp_path / name, Recipe(max_steps=1), allow_seen=allow_seen)
        return run(job, data, workers)

    train(models[0], "a")
    assert "no validation split, so the last weights are kept" in capsys.readouterr().err
    with pytest.raises(UserError, match="4 of 4 pairs of the test split"):
        train(models[1], "b")
    assert train(models[1], "b", allow_seen=True)["test"]["seen_pairs"] == 4
    assert json.loads((tmp_path / "b" / "metrics.json").read_text())["test"]["seen_song_share"] == 1.0
    seen = read_seen(tmp_path / "b")
    assert seen is not None
    assert all(len(seen_pairs(data["train"], seen)) == len(data["train"]) for data in (first, second))
