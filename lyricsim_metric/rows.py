"""How rows get into an evaluate module: checked before evaluate casts them, kept when one is refused."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .inputs import as_song_codes, checked_columns, refusal, refuse_too_few
from .intervals import Options


class CheckedRows:
    """What a metric and a comparison share, put before evaluate's class among the bases.

    A single process keeps its rows in memory, so that any number of runs may share one cache; with
    ``cache_dir`` or ``num_process`` they go to files, as in every evaluate module.
    """

    options_type: type[Options]

    # Set by evaluate, which declares no types.
    data: Any
    filelocks: Any
    file_paths: Any
    _module_info: Any
    num_process: int

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        if settings.get("num_process", 1) == 1 and settings.get("cache_dir") is None:
            settings["keep_in_memory"] = True
        super().__init__(*arguments, **settings)
        self._round, self._experiment = 0, self._module_info.experiment_id

    def add(self, *, prediction: object = None, reference: object = None, **others: object) -> None:
        """Add one row; a row that is refused leaves those before it as they were.

        Raises:
            ValueError: not one finite number in every column.
        """
        # evaluate.combine hands single rows over under the names of columns.
        row = self._columns({"predictions": prediction, "references": reference, **others})
        self.add_batch(**{name: [value] for name, value in row.items()})

    def add_batch(self, *, predictions: object = None, references: object = None, **others: object) -> None:
        """Add rows; a batch that is refused leaves those before it as they were.

        Raises:
            ValueError: bad input.
        """
        columns = self._columns({"predictions": predictions, "references": references, **others})
        super().add_batch(**checked_columns(columns))  # type: ignore[misc]

    def compute(
        self, *, predictions: object = None, references: object = None, clusters: object = None, **others: Any
    ) -> dict[str, Any] | None:
        """Score all rows: those added before, then those given here.

        Returns:
            The scores; None in a process other than the first.

        Raises:
            ValueError: bad input or options; a single process keeps the rows added before.
        """
        names = self._feature_names()  # type: ignore[attr-defined]
        options = self.options_type(**{name: value for name, value in others.items() if name not in names})
        columns = {"predictions": predictions, "references": references, **others}
        given = {name: columns.get(name) for name in names}
        rows = checked_columns(given) if any(value is not None for value in given.values()) else None
        if self.num_process == 1:
            self._refuse_incomplete(rows, clusters)
            if rows is not None and not len(self):  # type: ignore[arg-type]
                return self._compute(**rows, clusters=clusters, options=options)  # type: ignore[attr-defined]
        with self._round_of_processes(kept=len(self) if self.num_process == 1 else 0):  # type: ignore[arg-type]
            return super().compute(**(rows or {}), clusters=clusters, options=options)  # type: ignore[misc]

    def _columns(self, named: Mapping[str, object]) -> dict[str, object]:
        names = self._feature_names()  # type: ignore[attr-defined]
        unknown = [name for name, value in named.items() if name not in names and value is not None]
        if unknown:
            raise refusal(f"unknown input {', '.join(unknown)}", ", ".join(names), "check the names")
        return {name: named.get(name) for name in names}

    def _refuse_incomplete(self, rows: Mapping[str, np.ndarray] | None, clusters: object) -> None:
        count = len(self) + (len(next(iter(rows.values()))) if rows else 0)  # type: ignore[arg-type]
        refuse_too_few(count)
        if clusters is not None:
            as_song_codes(clusters, count)

    @contextlib.contextmanager
    def _round_of_processes(self, kept: int) -> Iterator[None]:
        """Leave nothing behind that the next use of this module could meet, but the rows it is to keep.

        evaluate keeps its files and locks if scoring fails, and loses the rows; and a process that is quicker
        than the first would take the locks of the next table while the first still waits for those of this
        one.

        Args:
            kept: how many of the first rows to add again if scoring fails.
        """
        rows: dict[str, np.ndarray] = {}
        try:
            yield
        except Exception:
            rows = self._first_rows(kept)
            self._drop_files()
            raise
        finally:
            self.filelocks = self.file_paths = None
            self._round += 1
            self._module_info.experiment_id = f"{self._experiment}-{self._round}"
            if rows:
                super().add_batch(**rows)  # type: ignore[misc]

    def _first_rows(self, count: int) -> dict[str, np.ndarray]:
        """Rows that evaluate has taken out of its writer; none where it hasn't."""
        if not count or self.data is None:
            return {}
        names = self._feature_names()  # type: ignore[attr-defined]
        return {name: np.array(self.data[name][:count]) for name in names}

    def _drop_files(self) -> None:
        self.data = None
        # The first process's lock is the last to go: the others wait for it.
        for lock, path in reversed(list(zip(self.filelocks or (), self.file_paths or (), strict=True))):
            Path(path).unlink(missing_ok=True)
            lock.release()
