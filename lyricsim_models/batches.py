"""Which rows make step k. Pure: everything follows from (seed, epoch, step) and knows no process rank.

A *global batch* is what one optimizer step learns from. It is cut into micro-batches for however many
processes there are; the cut changes neither the rows nor the weight of any of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class MicroBatch:
    """What one process computes at once.

    Args:
        rows: shape (b,), indices of training rows, b ≥ 1.
        weight: 1.0, or 0.0 where the process had no rows left and repeats one only to take part in the
            collectives that the others wait for.
    """

    rows: Rows
    weight: float


def epoch_order(seed: int, epoch: int, rows: int) -> Rows:
    """The order of all rows in an epoch, shape (rows,); the same on every platform and numpy version.

    Only a bit generator's raw stream is guaranteed never to change, so the permutation is that of its
    sorted keys and not ``Generator.permutation``.
    """
    keys = np.random.PCG64(np.random.SeedSequence([seed, epoch])).random_raw(rows)
    return np.argsort(keys, kind="stable").astype(np.int64)


def steps_per_epoch(rows: int, global_batch_size: int) -> int:
    """Optimizer steps that see each row once; the last may hold fewer rows."""
    return -(-rows // global_batch_size)


def rows_of_step(seed: int, epoch: int, step: int, rows: int, global_batch_size: int) -> Rows:
    """The rows of one optimizer step.

    Args:
        seed: of the run.
        epoch: from 0.
        step: within the epoch, from 0.
        rows: training rows in all.
        global_batch_size: rows of a full step.

    Returns:
        shape (b,), 1 ≤ b ≤ ``global_batch_size``; an epoch's steps partition all rows.
    """
    start = step * global_batch_size
    return epoch_order(seed, epoch, rows)[start : start + global_batch_size]


def split_rows(
    rows: Rows, lengths: Sequence[int] | NDArray[np.int64], world: int, per_device: int
) -> list[list[MicroBatch]]:
    """Cut rows into micro-batches of neighbours in length, longest first.

    Args:
        rows: shape (b,), b ≥ 1.
        lengths: tokens of each training row, indexed by row.
        world: processes.
        per_device: most rows of a micro-batch.

    Returns:
        ``[micro-step][process]``: every process takes part in every micro-step. Each row occurs once with
        weight 1. Neighbours in length share a micro-batch, so padding is small; micro-batches of a
        micro-step are neighbours too, so processes wait little for each other.
    """
    lengths = np.asarray(lengths)
    ordered = rows[np.lexsort((rows, -lengths[rows]))]
    micro_steps = -(-len(rows) // (per_device * world))
    parts = np.array_split(ordered, micro_steps * world)
    idle = MicroBatch(ordered[-1:], 0.0)
    batches = [MicroBatch(part, 1.0) if len(part) else idle for part in parts]
    return [batches[start : start + world] for start in range(0, len(batches), world)]


def derived_seed(*parts: int) -> int:
    """A 63-bit seed that follows from several whole numbers, each of which matters."""
    return int(np.random.SeedSequence(parts).generate_state(1, np.uint64)[0] >> np.uint64(1))
