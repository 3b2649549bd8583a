"""One optimizer step: forward, loss scale, backward, clip, step; and one pass of scoring.

The gradient of a step is the mean over the rows of its global batch. Each process adds up the squared
errors of its rows; data-parallel topologies average gradients over processes, so the sum is scaled by
processes / rows. Nothing else depends on how rows are spread.
"""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from tqdm import tqdm

from lyricsim_models.batches import MicroBatch, Rows, derived_seed, split_rows
from lyricsim_models.config import Recipe
from lyricsim_models.encoders import SentenceScorer
from lyricsim_models.evaluation import require_finite
from lyricsim_models.pairs import TokenRows, collate
from lyricsim_models.vectors import score_distinct
from lyricsim_models.workers import Workers
from lyricsim_tools.errors import UserError

# fp16 halves its loss scale after each overflow, from 2**16: more attempts than that are no bad luck.
_FP16_ATTEMPTS = 20


class NotFiniteError(UserError):
    """Training met a loss or a gradient that is no number."""


@dataclass(frozen=True)
class Batch:
    """Padding facts of a model.

    Args:
        pad_id: padding token.
        max_length: most tokens of a sequence.
    """

    pad_id: int
    max_length: int


@dataclass(frozen=True)
class StepResult:
    """What one optimizer step did.

    Args:
        loss: mean squared error over the global batch, before the step.
        gradient_norm: of all gradients, before clipping.
        rate: learning rate of the encoder.
        micro_batches: forward passes of each process.
        interrupted: some process was asked to stop.
    """

    loss: float
    gradient_norm: float
    rate: float
    micro_batches: int
    interrupted: bool = False


@dataclass(frozen=True)
class TrainingData:
    """Tokenised pairs with their gold scores.

    Args:
        rows: n tokenised pairs.
        scores: shape (n,), gold similarity 0–5, float32.
        pair_ids: n names, for messages.
        batch: padding facts.
    """

    rows: TokenRows
    scores: NDArray[np.float32]
    pair_ids: list[str]
    batch: Batch


class Learner:
    """A prepared model that takes optimizer steps.

    Args:
        workers: the processes.
        module: what ``Workers.prepare`` returned.
        data: what it learns from.
        recipe: batch sizes and clipping.
        seed: of dropout.
        asked_to_stop: whether this process got a signal.
    """

    def __init__(
        self,
        workers: Workers,
        module: nn.Module,
        data: TrainingData,
        recipe: Recipe,
        seed: int,
        asked_to_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.workers, self.module, self.data, self.recipe, self.seed = workers, module, data, recipe, seed
        self.asked_to_stop = asked_to_stop

    def step(self, rows: Rows, share: float, step: int) -> StepResult:
        """Learn from one global batch.

        Args:
            rows: its rows.
            share: learning rate as a share of its highest value.
            step: number of the step in the whole run, from 0.

        Raises:
            NotFiniteError: the loss or a gradient is not finite; the weights are as before the step.
        """
        plan = split_rows(rows, self.data.rows.lengths, self.workers.world, self.recipe.per_device_batch_size)
        mine = [micro_step[self.workers.rank] for micro_step in plan]
        self.module.train()
        self.workers.set_rate(share)
        for _ in range(_FP16_ATTEMPTS):
            loss, interrupted = self._accumulate(rows, mine, step)
            norm, skipped = self.workers.apply_gradients(self.module, self.recipe.max_gradient_norm)
            if not skipped:
                break
        if skipped or not np.isfinite(norm):
            raise _not_finite("gradient", step, [self.data.pair_ids[i] for i in rows])
        return StepResult(loss, norm, self.workers.rates()[0], len(mine), interrupted)

    def _accumulate(self, rows: Rows, mine: list[MicroBatch], step: int) -> tuple[float, bool]:
        # Dropout's generator follows from the position alone: a resumed run needs no history of it.
        torch.manual_seed(derived_seed(self.seed, step, self.workers.rank))
        scale = self.workers.world / len(rows)
        errors = 0.0
        for number, batch in enumerate(mine):
            last = number == len(mine) - 1
            with self.workers.accumulate(self.module, last):
                error = self._squared_error(batch)
                errors += float(error.detach())
                if last:
                    outcome = self._agreed_loss(errors, rows, mine, step)
                self.workers.backward(error * scale)
        return outcome

    def _squared_error(self, batch: MicroBatch) -> torch.Tensor:
        inputs = _inputs(self.data.rows, batch.rows, self.data.batch, self.workers)
        gold = torch.as_tensor(self.data.scores[batch.rows], dtype=torch.float32, device=self.workers.device)
        predictions = self.module(**inputs).float()
        return ((predictions - gold) ** 2).sum() * batch.weight

    def _agreed_loss(
        self, errors: float, rows: Rows, mine: list[MicroBatch], step: int
    ) -> tuple[float, bool]:
        """Mean over the global batch; all processes learn of a bad one or a signal before any moves on."""
        bad = not np.isfinite(errors)
        mail = [0.0 if bad else errors, float(bad), float(self.asked_to_stop())]
        total, any_bad, any_signal = self.workers.sum(mail)
        if any_bad:
            suspects = [self.data.pair_ids[i] for part in mine for i in part.rows] if bad else []
            raise _not_finite("loss", step, sorted(set(self.workers.gather(suspects))))
        return float(total) / len(rows), bool(any_signal)


def _inputs(rows: TokenRows, chosen: Rows, batch: Batch, workers: Workers) -> dict[str, torch.Tensor]:
    padded = collate(rows, chosen, batch.pad_id, workers.length_multiple, batch.max_length)
    return {name: tensor.to(workers.device, non_blocking=True) for name, tensor in padded.items()}


def _not_finite(what: str, step: int, pair_ids: list[str]) -> NotFiniteError:
    shown = ", ".join(pair_ids[:16]) + (f" and {len(pair_ids) - 16} more" if len(pair_ids) > 16 else "")
    return NotFiniteError(
        f"the {what} of step {step + 1} is not finite; its pairs: {shown}",
        "finite numbers",
        "lower --learning-rate, use bf16 or no mixed precision, or look at those pairs; "
        "the last checkpoint is untouched",
    )


def score_rows(
    workers: Workers,
    module: nn.Module,
    rows: TokenRows,
    batch: Batch,
    per_device: int,
    *,
    exact: bool = False,
    title: str = "scoring",
) -> NDArray[np.float64]:
    """Score every row exactly once, spread over all processes.

    Args:
        workers: the processes.
        module: prepared or not; put into evaluation mode.
        rows: n tokenised pairs.
        batch: padding facts.
        per_device: most rows a process holds at once.
        exact: what is kept: float32 throughout, whatever the mixed precision, and finite.
        title: of the progress bar.

    Returns:
        shape (n,), in the order of the rows, the same on all processes.

    Raises:
        UserError: a score that is to be kept is not finite.
    """
    module.eval()
    if exact and isinstance(module, SentenceScorer):
        found = _score_by_vectors(workers, module, rows, batch, per_device, title)
    else:
        found = _score_by_rows(workers, module, rows, batch, per_device, exact, title)
    if exact:
        require_finite(found, title)
    return found


def _score_by_rows(
    workers: Workers,
    module: nn.Module,
    rows: TokenRows,
    batch: Batch,
    per_device: int,
    exact: bool,
    title: str,
) -> NDArray[np.float64]:
    found = np.zeros(len(rows))
    plan = split_rows(np.arange(len(rows)), rows.lengths, workers.world, per_device)
    # None: a bar where somebody watches; other processes never show one.
    for micro_step in tqdm(plan, desc=title, leave=False, disable=None if workers.is_main else True):
        mine = micro_step[workers.rank]
        precision = contextlib.nullcontext() if exact else workers.autocast()
        with torch.no_grad(), precision:
            scores = module(**_inputs(rows, mine.rows, batch, workers)).float().cpu()
        if mine.weight:
            found[mine.rows] = scores.numpy()
    # Each row belongs to one process and is 0 elsewhere, so the sum is exact.
    return workers.sum(found.tolist())


def _score_by_vectors(
    workers: Workers, scorer: SentenceScorer, rows: TokenRows, batch: Batch, per_device: int, title: str
) -> NDArray[np.float64]:
    own = np.arange(workers.rank, len(rows), workers.world)
    found = np.zeros(len(rows))

    def collated(table: TokenRows, chosen: Rows) -> dict[str, torch.Tensor]:
        return _inputs(table, chosen, batch, workers)

    bar = title if workers.is_main else None
    found[own] = score_distinct(scorer, rows, own, collated, per_device, bar)
    return workers.sum(found.tolist())
