"""The table of all baselines by every protocol: draws, their spread, and the figures that are made once."""

import importlib.util
import json

import pytest
from invented import invented_rows, write_rows
from support import REPOSITORY

from lyricsim_models.cross_validation import all_pairs
from lyricsim_models.datafiles import read_splits


@pytest.fixture
def run(run_script):
    return lambda *arguments: run_script("baseline_table", *arguments)


@pytest.fixture
def table(monkeypatch):
    monkeypatch.syspath_prepend(str(REPOSITORY / "training"))
    path = REPOSITORY / "training" / "baseline_table.py"
    specification = importlib.util.spec_from_file_location("baseline_table", path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def pairs(pairs_file):
    return all_pairs(read_splits(str(pairs_file), None))


def songs_of(ids):
    return {song for pair in ids for song in pair.split("_")}


def test_clean_draws_share_no_pair_and_song_disjoint_ones_no_song(table, pairs):
    for draws in (table.clean_draws(pairs, 3), table.song_disjoint_draws(pairs, 3)):
        assert len({tuple(test) for _, test in draws}) == 3
        assert all(test and not set(train) & set(test) for train, test in draws)
    assert all(songs_of(train) & songs_of(test) for train, test in table.clean_draws(pairs, 3))
    assert all(not songs_of(train) & songs_of(test) for train, test in table.song_disjoint_draws(pairs, 3))


def test_leaked_draws_train_on_their_test_pairs(table, pairs):
    for train, test in table.leaked_draws(pairs, 3):
        assert set(test) <= set(train)


def test_a_draw_is_the_same_each_time(table, pairs):
    for draw in (table.clean_draws, table.song_disjoint_draws, table.leaked_draws):
        assert draw(pairs, 2) == draw(pairs, 3)[:2]


def test_a_spread_is_the_sample_deviation_and_undefined_where_a_draw_is(table):
    assert table.spread([0.5, 0.7]) == {"mean": 0.6, "sd": pytest.approx(0.02**0.5), "draws": 2}
    assert table.spread([0.5, None, 0.7]) == {"mean": None, "sd": None, "draws": 3}


def test_the_command_measures_each_baseline_by_every_protocol(run, pairs_file, tmp_path):
    options = ("--only", "total-length", "song-identity", "--draws", "2", "--output", tmp_path / "t.json")
    done = run("--dataset", pairs_file, *options)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "t.json").read_text())
    assert found.keys() == {"total-length", "song-identity"}
    length = found["total-length"]
    assert (length["published"]["pairs"], length["blocks"]["pairs"]) == (24, 120)
    assert {length[name]["draws"] for name in ("clean", "song_disjoint", "leaked")} == {2}
    assert found["song-identity"]["song_disjoint"]["mean"] is None
    low, high = length["blocks"]["combined_score_ci"]
    assert low < length["blocks"]["combined_score"] < high
    shown = f"{100 * length['blocks']['combined_score']:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
    assert shown in done.stdout


@pytest.mark.parametrize("draws", ["0", "1"])
def test_fewer_than_two_draws_are_refused(run, pairs_file, draws):
    done = run("--dataset", pairs_file, "--draws", draws)
    assert done.returncode == 2
    assert f"--draws {draws}" in done.stderr


def test_data_without_a_test_split_are_refused(run, tmp_path):
    rows = [{**row, "split": "train"} for row in invented_rows()]
    done = run("--dataset", write_rows(tmp_path / "pairs.csv", rows))
    assert done.returncode == 2
    assert "a test split beside train" in done.stderr
