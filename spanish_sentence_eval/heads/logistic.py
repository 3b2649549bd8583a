"""The scikit-learn head: logistic regression with the library's defaults."""

import warnings
from collections.abc import Sequence

import numpy as np

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.heads.fitting import Fit, Grids, Job, Table

_LOW = tuple(2.0**power for power in range(-2, 4))


class LogisticHead:
    """Fits jobs with ``LogisticRegression(C=strength)``; rows without dev are all trained on.

    Args:
        seed: given to scikit-learn.
        threads: BLAS threads.
        place: the task and its files, for messages.

    Raises:
        UserError: a fit's training rows are all of one class.
    """

    grids = Grids(
        split=_LOW, kfold=tuple(2.0**power for power in range(-1, 6)), innerkfold=_LOW, noreg=(1e9,)
    )

    def __init__(self, seed: int, threads: int, place: str) -> None:
        self._seed = seed
        self._threads = threads
        self._place = place

    def fit(self, table: Table, jobs: Sequence[Job]) -> list[list[Fit]]:
        """See :class:`spanish_sentence_eval.heads.fitting.Classifier`."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(self._threads, "blas"):
            return [[self._fit(table, job, strength) for strength in job.strengths] for job in jobs]

    def _fit(self, table: Table, job: Job, strength: float) -> Fit:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        if len(np.unique(table.y[job.train])) == 1:
            raise UserError(
                f"{self._place}: {len(job.train)} training rows are all of one class",
                "two classes or more, in the training rows of every fold too",
                "add rows of another class, or leave out --sklearn (usepytorch=False)",
            )
        model = LogisticRegression(C=strength, random_state=self._seed)
        with warnings.catch_warnings():
            # The literature's figures come from 100 iterations, converged or not.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(table.x[job.train], table.y[job.train])
        dev = float("nan") if job.dev is None else model.score(table.x[job.dev], table.y[job.dev])
        predicted = model.predict(table.x[job.test]) if len(job.test) else np.empty(0, dtype=np.int64)
        return Fit(float(dev), predicted)
