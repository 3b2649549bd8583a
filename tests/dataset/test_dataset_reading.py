import csv
import io
import tempfile
import unicodedata
from pathlib import Path

import pytest
from dataset_files import change, tree_of
from hypothesis import given, settings
from hypothesis import strategies as st

from lyricsim_dataset.annotations import (
    annotator_numbers,
    group_pairs,
    read_annotated_lyrics,
    read_ratings,
    read_songs,
    read_tables,
)
from lyricsim_dataset.delimited import read_delimited
from lyricsim_dataset.records import Pair, Rating
from lyricsim_dataset.reference import read_reference
from lyricsim_dataset.sources import ANNOTATED_LYRICS_FILE, LYRICS_FILE, RATINGS_FILE
from lyricsim_tools.errors import UserError

HEADER = "annotator_id,sim_rating,id1,id2"
SONGS = {"1", "2", "3"}


def ratings_file(tmp_path, *rows, header=HEADER, bom="", end="\r\n"):
    path = tmp_path / "ratings.csv"
    path.write_bytes((bom + end.join([header, *rows])).encode())
    return path


def songs_files(tmp_path, text, annotated="uno dos", encoding="utf-8"):
    lyrics, pairs = tmp_path / "lyrics.tsv", tmp_path / "pairs.csv"
    lyrics.write_bytes(f"song_id\ttext\tartist_name\ttrack_name\n1\t{text}\tA\tT\n".encode(encoding))
    head = "id_1,artist_name_1,track_name_1,lyrics_1,id_2,artist_name_2,track_name_2,lyrics_2"
    pairs.write_bytes(f'{head}\n1,A,T,"{annotated}",2,A,T,otra\n'.encode())
    return lyrics, pairs


def failure(call, *arguments):
    with pytest.raises(UserError) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("blank", ["", " "])
def test_bom_line_ends_and_blanks_change_nothing(tmp_path, bom, end, blank):
    path = ratings_file(tmp_path, f"7,5,{blank}1,{blank}2", f"8,0,{blank}1,{blank}2", bom=bom, end=end)
    ratings, rows = read_ratings(path, SONGS)
    assert ratings == [Rating("7", "1", "2", 5), Rating("8", "1", "2", 0)]
    assert rows == [2, 3]


@pytest.mark.parametrize("value", ["6", "-1", "2.5", "", "cinco", "3.0", "٣"])
def test_a_rating_that_is_no_whole_number_0_to_5_is_named(tmp_path, value):
    message = failure(read_ratings, ratings_file(tmp_path, "7,3,1,2", f"8,{value},1,3"), SONGS)
    assert "ratings.csv: 1 problem" in message
    assert f"row 3, column sim_rating, value {value!r}: not a whole number 0 to 5" in message


def test_many_faults_are_told_at_once(tmp_path):
    path = ratings_file(tmp_path, "7,6,1,2", "7,2,1,99", "7,3,2,2", ",3,2,3")
    message = failure(read_ratings, path, SONGS)
    assert "4 problems" in message
    assert "row 2, column sim_rating, value '6'" in message
    assert "row 3, column id2, value '99': no such song" in message
    assert "row 4, column id2, value '2': a song paired with itself" in message
    assert "row 5, column annotator_id, value '': empty" in message


def test_hundreds_of_faults_are_counted_and_not_all_printed(tmp_path):
    message = failure(read_ratings, ratings_file(tmp_path, *["7,9,1,2"] * 300), SONGS)
    assert "300 problems" in message
    assert "and 280 more" in message
    assert message.count("column sim_rating") == 20


def test_a_pair_in_both_orders_is_refused(tmp_path):
    message = failure(read_ratings, ratings_file(tmp_path, "7,1,1,2", "8,1,2,1"), SONGS)
    assert "row 3, column id1, id2, value '2_1': row 2 writes this pair as 1_2" in message


def test_an_annotator_twice_on_a_pair_is_refused_even_in_the_other_order(tmp_path):
    message = failure(read_ratings, ratings_file(tmp_path, "7,1,1,2", "7,1,1,2", "7,2,2,1"), SONGS)
    assert message.count("rated this pair in row 2 already") == 2


@pytest.mark.parametrize("row", ["7,1,1", "7,1,1,2,extra"])
def test_a_row_of_another_width_is_named(tmp_path, row):
    message = failure(read_ratings, ratings_file(tmp_path, "7,1,1,2", row), SONGS)
    assert "row 3" in message
    assert "where the header has 4" in message


def test_a_missing_column_is_named(tmp_path):
    message = failure(read_ratings, ratings_file(tmp_path, header="annotator_id,rating,id1,id2"), SONGS)
    assert "lacks the column sim_rating" in message


def test_a_doubled_column_is_named(tmp_path):
    path = ratings_file(tmp_path, header=HEADER + ",id1")
    assert "has the column id1 more than once" in failure(read_ratings, path, SONGS)


def test_an_empty_file_is_an_error_and_not_an_empty_dataset(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_bytes(b"")
    assert "its header is empty" in failure(read_ratings, path, SONGS)


def test_another_encoding_is_named_with_its_line(tmp_path):
    lyrics, pairs = songs_files(tmp_path, "canción", encoding="latin-1")
    message = failure(read_songs, lyrics, pairs)
    assert "line 2 holds the byte 0xf3, which is not UTF-8" in message


def test_an_unclosed_quote_is_an_error(tmp_path):
    lyrics, pairs = songs_files(tmp_path, '"uno')
    assert "cannot be read" in failure(read_songs, lyrics, pairs)


def test_a_file_that_is_not_there_is_named(tmp_path):
    assert "cannot read" in failure(read_delimited, tmp_path / "none.csv", ",", ())


def test_quotes_tabs_and_line_breaks_inside_quotes_are_text(tmp_path):
    lyrics, pairs = songs_files(tmp_path, '"di ""ya""\tahora\r\ny\rluego"')
    assert read_songs(lyrics, pairs)[0].lyrics == 'di "ya"\tahora\ny\nluego'


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5),
    st.sampled_from(",\t"),
)
@settings(deadline=None)
def test_any_text_that_is_quoted_comes_back(texts, delimiter):
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(
        [["text"], *[[text] for text in texts]]
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        path.write_bytes(stream.getvalue().encode())
        rows = read_delimited(path, delimiter, ["text"])
    unix = [text.replace("\r\n", "\n").replace("\r", "\n") for text in texts]
    assert [row["text"] for row in rows] == [unicodedata.normalize("NFC", text).strip() for text in unix]
    assert [row.number for row in rows] == list(range(2, len(texts) + 2))


def test_text_comes_out_in_nfc(tmp_path):
    lyrics, pairs = songs_files(tmp_path, unicodedata.normalize("NFD", "canción"))
    assert read_songs(lyrics, pairs)[0].lyrics == unicodedata.normalize("NFC", "canción")


def test_a_lyric_longer_than_the_csv_modules_own_limit_is_read(tmp_path):
    lyrics, pairs = songs_files(tmp_path, "la " * 100_000 + "fin")
    assert read_songs(lyrics, pairs)[0].length == 100_001


def test_a_row_counts_as_one_whatever_its_line_breaks(tree):
    change(tree / LYRICS_FILE, lambda text: text.replace("9018\t", "\t"))
    assert "row 3, column song_id, value '': empty" in failure(read_tables, tree_of(tree))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("9018\t", "9001\t", "row 3, column song_id, value '9001': this song stands in an earlier row"),
        ("9018\t", "9_18\t", "an underscore, which joins the two ids of a pair"),
        ("9018\t", "8888\t", "value '8888': no pair of lyrics_pairs.csv has this song"),
    ],
)
def test_a_bad_song_is_named(tree, old, new, told):
    change(tree / LYRICS_FILE, lambda text: text.replace(old, new))
    assert told in failure(read_tables, tree_of(tree))


def test_a_pair_listed_twice_in_both_orders_is_named(tmp_path):
    path = tmp_path / "pairs.csv"
    head = "id_1,artist_name_1,track_name_1,lyrics_1,id_2,artist_name_2,track_name_2,lyrics_2"
    path.write_text(f"{head}\n1,A,T,uno,2,A,T,dos\n2,A,T,dos,1,A,T,uno\n")
    message = failure(read_annotated_lyrics, path)
    assert "row 3, column id_1, id_2, value '2_1': this pair stands in row 2 already" in message


def test_a_song_with_two_texts_among_the_pairs_is_named(tmp_path):
    path = tmp_path / "pairs.csv"
    head = "id_1,artist_name_1,track_name_1,lyrics_1,id_2,artist_name_2,track_name_2,lyrics_2"
    path.write_text(f"{head}\n1,A,T,uno,2,A,T,dos\n1,A,T,otro,3,A,T,tres\n")
    message = failure(read_annotated_lyrics, path)
    assert "row 3, column lyrics_1, value 'otro': song 1 had another text before" in message


def test_a_song_paired_with_itself_and_an_empty_title_among_the_pairs_are_named(tmp_path):
    path = tmp_path / "pairs.csv"
    head = "id_1,artist_name_1,track_name_1,lyrics_1,id_2,artist_name_2,track_name_2,lyrics_2"
    path.write_text(f"{head}\n1,A,,uno,1,A,T,uno\n")
    message = failure(read_annotated_lyrics, path)
    assert "row 2, column id_2, value '1': a song paired with itself" in message
    assert "row 2, column track_name_1, value '': empty" in message


def test_a_published_mean_that_is_no_number_is_named(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("pair_id,sim_rating\n1_2,1.5\n1_3,high\n")
    assert "row 3, column sim_rating, value 'high': not a number" in failure(read_reference, path)


def test_an_empty_lyric_is_named(tmp_path):
    lyrics, pairs = songs_files(tmp_path, "")
    assert "row 2, column text, value '': empty" in failure(read_songs, lyrics, pairs)


def without_first_rating(text):
    lines = text.split("\r\n")
    return "\r\n".join([lines[0], *lines[2:]])


def test_a_pair_with_two_ratings_is_refused_unless_asked_for(tree):
    change(tree / RATINGS_FILE, without_first_rating)
    message = failure(read_tables, tree_of(tree))
    assert "2 ratings" in message
    assert "--min-raters" in message
    tables = read_tables(tree_of(tree), min_raters=2)
    assert sorted({len(pair.ratings) for pair in tables.pairs}) == [2, 3]


def test_min_raters_refuses_pairs_below_it(tree):
    change(tree / RATINGS_FILE, without_first_rating)
    assert "expected: at least 3 ratings a pair" in failure(read_tables, tree_of(tree), 3)


def test_min_raters_below_one_is_refused(tree):
    assert "--min-raters 0" in failure(read_tables, tree_of(tree), 0)


def test_pairs_keep_upstreams_order_of_ids_and_ratings():
    ratings = [Rating("a", "9", "1", 3), Rating("b", "2", "1", 0), Rating("b", "9", "1", 4)]
    assert group_pairs(ratings) == [Pair("9_1", "9", "1", (3, 4)), Pair("2_1", "2", "1", (0,))]


def test_annotators_are_numbered_by_their_first_row():
    ratings = [Rating("900", "1", "2", 0), Rating("17", "1", "2", 0), Rating("900", "1", "3", 0)]
    assert annotator_numbers(ratings) == {"900": 1, "17": 2}


def test_a_song_nobody_saw_is_named(tree):
    change(tree / ANNOTATED_LYRICS_FILE, lambda text: text.replace("9018,", "9999,"))
    assert "value '9018': no pair of lyrics_pairs.csv has this song" in failure(read_tables, tree_of(tree))


def test_reading_leaves_the_process_s_own_limit_on_csv_fields(tmp_path):
    before = csv.field_size_limit()
    read_ratings(ratings_file(tmp_path, "9,3,1,2"), SONGS)
    failure(read_ratings, ratings_file(tmp_path, '9,3,"1,2'), SONGS)
    assert csv.field_size_limit() == before
