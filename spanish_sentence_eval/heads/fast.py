"""The torch head with the same draws and rules as the exact path, and sums in another order."""

from collections.abc import Sequence

import torch

from spanish_sentence_eval.heads.exact import TORCH_GRIDS, ExactTorch, optimiser
from spanish_sentence_eval.heads.fast_linear import Plan, fit_linear
from spanish_sentence_eval.heads.fast_network import fit_network
from spanish_sentence_eval.heads.fitting import Fit, Job, Table
from spanish_sentence_eval.params import Classifier, optimiser_of
from spanish_sentence_eval.protocol import Schedule


class FastTorch:
    """Fits jobs in batches; settings that it has no fast way for are fitted by the exact path.

    Args:
        classifier: the head's settings.
        schedule: when it is checked and stops.
        seed: of initial weights, hold-out and epoch order; each fit starts from it anew.
        device: where the fits run.

    Raises:
        UserError: an optimiser that the exact path refuses too.
    """

    grids = TORCH_GRIDS

    def __init__(self, classifier: Classifier, schedule: Schedule, seed: int, device: str) -> None:
        self._classifier = classifier
        self._exact = ExactTorch(classifier, schedule, seed, device)
        # The fast way computes Adam's steps itself: torch is asked whether it would take these options.
        optimiser(classifier.optim, [torch.zeros(1)], 0.0)
        self._name, self._options = optimiser_of(classifier.optim)
        self._plan = Plan(schedule, seed, self._options.get("lr", 1e-3), classifier.batch_size, device)

    def fit(self, table: Table, jobs: Sequence[Job]) -> list[list[Fit]]:
        """See :class:`spanish_sentence_eval.heads.fitting.Classifier`."""
        if self._name != "adam" or self._options.keys() - {"lr"} or self._classifier.dropout:
            return self._exact.fit(table, jobs)
        if self._classifier.nhid:
            return fit_network(table, jobs, self._plan, self._classifier.nhid)
        return fit_linear(table, jobs, self._plan)
