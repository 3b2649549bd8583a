"""A grid search shared by any number of workers: one Optuna study, each run claimed by one worker.

Nothing but the study is shared. Runs are entered as waiting trials and claimed by an atomic change of state.
A worker shows that it lives by beats; a run whose beats stop is entered again.
"""

import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from lyricsim_models.grid import Attempt, GridRun, State, is_open, is_repeat, run_of, runs_to_enter
from lyricsim_models.study_storage import open_storage
from lyricsim_tools.errors import UserError

_SEARCH = "search"
_RUN = "run"
_OUTCOME = "outcome"
_FAILURE = "failure"
_RELEASED = "released"
# Seconds to wait for a storage that fails; a run of hours is worth more.
_PAUSES = (1.0, 5.0, 25.0)
# What Optuna's own tools plot. Wide, so that a study can take more points later.
_DISTRIBUTIONS: Mapping[str, BaseDistribution] = {
    "global_batch_size": IntDistribution(1, 1 << 20, log=True),
    "weight_decay": FloatDistribution(0.0, 1.0),
    "learning_rate": FloatDistribution(1e-9, 1.0, log=True),
    "seed": IntDistribution(0, (1 << 32) - 1),
}

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Claim:
    """A run that this worker, and no other, is to make."""

    number: int
    trial_id: int
    run: GridRun


class GridStudy:
    """The shared state of one search.

    Args:
        address: a database address (``postgresql://…``, ``sqlite:///file.db``) or the path of a journal file.
        name: of the study in its storage.
        interval: seconds between two beats.
        grace: seconds without a beat after which a worker counts as dead.
        most_attempts: a run that so many workers died of is given up.

    Raises:
        UserError: the storage cannot be opened.
    """

    def __init__(
        self, address: str, name: str, interval: int = 30, grace: int = 120, most_attempts: int = 3
    ) -> None:
        self._interval = interval
        self._most_attempts = most_attempts
        self._storage, self._liveness = open_storage(address, interval, grace)
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._study = self._open(name)
        self._study_id = self._storage.get_study_id_from_name(name)
        # Whoever comes last overwrites a study's attributes; but its first trial stays the first.
        self._charter = self._open(f"{name}: what is searched")

    def _open(self, name: str) -> optuna.Study:
        return optuna.create_study(
            storage=self._storage, study_name=name, direction="maximize", load_if_exists=True
        )

    def agree_on(self, search: Mapping[str, Any]) -> None:
        """Make sure that every worker of the study searches the same thing, also if they begin at once.

        Raises:
            UserError: the study was begun with another data set, other models or other options.
        """
        if not self.search():
            self._charter.add_trial(
                optuna.create_trial(state=TrialState.FAIL, user_attrs={_SEARCH: dict(search)})
            )
        begun = self.search()
        if begun != search:
            differing = sorted(k for k in {*begun, *search} if begun.get(k) != search.get(k))
            raise UserError(
                f"the study was begun with another {', '.join(differing)}: "
                + "; ".join(f"{k} = {begun.get(k)!r}, now {search.get(k)!r}" for k in differing),
                "the same search for all workers of a study",
                "give the same options, or another --study or --storage",
            )

    def search(self) -> Mapping[str, Any]:
        """What the first worker said that the study searches; empty before."""
        trials = self._charter.get_trials(deepcopy=False)
        return trials[0].user_attrs[_SEARCH] if trials else {}

    def attempts(self) -> list[Attempt]:
        """Everything tried so far, in the order it was entered."""
        return [_attempt(trial) for trial in self._study.get_trials(deepcopy=False)]

    def is_over(self, runs: Sequence[GridRun], attempts: Sequence[Attempt]) -> bool:
        """Whether no worker has or will find anything to do."""
        return not is_open(attempts) and not runs_to_enter(runs, attempts, self._most_attempts)

    def claim(self, runs: Sequence[GridRun]) -> Claim | None:
        """Take the next waiting run; if none waits, enter those that are missing, and take one of them.

        Runs of dead workers are among the missing ones.

        Returns:
            None where nothing is to be done now; other workers may still be running.
        """
        if claim := self._take_next():
            return claim
        self._liveness.fail_dead_trials(self._study)
        for run in runs_to_enter(runs, self.attempts(), self._most_attempts):
            self._enter(run)
        return self._take_next()

    def _take_next(self) -> Claim | None:
        for trial in self._study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
            if claim := self._take(trial):
                return claim
        return None

    def _enter(self, run: GridRun) -> None:
        whole = run.parameters()
        self._study.add_trial(
            optuna.create_trial(
                state=TrialState.WAITING,
                params={name: whole[name] for name in _DISTRIBUTIONS},
                distributions=dict(_DISTRIBUTIONS),
                user_attrs={_RUN: whole},
            )
        )

    def _take(self, trial: FrozenTrial) -> Claim | None:
        trial_id = self._storage.get_trial_id_from_study_id_trial_number(self._study_id, trial.number)
        try:
            # The beat comes first: a worker that dies right after its claim must not look alive for ever.
            self._liveness.beat(trial_id)
            if not self._storage.set_trial_state_values(trial_id, state=TrialState.RUNNING):
                return None
        except optuna.exceptions.UpdateFinishedTrialError:
            return None
        if is_repeat(_attempt(trial), self.attempts()):
            self._study.tell(trial.number, state=TrialState.PRUNED)
            return None
        return Claim(trial.number, trial_id, run_of(trial.user_attrs[_RUN]))

    @contextmanager
    def beating(self, claim: Claim) -> Iterator[None]:
        """Beat for a claimed run while the block lasts, and through failures of the storage."""
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(self._interval):
                try:
                    self._liveness.beat(claim.trial_id)
                except optuna.exceptions.UpdateFinishedTrialError:
                    return
                except Exception as error:  # noqa: BLE001 - drivers raise what they like
                    _LOG.warning("the storage failed, a sign of life is missing: %s", error)

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def complete(
        self, claim: Claim, development: float, test: float | None, folder: str, precision: str | None = None
    ) -> bool:
        """Enter a run's scores.

        Args:
            claim: of the run.
            development: combined score on the validation split, 0 to 1.
            test: the same on the test split; None where there is none.
            folder: of the run.
            precision: its mixed precision; None where it is not known.

        Returns:
            False if the run was taken from this worker in the meantime, since it seemed dead.
        """
        return self._tell(claim, {"test": test, "folder": folder, "mixed_precision": precision}, development)

    def fail(self, claim: Claim, failure: str) -> bool:
        """Enter that a run ended in an error; it is not tried again."""
        return self._tell(claim, {_FAILURE: failure}, None)

    def release(self, claim: Claim) -> None:
        """Give a run back that this worker was stopped in; another takes it, and nobody counts a death."""
        self._tell(claim, {_RELEASED: True}, None)

    def _tell(self, claim: Claim, outcome: Mapping[str, Any], value: float | None) -> bool:
        for pause in _PAUSES:
            try:
                return self._tell_once(claim, outcome, value)
            except Exception as error:  # noqa: BLE001 - drivers raise what they like
                _LOG.warning("the storage failed, trying again in %g s: %s", pause, error)
                time.sleep(pause)
        return self._tell_once(claim, outcome, value)

    def _tell_once(self, claim: Claim, outcome: Mapping[str, Any], value: float | None) -> bool:
        state = TrialState.FAIL if value is None else TrialState.COMPLETE
        try:
            self._storage.set_trial_user_attr(claim.trial_id, _OUTCOME, dict(outcome))
        except optuna.exceptions.UpdateFinishedTrialError:
            # An earlier try may have been written though it seemed to fail.
            trial = self._storage.get_trial(claim.trial_id)
            return trial.state is state and trial.user_attrs.get(_OUTCOME) == outcome
        self._study.tell(claim.number, value, state)
        return True


def _attempt(trial: FrozenTrial) -> Attempt:
    if _RUN not in trial.user_attrs:
        raise UserError(
            "the study holds trials that no grid search of this project entered",
            "a study of its own",
            "give another --study or --storage",
        )
    outcome = trial.user_attrs.get(_OUTCOME, {})
    states: dict[TrialState, State] = {
        TrialState.WAITING: "waiting",
        TrialState.RUNNING: "running",
        TrialState.COMPLETE: "complete",
        TrialState.PRUNED: "repeat",
        TrialState.FAIL: "failed" if _FAILURE in outcome else "released" if _RELEASED in outcome else "dead",
    }
    return Attempt(
        number=trial.number,
        run=run_of(trial.user_attrs[_RUN]),
        state=states[trial.state],
        development=trial.value if trial.state is TrialState.COMPLETE else None,
        test=outcome.get("test"),
        failure=outcome.get(_FAILURE, ""),
        precision=outcome.get("mixed_precision"),
    )
