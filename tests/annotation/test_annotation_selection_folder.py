"""What the raters' page reads: every fault is named before anybody rates anything."""

import json

import pytest
from campaign_files import sample_folder, song, write_folder

from lyricsim_annotation.selection_folder import read_selection
from lyricsim_tools.errors import UserError


def faults(folder):
    with pytest.raises(UserError) as caught:
        read_selection(folder)
    return str(caught.value)


def test_a_folder_made_by_hand_is_read_with_its_line_breaks(tmp_path):
    folder = write_folder(
        tmp_path, [song("1", "uno\r\ndos\n\ntres"), song("2", title="", artist="")], [("2", "1")]
    )
    selection = read_selection(folder)
    assert selection.songs["1"].lyric == "uno\ndos\n\ntres"
    assert selection.songs["2"].title == ""
    (pair,) = selection.pairs
    assert (pair.pair_id, pair.song_a, pair.song_b, pair.predicted) == ("2_1", "2", "1", 1.5)


def test_the_fingerprint_follows_texts_and_pairs_and_nothing_else(tmp_path):
    first = read_selection(sample_folder(tmp_path / "a", 3))
    assert read_selection(sample_folder(tmp_path / "b", 3)).fingerprint == first.fingerprint
    assert read_selection(sample_folder(tmp_path / "c", 4)).fingerprint != first.fingerprint
    changed = write_folder(tmp_path / "d", [song("1"), song("2")], [("1", "2")])
    before = read_selection(changed).fingerprint
    write_folder(changed, [song("1"), song("2", "otra letra")], [("1", "2")])
    assert read_selection(changed).fingerprint != before


def test_a_missing_file_is_named(tmp_path):
    folder = sample_folder(tmp_path, 2)
    (folder / "songs.jsonl").unlink()
    assert "lacks songs.jsonl" in faults(folder)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([("1", "9")], "row 2, column song_b, value '9': no such song"),
        ([("1", "1")], "a song paired with itself"),
        ([("1", "2"), ("2", "1")], "row 3, column pair_id, value '2_1': this pair stands in row 2 already"),
        ([], "holds no pair"),
    ],
)
def test_bad_pairs_are_named_by_row(tmp_path, pairs, said):
    assert said in faults(write_folder(tmp_path, [song("1"), song("2")], pairs))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("2_1,1,2,1", "expected 1_2"),
        ("1_2,1,2,many", "column predicted, value 'many': not a number 0 to 5"),
        ("1_2,1,2,5.01", "not a number 0 to 5"),
        ("1_2,1,2,nan", "not a number 0 to 5"),
    ],
)
def test_bad_ids_and_predictions_are_named(tmp_path, row, said):
    folder = write_folder(tmp_path, [song("1"), song("2")], [])
    (folder / "pairs.csv").write_text(f"pair_id,song_a,song_b,predicted\n{row}\n")
    assert said in faults(folder)


def test_pairs_without_predictions_are_as_good(tmp_path):
    folder = write_folder(tmp_path, [song("1"), song("2")], [])
    (folder / "pairs.csv").write_text("pair_id,song_a,song_b\n1_2,1,2\n")
    assert read_selection(folder).pairs[0].predicted is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "row 1, column JSON"),
        ("[1]", "not an object"),
        (json.dumps(song("")), "column id, value '': empty"),
        (json.dumps(song("1", " \n ")), "column lyric"),
        (json.dumps(song("a_b")), "an underscore"),
        (json.dumps({**song("1"), "title": 7}), "column title, value '7': not a text"),
        (json.dumps(song("1", "una \ud800")), "column lyric, value 'una \\ud800': half of a character"),
        (json.dumps(song("1", artist="\ud800")), "column artist, value '\\ud800': half of a character"),
        (
            f"{json.dumps(song('1'))}\n{json.dumps(song('1'))}",
            "row 2, column id, value '1': this song stands",
        ),
    ],
)
def test_bad_songs_are_named_by_row(tmp_path, line, said):
    folder = write_folder(tmp_path, [], [])
    (folder / "songs.jsonl").write_text(line + "\n")
    assert said in faults(folder)


def test_songs_that_are_not_utf8_are_refused(tmp_path):
    folder = sample_folder(tmp_path, 1)
    (folder / "songs.jsonl").write_bytes(b'{"id": "\xff"}')
    assert "is not UTF-8" in faults(folder)
