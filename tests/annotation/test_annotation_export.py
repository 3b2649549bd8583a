"""From ratings to upstream's raw files: complete pairs, and a word on all others."""

import json
import tempfile
from pathlib import Path

import pytest
from campaign_files import new_store, rate, sample_folder, song, write_folder
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_annotation.cli import main
from lyricsim_annotation.database import open_campaign
from lyricsim_annotation.export import UNKNOWN, export
from lyricsim_annotation.records import Verdict, is_song_id
from lyricsim_annotation.selection_folder import read_selection
from lyricsim_annotation.store import Store
from lyricsim_dataset.annotations import read_tables
from lyricsim_dataset.delimited import read_delimited
from lyricsim_dataset.raw_format import ratings_text
from lyricsim_dataset.records import Rating
from lyricsim_dataset.sample_rule import verses
from lyricsim_dataset.sources import CAMPAIGN_FILE, RATINGS_FILE, REFERENCE_FILE, local_tree
from lyricsim_tools.errors import UserError


def rated(tmp_path, ratings, pairs=4, raters=("ana", "berta", "carla"), wanted=None):
    """A campaign in which rater r gives ``ratings[r - 1]`` to the pairs as they come; None skips."""
    store = new_store(tmp_path, pairs, raters, wanted=wanted)
    for rater, theirs in enumerate(ratings, start=1):
        for number, rating in enumerate(theirs):
            verdict = Verdict(rating) if rating is not None else Verdict(reason="text", note="n")
            store.answer(rater, store.current(rater).pair_id, f"{rater}-{number}", verdict)
    store.close()
    return tmp_path / "chosen", tmp_path / "ratings.sqlite", tmp_path / "source"


def test_complete_pairs_are_read_back_exactly_and_the_others_are_named(tmp_path):
    folder, database, output = rated(tmp_path, [(0, 1, 2, 3), (0, 1, 2), (0, 1, None)])
    summary = export(folder, database, output)
    tables = read_tables(local_tree(output))
    assert [pair.ratings for pair in tables.pairs] == [(0, 0, 0), (1, 1, 1)]
    by_id = {s.song_id: s for s in verses()}
    for one in tables.songs:
        assert one.lyrics == one.lyrics_as_annotated == by_id[one.song_id].lyrics
        assert (one.artist, one.title) == (by_id[one.song_id].artist, by_id[one.song_id].title)
    ids = [pair.pair_id for pair in read_selection(folder).pairs]
    assert summary["left_out"] == [
        {"pair_id": ids[2], "ratings": 2, "skipped": 1},
        {"pair_id": ids[3], "ratings": 1, "skipped": 0},
    ]
    assert (summary["pairs"], summary["ratings"], summary["ratings_left_out"]) == (2, 6, 3)
    assert summary["pairs_kept_by_the_rule"] == 2


def test_the_raw_file_has_upstreams_quirks(tmp_path):
    output = rated(tmp_path, [(5,), (4,), (5,)])[2]
    export(tmp_path / "chosen", tmp_path / "ratings.sqlite", output)
    content = (output / RATINGS_FILE).read_bytes()
    assert content.startswith(b"\xef\xbb\xbfannotator_id,sim_rating,id1,id2\r\n")
    assert b",5, 9001, 9018\r\n" in content


def test_names_of_raters_never_leave_the_database(tmp_path):
    folder, database, output = rated(tmp_path, [(1,), (2,), (1,)], raters=("Ana Pérez", "Berta", "Carla"))
    export(folder, database, output)
    written = "".join(path.read_text("utf-8") for path in output.rglob("*") if path.is_file())
    assert "Ana" not in written
    assert "Berta" not in written
    name = json.loads((output / CAMPAIGN_FILE).read_text())["campaign"].removeprefix("annotation-")
    annotators = {rating.annotator for rating in read_tables(local_tree(output)).ratings}
    assert annotators == {f"{name}-{number}" for number in (1, 2, 3)}


def test_an_undone_rating_is_not_exported(tmp_path):
    folder, database, output = rated(tmp_path, [(1, 1), (1, 1), (1, 1)])
    selection = read_selection(folder)
    store = Store(database, open_campaign(database, selection), [p.pair_id for p in selection.pairs])
    store.undo(3, store.current(3).last.event, "u")
    store.close()
    assert export(folder, database, output)["pairs"] == 1


def test_the_same_ratings_give_the_same_bytes(tmp_path):
    folder, database, output = rated(tmp_path, [(1,), (2,), (1,)])
    export(folder, database, output)
    first = {path.name: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    export(folder, database, output)
    assert {path.name: path.read_bytes() for path in output.rglob("*") if path.is_file()} == first


def test_songs_without_artist_or_title_get_a_placeholder_and_are_counted(tmp_path):
    folder = write_folder(tmp_path / "chosen", [song("1", title=""), song("2", artist=""), song("3")], [])
    write_folder(folder, [song("1", title=""), song("2", artist=""), song("3")], [("1", "2")])
    selection = read_selection(folder)
    database = tmp_path / "ratings.sqlite"
    store = Store(database, open_campaign(database, selection), ["1_2"])
    store.invite(["a", "b", "c"])
    for rater in (1, 2, 3):
        rate(store, rater, 4)
    store.close()
    summary = export(folder, database, tmp_path / "source")
    assert summary["songs_without_artist_or_title"] == ["1", "2"]
    songs = read_tables(local_tree(tmp_path / "source")).songs
    assert [(s.song_id, s.title, s.artist) for s in songs] == [
        ("1", UNKNOWN, "Artista"),
        ("2", "Título", UNKNOWN),
    ]


def test_pairs_with_more_than_three_ratings_are_kept_whole(tmp_path):
    folder, database, output = rated(
        tmp_path, [(1, 2), (1, 2), (1, 2), (1,)], 2, ("a", "b", "c", "d"), wanted=4
    )
    summary = export(folder, database, output)
    assert summary["pairs_with_more_than_three_ratings"] == 1
    assert [len(pair.ratings) for pair in read_tables(local_tree(output), min_raters=3).pairs] == [4, 3]


def test_nothing_complete_is_an_error_and_writes_nothing(tmp_path):
    folder, database, output = rated(tmp_path, [(1,), (2,), ()])
    with pytest.raises(UserError, match="none of the 4 pairs has 3 ratings"):
        export(folder, database, output)
    assert not output.exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    folder, database, output = rated(tmp_path, [(1,), (2,), (1,)])
    output.mkdir()
    (output / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match=r"mine\.txt"):
        export(folder, database, output)
    assert (output / "mine.txt").read_text() == "mine"


def test_the_command_prints_what_was_written_and_what_was_not(tmp_path, capsys):
    folder, database, output = rated(tmp_path, [(0, 1, 2, 3), (0, 1, 2), (0, 1, None)])
    arguments = ["export", str(folder), "--database", str(database), "--output", str(output)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "Left out: 2 pairs" in " ".join(printed.split())
    assert "too few pairs to build a dataset yet" in printed
    assert f"lyricsim-dataset build --source {output} --out DIR" in printed
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pairs"] == 2
    assert (output / REFERENCE_FILE).is_file()


def test_mistakes_of_the_command_are_told(tmp_path, capsys):
    folder = sample_folder(tmp_path / "chosen", 2)
    missing = ["export", str(folder), "--database", str(tmp_path / "no"), "--output", str(tmp_path / "o")]
    assert main(missing) == 2
    assert "there is no database" in capsys.readouterr().err
    folder, database, _ = rated(tmp_path, [(1,), (2,), (1,)])
    inside = ["export", str(folder), "--database", str(database), "--output", str(database / "source")]
    assert main(inside) == 2
    assert "a file cannot be read or written" in capsys.readouterr().err


@pytest.mark.parametrize("identity", ["a,x", "a\nb", "a_b", " a", "a\x00", "a\u2028b"])
def test_an_id_that_an_export_could_not_hold_is_no_id(identity):
    assert not is_song_id(identity)


@given(st.text(min_size=1, max_size=8).filter(is_song_id).filter(str.strip))
def test_every_id_that_passes_the_door_comes_back_from_an_export(identity):
    text = ratings_text([Rating("1", identity, "other", 3)])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        path.write_text(text, "utf-8")
        (row,) = read_delimited(path, ",", ["annotator_id", "sim_rating", "id1", "id2"])
    assert row["id1"] == identity
