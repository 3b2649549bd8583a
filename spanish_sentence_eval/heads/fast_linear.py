"""The linear head's fits, batched: all strengths of a job and many jobs of equal size at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spanish_sentence_eval.heads.fitting import Fit, Job, Table, held_out
from spanish_sentence_eval.heads.linear_stack import LinearStack, with_ones
from spanish_sentence_eval.protocol import EarlyStop, Schedule

# A stack whose mini-batches outgrow the processor's cache is slower than two stacks.
_CPU_STACK_BYTES = 3 << 20
_DEVICE_STACK_BYTES = 1 << 30


@dataclass(frozen=True)
class Plan:
    """What is the same for all fits.

    Args:
        schedule: when a fit is checked and stops.
        seed: of initial weights, hold-out and epoch order.
        rate: Adam's learning rate.
        batch: rows of a mini-batch.
        device: where it runs.
    """

    schedule: Schedule
    seed: int
    rate: float
    batch: int
    device: str


def fit_linear(table: Table, jobs: Sequence[Job], plan: Plan) -> list[list[Fit]]:
    """One :class:`Fit` for each job and each of its strengths, in that order."""
    x = with_ones(torch.from_numpy(table.x).to(plan.device))
    y = torch.from_numpy(table.y).to(plan.device)
    fits: list[list[Fit]] = [[] for _ in jobs]
    for numbers in _stacks(jobs, plan.batch * x.shape[1] * 4, plan.device):
        stack = _Stack(table, x, y, [jobs[number] for number in numbers], plan)
        for number, found in zip(numbers, stack.run(), strict=True):
            fits[number] = found
    return fits


def _stacks(jobs: Sequence[Job], bytes_a_job: int, device: str) -> Iterator[list[int]]:
    """Jobs that draw the same permutations, in lists that fit the cache."""
    most = max(1, (_CPU_STACK_BYTES if device == "cpu" else _DEVICE_STACK_BYTES) // bytes_a_job)
    alike: dict[tuple[int, bool, int], list[int]] = {}
    for number, job in enumerate(jobs):
        alike.setdefault((len(job.train), job.dev is None, len(job.strengths)), []).append(number)
    for numbers in alike.values():
        for start in range(0, len(numbers), most):
            yield numbers[start : start + most]


class _Stack:
    """Jobs trained in step; a job leaves once all its fits have stopped."""

    def __init__(self, table: Table, x: Tensor, y: Tensor, jobs: Sequence[Job], plan: Plan) -> None:
        self._x, self._y = x, y
        self._jobs, self._plan = jobs, plan
        self._stream, parts = _parts(jobs, plan.seed)
        self._dev = [_rows(dev, x.device) for _, dev in parts]
        self._train = torch.from_numpy(np.stack([train for train, _ in parts])).to(x.device)
        strengths = torch.tensor([job.strengths for job in jobs], dtype=torch.float32)
        self._model = LinearStack(
            x, table.x.shape[1], table.classes, strengths, plan.seed, plan.rate, plan.batch
        )
        self._best = self._model.weights.clone()
        self._stops = [[EarlyStop(plan.schedule) for _ in job.strengths] for job in jobs]
        self._active = list(range(len(jobs)))

    def run(self) -> list[list[Fit]]:
        for epochs in self._plan.schedule.rounds():
            for _ in range(epochs):
                self._epoch()
            self._check()
            if not self._active:
                break
        return [self._fits(number) for number in range(len(self._jobs))]

    def _epoch(self) -> None:
        order = torch.from_numpy(self._stream.permutation(self._train.shape[1])).to(self._x.device)
        rows = self._train[:, order]
        self._model.epoch(rows, self._y[rows])

    def _check(self) -> None:
        for place, number in enumerate(self._active):
            weights, rows = self._model.weights[place], self._dev[number]
            correct = (_predicted(weights, self._x[rows]) == self._y[rows]).sum(1).tolist()
            for fit, stop in enumerate(self._stops[number]):
                if not stop.stopped and stop.improves(correct[fit] / len(self._y[rows])):
                    self._best[number, :, fit] = weights[:, fit]
        going = [p for p, n in enumerate(self._active) if not all(s.stopped for s in self._stops[n])]
        if len(going) < len(self._active):
            self._active = [self._active[place] for place in going]
            kept = torch.tensor(going, dtype=torch.int64, device=self._x.device)
            self._train = self._train[kept]
            self._model.keep(kept)

    def _fits(self, number: int) -> list[Fit]:
        rows = _rows(self._jobs[number].test, self._x.device)
        predicted = _predicted(self._best[number], self._x[rows]).cpu().numpy()
        return [Fit(stop.best, row) for stop, row in zip(self._stops[number], predicted, strict=True)]


def _parts(
    jobs: Sequence[Job], seed: int
) -> tuple[np.random.RandomState, list[tuple[np.ndarray, np.ndarray]]]:
    """The common stream after the hold-outs were drawn, and each job's training and dev rows."""
    parts = []
    stream = np.random.RandomState(seed)
    for job in jobs:
        if job.dev is not None:
            parts.append((job.train, job.dev))
            continue
        # Equally long jobs draw the same hold-out and leave the stream in the same state.
        stream = np.random.RandomState(seed)
        parts.append(held_out(job.train, stream))
    return stream, parts


def _rows(rows: np.ndarray, device: torch.device) -> slice | Tensor:
    """Neighbouring rows as a slice, which needs no copy."""
    if len(rows) and (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return torch.from_numpy(rows).to(device)


def _predicted(weights: Tensor, x: Tensor) -> Tensor:
    """Class ids, shape (S, n), of weights (k, S, w) for rows (n, w)."""
    classes, fits, columns = weights.shape
    logits = weights.reshape(-1, columns) @ x.T
    return logits.view(classes, fits, len(x)).argmax(0)
