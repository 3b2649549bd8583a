import errno
import json
import os
import sys

import pytest
from song_files import read_csv, song_rows, write_csv

from lyricsim_annotation.cli import main
from lyricsim_annotation.selection_folder import read_selection


@pytest.fixture
def songs(tmp_path):
    return write_csv(tmp_path / "songs.csv", song_rows())


@pytest.fixture
def select(songs, tmp_path, capsys):
    """Run the command; its exit status, standard output and standard error."""

    def run(*arguments, pairs=50, catalogue=songs, scorer="lexical", output=tmp_path / "chosen"):
        fixed = ["--catalogue", catalogue, "--scorer", scorer, "--pairs", pairs, "--output", output]
        status = main(["select", *map(str, [*fixed, *arguments])])
        return status, *capsys.readouterr()

    return run


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "selection.json"}


def pair_names(folder):
    return {frozenset((row["song_a"], row["song_b"])) for row in read_csv(folder / "pairs.csv")}


def test_a_selection_holds_pairs_songs_record_and_plot_and_raters_can_work_on_it(select, tmp_path):
    assert select()[0] == 0
    folder = tmp_path / "chosen"
    names = {"pairs.csv", "songs.jsonl", "selection.json", "selection.png", "selection.svg"}
    assert {path.name for path in folder.iterdir()} == names | {".lyricsim-files.json"}
    selection = read_selection(folder)
    rows = {row["id"]: row for row in song_rows()}
    assert len(selection.pairs) == 50
    assert all(song.lyric == rows[song.song_id]["lyric"] for song in selection.songs.values())
    assert all(song.title == rows[song.song_id]["title"] for song in selection.songs.values())
    assert all(0 <= pair.predicted <= 5 for pair in selection.pairs)
    record = json.loads((folder / "selection.json").read_text("utf-8"))
    assert record["candidates"]["found_by"] == "all pairs"
    assert record["candidates"]["scored"] == 40 * 39 // 2
    assert sum(row["chosen"] for row in record["chosen"]["bins"]) == 50
    assert record["scorer"]["model"] == "lexical"


def test_the_same_input_and_seed_give_the_same_folder_whatever_the_order_of_rows(select, tmp_path):
    shuffled = write_csv(tmp_path / "shuffled.csv", song_rows()[::-1])
    for options in ([], ["--candidates", 150]):
        folders = [tmp_path / f"{name}{len(options)}" for name in "abc"]
        assert select(*options, output=folders[0])[0] == 0
        assert select(*options, output=folders[1], catalogue=shuffled)[0] == 0
        assert select(*options, "--seed", 1, output=folders[2])[0] == 0
        assert contents(folders[0]) == contents(folders[1])
        assert pair_names(folders[0]) != pair_names(folders[2])


def test_rated_and_earlier_chosen_pairs_are_not_chosen_again(select, songs, tmp_path):
    first, second, third = (tmp_path / name for name in ("first", "second", "third"))
    select(pairs=300, output=first)
    turned = [{"song_a": row["song_b"], "song_b": row["song_a"]} for row in read_csv(first / "pairs.csv")]
    file = write_csv(tmp_path / "rated.csv", turned)
    select("--rated", file, pairs=300, output=second)
    assert not pair_names(first) & pair_names(second)
    assert select("--rated", first, "--rated", second, pairs=180, output=third)[0] == 0
    assert len(pair_names(first) | pair_names(second) | pair_names(third)) == 780
    record = json.loads((third / "selection.json").read_text("utf-8"))
    assert record["candidates"]["excluded_as_rated"] == 600
    status, _, errors = select("--rated", first, "--rated", second, pairs=181, output=tmp_path / "fourth")
    assert status == 2
    assert "181 pairs are asked for, and there are 180" in errors
    assert not (tmp_path / "fourth").exists()


def test_a_budget_below_all_pairs_is_kept_and_what_it_misses_is_said(select, tmp_path):
    assert select("--candidates", 200)[0] == 0
    found = json.loads((tmp_path / "chosen" / "selection.json").read_text("utf-8"))["candidates"]
    assert (found["found_by"], found["recall_model"], found["scored"]) == ("neighbours", "words", 200)
    assert "missed" in found["missed"]


def test_json_is_one_document_and_the_table_says_where_pairs_come_from(select, tmp_path):
    _, printed, _ = select("--json")
    assert json.loads(printed) == json.loads((tmp_path / "chosen" / "selection.json").read_text("utf-8"))
    _, printed, _ = select("--overwrite")
    assert "Pairs by predicted score" in printed
    assert "excluded: rated before" in printed


def test_an_earlier_selection_is_replaced_only_when_asked(select, tmp_path):
    select()
    before = contents(tmp_path / "chosen")
    status, _, errors = select(pairs=60)
    assert (status, contents(tmp_path / "chosen")) == (2, before)
    assert "--overwrite" in errors
    assert select("--overwrite", pairs=60)[0] == 0
    assert len(read_csv(tmp_path / "chosen" / "pairs.csv")) == 60


def test_a_folder_with_files_of_others_is_never_replaced(select, tmp_path):
    select()
    (tmp_path / "chosen" / "ratings.sqlite").write_text("x")
    status, _, errors = select("--overwrite")
    assert status == 2
    assert "ratings.sqlite" in errors


def test_an_output_that_cannot_be_made_is_told_before_anything_is_scored(select, songs, monkeypatch):
    monkeypatch.setattr("lyricsim_annotation.select_job.choose_pairs", None)
    status, _, errors = select(output=songs / "chosen")
    assert status == 2
    assert "a file cannot be read or written" in errors
    assert "File exists" in errors


def test_a_full_disk_is_told(select, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("lyricsim_annotation.select_job.write_text", full)
    status, _, errors = select()
    assert status == 2
    assert "No space left on device" in errors
    assert not (tmp_path / "chosen").exists()


def test_without_matplotlib_nothing_is_written_and_the_package_is_named(select, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, _, errors = select()
    assert status == 2
    assert "pip install 'lyricsim[plots]'" in errors
    assert not (tmp_path / "chosen").exists()


def test_several_launched_processes_are_refused(select, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    status, _, errors = select()
    assert status == 2
    assert "a selection in 2 processes" in errors


def test_an_unknown_scorer_is_refused_with_what_there_is(select):
    status, _, errors = select(scorer="lexicall")
    assert status == 2
    assert "no model called 'lexicall'" in errors


@pytest.mark.parametrize("option", ["--pairs", "--bins", "--candidates", "--batch-size", "--max-length"])
def test_a_number_below_one_is_refused(select, option, capsys):
    with pytest.raises(SystemExit, match="2"):
        select(option, 0)
    assert f"{option}: '0' is no whole number of at least 1" in capsys.readouterr().err


def test_a_dataset_as_catalogue_is_a_reason_to_name_what_was_rated(select, tmp_path):
    (tmp_path / "folder").mkdir()
    for catalogue in (tmp_path / "folder", "owner/absent"):
        status, _, errors = select(catalogue=catalogue)
        assert status == 2
        assert f"--rated {catalogue} leaves them out" in errors
