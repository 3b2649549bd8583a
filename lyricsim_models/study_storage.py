"""Where a grid search is kept, and how its workers show that they live."""

import os
import time
import warnings
from pathlib import Path
from typing import Any, Protocol

import optuna
from optuna.storages import RDBStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock, JournalStorage
from optuna.trial import TrialState

from lyricsim_tools.errors import UserError

_BEAT = "beat"
# How every line of a journal begins.
_FIRST_WORDS = b'{"op_code":'


class Liveness(Protocol):
    """How workers show that they live."""

    def beat(self, trial_id: int) -> None:
        """Say that the worker of a trial lives."""

    def fail_dead_trials(self, study: optuna.Study) -> None:
        """Set the state of trials whose worker is gone to failed."""


class Heartbeat:
    """Optuna's own heartbeat, for databases; times are the database's."""

    def __init__(self, storage: RDBStorage) -> None:
        self._storage = storage

    def beat(self, trial_id: int) -> None:
        """Write the database's time beside the trial."""
        self._storage.record_heartbeat(trial_id)

    def fail_dead_trials(self, study: optuna.Study) -> None:
        """Fail trials whose last beat is older than the grace period."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            optuna.storages.fail_stale_trials(study)


class Lease:
    """A counter beside each running trial, for journal files, which have no heartbeat.

    A trial whose counter stands still for the grace period, by the watcher's own clock, has lost its
    worker. No two machines' clocks are compared.
    """

    def __init__(self, storage: JournalStorage, grace: float) -> None:
        self._storage = storage
        self._grace = grace
        self._seen: dict[int, tuple[Any, float]] = {}

    def beat(self, trial_id: int) -> None:
        """Advance the counter."""
        count = self._storage.get_trial_user_attrs(trial_id).get(_BEAT, 0)
        self._storage.set_trial_user_attr(trial_id, _BEAT, count + 1)

    def fail_dead_trials(self, study: optuna.Study) -> None:
        """Fail running trials whose counter has not moved."""
        now = time.monotonic()
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            count = trial.user_attrs.get(_BEAT)
            last, since = self._seen.get(trial.number, (None, now))
            if count != last:
                since = now
            self._seen[trial.number] = (count, since)
            if now - since > self._grace:
                study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)


class JournalLock(JournalFileOpenLock):
    """Keeps writers of a journal apart, and removes the torn line of one that died or met a full disk.

    Optuna appends to such a line, and can then read nothing behind it. Its own lock is a link, which dangles
    where the journal's path is relative; then nobody can date it, and nobody takes it from a dead worker.
    """

    def __init__(self, path: str, grace: int) -> None:
        super().__init__(path, grace_period=grace)
        self._path = path

    def acquire(self) -> bool:
        """Wait for the lock, however long; one that nobody has released within the grace period is taken."""
        super().acquire()
        try:
            _remove_torn_line(self._path)
        except BaseException:
            self.release()
            raise
        return True


def is_journal(address: str) -> bool:
    """Whether an address is the path of a journal file and not that of a database."""
    return "://" not in address


def open_storage(address: str, interval: int, grace: int) -> tuple[Any, Liveness]:
    """Open a database or a journal file, with its way of telling that workers live.

    Args:
        address: a database address (``postgresql://…``, ``sqlite:///file.db``) or the path of a journal file.
        interval: seconds between two beats.
        grace: seconds without a beat after which a worker counts as dead.

    Raises:
        UserError: it cannot be opened; the message hides the address's password.
    """
    try:
        if is_journal(address):
            journal = _open_journal(Path(address).absolute(), grace)
            return journal, Lease(journal, grace)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            storage = RDBStorage(address, heartbeat_interval=interval, grace_period=grace)
    except Exception as error:
        raise UserError(
            f"the storage {_without_password(address)} cannot be opened: {error}",
            "a database address such as sqlite:///grid.db or postgresql://…, or the path of a journal file",
            "check the address, and the server and its driver or the file",
        ) from error
    if storage.engine.dialect.name == "sqlite":
        _make_sqlite_transactions_exclusive(storage)
    return storage, Heartbeat(storage)


def _open_journal(path: Path, grace: int) -> JournalStorage:
    path.parent.mkdir(parents=True, exist_ok=True)
    _refuse_other_file(path)
    # While a dead worker's lock stands nobody can beat, so it must fall well before the living count as dead.
    lock = JournalLock(str(path), max(3, min(30, grace // 2)))
    return JournalStorage(JournalFileBackend(str(path), lock_obj=lock))


def _refuse_other_file(path: Path) -> None:
    """Optuna forgives a torn last line, we remove it, and any file of one line could be taken for one."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        first = stream.readline()
    if not (first.startswith(_FIRST_WORDS) or _FIRST_WORDS.startswith(first)):
        raise ValueError("its first line is none of a journal")


def _remove_torn_line(path: str) -> None:
    with open(path, "r+b") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        if stream.read() in (b"", b"\n"):
            return
        stream.seek(0)
        stream.truncate(stream.read().rfind(b"\n") + 1)


def _without_password(address: str) -> str:
    from sqlalchemy.engine import make_url

    if is_journal(address):
        return address
    try:
        return make_url(address).render_as_string(hide_password=True)
    except ValueError:
        return address.split("://", maxsplit=1)[0] + "://…"


def _make_sqlite_transactions_exclusive(storage: RDBStorage) -> None:
    """SQLite ignores SELECT … FOR UPDATE, so two workers could read a trial as waiting and both claim it.

    With BEGIN IMMEDIATE the second one waits before it reads.
    """
    from sqlalchemy import event

    @event.listens_for(storage.engine, "connect")
    def take_over_transactions(connection: Any, _record: Any) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA busy_timeout = 60000")

    @event.listens_for(storage.engine, "begin")
    def begin_immediately(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    storage.engine.dispose()
