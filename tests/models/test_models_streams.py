import csv
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lyricsim_models import streams
from lyricsim_models.streams import LYRICS, check_pairs, check_rows, pair_windows, read_rows
from lyricsim_tools.errors import UserError

ROWS = [
    {
        "pair_id": "p1",
        "song_id_1": "7",
        "song_id_2": "8",
        "lyrics_1": 'uno, "dos"\n\ntres',
        "lyrics_2": "ñandú",
    },
    {"pair_id": "p2", "song_id_1": "8", "song_id_2": "9", "lyrics_1": "NA", "lyrics_2": " null "},
    {"pair_id": "p3", "song_id_1": "9", "song_id_2": "7", "lyrics_1": "0", "lyrics_2": "línea\r\notra"},
]


def write(path, rows):
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    return path


@pytest.fixture(params=[".csv", ".jsonl", ".parquet"])
def kind(request):
    return request.param


def test_every_kind_of_file_gives_the_same_rows_unchanged(tmp_path, kind):
    path = write(tmp_path / f"pairs{kind}", ROWS)
    assert list(read_rows(path)) == ROWS
    assert check_rows(path, LYRICS) == 3


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    path = write(tmp_path / "pairs.csv", ROWS)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert check_rows(path, ("pair_id", *LYRICS)) == 3


@given(size=st.integers(1, 5), skip=st.integers(0, 3))
def test_windows_cover_every_row_after_the_skipped_ones_once_and_in_order(tmp_path_factory, size, skip):
    path = write(tmp_path_factory.mktemp("w") / "pairs.csv", ROWS)
    windows = list(pair_windows(path, size, skip))
    assert [i for window in windows for i in window.pair_ids] == ["p1", "p2", "p3"][skip:]
    assert all(len(window) <= size for window in windows)


def test_rows_without_an_id_are_named_by_their_number_also_after_a_skip(tmp_path):
    path = write(tmp_path / "pairs.csv", [{k: row[k] for k in LYRICS} for row in ROWS])
    assert [i for w in pair_windows(path, 2, skip=1) for i in w.pair_ids] == ["2", "3"]
    assert next(pair_windows(path, 2)).song_ids_1 is None


@pytest.mark.parametrize("value", ["", "  \n"])
def test_empty_lyrics_are_named_by_row_and_column(tmp_path, kind, value):
    rows = [ROWS[0], {**ROWS[1], "lyrics_2": value}, {**ROWS[2], "lyrics_1": value}]
    with pytest.raises(UserError, match=r"row 2: lyrics_2 is .*row 3: lyrics_1 is"):
        check_rows(write(tmp_path / f"pairs{kind}", rows), LYRICS)


def test_many_bad_rows_are_counted_and_the_first_shown(tmp_path):
    path = write(tmp_path / "pairs.jsonl", [{**ROWS[0], "lyrics_1": None}] * 9)
    with pytest.raises(UserError, match=r"row 5: lyrics_1 is None; and 4 more"):
        check_rows(path, LYRICS)


def test_a_number_is_no_lyric(tmp_path):
    path = write(tmp_path / "pairs.jsonl", [{**ROWS[0], "lyrics_1": 7}])
    with pytest.raises(UserError, match="row 1: lyrics_1 is 7"):
        check_rows(path, LYRICS)


def test_a_missing_column_is_named_with_those_that_are_there(tmp_path, kind):
    path = write(tmp_path / f"pairs{kind}", [{"lyrics_1": "a", "text": "b"}])
    with pytest.raises(UserError, match="has no column lyrics_2; it has lyrics_1, text"):
        check_rows(path, LYRICS)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.csv", b"lyrics_1,lyrics_2\n", "has no row"),
        ("p.csv", b"", "has no row"),
        ("p.csv", b"lyrics_1,lyrics_2\na,b,c\n", "row 1 of .* has another number of fields"),
        ("p.csv", b"lyrics_1,lyrics_2\na\n", "row 1 of .* has another number of fields"),
        ("p.csv", b"lyrics_1,lyrics_2\n\xff,b\n", "cannot be read"),
        ("p.csv", b'lyrics_1,lyrics_2\na,"b', "cannot be read"),
        ("p.jsonl", b'{"lyrics_1": "a", "lyrics_2": "b"}\n{"lyrics_1"', "line 2 of .* is no JSON row"),
        ("p.jsonl", b"[1]\n", "line 1 of .* is no JSON row: no object"),
        ("p.jsonl", b'{"pair_id": ' + b"9" * 5000 + b"}\n", "line 1 of .* is no JSON row: Exceeds"),
        ("p.parquet", b"PAR1 not really", "cannot be read"),
        ("p.xlsx", b"", r"ends in \.xlsx"),
        ("p", b"", "ends in nothing"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_place(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        check_rows(tmp_path / name, LYRICS)


def test_a_file_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(UserError, match="does not exist"):
        check_rows(tmp_path / "none.csv", LYRICS)


def test_pairs_with_ids_of_their_own_are_counted(tmp_path, kind):
    assert check_pairs(write(tmp_path / f"pairs{kind}", ROWS)) == 3


def test_an_id_that_names_two_rows_is_refused_with_both(tmp_path, kind):
    rows = [ROWS[0], ROWS[1], {**ROWS[2], "pair_id": "p1"}]
    with pytest.raises(UserError, match=r"pair_id 'p1' of .* stands in rows 1 and 3"):
        check_pairs(write(tmp_path / f"pairs{kind}", rows))


def test_a_row_named_by_its_number_may_not_have_the_name_of_another(tmp_path, kind):
    rows = [{**ROWS[0], "pair_id": ""}, {**ROWS[1], "pair_id": "1"}]
    with pytest.raises(UserError, match=r"pair_id '1' of .* stands in rows 1 and 2"):
        check_pairs(write(tmp_path / f"pairs{kind}", rows))


def test_equal_hashes_of_different_ids_are_no_repetition(tmp_path):
    rows = [{**ROWS[0], "pair_id": "x"}, {**ROWS[1], "pair_id": "y"}]
    path = write(tmp_path / "pairs.csv", rows)
    streams._refuse_repeated_ids(path, {hash("x"), hash("y")})


def test_numbers_are_ids_also_zero(tmp_path):
    rows = [{**row, "pair_id": number} for number, row in enumerate(ROWS)]
    path = write(tmp_path / "pairs.parquet", rows)
    assert check_pairs(path) == 3
    assert next(pair_windows(path, 5)).pair_ids == ("0", "1", "2")


@pytest.mark.parametrize("value", [float("nan"), 1.5, [1], True, "\ud800"])
def test_what_can_name_nothing_is_no_id(tmp_path, value):
    path = write(tmp_path / "pairs.jsonl", [{**ROWS[0], "pair_id": value}])
    with pytest.raises(UserError, match=r"row 1 of .* has the pair_id"):
        check_pairs(path)


def test_half_a_character_is_no_lyric(tmp_path):
    path = write(
        tmp_path / "pairs.jsonl",
        [{**ROWS[0], "lyrics_1": "torn \ud83c"}, {**ROWS[1], "lyrics_1": "\U0001f3b5"}],
    )
    with pytest.raises(UserError) as error:
        check_rows(path, LYRICS)
    assert "row 1: lyrics_1 is 'torn" in error.value.given
    assert "row 2" not in error.value.given


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_a_column_that_stands_twice_is_refused(tmp_path, name):
    names = ["lyrics_1", "lyrics_1", "lyrics_2"]
    if name == "p.csv":
        (tmp_path / name).write_text(",".join(names) + "\na,b,c\n")
    else:
        pq.write_table(pa.table([pa.array(["a"])] * 3, names=names), tmp_path / name)
    with pytest.raises(UserError, match="has the column lyrics_1 more than once"):
        check_rows(tmp_path / name, LYRICS)


def test_a_text_too_long_for_csv_is_said_to_be_so(tmp_path):
    path = write(tmp_path / "pairs.csv", [{**ROWS[0], "lyrics_1": "x" * 140_000}])
    with pytest.raises(UserError, match=r"at most 131,072 characters(.|\n)*\.jsonl or \.parquet"):
        check_rows(path, LYRICS)


def test_a_missing_column_of_another_table_is_asked_for_by_that_tables_names(tmp_path):
    path = write(tmp_path / "songs.csv", [{"song_id": "1", "text": "a"}])
    with pytest.raises(UserError) as error:
        check_rows(path, ("lyrics",), " and song_id")
    assert error.value.expected == "columns lyrics and song_id"
