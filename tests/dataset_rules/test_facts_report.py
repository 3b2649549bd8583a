"""The report: the paper's figures recomputed, as data, as JSON and as tables."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from made_up_pairs import made_up_pair, ratings_of
from upstream_tables import Upstream

from lyricsim_dataset.annotations import Tables, read_tables
from lyricsim_dataset.facts import facts
from lyricsim_dataset.facts_tables import compare, report, rows_for_table
from lyricsim_dataset.records import Song
from lyricsim_dataset.sources import locate, sample_tree


@pytest.fixture(scope="module")
def document(upstream: Upstream) -> dict:
    return facts(upstream.tables, repetitions=20)


def test_progress_is_told_of_every_permutation_of_both_kinds() -> None:
    seen: list[int] = []

    def progress(repetitions: range) -> Iterator[int]:
        for repetition in repetitions:
            seen.append(repetition)
            yield repetition

    facts(read_tables(sample_tree()), repetitions=3, progress=progress)
    assert seen == [0, 1, 2, 0, 1, 2]


def test_counts(document: dict) -> None:
    assert document["counts"] == {
        "songs": 75,
        "ratings": 8325,
        "ratings_kept": 2028,
        "pairs": 2775,
        "pairs_kept": 676,
        "pairs_kept_by_text": 1057,
    }


def test_table_1_is_the_paper_s_to_the_last_digit(document: dict) -> None:
    raw, filtered = (
        [(row["count"], round(row["percent"], 2)) for row in document["table_1"][name]]
        for name in ("raw", "filtered")
    )
    assert raw == [(3058, 36.73), (3014, 36.2), (1058, 12.71), (746, 8.96), (347, 4.17), (102, 1.23)]
    assert filtered == [(837, 41.27), (705, 34.76), (360, 17.75), (88, 4.34), (34, 1.68), (4, 0.2)]


def test_table_2_s_row_of_lyricsim(document: dict) -> None:
    row = document["table_2"]
    assert row["pairs"] == 676
    assert (round(row["mean"], 2), round(row["deviation"], 2), round(row["alpha"], 2)) == (77.61, 34.88, 0.9)


def test_lengths_of_both_versions_of_the_text(document: dict) -> None:
    lengths = document["lengths"]
    annotated = lengths["lyrics_as_annotated"]
    assert (lengths["lyrics"]["shortest"], lengths["lyrics"]["longest"]) == (3, 158)
    assert (round(annotated["mean"], 2), round(annotated["deviation"], 2)) == (77.63, 34.95)
    assert lengths["songs_with_equal_texts"] == 1
    assert lengths["songs_with_equal_words"] == 1
    assert lengths["songs_with_equal_words_ignoring_case_and_punctuation"] == 36


def test_longest_pairs_and_the_score_s_rise_with_length(document: dict) -> None:
    raw, filtered = document["pair_lengths"]["raw"], document["pair_lengths"]["filtered"]
    assert (raw["longest"], filtered["longest"]) == (303, 277)
    assert round(raw["pearson_with_score"], 3) == 0.373
    assert round(filtered["pearson_with_score"], 3) == 0.533


def test_load_of_the_annotators(document: dict) -> None:
    load = document["annotators"]
    assert (load["annotators"], load["annotators_kept"]) == (63, 58)
    assert (load["most_ratings"], load["median_ratings"], load["fewest_ratings"]) == (1465, 45, 1)
    assert round(load["most_ratings_percent"], 1) == 17.6
    assert round(load["top_five_percent"]) == 53


def test_labels(document: dict) -> None:
    labels = document["labels"]
    assert (labels["distinct"], labels["zero"], labels["at_least_four"]) == (13, 279, 5)
    assert round(labels["zero_percent"], 1) == 41.3
    assert sum(value["pairs"] for value in labels["values"]) == 676
    assert [mode["pairs"] for mode in labels["agreed_on"]] == [279, 263, 93, 30, 10, 1]


def test_the_paper_s_figures_agree_within_rounding_but_for_two_that_it_words_otherwise(
    document: dict,
) -> None:
    comparisons = compare(document)
    assert len(comparisons) == 11 + 24
    other = [c for c in comparisons if c.difference is None or abs(c.difference) >= 0.01]
    assert [(c.paper, c.ours) for c in other] == [(676, 1057), (837, 279)]
    assert all(c.difference == pytest.approx(c.ours - c.paper) for c in comparisons)


def test_every_fact_is_in_json_without_nan(document: dict) -> None:
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_every_table_s_rows_are_as_wide_as_its_head(document: dict) -> None:
    sections = rows_for_table(document, compare(document))
    assert len({section.title for section in sections}) == len(sections) == 8
    assert all(len(row) == len(section.columns) for section in sections for row in section.rows)


def test_the_report_prints_one_json_document(lyricsim_source: Path, capsys: pytest.CaptureFixture) -> None:
    report(locate(lyricsim_source), as_json=True, repetitions=2)
    printed = json.loads(capsys.readouterr().out)
    assert printed["source"]["modified"] == []
    assert printed["counts"]["pairs_kept"] == 676
    assert printed["paper"][0] == {
        "where": "section 3",
        "what": "songs",
        "paper": 75,
        "ours": 75,
        "difference": 0,
    }


def test_the_report_prints_tables_with_paper_and_ours_side_by_side(
    lyricsim_source: Path, capsys: pytest.CaptureFixture
) -> None:
    report(locate(lyricsim_source), repetitions=2)
    printed = capsys.readouterr().out
    assert "The paper's figures and ours" in printed
    assert all(figure in printed for figure in ("77.61", "34.88", "1057", "0.2786", "0.901"))


def test_the_sample_is_reported_as_such_and_never_compared_with_the_paper(
    capsys: pytest.CaptureFixture,
) -> None:
    report(sample_tree(), repetitions=2)
    tables = capsys.readouterr().out
    assert "paper" not in tables
    assert "sample" in tables
    report(sample_tree(), as_json=True, repetitions=2)
    printed = json.loads(capsys.readouterr().out)
    assert printed["source"]["sample"] is True
    assert printed["paper"] == []


def test_facts_about_next_to_nothing_are_undefined_and_not_zero() -> None:
    pairs = (made_up_pair("1", "2", (0, 3, 5)), made_up_pair("1", "3", (0, 3, 5)))
    songs = tuple(Song(name, "artist", "title", "una palabra", "una palabra") for name in ("1", "2", "3"))
    document = facts(Tables(songs, tuple(ratings_of(pairs)), pairs), repetitions=2)
    assert document["counts"]["pairs_kept"] == 0
    assert document["table_2"]["alpha"] is None
    assert document["table_1"]["filtered"][0] == {"rating": 0, "count": 0, "percent": None}
    assert document["labels"]["zero_percent"] is None
    assert not any(isinstance(value, float) and math.isnan(value) for value in document["table_2"].values())


def test_pairs_with_other_numbers_of_raters_count_as_raw_and_are_not_filtered() -> None:
    pairs = (
        made_up_pair("1", "2", (0, 3, 5)),
        made_up_pair("1", "3", (1, 1, 1)),
        made_up_pair("2", "3", (4, 4)),
    )
    songs = tuple(Song(name, "artist", "title", "una palabra", "una palabra") for name in ("1", "2", "3"))
    ratings = [*ratings_of(pairs[:2]), *ratings_of(pairs[2:], annotators=("a", "b"))]
    document = facts(Tables(songs, tuple(ratings), pairs), repetitions=2)
    assert (document["counts"]["pairs"], document["counts"]["pairs_kept"]) == (3, 1)
    assert document["table_1"]["raw"][4]["count"] == 2


def test_the_report_marks_files_that_are_not_upstream_s(
    lyricsim_source: Path, capsys: pytest.CaptureFixture
) -> None:
    source = replace(locate(lyricsim_source), modified=("data/raw/full_lyrics.tsv",))
    report(source, repetitions=2)
    printed = capsys.readouterr().out
    assert "changed: data/raw/full_lyrics.tsv" in printed
    assert "The paper's figures" not in printed
