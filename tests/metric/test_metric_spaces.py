"""Both folders as Spaces: complete, self-contained, and loaded from a Hub."""

import doctest
import importlib
import json
import runpy
import sys
import tomllib

import evaluate
import pytest
import yaml
from launch import IMPORT_EVALUATE, run
from support import REPOSITORY

from lyricsim_comparison.tests import test_cases as COMPARISON_CASES
from lyricsim_tools.citation import PAPER_BIBTEX

SPACES = ("lyricsim_metric", "lyricsim_comparison")
SHARED = (
    "inputs.py",
    "correlations.py",
    "resampling.py",
    "intervals.py",
    "rows.py",
    "app.py",
    "requirements.txt",
)
PLAIN = ("inputs", "correlations", "scores")


@pytest.fixture
def comparison():
    return evaluate.load(str(REPOSITORY / "lyricsim_comparison"))


@pytest.mark.parametrize("name", SHARED)
def test_the_shared_statistics_are_one_text(name):
    metric, comparison = (REPOSITORY / space / name for space in SPACES)
    assert metric.read_bytes() == comparison.read_bytes()
    assert not metric.is_symlink()
    assert comparison.resolve() == metric


@pytest.mark.parametrize(
    "module",
    [
        *(f"lyricsim_metric.{name}" for name in (*PLAIN, "lyricsim_metric")),
        *(
            f"lyricsim_comparison.{name}"
            for name in ("differences", "significance", "rankings", "lyricsim_comparison")
        ),
    ],
)
def test_every_example_in_a_docstring_runs(module, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    found = doctest.testmod(importlib.import_module(module))
    assert found.failed == 0
    assert found.attempted > 0


@pytest.mark.parametrize("space", SPACES)
def test_a_card_has_what_a_space_and_a_reader_need(space):
    _, head, body = (REPOSITORY / space / "README.md").read_text("utf-8").split("---\n", 2)
    card = yaml.safe_load(head)
    assert (REPOSITORY / space / card["app_file"]).is_file()
    assert {"evaluate", space.removeprefix("lyricsim_")} < set(card["tags"])
    assert card["sdk"] == "gradio"
    for heading in ("Description", "How to use", "Inputs", "Outputs", "Limits and bias", "Citation"):
        assert f"# {heading}\n" in body
    assert PAPER_BIBTEX in body


@pytest.mark.parametrize("space", SPACES)
def test_module_and_card_cite_the_paper_in_the_same_words(space):
    module = evaluate.load(str(REPOSITORY / space))
    assert module.citation.strip() == PAPER_BIBTEX


@pytest.mark.parametrize("space", SPACES)
def test_requirements_are_those_of_the_project(space):
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    required = (REPOSITORY / space / "requirements.txt").read_text().splitlines()
    assert set(required) < set(project["dependencies"])


@pytest.mark.parametrize("space", SPACES)
def test_the_page_answers_and_explains(space, monkeypatch):
    page = runpy.run_path(str(REPOSITORY / space / "app.py"))
    columns = page["_COLUMNS"]
    table = [[str(page["_EXAMPLE"][name][row]) for name in columns] for row in range(8)]
    found = page["answer_page"]([*table, [""] * len(columns)], 0.9)
    assert any(name.endswith("_ci") for name in found)
    assert "every row needs" in page["answer_page"]([["1", "x", "2"][: len(columns)]] * 3, 0.9)["error"]
    flat = [["1"] * len(columns), ["2"] * (len(columns) - 1) + ["1"]]
    assert "references is constant" in page["answer_page"](flat, 0.9)["error"]
    assert "0 rows" in page["answer_page"]([], 0.9)["error"]
    monkeypatch.setitem(sys.modules, "gradio", None)
    with pytest.raises(SystemExit, match="pip install 'gradio>=6'"):
        page["build_page"]()


@pytest.mark.parametrize("space", SPACES)
def test_the_page_is_built_by_gradio(space):
    pytest.importorskip("gradio", reason="the page needs the extra [demo]")
    page = runpy.run_path(str(REPOSITORY / space / "app.py"))["build_page"]()
    assert page.title == space
    page.close()


@pytest.mark.parametrize("case", COMPARISON_CASES)
def test_the_cases_of_the_comparison_hold(comparison, case):
    inputs = {name: values for name, values in case.items() if name != "result"}
    found = comparison.compute(**inputs, n_resamples=100)
    assert {name: found[name] for name in case["result"]} == pytest.approx(case["result"], abs=1e-12)


def test_the_comparison_takes_batches_single_rows_and_options(comparison):
    first, second, gold = [1, 2, 3, 4, 6, 5], [2, 1, 4, 3, 6, 5], [0, 1, 2, 3, 4, 5]
    assert comparison.module_type == "comparison"
    comparison.add_batch(predictions1=first[:4], predictions2=second[:4], references=gold[:4])
    comparison.add(predictions1=6, predictions2=6, reference=4)
    with pytest.raises(ValueError, match="predictions2: 1 of 1 values"):
        comparison.add(predictions1=6, predictions2="6", references=4)
    comparison.add(predictions1=5, predictions2=5, references=5)
    expected = comparison.compute.__self__._compute(first, second, gold)
    assert comparison.compute() == expected
    inputs = {"predictions1": first, "predictions2": second, "references": gold}
    assert (
        comparison.compute(**inputs, scale=100)["pearson_difference"] == 100 * expected["pearson_difference"]
    )
    with pytest.raises(ValueError, match="predictions2 is None"):
        comparison.compute(predictions1=first, references=gold)


def test_the_comparison_corrects_a_whole_table(comparison):
    systems = {"a": [1, 2, 3, 4, 6, 5], "b": [2, 1, 4, 3, 6, 5], "c": [6, 1, 3, 4, 5, 2]}
    rows = comparison.compare_all(systems, [0, 1, 2, 3, 4, 5], n_resamples=200)
    alone = [row["pearson_permutation_pvalue"] for row in rows]
    assert comparison.holm(alone) == [row["pearson_holm_pvalue"] for row in rows]


PUSH = """
from pathlib import Path
from lyricsim_tools.hub import push_folder
for name in {spaces}:
    push_folder(
        Path({repository!r}) / name, "{owner}/" + name, repo_type="space", message="Publish", public=True
    )
"""

LOAD = """
import json
metric = evaluate.load("{owner}/lyricsim_metric", module_type="metric")
comparison = evaluate.load("{owner}/lyricsim_comparison", module_type="comparison")
gold = [0, 1, 2, 3, 4, 5]
scores = metric.compute(
    predictions=[1, 2, 3, 4, 6, 5], references=gold, confidence_level=0.9, n_resamples=100)
found = comparison.compute(
    predictions1=[1, 2, 3, 4, 6, 5], predictions2=[2, 1, 4, 3, 6, 5], references=gold, n_resamples=100)
print(json.dumps([scores, found, comparison.holm([0.01, 0.04])]))
"""

LOCAL = LOAD.replace("{owner}/", "")


def test_both_spaces_are_pushed_whole_and_load_from_the_hub_with_an_empty_cache(hub, tmp_path):
    hub.python(PUSH.format(spaces=SPACES, repository=str(REPOSITORY), owner=hub.user), cwd=REPOSITORY)
    for space in SPACES:
        files = hub.server.store.files("space", f"{hub.user}/{space}", "main")
        for name in (*SHARED, f"{space}.py", "README.md", "tests.py"):
            assert files[name] == (REPOSITORY / space / name).read_bytes()
    printed = hub.python(
        IMPORT_EVALUATE + LOAD.format(owner=hub.user), cache="empty", cwd=tmp_path, USE_TORCH="0"
    )
    assert json.loads(printed) == json.loads(run(IMPORT_EVALUATE + LOCAL, tmp_path / "local"))
