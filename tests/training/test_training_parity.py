"""The result of a run does not depend on how it is spread; real processes, their number asserted."""

import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file
from tiny_families import write_family, write_pairs
from training_support import Family, start

from lyricsim_models.config import Recipe
from lyricsim_models.datafiles import read_splits
from lyricsim_models.job import Job
from lyricsim_models.pair_table import PairTable
from lyricsim_models.run import run

# One xdist worker: the reference runs are made once.
pytestmark = pytest.mark.xdist_group("training-parity")
PER_DEVICE, GLOBAL, ROWS = (1, 4, 8), (8, 16), (39, 574)
SETTINGS = tuple(itertools.product(PER_DEVICE, GLOBAL, ROWS))
MATRIX = Path(__file__).with_name("launched_matrix.py")


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parity")
    write_family(folder / "model", "bert", num_hidden_layers=1)
    for rows in ROWS:
        write_pairs(folder / f"{rows}.csv", {"train": rows, "validation": 5}, lines=(1, 2))
    return folder


def train_matrix(folder: Path, processes: int) -> dict[tuple[int, int, int], Path]:
    outputs = {key: folder / f"{processes}-{'-'.join(map(str, key))}" for key in SETTINGS}
    runs = [
        {
            "dataset": str(folder / f"{rows}.csv"),
            "output": str(outputs[per_device, size, rows]),
            "recipe": {
                "per_device_batch_size": per_device,
                "global_batch_size": size,
                "epochs": 1,
                "learning_rate": 5e-4,
                "dropout": 0.0,
            },
        }
        for per_device, size, rows in SETTINGS
    ]
    plan, report = folder / f"plan-{processes}.json", folder / f"report-{processes}.json"
    plan.write_text(json.dumps({"model": str(folder / "model"), "runs": runs, "report": str(report)}))
    done = start(MATRIX, [plan], processes)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(report.read_text())["processes"] == processes
    return outputs


@pytest.fixture(scope="module")
def alone(material: Path) -> dict[tuple[int, int, int], Path]:
    return train_matrix(material, 1)


def largest_difference(first: Path, second: Path) -> float:
    a, b = (load_file(folder / "model.safetensors") for folder in (first, second))
    assert a.keys() == b.keys()
    return max(float((a[name] - b[name]).abs().max()) for name in a)


def steps(folder: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if "loss" in line]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2, 3])
def test_any_spread_of_a_global_batch_gives_the_same_weights_losses_and_rates(
    material: Path, alone: Mapping[tuple[int, int, int], Path], processes: int
) -> None:
    outputs = alone if processes == 1 else train_matrix(material, processes)
    for (per_device, size, rows), output in outputs.items():
        reference = alone[8, size, rows]
        expected, found = steps(reference), steps(output)
        assert len(found) == -(-rows // size)
        assert largest_difference(output, reference) <= 1e-5, (per_device, size, rows)
        losses = [line["loss"] for line in found]
        assert losses == pytest.approx([line["loss"] for line in expected], rel=1e-5)
        assert [line["learning_rate"] for line in found] == [line["learning_rate"] for line in expected]
        topology = json.loads((output / "run.json").read_text())["topology"]
        assert topology["world_size"] == processes
        assert topology["accumulation_steps"] == -(-size // (per_device * processes))


def test_a_tails_gradient_is_that_of_one_plain_batch(
    family: Family, splits: Mapping[str, PairTable], workers: Any
) -> None:
    """The last 7 of 39 rows, in micro-batches of 2: the mean over 7, not over a full batch."""
    import torch

    from lyricsim_models.encoders import load
    from lyricsim_models.loop import Learner
    from lyricsim_models.optimization import build_optimizer
    from lyricsim_models.registry import resolve
    from lyricsim_models.training import training_data

    recipe = Recipe(global_batch_size=16, per_device_batch_size=2, dropout=0.0, max_gradient_norm=1e9)
    loaded = load(resolve(str(family("roberta"))), recipe, seed=3)
    data = training_data(loaded, splits["train"], recipe)
    rows = np.arange(32, 39)
    table = splits["train"].take(rows.tolist())
    encoded = loaded.tokenizer(list(table.lyrics_1), list(table.lyrics_2), padding=True, return_tensors="pt")
    plain = loaded.scorer.train()(**encoded)
    loss = torch.nn.functional.mse_loss(plain, torch.tensor(table.gold, dtype=torch.float32))
    loss.backward()
    expected = float(torch.nn.utils.get_total_norm([p.grad for p in loaded.scorer.parameters()]))
    loaded.scorer.zero_grad()
    module = workers.prepare(loaded.scorer, build_optimizer(loaded.scorer, recipe), 2)
    result = Learner(workers, module, data, recipe, seed=3).step(rows, 0.0, 0)
    workers.release()
    assert result.micro_batches == 4
    assert result.loss == pytest.approx(float(loss.detach()), rel=1e-5)
    assert result.gradient_norm == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
def test_predictions_are_complete_and_in_order_in_three_processes(
    material: Path, workers: Any, tmp_path: Path
) -> None:
    """34, 38 and 68 rows are not divisible by 3; 2 leave a process without any."""
    sizes = {"train": 9, "validation": 34, "test": 68}
    write_pairs(tmp_path / "large.csv", sizes)
    write_pairs(tmp_path / "small.csv", {"train": 38, "validation": 2}, seed=1)
    recipe = {"max_steps": 2, "dropout": 0.0}
    runs = [
        {"dataset": str(tmp_path / f"{name}.csv"), "output": str(tmp_path / name), "recipe": recipe}
        for name in ("large", "small")
    ]
    plan, report = tmp_path / "plan", tmp_path / "report"
    plan.write_text(json.dumps({"model": str(material / "model"), "runs": runs, "report": str(report)}))
    done = start(MATRIX, [plan], 3)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(report.read_text())["processes"] == 3
    for name in ("large", "small"):
        alone = tmp_path / f"{name}-alone"
        splits = read_splits(str(tmp_path / f"{name}.csv"), None)
        run(Job(str(material / "model"), "pairs", None, alone, Recipe(**recipe)), splits, workers)
        one, three = ((folder / "predictions.csv").read_text().split() for folder in (alone, tmp_path / name))
        ids = [pair_id for table in splits.values() for pair_id in table.pair_ids]
        assert [line.split(",")[0] for line in three[1:]] == ids
        values = [[float(line.split(",")[1]) for line in lines[1:]] for lines in (one, three)]
        assert values[0] == pytest.approx(values[1], abs=1e-5)
