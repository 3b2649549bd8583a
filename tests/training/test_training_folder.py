import json
import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lyricsim_models.checkpoints import Position, explained, latest, prune, read_position, save, step_folder
from lyricsim_models.evaluation import (
    Selection,
    asymmetry,
    development_scores,
    mean_and_deviation,
    refuse_no_best,
    refuse_unselectable,
    three_scores,
)
from lyricsim_models.run_folder import Log, claim, drop_checkpoints, locked, write_manifest
from lyricsim_models.seeds import refuse_foreign_summary, write_summary
from lyricsim_models.tiny import write_tiny_model
from lyricsim_tools.errors import UserError
from lyricsim_tools.files import place, set_usual_modes

SETTINGS: dict[str, Any] = {
    "model": "m",
    "dataset": "d",
    "config": None,
    "seed": 1,
    "recipe": {"epochs": 2, "per_device_batch_size": 8},
}


def begin(folder: Path, settings: dict[str, Any] = SETTINGS, **how: bool) -> str:
    return claim(folder, settings, **{"resume": False, "overwrite": False, **how})


def snapshot(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_new_an_empty_and_a_missing_folder_are_claimed(tmp_path: Path) -> None:
    assert begin(tmp_path) == "new"
    assert begin(tmp_path / "deep" / "er") == "new"


@pytest.mark.parametrize("how", [{}, {"overwrite": True}, {"resume": True}])
def test_files_that_are_not_ours_are_never_touched(tmp_path: Path, how: dict[str, bool]) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    before = snapshot(tmp_path)
    with pytest.raises(UserError, match=r"thesis\.tex"):
        begin(tmp_path, **how)
    assert snapshot(tmp_path) == before


def test_a_foreign_file_beside_a_run_stops_overwriting_and_nothing_is_lost(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    before = snapshot(tmp_path)
    with pytest.raises(UserError, match=r"notes\.txt"):
        begin(tmp_path, overwrite=True)
    assert snapshot(tmp_path) == before


def test_an_earlier_run_is_replaced_only_when_asked_to(tmp_path: Path) -> None:
    begin(tmp_path)
    write_manifest(tmp_path, ["model.safetensors"])
    (tmp_path / "model.safetensors").write_text("old")
    (tmp_path / "checkpoints" / "step-00000005").mkdir(parents=True)
    (tmp_path / "checkpoints" / "step-00000005" / "x").write_text("old")
    with pytest.raises(UserError, match="--overwrite"):
        begin(tmp_path)
    assert begin(tmp_path, overwrite=True) == "new"
    assert set(snapshot(tmp_path)) == {"run.json", ".lyricsim-files.json"}


def cross_validation(folder: Path) -> None:
    """As a kill inside its second block leaves it."""
    begin(folder)
    for name in ("0-0", "0-1"):
        begin(folder / "blocks" / name)
        (folder / "blocks" / name / ".lock").touch()
    write_manifest(folder / "blocks" / "0-1", ["model.safetensors"])
    (folder / "blocks" / "0-1" / "model.safetensors").write_text("old")
    (folder / "blocks" / "0-2").mkdir()
    (folder / "blocks" / "0-2" / ".lock").touch()


def test_a_cross_validation_that_was_killed_inside_a_block_can_be_replaced(tmp_path: Path) -> None:
    cross_validation(tmp_path)
    (tmp_path / "blocks" / "0-1" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match=r"blocks/0-1/notes\.txt"):
        begin(tmp_path, overwrite=True)
    (tmp_path / "blocks" / "0-1" / "notes.txt").unlink()
    assert begin(tmp_path, overwrite=True) == "new"
    assert set(snapshot(tmp_path)) == {"run.json", ".lyricsim-files.json"}


def test_a_run_of_its_own_below_another_is_not_replaced_with_it(tmp_path: Path) -> None:
    begin(tmp_path)
    begin(tmp_path / "another")
    with pytest.raises(UserError, match=r"another/run\.json"):
        begin(tmp_path, overwrite=True)


@pytest.mark.parametrize("how", ["resume", "overwrite"])
def test_what_a_kill_left_of_a_file_that_was_being_written_goes(tmp_path: Path, how: str) -> None:
    begin(tmp_path)
    write_manifest(tmp_path, ["model.safetensors"])
    for name in (".model.safetensors.a1b2c3d4.partial", "..lyricsim-files.json.a1b2c3_4.partial"):
        (tmp_path / name).write_text("half")
    begin(tmp_path, **{how: True})
    assert set(snapshot(tmp_path)) == {"run.json", ".lyricsim-files.json"}
    foreign = tmp_path / ".thesis.tex.a1b2c3d4.partial"
    foreign.write_text("half of the work")
    with pytest.raises(UserError, match=r"\.thesis\.tex"):
        begin(tmp_path, overwrite=True)
    begin(tmp_path, resume=True)
    assert foreign.exists()


def write_files(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


@pytest.mark.parametrize("how", ["resume", "overwrite"])
def test_what_a_kill_left_of_a_checkpoint_or_a_model_that_was_being_written_goes(
    tmp_path: Path, how: str
) -> None:
    cross_validation(tmp_path)
    for folder in (tmp_path, tmp_path / "blocks" / "0-1"):
        names = (".step-00000003.partial/x", ".best-00000002.a1b2c3_4.partial/config.json")
        write_files(folder / "checkpoints", *names)
    begin(tmp_path, **{how: True})
    if how == "resume":
        assert list((tmp_path / "checkpoints").iterdir()) == []
        begin(tmp_path / "blocks" / "0-1", resume=True)
    assert not list(tmp_path.rglob("*.partial"))


LIKE_OURS = ("checkpoints/step-00000002/x", "trackers/lyricsim/events.out.tfevents.1")
FOREIGN = ("checkpoints/epoch=3.ckpt", "checkpoints/.best-00000002.partial", "trackers/notes.txt")


@pytest.mark.parametrize("how", [{}, {"overwrite": True}, {"resume": True}])
@pytest.mark.parametrize("name", [*LIKE_OURS, *FOREIGN])
def test_checkpoints_and_trackers_of_no_run_of_ours_are_not_touched(
    tmp_path: Path, how: dict[str, bool], name: str
) -> None:
    write_files(tmp_path, name)
    with pytest.raises(UserError, match="files that no run wrote"):
        begin(tmp_path, **how)
    assert set(snapshot(tmp_path)) == {name}


def test_only_our_own_names_among_checkpoints_and_trackers_are_replaced(tmp_path: Path) -> None:
    begin(tmp_path)
    write_files(tmp_path, *LIKE_OURS, "trackers/lyricsim/17.5/hparams.yml", *FOREIGN)
    before = snapshot(tmp_path)
    with pytest.raises(UserError, match=", ".join(sorted(FOREIGN))):
        begin(tmp_path, overwrite=True)
    assert snapshot(tmp_path) == before
    for name in FOREIGN:
        (tmp_path / name).unlink()
    assert begin(tmp_path, overwrite=True) == "new"
    assert set(snapshot(tmp_path)) == {"run.json", ".lyricsim-files.json"}


def test_a_run_that_completes_drops_its_own_checkpoints_only(tmp_path: Path) -> None:
    names = ("step-00000002/x", "best-00000002/x", ".step-00000004.partial/x", "epoch=3.ckpt")
    write_files(tmp_path / "checkpoints", *names)
    drop_checkpoints(tmp_path)
    assert set(snapshot(tmp_path)) == {"checkpoints/epoch=3.ckpt"}
    (tmp_path / "checkpoints" / "epoch=3.ckpt").unlink()
    drop_checkpoints(tmp_path)
    assert not (tmp_path / "checkpoints").exists()


@pytest.mark.parametrize(
    "text",
    ["half a jso", "[]", "{}", '{"status": "complete", "settings": "x"}', '{"settings": {"recipe": {}}}'],
)
def test_a_story_that_no_run_of_ours_wrote_is_not_resumed(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(UserError, match=r"run\.json is not the story of a run"):
        begin(tmp_path, resume=True)
    assert snapshot(tmp_path) == {"run.json": text.encode()}


def test_a_kill_while_an_earlier_run_is_removed_leaves_it_removable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink
    cross_validation(tmp_path / "run")
    files = len(snapshot(tmp_path / "run"))
    for allowed in range(files):
        left = iter(range(allowed))

        def unlink_some(path: Path, missing_ok: bool = False, left: Any = left) -> None:
            if next(left, None) is None:
                raise KeyboardInterrupt
            unlink(path, missing_ok)

        with monkeypatch.context() as patch:
            patch.setattr(Path, "unlink", unlink_some)
            with pytest.raises(KeyboardInterrupt):
                begin(tmp_path / "run", overwrite=True)
        assert begin(tmp_path / "run", overwrite=True) == "new"
        cross_validation(tmp_path / "run")


def test_a_run_that_was_refused_before_its_first_step_is_no_obstacle(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "metrics.jsonl").touch()
    assert begin(tmp_path) == "new"
    (tmp_path / "metrics.jsonl").write_text('{"step": 1}\n')
    with pytest.raises(UserError, match="--overwrite"):
        begin(tmp_path)


def test_resuming_needs_the_same_settings_but_not_the_same_spread(tmp_path: Path) -> None:
    begin(tmp_path)
    moved = {**SETTINGS, "dataset": "elsewhere/d", "recipe": {"epochs": 2, "per_device_batch_size": 2}}
    assert begin(tmp_path, moved, resume=True) == "interrupted"
    longer = {**SETTINGS, "recipe": {"epochs": 3, "per_device_batch_size": 8}}
    with pytest.raises(UserError, match="epochs was 2, is 3"):
        begin(tmp_path, longer, resume=True)


def test_resuming_needs_the_same_precision_where_the_run_recorded_one(tmp_path: Path) -> None:
    assert begin(tmp_path / "earlier") == "new"
    assert begin(tmp_path / "earlier", {**SETTINGS, "mixed_precision": "bf16"}, resume=True) == "interrupted"
    begin(tmp_path / "run", {**SETTINGS, "mixed_precision": "bf16"})
    with pytest.raises(UserError, match="mixed_precision was 'bf16', is 'no'"):
        begin(tmp_path / "run", {**SETTINGS, "mixed_precision": "no"}, resume=True)


def test_a_complete_run_is_known_as_complete(tmp_path: Path) -> None:
    begin(tmp_path)
    (tmp_path / "run.json").write_text(json.dumps({"status": "complete", "settings": SETTINGS}))
    assert begin(tmp_path, resume=True) == "complete"


def test_two_runs_cannot_share_a_folder(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(UserError, match="another run"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_the_log_drops_what_a_resumed_run_writes_again(tmp_path: Path) -> None:
    log = Log(tmp_path, 0)
    for step in (1, 2, 3):
        log.add(step=step, loss=float(step))
    with (tmp_path / "metrics.jsonl").open("a") as stream:
        stream.write('{"step": 4, "lo')
    Log(tmp_path, 2).add(step=3, loss=9.0)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [(line["step"], line["loss"]) for line in lines] == [(1, 1.0), (2, 2.0), (3, 9.0)]


def checkpoint(run: Path, step: int, *, whole: bool = True) -> Path:
    folder = step_folder(run, step)
    folder.mkdir(parents=True)
    (folder / "weights").write_text("w")
    if whole:
        selection = {"score": 0.5, "step": 2, "epochs_since": 1}
        position = {"step": step, "world": 1, "selection": selection, "seconds": 1.0}
        (folder / "position.json").write_text(json.dumps(position))
    return folder


@pytest.mark.parametrize("main", [True, False])
def test_only_the_main_process_removes_what_was_half_written(tmp_path: Path, main: bool) -> None:
    partial = tmp_path / "checkpoints" / ".step-00000004.partial"
    partial.mkdir(parents=True)
    workers: Any = SimpleNamespace(is_main=main)
    with (
        pytest.raises(UserError, match="could not be written: cut off"),
        explained(workers, tmp_path, "it", OSError),
    ):
        raise OSError("cut off")
    assert partial.exists() is not main


def test_the_newest_whole_checkpoint_is_the_one_to_resume_from(tmp_path: Path) -> None:
    assert latest(tmp_path) is None
    checkpoint(tmp_path, 3)
    expected = checkpoint(tmp_path, 10)
    checkpoint(tmp_path, 12, whole=False)
    (tmp_path / "checkpoints" / ".step-00000020.partial").mkdir()
    assert latest(tmp_path) == expected
    assert read_position(expected) == Position(10, 1, Selection(0.5, 2, 1), 1.0)


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_checkpoint_can_be_read_by_whom_the_umask_lets(tmp_path: Path, workers: Any, mask: int) -> None:
    import torch

    module = torch.nn.Linear(2, 1)
    workers.prepare(module, torch.optim.AdamW(module.parameters()), 1)
    before = os.umask(mask)
    try:
        save(workers, tmp_path, Position(step=3))
    finally:
        os.umask(before)
        workers.release()
    folder = step_folder(tmp_path, 3)
    files = {path.name: path for path in folder.rglob("*")}
    assert {"model.safetensors", "optimizer.bin", "position.json"} <= set(files)
    assert {stat.S_IMODE(path.stat().st_mode) for path in files.values()} == {0o666 & ~mask}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777 & ~mask


def test_a_tiny_model_has_the_modes_of_the_callers_umask(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        folder = write_tiny_model(tmp_path / "tiny", ["amor y noche"])
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {0o644}


def test_pruning_keeps_the_newest_the_best_and_everything_that_is_not_ours(tmp_path: Path) -> None:
    for step in (2, 4, 6):
        checkpoint(tmp_path, step)
        (tmp_path / "checkpoints" / f"best-{step:08d}").mkdir()
    (tmp_path / "checkpoints" / "keep-me").mkdir()
    prune(tmp_path, Position(6, 1, Selection(0.5, 4, 1)))
    assert sorted(p.name for p in (tmp_path / "checkpoints").iterdir()) == [
        "best-00000004",
        "keep-me",
        "step-00000006",
    ]


def test_an_undefined_score_never_becomes_the_best() -> None:
    selection = Selection().after(None, 5)
    assert selection == Selection(None, 0, 1)
    with pytest.raises(UserError, match="no checkpoint had a defined development score"):
        refuse_no_best(selection)
    better = selection.after(-0.2, 10).after(None, 15).after(-0.3, 20)
    assert better == Selection(-0.2, 10, 2)
    refuse_no_best(better)
    assert better.exhausted(2)
    assert not better.exhausted(3)
    assert not better.exhausted(None)


def test_equal_scores_keep_the_earlier_checkpoint() -> None:
    assert Selection().after(0.5, 5).after(0.5, 10).step == 5


@pytest.mark.filterwarnings("ignore")
def test_scores_that_are_undefined_are_none_and_never_a_number() -> None:
    assert three_scores([1, 1, 1], [0, 1, 2])["combined_score"] is None
    assert three_scores([1.0], [2.0]) == {"pearson": None, "spearmanr": None, "combined_score": None}
    assert three_scores([1, 2, 3], [0, 1, 5])["spearmanr"] == pytest.approx(1.0)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_scores_that_are_not_finite_are_undefined_for_selection_and_refused_as_a_result(value: float) -> None:
    undefined = {"pearson": None, "spearmanr": None, "combined_score": None}
    assert development_scores([1, value, 3], [0, 1, 5]) == undefined
    for count in (1, 3):
        with pytest.raises(UserError, match=f"predictions: 1 of {count} scores are not finite, .* row 1"):
            three_scores([value, 2, 3][:count], [0, 1, 5][:count])
    assert development_scores([1, 2, 3], [0, 1, 5]) == three_scores([1, 2, 3], [0, 1, 5])


@pytest.mark.parametrize("gold", [[1.0], [2.0, 2.0, 2.0]])
def test_a_development_set_without_a_correlation_is_refused(gold: list[float]) -> None:
    with pytest.raises(UserError, match="validation split"):
        refuse_unselectable(gold)


def test_asymmetry_is_the_difference_of_the_orders() -> None:
    assert asymmetry([1, 2, 3], [1, 2.5, 2]) == {"mean": pytest.approx(0.5), "max": 1.0}


def test_seeds_are_summed_up_with_the_sample_deviation(tmp_path: Path) -> None:
    scores = {1: 0.7, 2: 0.8, 3: 0.9}
    results = {
        seed: {"test": {"pearson": s, "spearmanr": s, "combined_score": None}} for seed, s in scores.items()
    }
    mean = write_summary(tmp_path, results)["mean"]["test"]
    assert mean["pearson"] == {"mean": pytest.approx(0.8), "sd": pytest.approx(0.1)}
    assert mean["combined_score"] == {"mean": None, "sd": None}
    assert mean_and_deviation([0.5]) == {"mean": 0.5, "sd": None}
    assert json.loads((tmp_path / "summary.json").read_text())["seeds"]["2"]["test"]["pearson"] == 0.8


@pytest.mark.parametrize("text", ["year,total\n", "[]", '{"mean": 3}'])
def test_a_summary_that_is_not_ours_is_not_replaced(tmp_path: Path, text: str) -> None:
    path = tmp_path / "summary.json"
    path.write_text(text)
    results = {1: {"test": dict.fromkeys(("pearson", "spearmanr", "combined_score"), 0.5)}}
    with pytest.raises(UserError, match=r"summary\.json is not the summary of seeds"):
        refuse_foreign_summary(tmp_path)
    with pytest.raises(UserError, match="move the file away"):
        write_summary(tmp_path, results)
    assert path.read_text() == text
    path.unlink()
    write_summary(tmp_path, results)
    refuse_foreign_summary(tmp_path)
    assert write_summary(tmp_path, results)["seeds"].keys() == {"1"}


def test_modes_are_those_of_the_callers_umask(tmp_path: Path) -> None:
    secret = tmp_path / "folder" / "model.safetensors"
    secret.parent.mkdir()
    secret.write_text("w")
    secret.chmod(0o600)
    before = os.umask(0o027)
    try:
        set_usual_modes(tmp_path / "folder")
        place(secret, tmp_path / "copy")
    finally:
        os.umask(before)
    assert stat.S_IMODE(secret.stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o640
    assert stat.S_IMODE(secret.parent.stat().st_mode) == 0o750
