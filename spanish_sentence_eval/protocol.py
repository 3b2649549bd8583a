"""What the two protocols decide differently."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from spanish_sentence_eval.params import Classifier, ProtocolName

_FIXED_FOLD_SEED = 1111


def inner_fold_seed(protocol: ProtocolName, seed: int) -> int:
    """The seed of a pool's folds: the compatible protocol ignores the user's."""
    return seed if protocol == "corrected" else _FIXED_FOLD_SEED


@dataclass(frozen=True)
class Schedule:
    """When training is checked and when it stops.

    Args:
        epoch_size: epochs between two checks.
        max_epoch: the limit of epochs; see ``corrected``.
        tenacity: checks without improvement that are borne.
        corrected: the count of checks without improvement starts anew at each improvement, training stops
            at check number ``tenacity`` without one, and ``max_epoch`` is kept to. Otherwise the count is
            never reset, training stops at number ``tenacity + 1``, and the limit only decides whether
            another whole round begins.
    """

    epoch_size: int
    max_epoch: int
    tenacity: int
    corrected: bool

    @classmethod
    def of(cls, classifier: Classifier, protocol: ProtocolName) -> "Schedule":
        """The schedule of a classifier's settings."""
        return cls(classifier.epoch_size, classifier.max_epoch, classifier.tenacity, protocol == "corrected")

    def rounds(self) -> Iterator[int]:
        """The number of epochs of each round that precedes a check."""
        done = 0
        while done < self.max_epoch if self.corrected else done <= self.max_epoch:
            step = min(self.epoch_size, self.max_epoch - done) if self.corrected else self.epoch_size
            yield step
            done += step


class EarlyStop:
    """The best dev score so far, and whether to go on.

    The compatible protocol starts from a score of -1. The corrected one starts from none: any first score is
    an improvement, and a score that is undefined (NaN) is worse than every other.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._without_improvement = 0
        self.best = -math.inf if schedule.corrected else -1.0
        self.stopped = False

    def improves(self, score: float) -> bool:
        """Note one check; true if its score is strictly the best so far."""
        if self._beats_best(score):
            self.best = score
            if self._schedule.corrected:
                self._without_improvement = 0
            return True
        self._without_improvement += 1
        borne = self._schedule.tenacity - (1 if self._schedule.corrected else 0)
        self.stopped = self._without_improvement > borne
        return False

    def _beats_best(self, score: float) -> bool:
        if math.isnan(score):
            return self.best == -math.inf
        return math.isnan(self.best) or score > self.best
