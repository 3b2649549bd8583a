import subprocess
import sys
from pathlib import Path

import pytest

from lyricsim_models import registry, tokenizer_packages
from lyricsim_models.registry import ModelEntry, load_registry, paper_models, parse_registry, resolve
from lyricsim_models.tokenizer_packages import needed_packages, require_packages
from lyricsim_tools.errors import UserError

MINIMAL = """
[[model]]
name = "one"
title = "One"
hub_id = "owner/one"
revision = ""
parameters = 1
architecture = "bert"
languages = "es"
positions = 512
max_tokens = 512
fp16 = true
"""


def test_the_papers_eight_come_first_in_the_order_of_its_tables():
    titles = [entry.title for entry in paper_models()]
    assert titles == [
        "BERTIN",
        "MarIA large",
        "MarIA base",
        "XLM-RoBERTa base",
        "XLM-RoBERTa large",
        "Sentence Transformer XLM-R",
        "mDeBERTa3",
        "ALBERTI",
    ]
    assert list(load_registry().values())[:8] == list(paper_models())


def test_table_5_is_kept_as_printed():
    points = {
        e.name: (e.paper.best.batch_size, e.paper.best.weight_decay, e.paper.best.learning_rate)
        for e in paper_models()
    }
    assert points == {
        "bertin": (32, 0.01, 5e-5),
        "maria-large": (32, 0.1, 3e-5),
        "maria-base": (8, 0.01, 3e-5),
        "xlm-r-base": (8, 0.1, 1e-5),
        "xlm-r-large": (16, 0.01, 5e-5),
        "sentence-transformer": (8, 0.01, 5e-5),
        "mdeberta": (16, 0.01, 5e-5),
        "alberti": (16, 0.1, 3e-5),
    }


@pytest.mark.parametrize("split", ["development", "test"])
def test_combined_scores_are_the_means_of_the_two_others_as_far_as_two_decimals_say(split):
    for entry in paper_models():
        scores = getattr(entry.paper, split)
        assert scores.combined == pytest.approx((scores.spearman + scores.pearson) / 2, abs=0.0151), (
            entry.name
        )


def test_points_lie_on_the_papers_grid():
    for entry in paper_models():
        assert entry.paper.best.batch_size in {8, 16, 32}
        assert entry.paper.best.weight_decay in {0.1, 0.01}
        assert entry.paper.best.learning_rate in {1e-5, 2e-5, 3e-5, 5e-5}


def test_quirks_that_break_runs_are_recorded():
    models = load_registry()
    assert [name for name, e in models.items() if not e.fp16] == ["mdeberta"]
    assert models["mdeberta"].packages == ("sentencepiece", "protobuf")
    assert {e.name for e in paper_models() if e.line_breaks} == {"bertin", "maria-base", "maria-large"}
    assert all(e.max_tokens == 512 for e in models.values() if e.positions == 514)
    assert {n for n, e in models.items() if e.prompt == "query: "} == {"e5-small", "e5-base", "e5-large"}


def test_the_newer_encoders_and_the_five_lyric_continuations_are_there():
    newer = [e.hub_id for e in load_registry().values() if not e.paper]
    assert sum("lyraics" in hub_id for hub_id in newer) == 5
    assert {"BSC-LT/MrBERT-es", "BSC-LT/MrBERT", "BSC-LT/mRoBERTa", "jhu-clsp/mmBERT-base"} <= set(newer)
    assert {"BAAI/bge-m3", "intfloat/multilingual-e5-large"} <= set(newer)


@pytest.mark.parametrize("name", ["maria-base", "MarIA base", "PlanTL-GOB-ES/roberta-base-bne"])
def test_a_model_is_found_by_name_title_and_id(name):
    assert resolve(name).reference == "PlanTL-GOB-ES/roberta-base-bne"
    assert resolve(name).entry.paper.best.batch_size == 8


def test_a_mirror_is_used_under_its_own_id_with_the_same_facts():
    model = resolve("BSC-LT/roberta-base-bne")
    assert model.reference == "BSC-LT/roberta-base-bne"
    assert model.entry.title == "MarIA base"


def test_an_unknown_hub_id_is_passed_on():
    assert resolve("someone/some-model") == registry.Model("someone/some-model")


def test_a_folder_is_resolved_to_its_absolute_path(tmp_path, monkeypatch):
    (tmp_path / "m").mkdir()
    monkeypatch.chdir(tmp_path)
    assert resolve("m").reference == str(tmp_path / "m")


@pytest.mark.parametrize("name", ["maria-bsae", "a/b/c", "/no/such", "./gone", "", "owner/"])
def test_a_name_that_means_nothing_is_refused_with_suggestions(name):
    with pytest.raises(UserError, match="no model called"):
        resolve(name)


def test_a_misspelt_name_gets_its_neighbour():
    with pytest.raises(UserError, match="did you mean maria-base"):
        resolve("maria-bse")


def test_a_missing_tokenizer_dependency_is_named(monkeypatch):
    monkeypatch.setattr(tokenizer_packages, "_is_installed", lambda name: name != "sentencepiece")
    with pytest.raises(UserError, match=r"pip install sentencepiece$"):
        require_packages(resolve("mdeberta"))
    require_packages(resolve("xlm-r-base"))


@pytest.mark.parametrize(
    ("files", "needed"),
    [
        (["spm.model"], ("sentencepiece", "protobuf")),
        (["sentencepiece.bpe.model"], ("sentencepiece", "protobuf")),
        (["spm.model", "tokenizer.json"], ()),
        (["vocab.txt"], ()),
    ],
)
def test_a_repository_that_is_not_in_the_registry_is_asked_for_its_files(monkeypatch, files, needed):
    here = {name: Path(name) for name in files}
    monkeypatch.setattr(tokenizer_packages, "optional_file", lambda model, name: here.get(name))
    assert needed_packages(resolve("someone/some-model")) == needed


def test_a_folder_with_only_a_sentencepiece_model_needs_the_packages_too(tmp_path):
    (tmp_path / "spm.model").touch()
    assert needed_packages(resolve(str(tmp_path))) == ("sentencepiece", "protobuf")
    (tmp_path / "tokenizer.json").touch()
    assert needed_packages(resolve(str(tmp_path))) == ()


def test_what_is_not_installed_is_seen(monkeypatch):
    monkeypatch.setitem(registry.IMPORT_NAMES, "absent", "no_such_package.inner")
    assert not tokenizer_packages._is_installed("absent")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("fp16 = true", "fp16 = 1"), "fp16"),
        (("positions = 512", "position = 512"), "unknown or missing keys: position"),
        (('title = "One"\n', ""), "unknown or missing keys: title"),
        (("max_tokens = 512", "max_tokens = 513"), "max_tokens = 513"),
        (("owner/one", "one"), "owner/name"),
        (("parameters = 1", "parameters = 0"), "a positive number"),
        (("fp16 = true", 'fp16 = true\npackages = ["leftpad"]'), "leftpad"),
        (("fp16 = true", "fp16 = true\npaper = { best = 3 }"), "paper"),
        (("[[model]]", "[[model]"), "cannot be read"),
        (("[[model]]", "[[models]]"), "cannot be read"),
    ],
)
def test_a_wrong_registry_is_refused_with_what_is_wrong(change, message):
    with pytest.raises(UserError, match=message):
        parse_registry(MINIMAL.replace(*change))


def test_a_name_twice_is_refused():
    with pytest.raises(UserError, match="more than once"):
        parse_registry(MINIMAL + MINIMAL)


def test_records_cannot_be_changed():
    entry = parse_registry(MINIMAL)["one"]
    assert isinstance(entry, ModelEntry)
    with pytest.raises(AttributeError):
        entry.name = "two"


def test_reading_the_registry_imports_no_torch():
    code = "import sys, lyricsim_models.registry as r; r.resolve('bertin'); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
