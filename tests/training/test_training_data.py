import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support import REPOSITORY
from tiny_families import write_pairs

from lyricsim_cards.measure import read_gold
from lyricsim_models.config import Recipe
from lyricsim_models.datafiles import read_file, read_splits
from lyricsim_models.job import Job, refuse_bad_splits
from lyricsim_models.pair_table import pair_table
from lyricsim_tools.errors import UserError

COLUMNS: dict[str, list[Any]] = {
    "lyrics_1": ["uno\ndos", "tres"],
    "lyrics_2": ["cuatro", "cinco"],
    "score": [0, 5.0],
}
PAIRS: list[dict[str, Any]] = [
    dict(zip(COLUMNS, (f"uno {row}", f"dos {row}", row), strict=True)) for row in range(3)
]
CONFIGS = """---
configs:
- config_name: filtered
  data_files:
  - split: train
    path: train-*.parquet
---
"""


def table(**changes: list[Any]) -> Any:
    return pair_table({**COLUMNS, **changes}, "train of data")


def test_integers_and_floats_are_scores_alike() -> None:
    assert table().scores == (0.0, 5.0)


def test_a_missing_column_is_named_with_those_that_are_there() -> None:
    with pytest.raises(UserError, match=r"no column score; it has texto, lyrics_1, lyrics_2"):
        pair_table({"texto": ["a"], "lyrics_1": ["a"], "lyrics_2": ["b"]}, "train of data")


def test_scores_are_not_needed_for_prediction() -> None:
    found = pair_table({"lyrics_1": ["a"], "lyrics_2": ["b"]}, "input", need_scores=False)
    assert found.scores is None
    with pytest.raises(UserError, match="without gold scores"):
        _ = found.gold


@pytest.mark.parametrize("score", [-0.1, 5.1, 6, float("nan"), float("inf"), None, "3", True, [1], 10**400])
def test_a_label_out_of_range_is_named_with_its_row(score: object) -> None:
    with pytest.raises(UserError, match=r"column score of train of data: row 2") as caught:
        table(score=[1, score])
    assert "0 to 5" in caught.value.expected


def test_many_bad_rows_are_named_at_once() -> None:
    columns = {"lyrics_1": ["a"] * 9, "lyrics_2": ["b"] * 9, "score": [9] * 9}
    with pytest.raises(UserError, match=r"row 1: 9; .*row 5: 9; and 4 more"):
        pair_table(columns, "train")


@pytest.mark.parametrize("lyric", ["", " \n ", None, 7])
def test_an_empty_lyric_is_named_with_its_row(lyric: object) -> None:
    with pytest.raises(UserError, match=r"column lyrics_2 of train of data: row 1"):
        table(lyrics_2=[lyric, "cinco"])


def test_an_empty_split_is_refused() -> None:
    with pytest.raises(UserError, match="train of data is empty"):
        table(lyrics_1=[], lyrics_2=[], score=[])


def test_a_pair_id_twice_is_refused() -> None:
    with pytest.raises(UserError, match=r"'a-b' of train of data stands in rows 1 and 2"):
        table(pair_id=["a-b", "a-b"])


@pytest.mark.parametrize("value", ["", " ", None, float("nan"), 1.5, True])
@pytest.mark.parametrize("column", ["song_id_1", "song_id_2", "pair_id"])
def test_what_names_nothing_is_no_id(column: str, value: object) -> None:
    with pytest.raises(UserError, match=rf"column {column} of train of data: row 2"):
        table(**{column: ["x", value]})


def test_rows_can_be_taken_with_every_column() -> None:
    found = table(pair_id=["x", "y"], song_id_1=[1, 2]).take([1])
    assert (found.pair_ids, found.song_ids_1, found.song_ids_2) == (("y",), ("2",), None)
    assert (found.lyrics_1, found.scores) == (("tres",), (5.0,))


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_file_of_pairs_is_read_alike_in_every_format(tmp_path: Path, kind: str) -> None:
    import pandas

    source = write_pairs(tmp_path / "pairs.csv", {"train": 4, "validation": 3, "test": 2})
    expected = read_splits(str(source), None)
    frame = pandas.read_csv(source, dtype={"pair_id": str})
    path = tmp_path / f"other.{kind}"
    if kind == "jsonl":
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, encoding="utf-8-sig")
    assert read_splits(str(path), None) == expected
    assert {name: len(part) for name, part in expected.items()} == {"train": 4, "validation": 3, "test": 2}


def test_texts_that_look_like_missing_values_or_numbers_survive(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text('pair_id,lyrics_1,lyrics_2,score\n007,NA,"null\nnan",1\n', encoding="utf-8")
    found = read_splits(str(path), None)["train"]
    assert (found.pair_ids, found.lyrics_1, found.lyrics_2) == (("007",), ("NA",), ("null\nnan",))


def test_without_a_split_column_85_5_10_are_drawn_from_the_lyrics_alone(tmp_path: Path) -> None:
    import pandas

    source = write_pairs(tmp_path / "all.csv", {"train": 100})
    frame = pandas.read_csv(source).drop(columns="split")
    parts = []
    for name, order in (("a", frame), ("b", frame.iloc[::-1])):
        order.to_csv(tmp_path / f"{name}.csv", index=False)
        found = read_splits(str(tmp_path / f"{name}.csv"), None)
        parts.append({split: set(part.pair_ids) for split, part in found.items()})
    assert parts[0] == parts[1]
    assert {split: len(ids) for split, ids in parts[0].items()} == {"train": 85, "validation": 5, "test": 10}


def test_an_unknown_split_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("lyrics_1,lyrics_2,score,split\na,b,1,train\nc,d,1,held-out\n")
    with pytest.raises(UserError, match="'held-out'"):
        read_splits(str(path), None)


@pytest.mark.parametrize("name", ["dev", "development", "val", "valid"])
def test_a_development_set_by_another_name_is_the_validation_split(tmp_path: Path, name: str) -> None:
    rows = [{**row, "split": split} for row, split in zip(PAIRS, ("train", name), strict=False)]
    write_jsonl(tmp_path / "pairs.jsonl", rows)
    folder = write_named_splits(tmp_path / "data", ("train", name))
    for dataset in (tmp_path / "pairs.jsonl", folder):
        found = read_splits(str(dataset), None)
        assert {split: len(part) for split, part in found.items()} == {"train": 1, "validation": 1}


def test_two_development_sets_are_refused(tmp_path: Path) -> None:
    folder = write_named_splits(tmp_path, ("train", "dev", "validation"))
    with pytest.raises(UserError, match="has the splits train, dev, validation"):
        read_splits(str(folder), None)


def write_named_splits(folder: Path, names: Sequence[str]) -> Path:
    """A folder whose card names its splits."""
    folder.mkdir(exist_ok=True)
    files = "".join(f"  - split: {name}\n    path: {name}.jsonl\n" for name in names)
    (folder / "README.md").write_text(f"---\nconfigs:\n- config_name: a\n  data_files:\n{files}---\n")
    for name, row in zip(names, PAIRS, strict=False):
        write_jsonl(folder / f"{name}.jsonl", [row])
    return folder


def write_jsonl(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("size", [11, 20, 29, 60])
@pytest.mark.parametrize("orders", [1, 2])
def test_what_is_drawn_of_a_file_without_splits_can_be_trained_on(
    tmp_path: Path, size: int, orders: int
) -> None:
    rows = [dict(zip(COLUMNS, (f"uno {row}", f"dos {row}", row % 6), strict=True)) for row in range(size)]
    swapped = [{**row, "lyrics_1": row["lyrics_2"], "lyrics_2": row["lyrics_1"]} for row in rows]
    found = read_splits(str(write_jsonl(tmp_path / "pairs.jsonl", (rows + swapped)[: size * orders])), None)
    refuse_bad_splits(found, allow_seen=False)
    assert sum(map(len, found.values())) == size * orders
    assert len(found["test"]) in (round(0.1 * size * orders), round(0.1 * size * orders) - 1)


def test_rows_of_one_pair_of_songs_are_drawn_together_whatever_their_words(tmp_path: Path) -> None:
    def row(number: int) -> dict[str, Any]:
        songs = {"song_id_1": f"a{number % 40}", "song_id_2": f"b{number % 40}"}
        return {**songs, "lyrics_1": f"uno {number}", "lyrics_2": f"dos {number}", "score": number % 6}

    found = read_splits(str(write_jsonl(tmp_path / "pairs.jsonl", [row(n) for n in range(120)])), None)
    refuse_bad_splits(found, allow_seen=False)
    assert {split: len(part) for split, part in found.items()} == {"train": 102, "validation": 6, "test": 12}


def test_a_torn_character_is_named_with_its_row_also_without_splits(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "pairs.jsonl", [PAIRS[0], {**PAIRS[1], "lyrics_2": "\ud83d"}])
    with pytest.raises(UserError, match=r"column lyrics_2 of .*pairs\.jsonl: row 2"):
        read_splits(str(path), None)


@pytest.mark.parametrize(
    "contents",
    [
        {"train.csv": "lyrics_1,lyrics_2,score\na,b,1\n", "test.csv": "lyrics_1,text\na,b\n"},
        {"train.csv": 'lyrics_1,lyrics_2,score\na,b,1\nc,"d,2,3\n'},
    ],
)
def test_a_folder_whose_files_do_not_fit_is_refused(tmp_path: Path, contents: dict[str, str]) -> None:
    for name, text in contents.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=r"cannot be loaded: An error occurred while generating.*:"):
        read_splits(str(tmp_path), None)


def test_a_file_of_pairs_is_recorded_without_a_configuration(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "pairs.jsonl", PAIRS)
    asked = [Job("m", str(place), "filtered", tmp_path / "run", Recipe()) for place in (path, tmp_path)]
    assert [job.settings("")["config"] for job in asked] == [None, "filtered"]
    with pytest.raises(UserError, match=f"{path} has the splits"):
        read_splits(str(write_jsonl(path, [{**PAIRS[0], "split": "test"}])), "filtered")


def write_folder(folder: Path, score: float) -> Path:
    """A folder whose card names its files: then the library's cache does not see that they changed."""
    import pandas

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text(CONFIGS)
    rows = [{"lyrics_1": "a", "lyrics_2": "b", "score": score, "ratings": [1, 1, 1]}]
    pandas.DataFrame(rows).to_parquet(folder / "train-00000-of-00001.parquet")
    return folder


def test_a_dataset_folder_is_read_anew_after_a_change(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "data", 1.0)
    assert read_splits(str(folder), "filtered")["train"].scores == (1.0,)
    write_folder(folder, 2.0)
    assert read_splits(str(folder), "filtered")["train"].scores == (2.0,)
    assert read_splits(str(folder), None)["train"].pair_ids == ("train-1",)


def published_groups(dataset: str, config: str) -> object:
    """The groups of the songs as cross-validation looks them up."""
    import song_blocks

    pairs = pair_table({**COLUMNS, "song_id_1": ["1", "2"], "song_id_2": ["3", "4"]}, config)
    return song_blocks.song_groups(dataset, pairs)


@pytest.mark.parametrize("read", [read_splits, read_gold, published_groups])
@pytest.mark.parametrize("name", ["lyricsim", "./lyricsim", "deep/er/lyricsim"])
def test_a_name_that_is_no_folder_here_is_not_answered_from_another_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, read: Callable[[str, str], object]
) -> None:
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.syspath_prepend(str(REPOSITORY / "training"))
    write_folder(tmp_path / "a" / "lyricsim", 1.0)
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    assert datasets.load_dataset("lyricsim", "filtered")["train"]["score"] == [1.0]
    monkeypatch.chdir(tmp_path / "b")
    with pytest.raises(UserError, match=f"no dataset folder '{name}' in .*b") as caught:
        read(name, "filtered")
    assert "Hub id owner/name" in caught.value.expected
    assert "lyricsim-dataset build" in caught.value.remedy


def test_an_unknown_configuration_is_refused_with_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("lyrics_1,lyrics_2,score\na,b,1\n")
    with pytest.raises(UserError, match="no-such-config"):
        read_splits(str(tmp_path), "no-such-config")


def test_data_without_a_training_split_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("lyrics_1,lyrics_2,score,split\na,b,1,test\n")
    with pytest.raises(UserError, match="has the splits test"):
        read_splits(str(path), None)


@pytest.mark.parametrize(("name", "content"), [("x.txt", "a"), ("x.jsonl", "{not json"), ("x.parquet", "no")])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(UserError, match=name):
        read_file(path)


def test_streamed_data_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    streamed = datasets.IterableDatasetDict(
        {"train": datasets.Dataset.from_dict(COLUMNS).to_iterable_dataset()}
    )
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: streamed)
    with pytest.raises(UserError, match="streamed"):
        read_splits(str(tmp_path), None)


def test_an_unreadable_json_line_does_not_hide_its_file(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps({"lyrics_1": "a", "lyrics_2": "b", "score": 1}) + "\n", encoding="utf-8")
    assert read_splits(str(path), None)["train"].scores == (1.0,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("lyrics_1,lyrics_2,score\nuno, dos,tres,3\n", "row 1 of .* has another number of fields"),
        ("lyrics_1,lyrics_1,lyrics_2,score\na,b,c,1\n", "has the column lyrics_1 more than once"),
        ("lyrics_1,score\na,1\n", "has no column lyrics_2"),
        ("lyrics_1,lyrics_2,score\n", "has no row"),
        ("lyrics_1,lyrics_2,score\na,b,x\nc,d,1\n", "row 1: 'x'$|row 1: 'x'\n"),
    ],
)
def test_a_csv_file_whose_columns_would_shift_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        read_splits(str(path), None)
