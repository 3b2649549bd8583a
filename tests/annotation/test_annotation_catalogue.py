import json

import pandas
import pytest
from song_files import song_rows, write_csv, write_jsonl

from lyricsim_annotation.catalogue import read_catalogue
from lyricsim_annotation.rated import read_rated
from lyricsim_annotation.records import SongText
from lyricsim_dataset.cli import main as dataset_command
from lyricsim_dataset.sample_rule import verses
from lyricsim_dataset.sources import SAMPLE_FOLDER
from lyricsim_tools.errors import UserError


@pytest.fixture(scope="module")
def sample_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset") / "lyricsim-sample"
    dataset_command(["build", "--sample", "--out", str(folder)])
    return folder


def renamed(rows):
    return [{"song_id": row["id"], "lyrics": row["lyric"]} for row in rows]


def test_csv_jsonl_and_parquet_give_the_same_songs_whatever_the_order_of_rows(tmp_path):
    rows = song_rows(6)
    pandas.DataFrame(rows[::-1]).to_parquet(tmp_path / "songs.parquet")
    files = [
        write_csv(tmp_path / "songs.csv", rows),
        write_jsonl(tmp_path / "songs.jsonl", rows[3:] + rows[:3]),
        tmp_path / "songs.parquet",
    ]
    first, *others = [read_catalogue(str(file)) for file in files]
    assert [song.song_id for song in first.songs] == [row["id"] for row in rows]
    assert first.songs[0].lyric == rows[0]["lyric"]
    assert all(other.fingerprint == first.fingerprint for other in others)


def test_our_datasets_column_names_are_known_and_title_and_artist_may_be_absent(tmp_path):
    rows = song_rows(3)
    songs = read_catalogue(str(write_csv(tmp_path / "songs.csv", renamed(rows)))).songs
    assert songs[0] == SongText(rows[0]["id"], "", "", rows[0]["lyric"])


def test_numbers_and_nulls_of_jsonl_become_texts(tmp_path):
    rows = [{"id": 7, "title": None, "lyric": "uno"}, {"id": 8, "title": "dos", "lyric": "dos"}]
    songs = read_catalogue(str(write_jsonl(tmp_path / "songs.jsonl", rows))).songs
    assert [(song.song_id, song.title) for song in songs] == [("7", ""), ("8", "dos")]


def test_a_built_dataset_is_a_catalogue_and_its_annotations_are_rated_pairs(sample_folder):
    songs = read_catalogue(str(sample_folder)).songs
    rated = read_rated(str(sample_folder))
    assert all(song.title and song.artist and song.lyric for song in songs)
    assert len(rated) == len(songs) * (len(songs) - 1) // 2
    assert set().union(*rated) == {song.song_id for song in songs}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1].pop("lyric"), r"row 2 .* has no column lyric; it has id, title, artist"),
        (lambda rows: rows[1].pop("id"), r"row 2 .* has no column id"),
        (lambda rows: rows[2].update(lyric=" \n "), "row 3 .* has an empty lyric"),
        (lambda rows: rows[2].update(lyric=None), "row 3 .* has an empty lyric"),
        (lambda rows: rows[2].update(id=rows[0]["id"]), "row 3 .* has the id 's0000', as row 1 has"),
        (lambda rows: rows[2].update(id=""), "row 3 .* has no id"),
        (lambda rows: rows[2].update(id="a_b"), "row 3 .* has the id 'a_b'"),
        (lambda rows: rows[2].update(id=" a"), "row 3 .* has the id ' a'"),
        (lambda rows: rows[2].update(lyric=["c", "d e"]), r"row 3 .* has the lyric \['c', 'd e'\]"),
        (lambda rows: rows[2].update(lyric=7), "row 3 .* has the lyric 7"),
        (lambda rows: rows[2].update(id=float("nan")), "row 3 .* has the id nan"),
        (lambda rows: rows[2].update(id=True), "row 3 .* has the id True"),
        (lambda rows: rows[2].update(title={"es": "a"}), "row 3 .* has the title {'es': 'a'}"),
        (lambda rows: rows.__delitem__(slice(1, None)), "has 1 songs"),
    ],
)
def test_a_bad_song_is_refused_with_its_row(tmp_path, change, message):
    rows = song_rows(4)
    change(rows)
    with pytest.raises(UserError, match=message):
        read_catalogue(str(write_jsonl(tmp_path / "songs.jsonl", rows)))


@pytest.mark.parametrize("field", ["title", "artist", "lyric"])
def test_half_of_a_character_is_refused_with_its_row(tmp_path, field):
    rows = song_rows(3)
    rows[1][field] = "\ud800"
    (tmp_path / "songs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(UserError, match=rf"row 2 .* has the {field} '\\ud800'"):
        read_catalogue(str(tmp_path / "songs.jsonl"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("absent.csv", "absent.csv does not exist"),
        ("absent", "absent does not exist"),
        ("songs.txt", "ends in .txt"),
        (".", "is not a built dataset"),
        ("owner/absent", "the configuration songs of owner/absent cannot be loaded"),
    ],
)
def test_a_source_that_is_no_catalogue_is_refused(tmp_path, monkeypatch, source, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "songs.txt").write_text("letra")
    with pytest.raises(UserError, match=message):
        read_catalogue(source)


@pytest.mark.parametrize("names", [("song_a", "song_b"), ("song_id_1", "song_id_2"), ("id1", "id2")])
def test_rated_pairs_are_read_from_any_of_the_known_columns(tmp_path, names):
    file = write_csv(tmp_path / "rated.csv", [dict(zip(names, pair, strict=True)) for pair in ("ab", "ca")])
    assert read_rated(str(file)) == {frozenset("ab"), frozenset("ca")}


def test_rated_pairs_are_read_from_folders_of_a_selection_and_in_upstreams_layout(tmp_path):
    for name, columns in (("pairs.csv", ("song_a", "song_b")), ("annotation_results.csv", ("id1", "id2"))):
        folder = tmp_path / name
        file = folder / name if name == "pairs.csv" else folder / "data" / "raw" / name
        file.parent.mkdir(parents=True)
        write_csv(file, [dict(zip(columns, "ab", strict=True))])
        assert read_rated(str(folder)) == {frozenset("ab")}


def test_rated_pairs_of_upstreams_file_are_those_of_the_catalogue():
    rated = read_rated(str(SAMPLE_FOLDER))
    songs = {song.song_id for song in verses()}
    assert len(rated) == 276
    assert all(pair <= songs for pair in rated)


@pytest.mark.parametrize(
    "row",
    [
        {"first": "a", "second": "b"},
        {"song_a": "a", "song_b": ""},
        {"song_a": "a", "song_b": float("nan")},
        {"song_a": "a", "song_b": ["b"]},
    ],
)
def test_a_row_that_names_no_two_songs_is_refused(tmp_path, row):
    file = write_jsonl(tmp_path / "rated.jsonl", [row])
    with pytest.raises(UserError, match=r"row 1 .* names no two songs"):
        read_rated(str(file))
