"""The torch head, step by step as the reference trains it, from private random streams."""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.heads.fitting import Fit, Grids, Job, Table, held_out
from spanish_sentence_eval.params import Classifier, optimiser_of
from spanish_sentence_eval.protocol import EarlyStop, Schedule

_L2 = (1e-5, 1e-4, 1e-3, 1e-2)
TORCH_GRIDS = Grids(split=_L2, kfold=_L2, innerkfold=_L2, noreg=(1e-9,))

_OPTIMISERS: dict[str, type[torch.optim.Optimizer]] = {
    "adadelta": torch.optim.Adadelta,
    "adagrad": torch.optim.Adagrad,
    "adam": torch.optim.Adam,
    "adamax": torch.optim.Adamax,
    "asgd": torch.optim.ASGD,
    "rmsprop": torch.optim.RMSprop,
    "rprop": torch.optim.Rprop,
    "sgd": torch.optim.SGD,
}


def layer(inputs: int, outputs: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Weight (outputs, inputs) and bias (outputs,) as ``torch.nn.Linear`` draws them, from ``generator``."""
    weight = torch.empty(outputs, inputs)
    torch.nn.init.kaiming_uniform_(weight, a=math.sqrt(5), generator=generator)
    bound = 1 / math.sqrt(inputs)
    bias = torch.empty(outputs).uniform_(-bound, bound, generator=generator)
    return weight, bias


class ExactTorch:
    """Trains each fit on its own with autograd and torch's optimiser.

    Args:
        classifier: the head's settings.
        schedule: when it is checked and stops.
        seed: of initial weights, hold-out and epoch order; each fit starts from it anew.
        device: where the fits run.
    """

    grids = TORCH_GRIDS

    def __init__(self, classifier: Classifier, schedule: Schedule, seed: int, device: str) -> None:
        self._classifier = classifier
        self._schedule = schedule
        self._seed = seed
        self._device = torch.device(device)

    def fit(self, table: Table, jobs: Sequence[Job]) -> list[list[Fit]]:
        """See :class:`spanish_sentence_eval.heads.fitting.Classifier`."""
        x = torch.from_numpy(table.x)
        y = torch.from_numpy(table.y)
        return [[self._fit(x, y, table.classes, job, strength) for strength in job.strengths] for job in jobs]

    def _fit(self, x: Tensor, y: Tensor, classes: int, job: Job, strength: float) -> Fit:
        stream = np.random.RandomState(self._seed)
        train, dev = (job.train, job.dev) if job.dev is not None else held_out(job.train, stream)
        train_x, train_y = x[train].to(self._device), y[train].to(self._device)
        dev_x, dev_y = x[dev].to(self._device), y[dev].to(self._device)
        network = _Network(x.shape[1], classes, self._classifier, self._seed, self._device)
        steps = optimiser(self._classifier.optim, network.parameters, strength)
        stop = EarlyStop(self._schedule)
        best = network.copy()
        for epochs in self._schedule.rounds():
            for _ in range(epochs):
                self._epoch(network, steps, train_x, train_y, stream)
            if stop.improves(float((self._predict(network, dev_x) == dev_y).sum()) / len(dev)):
                best = network.copy()
            if stop.stopped:
                break
        network.restore(best)
        return Fit(stop.best, self._predict(network, x[job.test].to(self._device)).cpu().numpy())

    def _epoch(
        self,
        network: "_Network",
        steps: torch.optim.Optimizer,
        x: Tensor,
        y: Tensor,
        stream: np.random.RandomState,
    ) -> None:
        order = torch.from_numpy(stream.permutation(len(x))).to(self._device)
        for rows in order.split(self._classifier.batch_size):
            loss = functional.cross_entropy(network.logits(x[rows], training=True), y[rows])
            steps.zero_grad()
            loss.backward()
            steps.step()

    @torch.no_grad()
    def _predict(self, network: "_Network", x: Tensor) -> Tensor:
        batches = [network.logits(rows).argmax(1) for rows in x.split(self._classifier.batch_size)]
        return torch.cat(batches) if len(x) else torch.empty(0, dtype=torch.int64)


class _Network:
    """One linear layer, or two with a sigmoid between them."""

    def __init__(
        self, inputs: int, classes: int, classifier: Classifier, seed: int, device: torch.device
    ) -> None:
        self._dropout = classifier.dropout
        self._generator = torch.Generator().manual_seed(seed)
        widths = [inputs, *([classifier.nhid] if classifier.nhid else []), classes]
        self._layers = [
            tuple(tensor.to(device).requires_grad_() for tensor in layer(a, b, self._generator))
            for a, b in itertools.pairwise(widths)
        ]
        self.parameters = [tensor for pair in self._layers for tensor in pair]

    def logits(self, x: Tensor, training: bool = False) -> Tensor:
        hidden = functional.linear(x, *self._layers[0])
        if len(self._layers) == 1:
            return hidden
        if training and self._dropout:
            kept = torch.empty(hidden.shape).bernoulli_(1 - self._dropout, generator=self._generator)
            hidden = hidden * kept.div_(1 - self._dropout).to(hidden.device)
        return functional.linear(torch.sigmoid(hidden), *self._layers[1])

    def copy(self) -> list[Tensor]:
        return [tensor.detach().clone() for tensor in self.parameters]

    @torch.no_grad()
    def restore(self, values: Sequence[Tensor]) -> None:
        for tensor, value in zip(self.parameters, values, strict=True):
            tensor.copy_(value)


def optimiser(text: str, parameters: list[Tensor], strength: float) -> torch.optim.Optimizer:
    """Torch's optimiser of the parameters, with ``strength`` as its coupled L2.

    Raises:
        UserError: torch has no such optimiser, or refuses its options.
    """
    name, options = optimiser_of(text)
    if name not in _OPTIMISERS:
        raise UserError(
            f"classifier['optim'] is {text!r}", f"one of {', '.join(_OPTIMISERS)}", "correct the name"
        )
    if name == "sgd" and "lr" not in options:
        raise UserError(f"classifier['optim'] is {text!r}", "sgd with a rate: 'sgd,lr=0.1'", "add lr")
    settings: dict[str, Any] = {**options, **({} if name == "rprop" else {"weight_decay": strength})}
    try:
        return _OPTIMISERS[name](parameters, **settings)
    except (TypeError, ValueError) as error:
        raise UserError(
            f"classifier['optim'] is {text!r}: {error}", f"options of torch's {name}", "correct the options"
        ) from error
