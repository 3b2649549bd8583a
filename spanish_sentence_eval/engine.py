"""One engine for both benchmarks: load, prepare, encode, make rows, run the head, report."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.cleaning import kept_rows
from spanish_sentence_eval.encoders.devices import choose_device
from spanish_sentence_eval.encoding import Batcher, Columns, Encode, vectors_at_once, vectors_by_batches
from spanish_sentence_eval.heads.report import HEADS, Blocks
from spanish_sentence_eval.loaders import LEAST_PAIRS
from spanish_sentence_eval.manifest import files_of, shorter_files
from spanish_sentence_eval.params import Params, Settings, read_settings, with_upstream_defaults
from spanish_sentence_eval.reading import TaskData, Tokens
from spanish_sentence_eval.task import Task
from spanish_sentence_eval.tasks import TASKS, resolve_names

Prepare = Callable[[Params, list[Tokens]], Any]


class SE:
    """Evaluates sentence vectors on tasks.

    Args:
        params: settings (:class:`spanish_sentence_eval.params.Settings` lists them) and anything that
            ``prepare`` and ``batcher`` need; copied, so that the caller's mapping stays as it is.
        batcher: ``batcher(params, batch)``: one vector for each of a list of token lists, as a 2-D array.
        prepare: ``prepare(params, samples)`` is called before each task with all its token lists.

    Attributes:
        params: the copy, with attributes for keys; ``params.current_task`` names the running task.
        results: what the last call of :meth:`eval` returned; after an error, what was finished before it.
    """

    def __init__(self, params: Mapping[str, Any], batcher: Batcher, prepare: Prepare | None = None) -> None:
        self.params = Params(with_upstream_defaults(params))
        self.batcher = batcher
        self.prepare = prepare
        self.results: dict[str, Any] = {}

    def eval(self, tasks: str | Sequence[Any]) -> dict[str, Any]:
        """Run tasks.

        Args:
            tasks: a name, a list of names, or a list of lists, in the engine's or the source document's
                spelling.

        Returns:
            For a single name its result; for a list, the result of each task under its engine name.

        Raises:
            UserError: a name, a setting, a file or an answer of the batcher is not as it should be.
        """
        names = resolve_names(tasks)
        self.results = {}
        for name in names:
            self.results[name] = evaluate_task(TASKS[name], self.params, self.batcher, self.prepare)
        if isinstance(tasks, str) and names:
            self.results = self.results[names[0]]
        return self.results


def evaluate_task(
    task: Task,
    params: Params,
    batcher: Batcher | None,
    prepare: Prepare | None = None,
    *,
    encode: Encode | None = None,
) -> dict[str, Any]:
    """Run one task.

    Args:
        task: its record.
        params: handed to ``prepare`` and ``batcher``; ``current_task`` is set in it.
        batcher: see :class:`SE`; not called where ``encode`` is given.
        prepare: see :class:`SE`.
        encode: vectors of a list of distinct token lists, all in one call, shape (n, d); each distinct
            sentence of the task is then encoded once.

    Returns:
        Upstream's keys with plain numbers, and ``protocol``.

    Raises:
        UserError: see :meth:`SE.eval`.
    """
    settings = _settings(task, params)
    data = task.loader(task.source(settings.task_path))
    if settings.check_sizes:
        _require_whole(task, data, settings.task_path)
    params.current_task = task.name
    if prepare is not None:
        prepare(params, data.samples)
    # Like upstream, what ``prepare`` sets counts; the seed of the rows' order was read before it.
    stream = np.random.RandomState(settings.seed)
    settings = _settings(task, params)
    vectors = _vectors(task, data, params, batcher, encode, settings.batch_size)
    blocks = {n: task.features(vectors.pop(n), split.labels, stream) for n, split in data.splits.items()}
    with _torch_threads(settings.threads or 1) if _needs_torch(task, settings) else nullcontext():
        result = {**HEADS[task.head](task, data, blocks, settings), "protocol": settings.protocol}
        if settings.protocol == "corrected" and task.cleaning:
            result["deduplicated"] = _deduplicated(task, data, blocks, settings)
    return result


def _needs_torch(task: Task, settings: Settings) -> bool:
    return task.head == "relatedness" or (task.head != "cosine" and settings.usepytorch)


def _settings(task: Task, params: Params) -> Settings:
    """The settings; their device exists if the task needs it."""
    settings = read_settings(params)
    if not _needs_torch(task, settings):
        return settings
    return replace(settings, device=choose_device(settings.device))


def _deduplicated(task: Task, data: TaskData, blocks: Blocks, settings: Settings) -> dict[str, Any]:
    """The figures without the rows that are repeated, leaked or broken, and how many those are."""
    kept = kept_rows(task, data)
    rest = {name: (x[kept[name]], y[kept[name]]) for name, (x, y) in blocks.items()}
    least = LEAST_PAIRS if task.head == "relatedness" else 1
    emptied = any(rows.sum() < least for rows in kept.values())
    figures = {} if emptied else HEADS[task.head](task, data, rest, settings)
    return {**figures, "left_out": {name: int((~rows).sum()) for name, rows in kept.items()}}


def _vectors(
    task: Task,
    data: TaskData,
    params: Params,
    batcher: Batcher | None,
    encode: Encode | None,
    batch_size: int,
) -> dict[str, Columns]:
    if encode is not None:
        return vectors_at_once(task, data, encode)
    if batcher is None:
        raise UserError("neither a batcher nor an encoder is given", "one of them", "give a batcher")
    return vectors_by_batches(task, data, params, batcher, batch_size)


def _require_whole(task: Task, data: TaskData, task_path: Path) -> None:
    for name, split in data.splits.items():
        expected = task.sizes[name]
        if expected is not None and len(split) != expected:
            raise _cut_off(
                f"{task.name}: the {name} rows in {task.folder}/ are {len(split)}",
                f"{expected}, as in upstream's file",
            )
    for path, size, expected in shorter_files(task_path, files_of(task)):
        raise _cut_off(f"{task.name}: {task_path / path} has {size} bytes", f"{expected}, as upstream's file")


def _cut_off(given: str, expected: str) -> UserError:
    return UserError(
        given,
        expected,
        "the file may be cut off: fetch it again; for data of your own set params['check_sizes'] to False",
    )


@contextmanager
def _torch_threads(count: int) -> Iterator[None]:
    """Torch's thread count for the heads, set back afterwards."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
