"""The commands on the embedded sample, as a user runs them."""

import json
import re
import shutil
import subprocess
import sys

import pytest
from reported import RESAMPLES, noisy, result, write, write_run

from lyricsim_dataset.publish import BuildOptions, build
from lyricsim_dataset.sources import (
    CAMPAIGN_FILE,
    PINS,
    RATINGS_FILE,
    SAMPLE_FOLDER,
    campaign_record,
    local_tree,
)
from lyricsim_reports import audit_cli, cli, leaderboard_cli
from lyricsim_reports.benchmark import read_benchmark
from lyricsim_reports.leaderboard import Leaderboard, leaderboard_page
from lyricsim_reports.origin import Origin, origin_of_source
from lyricsim_reports.page import to_markdown

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


@pytest.fixture
def nothing_computed(monkeypatch):
    """What takes minutes must not begin."""
    monkeypatch.setattr(cli, "find", lambda *_: pytest.fail("computed before the check"))


@pytest.mark.usefixtures("nothing_computed")
def test_a_folder_with_other_files_is_left_alone(sample_folder, tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert cli.main(["--dataset", str(sample_folder), "--output", str(tmp_path), *FAST]) == 2
    assert "did not write: mine.txt" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.usefixtures("nothing_computed")
def test_without_matplotlib_nothing_is_computed(sample_folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["--dataset", str(sample_folder), "--output", str(tmp_path / "x"), *FAST]) == 2
    assert "matplotlib is not installed" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_computed")
@pytest.mark.parametrize("place", ["--dataset", "--sample"])
def test_an_option_that_would_change_nothing_is_refused(sample_folder, tmp_path, capsys, place):
    data = [place, str(sample_folder)] if place == "--dataset" else [place]
    assert cli.main([*data, "--allow-modified", "--output", str(tmp_path / "x")]) == 2
    assert "--allow-modified without --source" in capsys.readouterr().err


@pytest.mark.usefixtures("nothing_computed")
def test_a_place_where_no_folder_can_be_is_told_before_anything_is_computed(sample_folder, tmp_path):
    (tmp_path / "file").touch()
    assert cli.main(["--dataset", str(sample_folder), "--output", str(tmp_path / "file" / "x")]) == 2


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


@pytest.fixture(scope="module", params=["campaign annotation-0f, modified", "lyricsim, modified"])
def other_data(request, tmp_path_factory):
    """What data that are not upstream's must be called, their built folder and its source."""
    source = tmp_path_factory.mktemp("other") / "source"
    shutil.copytree(SAMPLE_FOLDER, source)
    if request.param.startswith("campaign"):
        contents = {pin.path: (source / pin.path).read_bytes() for pin in PINS}
        (source / CAMPAIGN_FILE).write_text(json.dumps(campaign_record("annotation-0f", contents)))
    ratings = source / RATINGS_FILE
    ratings.write_bytes(ratings.read_bytes().replace(b",5, ", b",4, ", 1))
    folder = build(BuildOptions(source=source, allow_modified=True), source.parent / "lyricsim")
    return request.param, folder, source


def test_a_campaigns_untouched_export_is_called_by_its_name_alone():
    origin = Origin(sample=False, campaign="annotation-0f", modified=(), fingerprint="")
    assert (origin.name, origin.is_upstreams) == ("campaign annotation-0f", False)
    assert origin.described == "the annotation campaign annotation-0f"
    assert "NOT" not in origin.warning


def test_the_origin_of_a_build_is_that_of_its_files(other_data):
    _, folder, source = other_data
    found = read_benchmark(folder).origin
    assert found == origin_of_source(local_tree(source, allow_modified=True))
    assert RATINGS_FILE in found.modified
    assert all(file in found.warning for file in found.modified)


def test_a_report_of_other_data_names_them_and_quotes_nothing(other_data, tmp_path):
    name, folder, _ = other_data
    assert cli.main(["--dataset", str(folder), "--output", str(tmp_path / "report"), *FAST]) == 0
    text = (tmp_path / "report" / "report.md").read_text()
    assert text.startswith("# A modified copy of ")
    assert read_benchmark(folder).origin.warning in text
    assert f"| {name} | recomputed |" in text
    assert "quoted" not in text
    assert "The paper's figures" not in text
    found = json.loads((tmp_path / "report" / "report.json").read_text())
    assert (found["dataset"], found["paper"], found["table_2_quoted"]) == (name, [], [])
    panels = re.findall("<!-- (.*) -->", (tmp_path / "report" / "figure-4.svg").read_text())
    assert name in panels
    assert "LyricSIM" not in panels


def test_a_leaderboard_of_other_data_names_them_and_quotes_nothing(other_data):
    name, folder, _ = other_data
    board = Leaderboard(read_benchmark(folder), (), (), (), 100)
    text = to_markdown(leaderboard_page(board))
    assert text.startswith("# A leaderboard of ")
    assert "which is not LyricSIM" in text
    assert board.benchmark.origin.warning in text
    assert f"Data: {name}, source fingerprint" in text
    assert board.to_dict()["dataset"] == name
    assert "quoted" not in text
    assert "65 to 68" not in text


def test_an_audit_of_other_data_names_them_and_says_nothing_of_the_papers_split(other_data, tmp_path):
    name, folder, _ = other_data
    options = ["--dataset", str(folder), "--config", "filtered", "--draws", "0"]
    assert audit_cli.main([*options, "--output", str(tmp_path / "audit")]) == 0
    text = (tmp_path / "audit.md").read_text()
    assert text.startswith("# Audit of splits of ")
    assert read_benchmark(folder).origin.warning in text
    assert "paper" not in text.replace("nothing here is the paper's", "")
    assert json.loads((tmp_path / "audit.json").read_text())["dataset"] == name


def test_upstreams_own_data_are_reported_as_lyricsim_beside_the_paper(lyricsim_source, real, tmp_path):
    assert cli.main(["--source", str(lyricsim_source), "--output", str(tmp_path / "report"), *FAST]) == 0
    text = (tmp_path / "report" / "report.md").read_text()
    assert text.startswith("# LyricSIM: the paper's figures recomputed\n")
    assert "| LyricSIM | quoted |" in text
    assert "| lyricsim | recomputed |" in text
    assert "<!-- LyricSIM -->" in (tmp_path / "report" / "figure-4.svg").read_text()
    board = to_markdown(leaderboard_page(Leaderboard(real, (), (), (), 100)))
    assert board.startswith("# LyricSIM leaderboard\n")
    assert "Quoted: the paper's Tables 3 to 5" in board


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
