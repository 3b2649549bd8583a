"""Never a lost run: killed, terminated, out of disk, not a number – and resumed to the same bits."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import free_port
from tiny_families import write_pairs
from training_support import Family, start

# One xdist worker: the uninterrupted run is made once.
pytestmark = pytest.mark.xdist_group("training-accidents")
SCRIPT = Path(__file__).with_name("launched_faults.py")
TOTAL = 15
COMMON = ["--epochs", "3", "--learning-rate", "1e-3", "--checkpoint-every", "2", "--json"]
Play = Callable[..., list[tuple[list[int], str]]]


@pytest.fixture(scope="module")
def play(family: Family, tmp_path_factory: pytest.TempPathFactory) -> Play:
    """Play scenarios one after the other; returns exit statuses and what was printed."""
    model = family("bert")
    folder = tmp_path_factory.mktemp("accidents")
    pairs = write_pairs(folder / "pairs.csv", {"train": 39, "validation": 9, "test": 5})
    number = iter(range(1000))

    def act(*scenarios: dict[str, Any]) -> list[tuple[list[int], str]]:
        plan = []
        for scenario in scenarios:
            arguments = ["--model", model, "--dataset", pairs, "--output", scenario["output"], *COMMON]
            full = [*map(str, arguments), *scenario.get("more", [])]
            log = str(folder / f"log-{next(number)}")
            fixed = {"output": None, "arguments": full, "log": log, "port": free_port()}
            plan.append({"processes": 1, **scenario, **fixed})
        paths = folder / f"plan-{next(number)}", folder / f"report-{next(number)}"
        paths[0].write_text(json.dumps(plan))
        done = start(SCRIPT, paths)
        assert done.returncode == 0, done.stderr[-3000:]
        logs = [Path(scenario["log"]).read_text() for scenario in plan]
        return list(zip(json.loads(paths[1].read_text()), logs, strict=True))

    return act


@pytest.fixture(scope="module")
def whole(play: Play, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run, with dropout on."""
    output = tmp_path_factory.mktemp("whole") / "run"
    ((statuses, log),) = play({"output": str(output)})
    assert statuses == [0], log
    return output


def bits(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def steps(folder: Path) -> list[tuple[int, float]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [(line["step"], line["loss"]) for line in lines if "loss" in line]


def assert_same_run(folder: Path, whole: Path) -> None:
    assert bits(folder) == bits(whole)
    assert steps(folder) == steps(whole)
    assert [step for step, _ in steps(folder)] == list(range(1, TOTAL + 1))
    assert (folder / "predictions.csv").read_bytes() == (whole / "predictions.csv").read_bytes()
    assert (folder / "metrics.json").read_bytes() == (whole / "metrics.json").read_bytes()
    assert not (folder / "checkpoints").exists()


@pytest.mark.slow
def test_a_run_killed_anywhere_and_resumed_ends_with_the_same_bits(
    play: Play, whole: Path, tmp_path: Path
) -> None:
    faults = [
        ("kill before step", random.SystemRandom().randint(2, TOTAL)),
        ("kill before step", 6),
        ("kill in write", 3),
        ("kill before rename", 5),
        ("kill before prune", 4),
        ("kill in best model", 2),
        ("kill in export", 3),
        ("kill before completion", 1),
    ]
    scenarios = []
    for number, fault in enumerate(faults):
        output = str(tmp_path / str(number))
        scenarios += [{"output": output, "fault": fault}, {"output": output, "more": ["--resume"]}]
    played = play(*scenarios)
    for number, fault in enumerate(faults):
        (killed, first), (resumed, second) = played[2 * number : 2 * number + 2]
        assert killed == [-9], (fault, first)
        assert resumed == [0], (fault, second)
        assert_same_run(tmp_path / str(number), whole)


@pytest.mark.slow
def test_two_processes_resume_to_the_same_bits(play: Play, tmp_path: Path) -> None:
    outputs = [str(tmp_path / name) for name in ("whole", "broken")]
    spread = {"processes": 2}
    step = random.SystemRandom().randint(4, TOTAL)
    played = play(
        {"output": outputs[0], **spread},
        {"output": outputs[1], **spread, "fault": ("kill before step", step)},
        {"output": outputs[1], **spread, "more": ["--resume"]},
    )
    first, broken, resumed = (statuses for statuses, _ in played)
    assert (first, resumed) == ([0, 0], [0, 0]), (step, played)
    # The other process is ended by its parent, unless it noticed before that its peer is gone.
    assert broken[0] == -9, (step, played)
    assert broken[1] in (-9, 99), (step, played)
    assert_same_run(tmp_path / "broken", tmp_path / "whole")
    assert json.loads((tmp_path / "broken" / "run.json").read_text())["topology"]["world_size"] == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "processes", "status"),
    [("terminate in step", 1, 143), ("interrupt in step", 1, 130), ("terminate in step", 2, 143)],
)
def test_a_signal_ends_the_run_with_a_checkpoint_at_that_very_step(
    play: Play, whole: Path, tmp_path: Path, fault: str, processes: int, status: int
) -> None:
    output = str(tmp_path / "run")
    spread = {"output": output, "processes": processes}
    (stopped, said), (resumed, _) = play({**spread, "fault": (fault, 7)}, {**spread, "more": ["--resume"]})
    assert stopped == [status] * processes, said
    assert f"stopped by signal {status - 128} after step 7; go on with --resume" in said
    assert resumed == [0] * processes
    if processes == 1:
        assert_same_run(tmp_path / "run", whole)


@pytest.mark.slow
def test_a_signal_during_the_last_evaluation_ends_the_run_before_its_long_end(
    play: Play, whole: Path, tmp_path: Path
) -> None:
    output = str(tmp_path / "run")
    fault = ("terminate in evaluation", 3)
    (stopped, said), (resumed, _) = play(
        {"output": output, "fault": fault}, {"output": output, "more": ["--resume"]}
    )
    assert stopped == [143], said
    assert f"stopped by signal 15 after step {TOTAL}; go on with --resume" in said
    assert resumed == [0]
    assert_same_run(tmp_path / "run", whole)


@pytest.mark.slow
def test_a_full_disk_leaves_the_checkpoint_before_usable(play: Play, whole: Path, tmp_path: Path) -> None:
    output = str(tmp_path / "run")
    weights = (whole / "model.safetensors").stat().st_size
    played = play(
        {"output": output, "fault": ("terminate in step", 4)},
        {"output": output, "more": ["--resume"], "fault": ("full disk", weights // 2)},
        {"output": output, "more": ["--resume"]},
    )
    assert [statuses for statuses, _ in played] == [[143], [2], [0]], played
    message = played[1][1]
    assert "could not be written" in message
    assert "the checkpoint of step 4 is untouched" in message
    assert "--resume" in message
    assert_same_run(tmp_path / "run", whole)


@pytest.mark.slow
def test_a_loss_that_is_no_number_stops_the_run_naming_step_and_pairs(play: Play, tmp_path: Path) -> None:
    output = str(tmp_path / "run")
    for processes in (1, 2):
        spread = {"output": output + str(processes), "processes": processes}
        ((statuses, said),) = play({**spread, "fault": ("not a number from step", 4)})
        assert statuses == [2] * processes
        assert "the loss of step 5 is not finite; its pairs: train-" in said
        assert "--learning-rate" in said
        assert (tmp_path / f"run{processes}" / "checkpoints" / "step-00000004").is_dir()
        assert not (tmp_path / f"run{processes}" / "model.safetensors").exists()


@pytest.mark.slow
def test_a_complete_run_is_not_repeated_and_an_existing_one_not_overwritten(
    play: Play, whole: Path, tmp_path: Path
) -> None:
    before = {p.name: p.read_bytes() for p in whole.iterdir() if p.is_file()}
    (again, said), (refused, why), (changed, how) = play(
        {"output": str(whole), "more": ["--resume"]},
        {"output": str(whole)},
        {"output": str(whole), "more": ["--resume", "--epochs", "4"]},
    )
    assert again == [0], said
    assert '"test"' in said
    assert refused == [2]
    assert "--overwrite" in why
    assert changed == [2]
    assert "epochs was 3, is 4" in how
    assert {p.name: p.read_bytes() for p in whole.iterdir() if p.is_file()} == before
