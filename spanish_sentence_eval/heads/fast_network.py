"""The two-layer head with gradients by hand, buffers that stay, and torch's fused Adam."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from spanish_sentence_eval.heads.exact import layer
from spanish_sentence_eval.heads.fast_linear import Plan
from spanish_sentence_eval.heads.fitting import Fit, Job, Table, held_out
from spanish_sentence_eval.protocol import EarlyStop


def fit_network(table: Table, jobs: Sequence[Job], plan: Plan, hidden: int) -> list[list[Fit]]:
    """One :class:`Fit` for each job and each of its strengths, in that order."""
    x = torch.from_numpy(table.x).to(plan.device)
    y = torch.from_numpy(table.y).to(plan.device)
    with torch.inference_mode():
        return [
            [_fit(x, y, table.classes, job, strength, plan, hidden) for strength in job.strengths]
            for job in jobs
        ]


def _fit(x: Tensor, y: Tensor, classes: int, job: Job, strength: float, plan: Plan, hidden: int) -> Fit:
    stream = np.random.RandomState(plan.seed)
    parts = (job.train, job.dev) if job.dev is not None else held_out(job.train, stream)
    train, dev = (torch.from_numpy(rows).to(x.device) for rows in parts)
    network = _Network(x.shape[1], hidden, classes, strength, plan)
    one_hot = functional.one_hot(y, classes).to(torch.float32)
    dev_x, dev_y = x[dev], y[dev]
    stop = EarlyStop(plan.schedule)
    best = network.copy()
    for epochs in plan.schedule.rounds():
        for _ in range(epochs):
            order = torch.from_numpy(stream.permutation(len(train))).to(x.device)
            for rows in train[order].split(plan.batch):
                network.step(x[rows], one_hot[rows])
        if stop.improves(float((network.predicted(dev_x) == dev_y).sum()) / len(dev)):
            best = network.copy()
        if stop.stopped:
            break
    network.restore(best)
    return Fit(stop.best, network.predicted(x[torch.from_numpy(job.test).to(x.device)]).cpu().numpy())


class _Network:
    """Linear, sigmoid, linear."""

    def __init__(self, inputs: int, hidden: int, classes: int, strength: float, plan: Plan) -> None:
        generator = torch.Generator().manual_seed(plan.seed)
        weight1, *others = [*layer(inputs, hidden, generator), *layer(hidden, classes, generator)]
        # Products with the transposed matrix, of rows as long as the hidden layer, are the faster ones.
        drawn = [weight1.T.contiguous(), *others]
        self._parameters = [tensor.to(plan.device) for tensor in drawn]
        for tensor in self._parameters:
            tensor.grad = torch.zeros_like(tensor)
        # MPS has the fused step as well; other devices take torch's default.
        fused = torch.device(plan.device).type in ("cpu", "cuda", "mps")
        self._optimiser = torch.optim.Adam(self._parameters, lr=plan.rate, weight_decay=strength, fused=fused)

    def step(self, x: Tensor, targets: Tensor) -> None:
        """One mini-batch: rows (b, d), one-hot classes (b, k)."""
        weight1, bias1, weight2, bias2 = self._parameters
        grad1, grad_bias1, grad2, grad_bias2 = (tensor.grad for tensor in self._parameters)
        hidden = torch.addmm(bias1, x, weight1).sigmoid_()
        residual = torch.addmm(bias2, hidden, weight2.T).softmax(1).sub_(targets).div_(len(x))
        torch.mm(residual.T, hidden, out=grad2)
        torch.sum(residual, 0, out=grad_bias2)
        slope = torch.ops.aten.sigmoid_backward(residual @ weight2, hidden)
        torch.mm(x.T, slope, out=grad1)
        torch.sum(slope, 0, out=grad_bias1)
        self._optimiser.step()

    def predicted(self, x: Tensor) -> Tensor:
        """Class ids, shape (n,)."""
        weight1, bias1, weight2, bias2 = self._parameters
        hidden = torch.addmm(bias1, x, weight1).sigmoid_()
        return torch.addmm(bias2, hidden, weight2.T).argmax(1)

    def copy(self) -> list[Tensor]:
        return [tensor.clone() for tensor in self._parameters]

    def restore(self, values: Sequence[Tensor]) -> None:
        for tensor, value in zip(self._parameters, values, strict=True):
            tensor.copy_(value)
