import json
import os
import re
import shutil

import pytest
from folders import push, write_files
from runs import run_folder
from support import REPOSITORY

from lyricsim_cards import card_code
from lyricsim_cards.card_code import failures, snippets_of
from lyricsim_cards.check import check_cards
from lyricsim_cards.check_options import CheckOptions
from lyricsim_cards.cli import main
from lyricsim_cards.model_card import write_model_card
from lyricsim_cards.model_folder import CardExtras
from lyricsim_cards.rebuilt import build_dataset
from lyricsim_cards.schema import head_faults
from lyricsim_tools.errors import UserError

PREPARED = sorted((REPOSITORY / "model_cards").glob("*/README.md"))
MODEL = {
    "license": "mit",
    "language": "es",
    "library_name": "sentence-transformers",
    "pipeline_tag": "text-classification",
}


def faults_of(card, text=None, root=REPOSITORY, kind=None):
    if text is not None:
        card.parent.mkdir(parents=True, exist_ok=True)
        card.write_text(text, "utf-8")
    found = check_cards([card], CheckOptions(root, snippets=False))
    return [fault.what for fault in found if kind in (None, fault.kind)]


@pytest.fixture
def trained(tmp_path):
    return write_model_card(run_folder(tmp_path / "r"), CardExtras("me/m", "me/lyricsim"))


def test_our_own_cards_are_without_faults(trained):
    assert check_cards([*PREPARED, trained], CheckOptions(REPOSITORY, snippets=False)) == []


@pytest.mark.parametrize(
    ("head", "fault"),
    [
        ({**MODEL, "license": "my-own"}, "license is 'my-own'"),
        ({**MODEL, "license": "other"}, "needs license_name"),
        ({**MODEL, "language": "Spanish"}, "language is 'Spanish'"),
        ({**MODEL, "base_model": "bertin"}, "base_model is 'bertin'; expected owner/name"),
        ({**MODEL, "tags": []}, "tags is []"),
        ({k: v for k, v in MODEL.items() if k != "license"}, "license is missing"),
        ({k: v for k, v in MODEL.items() if k != "library_name"}, "library_name is missing"),
        ({**MODEL, "model-index": [{"results": []}]}, "model-index without a name"),
        ({**MODEL, "model-index": [{"name": "m", "results": [{"task": {}}]}]}, "a result without task.type"),
        ({**MODEL, "model-index": {"name": "m"}}, "no list of mappings"),
        ({"sdk": "notebook", "title": "t"}, "sdk is 'notebook'"),
        ({"sdk": "gradio", "title": "t", "colorFrom": "mauve"}, "colorFrom is 'mauve'"),
        (
            {"sdk": "gradio", "title": "t", "sdk_version": 6.1},
            "sdk_version is 6.1; expected a version in quotes",
        ),
        ({"configs": [{"config_name": "a"}], "language": "es"}, "configs is"),
    ],
)
def test_a_head_that_the_hub_would_refuse_is_named(head, fault):
    assert any(fault in found for found in head_faults(head)), head_faults(head)


def test_a_good_head_has_no_faults():
    assert head_faults(MODEL) == []
    assert head_faults({"sdk": "gradio", "title": "t", "sdk_version": "6.31.0", "colorTo": "blue"}) == []


@pytest.mark.parametrize(
    "left",
    [
        "More Information Needed",
        "TODO: scores",
        "Score: $score",
        "Score: {{ score }}",
        "nan",
        "None",
        "[your name]",
    ],
)
def test_unfilled_fields_are_found(trained, left):
    assert faults_of(trained, trained.read_text() + f"\n{left}\n", kind="placeholder")


def test_ordinary_prose_and_code_are_no_placeholders(trained):
    text = "\nNone-the-less is odd; none of it, a NaN loss, banana.\n\n```python\nx = None  # TODO\n```\n"
    assert (
        faults_of(trained, trained.read_text() + text.replace("None-the-less", "That"), kind="placeholder")
        == []
    )


@pytest.mark.parametrize("target", ["missing.md", "../../../../etc/passwd", "#nowhere", "/docs/missing.md"])
def test_dead_links_are_found(trained, target):
    assert faults_of(trained, trained.read_text() + f"\n[x]({target})\n", kind="link") == [
        f"{target} leads nowhere"
    ]


@pytest.mark.parametrize(
    "target", ["run.json", "#results", "https://example.org/x", "/README.md", "#for-and-not-for"]
)
def test_living_links_are_not(trained, target):
    assert faults_of(trained, trained.read_text() + f"\n[x]({target})\n", kind="link") == []


def test_a_figure_that_differs_from_the_result_file_is_found(trained):
    metrics = json.loads((trained.parent / "metrics.json").read_text())
    shown = f"{100 * metrics['test']['pearson']:.2f}"
    changed = trained.read_text().replace(f"| {shown} |", "| 99.99 |")
    [fault] = faults_of(trained, changed, kind="figure")
    assert "99.99" in fault
    assert shown in fault


def test_a_result_file_that_changed_after_the_card_is_found(trained):
    metrics = json.loads((trained.parent / "metrics.json").read_text())
    metrics["test"]["pearson"] = 0.123
    (trained.parent / "metrics.json").write_text(json.dumps(metrics))
    found = faults_of(trained, kind="figure")
    assert any("model-index" in fault for fault in found)
    assert any("12.30" in fault for fault in found)
    assert any(".eval_results" in fault for fault in found)


def test_hand_written_notes_are_no_difference(trained):
    assert faults_of(trained, trained.read_text() + "\n## Notes\n\nMy own words.\n") == []


def test_a_prepared_card_that_differs_from_the_registry_is_found(tmp_path):
    text = (REPOSITORY / "model_cards" / "alberti" / "README.md").read_text("utf-8")
    card = tmp_path / "model_cards" / "alberti" / "README.md"
    assert any("97.65" in fault for fault in faults_of(card, text.replace("87.65", "97.65"), kind="figure"))


def test_a_dataset_card_with_other_row_counts_is_found(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    (tmp_path / "d").mkdir()
    pq.write_table(pa.table({"a": [1, 2, 3]}), tmp_path / "d" / "test.parquet")
    head = """---
license: mit
language: es
task_categories: [sentence-similarity]
configs:
- config_name: filtered
  data_files: [{split: test, path: test.parquet}]
dataset_info:
- config_name: filtered
  splits: [{name: test, num_examples: 4}]
---
"""
    card = tmp_path / "d" / "README.md"
    assert faults_of(card, head) == ["filtered/test: the card says 4 rows, the file has 3"]
    assert faults_of(card, head.replace("num_examples: 4", "num_examples: 3")) == []


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    folder = tmp_path_factory.mktemp("built") / "lyricsim-sample"
    build_dataset(folder, "--sample").check_returncode()
    return folder


@pytest.mark.parametrize(
    ("pattern", "block"),
    [(r"\| (interval|ordinal) \| 0\.\d\d", "reliability"), (r"\d+ songs;", "introduction")],
)
def test_a_dataset_card_whose_figures_are_not_those_of_a_new_build_is_found(sample, tmp_path, pattern, block):
    folder = shutil.copytree(sample, tmp_path / "copy-of-sample")
    text = (folder / "README.md").read_text("utf-8")
    changed = re.sub(pattern, lambda match: re.sub(r"\d\b", "77", match[0], count=1), text, count=1)
    assert changed != text
    [fault] = faults_of(folder / "README.md", changed)
    assert fault.startswith(f"block {block}: ")
    assert "77" in fault


def test_a_dataset_card_is_not_compared_with_a_build_of_other_data(sample, tmp_path, monkeypatch):
    folder = shutil.copytree(sample, tmp_path / "lyricsim")
    record = json.loads((folder / "build.json").read_text("utf-8"))
    (folder / "build.json").write_text(json.dumps({**record, "sample": False}), "utf-8")
    card = folder / "README.md"
    text = card.read_text("utf-8").replace("songs;", "song;")
    monkeypatch.delenv("LYRICSIM_SOURCE", raising=False)
    monkeypatch.setenv("LYRICSIM_CACHE", str(tmp_path / "none"))
    assert faults_of(card, text) == []
    (folder / "build.json").write_text("{}", "utf-8")
    assert "is not a build's record" in faults_of(card)[0]


def test_figures_kept_for_the_card_that_contradict_the_run_are_found(trained):
    path = trained.parent / "card.json"
    extras = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**extras, "measured": {"test": {"pearson": 0.99}}}), "utf-8")
    [fault] = faults_of(trained, kind="figure")
    assert fault.startswith("test pearson is 0.99 in card.json, ")


def test_a_card_that_is_not_utf_8_is_a_fault(tmp_path):
    (tmp_path / "README.md").write_bytes(b"Canci\xf3n")
    found = check_cards([tmp_path / "README.md"], CheckOptions(REPOSITORY))
    assert [fault.kind for fault in found] == ["metadata"]
    assert "is not UTF-8" in found[0].what


def test_a_card_whose_head_is_broken_is_found(tmp_path):
    assert "head" in faults_of(tmp_path / "README.md", "---\na: [\n---\n")[0]


def test_no_card_and_no_hub_are_explained(tmp_path, trained):
    with pytest.raises(UserError, match="is not a file"):
        check_cards([tmp_path / "none.md"], CheckOptions(REPOSITORY))
    with pytest.raises(UserError, match="no local Hub"):
        check_cards([trained], CheckOptions(tmp_path))


def test_the_command_reports_faults_and_says_what_it_cannot_check(trained, capsys):
    arguments = ["check", "--no-snippets", "--root", str(REPOSITORY), str(trained)]
    assert main(arguments) == 0
    assert "the real check runs on its server" in capsys.readouterr().out
    trained.write_text(trained.read_text() + "\nTODO\n")
    assert main([*arguments, "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {"card": str(trained), "kind": "placeholder", "what": "TODO"}
    ]
    assert main(["check", str(trained.parent / "none.md")]) == 2
    assert "what to do" in capsys.readouterr().err


def test_snippets_are_python_and_shell_blocks_with_their_lines():
    card = "# T\n\n```python\na = 1\n```\n\n```bibtex\nx\n```\n\n```bash\nls\n```\n"
    assert [(s.language, s.code, s.line) for s in snippets_of(card)] == [
        ("python", "a = 1\n", 3),
        ("bash", "ls\n", 11),
    ]


def test_code_runs_from_top_to_bottom_as_one_session_and_goes_on_after_a_failure(tmp_path):
    card = "```python\na = 1\n```\n```python\nb = a / 0\n```\n```python\nassert a == 1; print(b)\n```\n"
    shell = "```bash\necho kept > file\n```\n```bash\necho error: gone >&2; exit 3\n```\n"
    session = '```python\nassert open("file").read() == "kept\\n"; exit(4)\n```\n'
    assert list(failures(snippets_of(card + shell + session), tmp_path, os.environ)) == [
        "the python code in line 4 fails: ZeroDivisionError: division by zero",
        "the python code in line 7 fails: NameError: name 'b' is not defined",
        "the bash code in line 13 fails: error: gone",
        "the python code in line 16 fails: SystemExit: 4",
    ]


@pytest.mark.parametrize("code", ["python\nimport time; time.sleep(60)", "bash\nsleep 60"])
def test_code_that_does_not_end_is_a_fault(tmp_path, monkeypatch, code):
    monkeypatch.setattr(card_code, "_SECONDS", 1)
    [fault] = failures(snippets_of(f"```{code}\n```\n"), tmp_path, os.environ)
    assert fault.endswith("error: it had not ended after 1 s")


@pytest.mark.parametrize("endpoint", ["https://huggingface.co", "http://192.168.1.2:8000", "127.0.0.1"])
def test_a_hub_that_people_use_gets_nothing_of_a_check(trained, endpoint):
    with pytest.raises(UserError, match="is not on this machine"):
        check_cards([trained], CheckOptions(REPOSITORY, endpoint=endpoint))


def test_what_a_card_speaks_of_is_not_written_where_it_is(hub, tmp_path):
    mine = write_files(tmp_path / "mine", {"README.md": b"mine", "data.csv": b"a\n1\n"})
    assert push(hub, mine, "--type", "dataset", repo_id=f"{hub.user}/lyricsim").returncode == 0
    before = hub.server.store.files("dataset", f"{hub.user}/lyricsim")
    card = write_files(
        tmp_path / "card", {"README.md": b'# T\n\n```python\nname = "<owner>/lyricsim"\n```\n'}
    )
    command = ["-m", "lyricsim_cards.cli", "check", "--root", str(REPOSITORY), "--endpoint", hub.url]
    done = hub.run([*command, str(card / "README.md")])
    assert done.returncode == 1, done.stderr
    assert "snippet" not in done.stdout
    assert hub.server.store.files("dataset", f"{hub.user}/lyricsim") == before


def test_an_error_that_a_comment_announces_is_what_the_code_shows(tmp_path):
    card = "```python\nint('x')  # ValueError: no number\n```\n```python\nint('x')  # KeyError\n```\n"
    [fault] = failures(snippets_of(card), tmp_path, os.environ)
    assert fault.startswith("the python code in line 4 fails: ValueError")


@pytest.mark.slow
def test_the_code_of_a_card_runs_and_broken_code_is_found(tmp_path):
    source = REPOSITORY / "model_cards" / "bertin"
    broken = tmp_path / "notes" / "README.md"
    broken.parent.mkdir()
    head = "---\nlicense: mit\nlanguage: es\nlibrary_name: x\npipeline_tag: text-classification\n---\n"
    broken.write_text(f"{head}\n\n```python\nraise RuntimeError('it broke')\n```\n")
    card = tmp_path / "model_cards" / "bertin" / "README.md"
    shutil.copytree(source, card.parent)
    # As printed, but for two steps instead of five epochs.
    card.write_text(card.read_text().replace("--learning-rate 5e-5", "--learning-rate 5e-5 --max-steps 2"))
    found = check_cards([card, broken], CheckOptions(REPOSITORY))
    [fault] = [fault for fault in found if fault.kind == "snippet"]
    assert fault.card == str(broken)
    assert fault.what == "the python code in line 9 fails: RuntimeError: it broke"


@pytest.mark.slow
def test_the_code_of_both_spaces_cards_runs():
    cards = [REPOSITORY / name / "README.md" for name in ("lyricsim_metric", "lyricsim_comparison")]
    assert check_cards(cards, CheckOptions(REPOSITORY)) == []
