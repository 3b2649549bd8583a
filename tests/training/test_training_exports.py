"""What a run leaves behind loads elsewhere, with the same scores."""

import csv
import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_families import FAMILIES
from training_support import Family

from lyricsim_models.config import Recipe
from lyricsim_models.job import Job
from lyricsim_models.pair_table import PairTable
from lyricsim_models.run import run
from lyricsim_models.scoring import load_scorer
from lyricsim_tools.errors import UserError

QUICK = {"max_steps": 3, "learning_rate": 1e-3}
Train = Callable[..., Path]


@pytest.fixture(scope="module")
def train(
    family: Family, splits: Mapping[str, PairTable], workers: Any, tmp_path_factory: pytest.TempPathFactory
) -> Train:
    """A short run in this process; the same one is done once."""
    done: dict[tuple[object, ...], Path] = {}

    def get(name: str, **recipe: object) -> Path:
        key = (name, *sorted(recipe.items()))
        if key not in done:
            output = tmp_path_factory.mktemp("run")
            settings = Recipe(**{**QUICK, **recipe})  # type: ignore[arg-type]
            run(Job(str(family(name)), "pairs", None, output, settings), splits, workers)
            done[key] = output
        return done[key]

    return get


def predictions(folder: Path, table: PairTable) -> np.ndarray:
    with (folder / "predictions.csv").open(encoding="utf-8", newline="") as stream:
        found = {row["pair_id"]: float(row["prediction"]) for row in csv.DictReader(stream)}
    return np.array([found[pair_id] for pair_id in table.pair_ids])


@pytest.mark.parametrize("name", FAMILIES)
def test_a_cross_encoder_loads_in_transformers_and_sentence_transformers(
    train: Train, splits: Mapping[str, PairTable], name: str
) -> None:
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, pipeline

    folder, test = train(name), splits["test"]
    expected = predictions(folder, test)
    pairs = list(zip(test.lyrics_1, test.lyrics_2, strict=True))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder)
    encoded = tokenizer(list(test.lyrics_1), list(test.lyrics_2), padding=True, return_tensors="pt")
    with torch.no_grad():
        logits = model.eval()(**encoded).logits
    assert logits.shape == (9, 1)
    assert logits[:, 0].numpy() == pytest.approx(expected, abs=1e-5)
    classify = pipeline("text-classification", model=str(folder))
    piped = classify([{"text": a, "text_pair": b} for a, b in pairs])
    assert [row["score"] for row in piped] == pytest.approx(expected, abs=1e-5)
    assert CrossEncoder(str(folder)).predict(pairs) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_bi_encoder_loads_as_a_sentence_transformer(
    train: Train, splits: Mapping[str, PairTable], name: str
) -> None:
    from sentence_transformers import SentenceTransformer

    folder, test = train(name, architecture="bi-encoder"), splits["test"]
    model = SentenceTransformer(str(folder))
    vectors = [model.encode(list(side)) for side in (test.lyrics_1, test.lyrics_2)]
    line = json.loads((folder / "calibration.json").read_text())
    scores = line["slope"] * (vectors[0] * vectors[1]).sum(1) + line["intercept"]
    assert scores == pytest.approx(predictions(folder, test), abs=1e-5)
    assert load_scorer(str(folder)).embed(test.lyrics_1) == pytest.approx(vectors[0], abs=1e-5)


@pytest.mark.parametrize("architecture", ["cross-encoder", "bi-encoder"])
def test_line_breaks_and_prompts_travel_with_the_export(
    train: Train, splits: Mapping[str, PairTable], architecture: str
) -> None:
    from sentence_transformers import CrossEncoder, SentenceTransformer

    prompt = {"prompt": "amor: "} if architecture == "bi-encoder" else {}
    folder = train("bert", architecture=architecture, line_breaks="token", **prompt)
    test = splits["test"]
    expected = predictions(folder, test)
    if architecture == "cross-encoder":
        found = CrossEncoder(str(folder)).predict(list(zip(test.lyrics_1, test.lyrics_2, strict=True)))
    else:
        model = SentenceTransformer(str(folder))
        vectors = [model.encode(list(side)) for side in (test.lyrics_1, test.lyrics_2)]
        line = json.loads((folder / "calibration.json").read_text())
        found = line["slope"] * (vectors[0] * vectors[1]).sum(1) + line["intercept"]
    assert found == pytest.approx(expected, abs=1e-5)
    assert json.loads((folder / "run.json").read_text())["settings"]["recipe"]["line_breaks"] == "token"


@pytest.mark.parametrize("architecture", ["cross-encoder", "bi-encoder"])
@pytest.mark.parametrize("name", ["roberta", "bert"])
def test_our_own_scorer_gives_the_predictions_of_the_run(
    train: Train, splits: Mapping[str, PairTable], name: str, architecture: str
) -> None:
    folder = train(name, architecture=architecture)
    for table in splits.values():
        scores = load_scorer(str(folder)).predict(table.lyrics_1, table.lyrics_2, batch_size=5)
        assert scores == pytest.approx(predictions(folder, table), abs=1e-5)


def test_symmetric_scores_do_not_depend_on_the_order(train: Train, splits: Mapping[str, PairTable]) -> None:
    folder, test = train("bert", symmetric=True, swap_augmentation=True), splits["test"]
    scorer = load_scorer(str(folder))
    forward = scorer.predict(test.lyrics_1, test.lyrics_2)
    assert forward == pytest.approx(scorer.predict(test.lyrics_2, test.lyrics_1), abs=1e-6)
    assert forward == pytest.approx(predictions(folder, test), abs=1e-5)
    assert json.loads((folder / "metrics.json").read_text())["test"]["asymmetry"]["max"] > 0


def test_the_configuration_says_regression_and_identity(train: Train) -> None:
    config = json.loads((train("bert") / "config.json").read_text())
    assert config["problem_type"] == "regression"
    assert config["sentence_transformers"]["activation_fn"].endswith("Identity")
    assert config["dtype"] == "float32"


def test_a_bfloat16_checkpoint_is_trained_and_exported_in_float32(family: Family, train: Train) -> None:
    from safetensors import safe_open

    for folder, dtype in ((family("modernbert"), "BF16"), (train("modernbert"), "F32")):
        with safe_open(folder / "model.safetensors", "pt") as weights:
            assert {weights.get_slice(name).get_dtype() for name in weights.keys()} == {dtype}  # noqa: SIM118


def test_files_have_the_modes_of_the_umask(train: Train) -> None:
    mask = os.umask(0)
    os.umask(mask)
    folder = train("bert")
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir() if p.is_file()}
    assert modes["model.safetensors"] == modes["metrics.json"] == 0o666 & ~mask


def test_a_run_folder_holds_scores_predictions_and_its_story(
    train: Train, splits: Mapping[str, PairTable]
) -> None:
    folder = train("roberta")
    metrics = json.loads((folder / "metrics.json").read_text())
    assert set(metrics) == {"validation", "test"}
    assert {"pearson", "spearmanr", "combined_score", "asymmetry"} <= set(metrics["test"])
    assert (metrics["test"]["seen_pairs"], metrics["test"]["seen_song_share"]) == (0, 0.0)
    with (folder / "predictions.csv").open(encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["pair_id", "prediction"]
    assert [row[0] for row in rows[1:]] == [i for table in splits.values() for i in table.pair_ids]
    story = json.loads((folder / "run.json").read_text())
    assert story["status"] == "complete"
    assert story["topology"] | {"cpus": 0, "name": ""} == {
        "name": "",
        "world_size": 1,
        "per_device_batch_size": 8,
        "accumulation_steps": 1,
        "global_batch_size": 8,
        "mixed_precision": "no",
        "device": "cpu",
        "cpus": 0,
    }
    assert story["max_length"] == 512
    assert story["truncated_pairs"] == {"train": 0, "validation": 0, "test": 0}
    assert {"pair_ids_sha256", "songs_sha256"} <= set(story["data"]["train"])
    log = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in log if "loss" in line] == [1, 2, 3]
    assert [line["step"] for line in log if "combined_score" in line] == [3]


def test_a_trained_folder_that_lacks_a_weight_is_refused(train: Train, tmp_path: Path) -> None:
    import shutil

    from safetensors.torch import load_file, save_file

    folder = tmp_path / "broken"
    shutil.copytree(train("bert"), folder)
    weights = load_file(folder / "model.safetensors")
    del weights["classifier.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match=r"classifier\.weight"):
        load_scorer(str(folder))


def test_a_checkpoint_for_three_classes_becomes_a_regression(
    family: Family, splits: Mapping[str, PairTable], workers: Any, tmp_path: Path
) -> None:
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    config = AutoConfig.from_pretrained(
        family("bert"), num_labels=3, problem_type="single_label_classification"
    )
    AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path / "classes")
    AutoTokenizer.from_pretrained(family("bert")).save_pretrained(tmp_path / "classes")
    job = Job(str(tmp_path / "classes"), "pairs", None, tmp_path / "run", Recipe(max_steps=2))
    run(job, splits, workers)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["problem_type"] == "regression"
    assert list(config["id2label"]) == ["0"]


def test_a_checkpoint_that_lacks_its_body_is_refused(
    family: Family, splits: Mapping[str, PairTable], workers: Any, tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(family("bert"), tmp_path / "model")
    shutil.copy(family("roberta") / "model.safetensors", tmp_path / "model" / "model.safetensors")
    job = Job(str(tmp_path / "model"), "pairs", None, tmp_path / "run", Recipe(max_steps=2))
    with pytest.raises(UserError, match="lacks or misfits"):
        run(job, splits, workers)
