"""The command line as users script it."""

import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import REPOSITORY
from tiny_families import write_pairs
from training_support import FINETUNE, Family, command, environment, start

from lyricsim_models.job import refuse_half_precision
from lyricsim_models.launch_checks import refuse_strangers
from lyricsim_models.registry import load_registry, resolve
from lyricsim_tools.errors import UserError

OPTIONS = """
--model --dataset --config --output --architecture --global-batch-size --per-device-batch-size
--learning-rate --weight-decay --warmup-ratio --epochs --max-steps --max-length --dropout --seeds
--checkpoint-every --resume --overwrite --symmetric --swap-augmentation --line-breaks --report-to
--push-to-hub --public --json
"""
Call = Callable[..., tuple[int, str, str]]


def script() -> Any:
    spec = importlib.util.spec_from_file_location("finetune_script", FINETUNE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], workers: Any) -> Call:
    """Run the script's main in this process; returns exit status, output and errors."""

    def act(*arguments: object) -> tuple[int, str, str]:
        status = 0
        try:
            script().main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = int(stop.code or 0)
        printed = capsys.readouterr()
        return status, printed.out, printed.err

    return act


@pytest.fixture
def basics(family: Family, pairs_file: Path, tmp_path: Path) -> list[object]:
    return [
        "--model",
        family("bert"),
        "--dataset",
        pairs_file,
        "--output",
        tmp_path / "run",
        "--max-steps",
        2,
    ]


def test_every_option_that_others_script_exists() -> None:
    assert set(OPTIONS.split()) <= set(re.findall(r"--[a-z-]+", script().parser().format_help()))


def test_a_place_that_cannot_be_written_is_a_message(
    call: Call, basics: list[object], tmp_path: Path
) -> None:
    (tmp_path / "run").write_text("no folder")
    status, _, errors = call(*basics)
    assert status == 2
    assert "what to do:" in errors
    assert (tmp_path / "run").read_text() == "no folder"


@pytest.mark.parametrize(
    ("repository", "said"), [("mine", "'mine' does not name a repository"), ("me/mine", "not logged in")]
)
def test_what_keeps_a_result_from_the_hub_is_found_before_training(
    call: Call,
    basics: list[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    repository: str,
    said: str,
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: None)
    status, _, errors = call(*basics, "--push-to-hub", repository)
    assert status == 2
    assert said in errors
    assert not (tmp_path / "run").exists()


def test_a_publication_that_fails_after_training_is_named_with_the_command_that_repeats_it(
    call: Call, basics: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.get_token", lambda: "a token")
    monkeypatch.setattr("lyricsim_tools.hub.PAUSES", ())
    status, _, errors = call(*basics, "--push-to-hub", "me/mine", "--public")
    assert status == 2
    assert "HF_HUB_OFFLINE is set" in errors
    assert errors.strip().splitlines()[-1].split() == [
        *("lyricsim-cards", "publish", str(tmp_path / "run"), "me/mine", "--public"),
    ]


def test_json_is_the_only_output_and_holds_the_three_scores(call: Call, basics: list[object]) -> None:
    status, out, _ = call(*basics, "--json")
    assert status == 0
    scores = json.loads(out)["metrics"]
    assert {"pearson", "spearmanr", "combined_score"} <= set(scores["test"]) & set(scores["validation"])
    assert abs(scores["test"]["combined_score"]) <= 1


def test_people_get_a_table_and_one_line_an_epoch(call: Call, basics: list[object]) -> None:
    status, out, err = call(*basics)
    assert status == 0
    assert "seed 42, test" in out
    assert [line for line in err.splitlines() if line.startswith("epoch 1: step 2, loss ")]


def test_several_seeds_get_folders_and_a_summary(call: Call, basics: list[object], tmp_path: Path) -> None:
    status, out, _ = call(*basics, "--seeds", 1, 2, "--json")
    assert status == 0
    for seed in (1, 2):
        assert (tmp_path / "run" / f"seed-{seed}" / "model.safetensors").is_file()
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert json.loads(out)["metrics"] == summary
    mean = summary["mean"]["test"]["combined_score"]
    assert set(mean) == {"mean", "sd"}
    folders = [tmp_path / "run" / f"seed-{seed}" / "model.safetensors" for seed in (1, 2)]
    assert folders[0].read_bytes() != folders[1].read_bytes()


def test_swap_augmentation_trains_on_both_orders(call: Call, basics: list[object], tmp_path: Path) -> None:
    assert call(*basics[:-2], "--epochs", 1, "--swap-augmentation")[0] == 0
    log = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    assert sum("loss" in line for line in log) == -(-2 * 39 // 8)


def test_early_stopping_ends_a_run_that_no_longer_improves(
    call: Call, basics: list[object], tmp_path: Path
) -> None:
    assert call(*basics[:-2], "--epochs", 9, "--patience", 1, "--learning-rate", 1e-12)[0] == 0
    story = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (story["steps"], story["best_step"]) == (10, 5)


def test_without_a_validation_split_the_last_weights_are_kept(
    call: Call, family: Family, tmp_path: Path
) -> None:
    pairs = write_pairs(tmp_path / "pairs.csv", {"train": 9, "test": 4})
    arguments = ["--model", family("bert"), "--dataset", pairs, "--output", tmp_path / "run", "--epochs", 2]
    assert call(*arguments)[0] == 0
    story = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (story["best_step"], story["selection_score"]) == (4, None)
    assert set(json.loads((tmp_path / "run" / "metrics.json").read_text())) == {"test"}


@pytest.mark.filterwarnings("ignore")
def test_a_model_whose_scores_are_never_defined_is_a_failure_and_no_export(
    call: Call, basics: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lyricsim_models import training

    undefined = dict.fromkeys(("pearson", "spearmanr", "combined_score"))
    monkeypatch.setattr(training, "development_scores", lambda *_: undefined)
    status, _, err = call(*basics)
    assert status == 2
    assert "no checkpoint had a defined development score" in err
    assert not (tmp_path / "run" / "model.safetensors").exists()


def test_the_best_checkpoint_is_exported_and_not_the_last(
    call: Call, basics: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from safetensors.torch import load_file

    from lyricsim_models import training

    weights = []
    original = training.Development.predict

    def predict(development: Any, workers: Any, module: Any, *given: Any) -> Any:
        weights.append({name: value.clone() for name, value in workers.full_weights(module).items()})
        return original(development, workers, module, *given)

    scores = iter([0.1, 0.9, 0.2])
    monkeypatch.setattr(training, "development_scores", lambda *_: {"combined_score": next(scores)})
    monkeypatch.setattr(training.Development, "predict", predict)
    assert call(*basics[:-2], "--epochs", 3, "--learning-rate", 1e-3)[0] == 0
    story = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (story["best_step"], story["steps"], story["selection_score"]) == (10, 15, 0.9)
    exported = load_file(tmp_path / "run" / "model.safetensors")
    same = [
        all(torch.equal(exported[name], found[f"encoder.{name}"]) for name in exported) for found in weights
    ]
    assert same == [False, True, False]


def test_an_epoch_whose_predictions_are_not_finite_is_passed_over(
    call: Call, basics: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lyricsim_models import training

    epochs = iter([lambda found, _: found, lambda found, _: found * math.nan, lambda _, gold: -gold])
    original = training.Development.predict
    monkeypatch.setattr(
        training.Development, "predict", lambda own, *given: next(epochs)(original(own, *given), own.gold)
    )
    status, _, err = call(*basics[:-2], "--epochs", 3, "--learning-rate", 1e-3)
    assert status == 0, err
    story = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (story["best_step"], story["steps"]) == (5, 15)
    log = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    scores = [line["combined_score"] for line in log if line.get("split") == "validation"]
    assert scores[1:] == [None, pytest.approx(-1.0)]
    assert scores[0] == story["selection_score"]


def test_a_run_whose_predictions_are_never_finite_is_a_failure_and_keeps_its_checkpoints(
    call: Call, basics: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lyricsim_models import training

    original = training.Development.predict
    monkeypatch.setattr(training.Development, "predict", lambda *given: original(*given) * math.nan)
    status, _, err = call(*basics)
    assert status == 2
    assert "no checkpoint had a defined development score" in err
    assert not (tmp_path / "run" / "model.safetensors").exists()
    assert (tmp_path / "run" / "checkpoints" / "step-00000002").is_dir()


@pytest.mark.parametrize("architecture", ["cross-encoder", "bi-encoder"])
def test_a_final_score_that_is_not_finite_is_one_message_and_no_result(
    call: Call, basics: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, architecture: str
) -> None:
    from lyricsim_models import outcome

    original = outcome.load_trained

    def broken(*given: Any) -> Any:
        loaded = original(*given)
        for weight in loaded.scorer.parameters():
            weight.data.fill_(math.nan)
        return loaded

    monkeypatch.setattr(outcome, "load_trained", broken)
    status, out, err = call(*basics, "--architecture", architecture)
    assert (status, out) == (2, "")
    assert "scoring train: 39 of 39 scores are not finite" in err
    for name in ("model.safetensors", "metrics.json", "predictions.csv"):
        assert not (tmp_path / "run" / name).exists()
    assert (tmp_path / "run" / "checkpoints").is_dir()


def test_an_export_that_scores_otherwise_than_it_was_chosen_is_refused(
    call: Call, basics: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lyricsim_models import training

    original = training.Development.predict
    monkeypatch.setattr(training.Development, "predict", lambda *given: original(*given) + 0.01)
    status, _, err = call(*basics)
    assert status == 2
    assert "up to 0.01 points otherwise than when it was chosen" in err
    assert not (tmp_path / "run" / "model.safetensors").exists()
    assert (tmp_path / "run" / "checkpoints").is_dir()


def test_test_pairs_seen_in_training_need_leave_and_are_marked(
    call: Call, family: Family, tmp_path: Path
) -> None:
    pairs = write_pairs(tmp_path / "pairs.csv", {"train": 9, "validation": 5, "test": 4})
    lines = pairs.read_text().splitlines(keepends=True)
    text = pairs.read_text()
    row = text[text.index("train-0") : text.index("train-1,")]
    pairs.write_text(text + row.replace(",train\n", ",test\n").replace("train-0", "again-0", 1))
    assert len(lines) > 4
    arguments = [
        "--model",
        family("bert"),
        "--dataset",
        pairs,
        "--output",
        tmp_path / "run",
        "--max-steps",
        1,
    ]
    status, _, err = call(*arguments)
    assert status == 2
    assert "1 of 5 pairs of the test split were used to train" in err
    assert call(*arguments, "--allow-seen")[0] == 0
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["test"]["seen_pairs"] == 1


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--global-batch-size", "0"], "--global-batch-size 0"),
        (["--per-device-batch-size", "-1"], "--per-device-batch-size -1"),
        (["--seeds", "1", "1"], "each seed once"),
        (["--seeds", "-3"], "seed -3"),
        (["--checkpoint-every", "0"], "--checkpoint-every 0"),
        (["--resume", "--overwrite"], "--resume and --overwrite"),
        (["--model", "no-such-model"], "no model called 'no-such-model'"),
        (["--model", "nobody/nothing"], "nobody/nothing cannot be loaded"),
        (["--model", str(Path(__file__).parent)], "cannot be loaded"),
        (["--dataset", "nowhere.csv"], "nowhere.csv"),
        (["--public"], "--public"),
    ],
)
def test_a_mistake_is_one_message_and_status_2(
    call: Call, basics: list[object], more: list[str], message: str
) -> None:
    status, out, err = call(*basics, *more)
    assert (status, out) == (2, "")
    assert message in err
    assert "what to do" in err
    assert "Traceback" not in err


@pytest.mark.skipif(importlib.util.find_spec("trackio") is not None, reason="trackio is installed here")
def test_a_tracker_that_is_not_installed_is_refused_by_name(call: Call, basics: list[object]) -> None:
    status, _, err = call(*basics, "--report-to", "trackio")
    assert status == 2
    assert "pip install trackio" in err


def test_deberta_in_half_precision_is_refused_with_the_remedy() -> None:
    model = resolve("mdeberta")
    with pytest.raises(UserError, match="fp16") as caught:
        refuse_half_precision(model, "deberta-v2", "fp16")
    assert "bf16" in caught.value.remedy
    refuse_half_precision(model, "deberta-v2", "bf16")
    refuse_half_precision(resolve("xlm-r-base"), "xlm-roberta", "fp16")
    assert {entry.name for entry in load_registry().values() if not entry.fp16}


@pytest.mark.slow
def test_bfloat16_keeps_master_weights_in_float32_and_says_so(
    family: Family, pairs_file: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load_file

    arguments = ["--model", family("roberta"), "--dataset", pairs_file, "--output", tmp_path / "run"]
    done = start(
        FINETUNE,
        [*arguments, "--max-steps", 3, "--report-to", "tensorboard"],
        ACCELERATE_MIXED_PRECISION="bf16",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    story = json.loads((tmp_path / "run" / "run.json").read_text())
    assert story["topology"]["mixed_precision"] == "bf16"
    weights = load_file(tmp_path / "run" / "model.safetensors")
    assert {str(value.dtype) for value in weights.values()} == {"torch.float32"}
    changed = weights["roberta.encoder.layer.0.output.dense.weight"]
    assert (changed.bfloat16().float() != changed).any()
    assert list((tmp_path / "run" / "trackers").rglob("events.out.tfevents*"))


@pytest.mark.slow
def test_the_processes_of_a_launcher_that_do_not_see_each_other_are_refused(
    family: Family, pairs_file: Path, tmp_path: Path
) -> None:
    arguments = ["--model", family("bert"), "--dataset", pairs_file, "--output", tmp_path / "run"]
    changes = {"WORLD_SIZE": "2", "RANK": "0"}
    env = {**environment(**changes), "ACCELERATE_USE_CPU": "false"}
    env.pop("LOCAL_RANK", None)
    done = subprocess.run(
        command(FINETUNE, arguments), env=env, capture_output=True, text=True, timeout=300, check=False
    )
    # Who refuses first, Accelerate or we, depends on what else the machine's environment says.
    assert done.returncode == 2
    assert "each believes it is one of 1" in done.stderr or "refuses the launcher's settings" in done.stderr
    assert not (tmp_path / "run" / "model.safetensors").exists()


def test_a_process_that_believes_itself_alone_among_two_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UserError, match="started 2 processes, but each believes it is one of 1"):
        refuse_strangers(1)
    refuse_strangers(2)


@pytest.mark.slow
def test_deberta_launched_in_half_precision_is_refused_and_may_be_started_again(
    family: Family, pairs_file: Path, tmp_path: Path
) -> None:
    arguments = ["--model", family("deberta-v2"), "--dataset", pairs_file, "--output", tmp_path / "run"]
    done = start(FINETUNE, arguments, ACCELERATE_MIXED_PRECISION="fp16")
    assert done.returncode == 2
    assert "its attention overflows half precision" in done.stderr
    assert "--mixed_precision bf16" in done.stderr
    again = start(FINETUNE, [*arguments, "--max-steps", 1], ACCELERATE_MIXED_PRECISION="bf16")
    assert again.returncode == 0, again.stderr[-2000:]


@pytest.mark.slow
def test_the_configuration_for_two_processes_starts_two(
    family: Family, pairs_file: Path, tmp_path: Path
) -> None:
    config = REPOSITORY / "training" / "configs" / "cpu_ddp_2proc.yaml"
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(config), str(FINETUNE)]
    arguments = [
        "--model",
        family("bert"),
        "--dataset",
        pairs_file,
        "--output",
        tmp_path / "run",
        "--max-steps",
        2,
    ]
    env = {name: value for name, value in os.environ.items() if name != "ACCELERATE_USE_CPU"}
    done = subprocess.run(
        [*launch, *map(str, arguments)], env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    topology = json.loads((tmp_path / "run" / "run.json").read_text())["topology"]
    assert (topology["world_size"], topology["name"]) == (2, "MULTI_CPU")
