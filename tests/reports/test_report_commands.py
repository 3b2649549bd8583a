"""The commands on the embedded sample, as a user runs them."""

import dataclasses
import json
import re
import shutil
import subprocess
import sys

import pytest
from reported import RESAMPLES, noisy, result, write, write_run

from lyricsim_dataset.sources import SAMPLE_FOLDER
from lyricsim_reports import audit_cli, cli, leaderboard_cli
from lyricsim_reports.leaderboard import Leaderboard, leaderboard_page
from lyricsim_reports.page import to_markdown
from lyricsim_reports.report import report_page

FAST = ["--permutations", "2", "--resamples", "10"]


@pytest.fixture(scope="module")
def report(sample_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("report") / "report"
    assert cli.main(["--dataset", str(sample_folder), "--output", str(folder), *FAST]) == 0
    return folder


def test_the_report_of_the_sample_says_that_it_is_not_lyricsim(report):
    pictures = {f"figure-{n}.{ending}" for n in range(1, 6) for ending in ("png", "svg")}
    assert pictures | {"report.md", "report.html", "report.json"} <= {p.name for p in report.iterdir()}
    for name in ("report.md", "report.html"):
        assert "It is not LyricSIM" in (report / name).read_text()
        assert "paper" not in (report / name).read_text().split("Figures 1 to 5")[0]
    found = json.loads((report / "report.json").read_text())
    assert (found["paper"], found["dataset"]) == ([], "lyricsim-sample")


def test_from_source_and_from_the_built_folder_the_report_is_the_same(report, tmp_path):
    assert cli.main(["--sample", "--output", str(tmp_path / "other"), *FAST]) == 0
    assert (tmp_path / "other" / "report.md").read_text() == (report / "report.md").read_text()


def test_no_lyric_and_no_platforms_member_number_gets_into_a_report(report, sample):
    upstream = (SAMPLE_FOLDER / "data/raw/annotation_results.csv").read_text("utf-8-sig").splitlines()[1:]
    members = {line.split(",")[0] for line in upstream}
    found = json.loads((report / "report.json").read_text())
    numbers = {a["annotator"] for a in found["reliability"]["annotators"]}
    assert numbers == {str(n) for n in range(1, len(members) + 1)}
    text = (report / "report.html").read_text()
    assert not any(line in text for song in sample.tables.songs for line in song.lyrics.splitlines() if line)


def test_a_folder_with_other_files_is_left_alone(sample_folder, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert cli.main(["--dataset", str(sample_folder), "--output", str(tmp_path), *FAST]) == 2
    assert "did not write: mine.txt" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("command", [cli.main, leaderboard_cli.main])
def test_a_folder_without_data_is_one_message_and_status_2(command, tmp_path, capsys):
    write_to = ["--output", str(tmp_path / "x")]
    options = ["--dataset", str(tmp_path / "none"), *write_to]
    arguments = options if command is cli.main else ["render", *options]
    assert command(arguments) == 2
    assert "what to do" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_one_message_and_status_2(sample_folder, sample, tmp_path, capsys):
    (tmp_path / "file").touch()
    write(tmp_path / "results", result(sample, "one", noisy(sample, 1, 1)))
    shared = ["--dataset", str(sample_folder), "--output", str(tmp_path / "file" / "x")]
    few = ["--results", str(tmp_path / "results"), "--resamples", str(RESAMPLES)]
    assert leaderboard_cli.main(["render", *shared, *few]) == 2
    assert audit_cli.main([*shared, "--config", "filtered", "--draws", "0"]) == 2
    assert cli.main([*shared, *FAST]) == 2
    assert capsys.readouterr().err.count("cannot be read or written") == 3


def test_a_number_out_of_its_range_is_refused_by_the_command_line(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(["--sample", "--output", str(tmp_path / "x"), "--permutations", "1"])
    assert "whole number of at least 2" in capsys.readouterr().err


def test_a_run_becomes_a_file_and_the_file_a_row(sample_folder, sample, tmp_path, capsys):
    results = tmp_path / "results"
    write(results, result(sample, "floor", noisy(sample, 2, 1), kind="floor", title="A floor"))
    write(results, result(sample, "floor", noisy(sample, 3, 1), kind="floor", training_share=0.5))
    run = write_run(tmp_path / "run", sample, noisy(sample, 0.2, 2))
    place = ["--dataset", str(sample_folder), "--results", str(results)]
    assert leaderboard_cli.main(["add", str(run), *place]) == 0
    assert leaderboard_cli.main(["add", str(run), *place]) == 2
    assert "--overwrite" in capsys.readouterr().err
    few = ["--resamples", str(RESAMPLES)]
    assert leaderboard_cli.main(["render", *place, *few, "--output", str(tmp_path / "board")]) == 0
    text = (tmp_path / "board.md").read_text()
    assert text.index("| some/encoder, bi-encoder | 1 |") < text.index("| A floor (floor) | 2 |")
    assert "Learning curves" in text
    assert "Table 3" not in text
    capsys.readouterr()
    assert leaderboard_cli.main(["show", *place, *few, "--json"]) == 0
    assert [row["system"] for row in json.loads(capsys.readouterr().out)["ranked"]] == [
        "encoder-bi-encoder",
        "floor",
    ]


def test_a_changed_score_stops_the_leaderboard(sample_folder, sample, tmp_path, capsys):
    path = write(tmp_path, result(sample, "one", noisy(sample, 1, 1)))
    content = json.loads(path.read_text())
    content["scores"]["combined_score"] += 0.01
    path.write_text(json.dumps(content))
    place = ["--dataset", str(sample_folder), "--results", str(tmp_path)]
    assert leaderboard_cli.main(["show", *place, "--resamples", str(RESAMPLES)]) == 2
    assert "states combined_score" in capsys.readouterr().err


def test_the_commands_import_neither_torch_nor_matplotlib_before_they_draw():
    code = (
        "import sys, lyricsim_reports.cli, lyricsim_reports.leaderboard_cli, lyricsim_reports.audit_cli;"
        "print(sorted({'torch', 'transformers', 'matplotlib', 'evaluate'} & set(sys.modules)))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"


def test_a_campaigns_own_data_are_never_reported_as_lyricsim(sample, tmp_path):
    findings = cli.find(cli._parser().parse_args(["--sample", "--output", str(tmp_path), *FAST]))
    mine = dataclasses.replace(
        findings, name="mine", origin={**findings.origin, "sample": False, "campaign": "spring"}
    )
    page = to_markdown(report_page(mine))
    assert "annotation campaign spring" in page
    assert "The paper" not in page
    assert "quoted" not in page
    assert not mine.comparisons
    record = {**sample.record, "sample": False}
    record["source"] = {**record["source"], "campaign": "spring"}
    board = Leaderboard(dataclasses.replace(sample, record=record), (), (), (), 100)
    text = to_markdown(leaderboard_page(board))
    assert "annotation campaign spring" in text
    assert "quoted" not in text
    assert "65 to 68" not in text


def test_data_of_which_the_rule_keeps_nothing_are_reported_without_a_figure_that_is_none(tmp_path):
    source = shutil.copytree(SAMPLE_FOLDER, tmp_path / "source")
    ratings = source / "data" / "raw" / "annotation_results.csv"
    header, *rows = ratings.read_text("utf-8-sig").splitlines()
    times: dict[str, int] = {}
    lines = [header]
    for annotator, _, *pair in (row.split(",") for row in rows):
        times[str(pair)] = times.get(str(pair), 0) + 1
        lines.append(",".join([annotator, "035"[times[str(pair)] % 3], *pair]))
    ratings.write_text("\n".join(lines), "utf-8")
    output = tmp_path / "report"
    command = ["--source", str(source), "--allow-modified", "--output", str(output), *FAST]
    assert cli.main(command) == 0
    text = (output / "report.md").read_text()
    assert not re.search(r"\bnan\b", text)
    assert "agreement of the raters is undefined" in text
