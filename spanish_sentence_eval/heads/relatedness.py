"""Scores as expectations over five bins: the head of SICK's relatedness (specification, section 2.7)."""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from spanish_sentence_eval.protocol import EarlyStop, Schedule

BINS = 5
BATCH = 64
EPOCHS_A_ROUND = 50
MAX_EPOCHS = 1000
TENACITY = 3


class Trainer:
    """A softmax regression in training: see :mod:`exact_relatedness` and :mod:`fast_relatedness`."""

    def round(self, epochs: int) -> None:
        """Train for some epochs."""
        raise NotImplementedError

    def keep(self) -> None:
        """Remember the weights as the best so far."""
        raise NotImplementedError

    def probabilities(self, x: np.ndarray, best: bool = False) -> np.ndarray:
        """Shape (n, 5) of the present or of the best weights."""
        raise NotImplementedError


Start = Callable[[np.ndarray, np.ndarray], Trainer]


@dataclass(frozen=True)
class Relatedness:
    """Correlations and scores; a correlation with a constant side is NaN if corrected, 0 otherwise.

    Args:
        dev_pearson: best linear correlation on the dev rows.
        pearson: on the test rows.
        spearman: on the test rows.
        mse: mean squared error on the test rows.
        predicted: shape (n,), scores in [1, 5] of the test rows.
    """

    dev_pearson: float
    pearson: float
    spearman: float
    mse: float
    predicted: np.ndarray


def binned(scores: np.ndarray) -> np.ndarray:
    """Scores from 1 to 5 → shares of the two neighbouring bins, shape (n, 5), float32.

    >>> binned(np.array([3.25, 5.0])).tolist()
    [[0.0, 0.0, 0.75, 0.25, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0]]
    """
    low = np.floor(scores).astype(int)
    targets = np.zeros((len(scores), BINS + 1))
    rows = np.arange(len(scores))
    targets[rows, low - 1] = low + 1 - scores
    targets[rows, low] = scores - low
    return targets[:, :BINS].astype(np.float32)


def expectation(probabilities: np.ndarray) -> np.ndarray:
    """The expected bin, 1 to 5, of each row."""
    return np.dot(probabilities, np.arange(1, BINS + 1))


def train_and_score(
    blocks: Mapping[str, tuple[np.ndarray, np.ndarray]], start: Start, corrected: bool
) -> Relatedness:
    """Train on ``train``, stop by ``dev``, score ``test``.

    Args:
        blocks: for each split, feature rows (n, d) in float32 and scores (n,).
        start: makes a trainer of rows and binned targets.
        corrected: see :class:`spanish_sentence_eval.protocol.Schedule`.
    """
    train_x, train_y = blocks["train"]
    trainer = start(train_x, binned(train_y))
    schedule = Schedule(EPOCHS_A_ROUND, MAX_EPOCHS, TENACITY, corrected)
    stop = EarlyStop(schedule)
    undefined = math.nan if corrected else 0.0
    dev_x, dev_y = blocks["dev"]
    for epochs in schedule.rounds():
        trainer.round(epochs)
        if stop.improves(_pearson(expectation(trainer.probabilities(dev_x)), dev_y, undefined)):
            trainer.keep()
        if stop.stopped:
            break
    test_x, test_y = blocks["test"]
    predicted = expectation(trainer.probabilities(test_x, best=True))
    return Relatedness(
        dev_pearson=stop.best,
        pearson=_pearson(predicted, test_y, undefined),
        spearman=_spearman(predicted, test_y, undefined),
        mse=float(np.mean((predicted - test_y) ** 2)),
        predicted=predicted,
    )


def _pearson(a: np.ndarray, b: np.ndarray, undefined: float) -> float:
    from scipy.stats import pearsonr

    return _defined(pearsonr, a, b, undefined)


def _spearman(a: np.ndarray, b: np.ndarray, undefined: float) -> float:
    from scipy.stats import spearmanr

    return _defined(spearmanr, a, b, undefined)


def _defined(
    statistic: Callable[..., tuple[float, float]], a: np.ndarray, b: np.ndarray, undefined: float
) -> float:
    """The statistic, or what stands for an undefined one: the reference takes it for 0 in this head."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(statistic(a, b)[0])
    return undefined if math.isnan(value) else value
