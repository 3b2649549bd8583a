"""One optimizer step, in this process."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from training_support import Family

from lyricsim_models.config import Recipe
from lyricsim_models.encoders import load
from lyricsim_models.loop import Learner, NotFiniteError
from lyricsim_models.optimization import build_optimizer
from lyricsim_models.pair_table import PairTable
from lyricsim_models.registry import resolve
from lyricsim_models.training import training_data
from lyricsim_tools.errors import UserError

Build = Callable[..., Learner]


@pytest.fixture
def build(family: Family, splits: Mapping[str, PairTable], workers: Any) -> Iterator[Build]:
    def learner(name: str = "bert", **recipe: object) -> Learner:
        chosen = Recipe(**{"dropout": 0.0, **recipe})  # type: ignore[arg-type]
        loaded = load(resolve(str(family(name))), chosen, seed=3)
        data = training_data(loaded, splits["train"], chosen)
        module = workers.prepare(loaded.scorer, build_optimizer(loaded.scorer, chosen), 8)
        return Learner(workers, module, data, chosen, seed=3)

    yield learner
    workers.release()


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta", "deberta-v2", "modernbert"])
def test_the_gradient_of_16_rows_does_not_depend_on_the_micro_batches(build: Build, name: str) -> None:
    """The fault of today's Trainer: gradients as many times too large as there are micro-batches."""
    norms, losses = [], []
    for per_device in (16, 4, 1):
        result = build(name, per_device_batch_size=per_device).step(np.arange(16), 0.0, 0)
        norms.append(result.gradient_norm)
        losses.append(result.loss)
        assert result.micro_batches == 16 // per_device
    assert norms == pytest.approx([norms[0]] * 3, rel=1e-5)
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-5)


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.float32, np.float16])
def test_labels_of_any_numeric_type_train_alike(build: Build, kind: type) -> None:
    learner = build()
    whole = np.round(learner.data.scores)
    losses = []
    for scores in (whole.astype(np.float32), whole.astype(kind)):
        learner.data = dataclasses.replace(learner.data, scores=scores)
        losses.append(learner.step(np.arange(8), 0.0, 0).loss)
    assert losses[0] == losses[1]


def test_an_infinite_gradient_stops_the_run_and_leaves_the_weights(build: Build) -> None:
    learner = build()
    weight = learner.module.encoder.classifier.weight
    before = weight.detach().clone()
    weight.register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(
        NotFiniteError, match=r"the gradient of step 5 is not finite; its pairs: train-3"
    ) as caught:
        learner.step(np.array([3]), 1.0, 4)
    assert isinstance(caught.value, UserError)
    assert (weight == before).all()


def test_dropout_follows_from_the_step_and_not_from_what_came_before(build: Build) -> None:
    import torch

    def loss(step: int) -> float:
        torch.rand(step + 3)
        return learner.step(np.arange(8), 0.0, step).loss

    learner = build(dropout=0.5)
    first, second = loss(0), loss(1)
    assert first != second
    assert (loss(1), loss(0)) == (second, first)


def test_weights_and_only_matrices_are_decayed(family: Family) -> None:
    recipe = Recipe(architecture="bi-encoder", weight_decay=0.1, learning_rate=1e-4)
    scorer = load(resolve(str(family("bert"))), recipe, seed=1).scorer
    groups = build_optimizer(scorer, recipe).param_groups
    assert [group["weight_decay"] for group in groups] == [0.1, 0.0, 0.0]
    assert [group["peak"] for group in groups] == pytest.approx([1e-4, 1e-4, 1e-2])
    assert {p.ndim for p in groups[0]["params"]} == {2}
    assert [p.shape for p in groups[2]["params"]] == [(2,)]


def test_a_new_head_follows_from_the_seed_and_leaves_the_global_generator(family: Family) -> None:
    import torch

    torch.manual_seed(0)
    expected = torch.rand(3)
    torch.manual_seed(0)
    heads = [
        load(resolve(str(family("bert"))), Recipe(), seed=seed).scorer.encoder.classifier.weight
        for seed in (1, 1, 2)
    ]
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(heads[0], heads[1])
    assert not torch.equal(heads[0], heads[2])


def test_a_dropout_rate_replaces_those_of_the_checkpoint(family: Family) -> None:
    for name in ("bert", "deberta-v2", "modernbert"):
        config = load(resolve(str(family(name))), Recipe(dropout=0.25), seed=1).scorer.encoder.config
        rates = {k: v for k, v in config.to_dict().items() if k.endswith(("dropout", "dropout_prob"))}
        assert rates
        assert set(rates.values()) == {0.25}
