"""The fast path against the exact one: the same draws and rules, other summation order."""

import numpy as np
import pytest
import torch

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.heads.exact import ExactTorch
from spanish_sentence_eval.heads.exact_relatedness import ExactTrainer
from spanish_sentence_eval.heads.fast import FastTorch
from spanish_sentence_eval.heads.fast_relatedness import FastTrainer
from spanish_sentence_eval.heads.fitting import Job, Table
from spanish_sentence_eval.heads.linear_stack import LinearStack, squared_error_residual, with_ones
from spanish_sentence_eval.heads.relatedness import binned
from spanish_sentence_eval.heads.selection import choose_by_folds, choose_by_inner_folds, choose_on_split
from spanish_sentence_eval.params import Classifier
from spanish_sentence_eval.protocol import Schedule


def _table(rows: int, width: int, classes: int, noise: float = 1.0, seed: int = 3) -> Table:
    stream = np.random.RandomState(seed)
    x = stream.randn(rows, width).astype(np.float32)
    y = (x[:, :classes] + noise * stream.randn(rows, classes)).argmax(1)
    return Table(x, y, classes)


def _heads(classifier: Classifier, protocol: str = "compatible") -> tuple[ExactTorch, FastTorch]:
    schedule = Schedule.of(classifier, protocol)  # type: ignore[arg-type]
    return ExactTorch(classifier, schedule, 1111, "cpu"), FastTorch(classifier, schedule, 1111, "cpu")


@pytest.mark.parametrize("protocol", ["compatible", "corrected"])
@pytest.mark.parametrize(("nhid", "classes"), [(0, 2), (0, 5), (9, 3)])
def test_split_heads_agree(nhid: int, classes: int, protocol: str) -> None:
    table = _table(900, 14, classes)
    classifier = Classifier(nhid=nhid, tenacity=3, epoch_size=2, max_epoch=30)
    train, dev, test = np.split(np.arange(900), [500, 700])
    exact, fast = (
        choose_on_split(table, train, dev, test, head, False) for head in _heads(classifier, protocol)
    )
    assert exact.strengths == fast.strengths
    assert abs(exact.dev - fast.dev) <= 0.5
    assert (exact.predicted != fast.predicted).mean() <= 0.01


def test_cross_validated_heads_agree() -> None:
    table = _table(417, 12, 3)
    exact, fast = _heads(Classifier(tenacity=2, epoch_size=2, max_epoch=20))
    inner = [choose_by_inner_folds(table, head, 3, 1111) for head in (exact, fast)]
    assert inner[0].strengths == inner[1].strengths
    assert (inner[0].predicted != inner[1].predicted).mean() <= 0.01
    rows = np.arange(417)
    outer = [choose_by_folds(table, rows[:300], rows[300:], head, 4, 5) for head in (exact, fast)]
    assert outer[0].strengths == outer[1].strengths
    assert (outer[0].predicted != outer[1].predicted).mean() <= 0.01


@pytest.mark.parametrize(
    "classifier", [Classifier(optim="sgd,lr=0.1", max_epoch=8), Classifier(nhid=5, dropout=0.2, max_epoch=8)]
)
def test_settings_without_a_fast_way_take_the_exact_path(classifier: Classifier) -> None:
    table = _table(200, 6, 2)
    job = Job(np.arange(120), np.arange(120, 160), np.arange(160, 200), (1e-5, 1e-2))
    (exact, fast) = (head.fit(table, [job]) for head in _heads(classifier))
    assert [f.dev for f in exact[0]] == [f.dev for f in fast[0]]
    assert all((a.predicted == b.predicted).all() for a, b in zip(exact[0], fast[0], strict=True))


@pytest.mark.parametrize("optimiser", ["adam,lr=-0.1", "adam,speed=2", "adamm"])
def test_an_optimiser_that_the_exact_path_refuses_is_refused(optimiser: str) -> None:
    table = _table(40, 3, 2)
    job = Job(np.arange(30), np.arange(30, 40), np.arange(0), (1e-5,))
    for number in range(2):
        with pytest.raises(UserError, match=r"classifier\['optim'\] is"):
            _heads(Classifier(optim=optimiser))[number].fit(table, [job])


@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_steps_of_the_stack_are_those_of_autograd_and_adam(scale: float) -> None:
    drawn = _table(70, 5, 3)
    # With tiny gradients Adam's epsilon shows.
    table = Table(np.float32(scale) * drawn.x, drawn.y, 3)
    strengths = torch.tensor([[1e-1, 1e-3], [0.0, 1e-2]])
    stack = LinearStack(with_ones(torch.tensor(table.x)), 5, 3, strengths, seed=4, batch=70)
    rows = torch.arange(70).repeat(2, 1)
    targets = torch.tensor(table.y)[rows]
    for _ in range(5):
        stack.epoch(rows, targets)
    for group in range(2):
        for fit in range(2):
            weight, bias = _autograd(table, float(strengths[group, fit]), 5)
            found = stack.weights[group, :, fit]
            torch.testing.assert_close(found[:, :5], weight, atol=1e-6, rtol=1e-5)
            torch.testing.assert_close(found[:, 5], bias, atol=1e-6, rtol=1e-5)
            assert not found[:, 6:].any()


def _autograd(table: Table, strength: float, steps: int) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.random.fork_rng():
        torch.manual_seed(4)
        model = torch.nn.Linear(5, 3)
    optimiser = torch.optim.Adam(model.parameters(), weight_decay=strength)
    for _ in range(steps):
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(model(torch.tensor(table.x)), torch.tensor(table.y)).backward()
        optimiser.step()
    return model.weight.detach(), model.bias.detach()


def test_squared_error_residual_is_autograds() -> None:
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(1, 5, 1, 7, generator=generator, requires_grad=True)
    targets = torch.rand(1, 5, 1, 7, generator=generator)
    chances = logits.softmax(1)
    torch.nn.functional.mse_loss(chances, targets).backward()
    assert logits.grad is not None
    found = squared_error_residual(chances.detach(), targets[:, :, 0]) / 7
    torch.testing.assert_close(found, logits.grad)


def test_a_thousand_classes_fit_as_on_the_exact_path() -> None:
    stream = np.random.RandomState(1)
    y = stream.randint(0, 1000, 3000)
    x = (np.eye(1000)[y] @ stream.randn(1000, 12) + 0.1 * stream.randn(3000, 12)).astype(np.float32)
    job = Job(np.arange(2000), np.arange(2000, 2500), np.arange(2500, 3000), (1e-5,))
    classifier = Classifier(max_epoch=3, epoch_size=2)
    exact, fast = (head.fit(Table(x, y, 1000), [job])[0][0] for head in _heads(classifier))
    assert abs(exact.dev - fast.dev) <= 0.004
    assert (exact.predicted != fast.predicted).mean() <= 0.01


def test_relatedness_trainers_agree() -> None:
    stream = np.random.RandomState(2)
    x = stream.randn(150, 8).astype(np.float32)
    targets = binned(np.clip(3 + x[:, 0], 1, 5))
    exact, fast = ExactTrainer(x, targets, 9, "cpu"), FastTrainer(x, targets, 9, "cpu")
    for trainer in (exact, fast):
        trainer.round(20)
        trainer.keep()
        trainer.round(5)
    for best in (False, True):
        np.testing.assert_allclose(
            exact.probabilities(x, best), fast.probabilities(x, best), atol=2e-5, rtol=0
        )
