"""Token lists → vectors, through the user's batcher or an encoder, with every answer checked."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from lyricsim_tools.errors import UserError
from spanish_sentence_eval.params import Params
from spanish_sentence_eval.reading import Split, TaskData, Tokens
from spanish_sentence_eval.task import Encoding, Task

Batcher = Callable[[Params, list[Tokens]], Any]
Encode = Callable[[list[Tokens]], Any]
Columns = tuple[np.ndarray, ...]


def strings_batcher(batcher: Callable[[Params, list[str]], Any]) -> Batcher:
    """A batcher for the engine out of one that wants strings: tokens are joined by single spaces.

    An empty sentence becomes ``"."``, as in the literature's encoders.
    """

    def for_tokens(params: Params, batch: list[Tokens]) -> Any:
        return batcher(params, [" ".join(tokens) or "." for tokens in batch])

    return for_tokens


def vectors_by_batches(
    task: Task, data: TaskData, params: Params, batcher: Batcher, batch_size: int
) -> dict[str, Columns]:
    """Encode a task as upstream does: the same batches in the same order.

    Args:
        task: says in which order positions and batches alternate.
        data: the token lists.
        params: passed on to ``batcher``.
        batcher: returns one vector for each token list.
        batch_size: token lists a call.

    Returns:
        For each split, for each position, the vectors, shape (n, d), in the batcher's own precision;
        whole numbers become float64, since differences and products of short ones would wrap around.

    Raises:
        UserError: the batcher's answer is not 2-D, has another number of rows, or is not finite.
    """
    # Copies: a batcher that changes the lists it is given changes no task.
    call = _Checked(task.name, lambda batch: batcher(params, [list(tokens) for tokens in batch]))
    return {
        name: _ORDERS[task.encoding](split, batch_size, call.about(name))
        for name, split in data.splits.items()
    }


def vectors_at_once(task: Task, data: TaskData, encode: Encode) -> dict[str, Columns]:
    """Encode each distinct sentence of a task once, all in one call.

    Returns:
        As :func:`vectors_by_batches`, in float32.

    Raises:
        UserError: as there.
    """
    distinct = {tuple(tokens): None for split in data.splits.values() for tokens in sentences_of(split)}
    row_of = {tokens: row for row, tokens in enumerate(distinct)}
    vectors = _Checked(task.name, encode).about("all splits")([list(tokens) for tokens in distinct], 0)
    vectors = vectors.astype(np.float32, copy=False)

    def look_up(batch: list[Tokens]) -> np.ndarray:
        return vectors[[row_of[tuple(tokens)] for tokens in batch]]

    return {name: _gathered(split, look_up) for name, split in data.splits.items()}


def sentences_of(split: Split) -> Iterator[Tokens]:
    """Every token list of a split, position by position."""
    for column in split.columns:
        yield from column
    for column_of_spans in split.spans:
        for span in column_of_spans:
            yield from span


class _Checked:
    """A batcher whose answers are checked; it also sees to it that all have one width."""

    def __init__(self, task: str, call: Callable[[list[Tokens]], Any]) -> None:
        self._task = task
        self._call = call
        self._width: int | None = None

    def about(self, split: str) -> "_Call":
        """The checked call, with messages that name the split."""
        return lambda batch, first: self._checked(self._call(batch), len(batch), f"{split}, row {first}")

    def _checked(self, answer: Any, rows: int, where: str) -> np.ndarray:
        given = f"{self._task}: the batcher's answer for the batch at {where}"
        try:
            vectors = np.asarray(answer)
        except (TypeError, ValueError, RuntimeError) as error:
            raise _batcher_fault(f"{given} is no array: {error}", rows) from error
        if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.shape[1]:
            raise _batcher_fault(f"{given} has shape {vectors.shape} and type {vectors.dtype}", rows)
        if len(vectors) != rows:
            raise _batcher_fault(f"{given} has shape {vectors.shape}, but the batch has {rows} rows", rows)
        if self._width not in (None, vectors.shape[1]):
            raise _batcher_fault(
                f"{given} has shape {vectors.shape}, but earlier ones were {self._width} wide", rows
            )
        self._width = vectors.shape[1]
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            raise _batcher_fault(f"{given} holds NaN or infinity in row {row} of the batch", rows)
        return vectors if vectors.dtype.kind == "f" else vectors.astype(np.float64)


_Call = Callable[[list[Tokens], int], np.ndarray]


def _batcher_fault(given: str, rows: int) -> UserError:
    return UserError(
        given,
        f"a 2-D array of {rows} finite rows, one for each token list, all of one width",
        "correct the batcher; it receives (params, list of token lists)",
    )


def _by_columns(split: Split, batch_size: int, call: _Call) -> Columns:
    return tuple(
        np.vstack([call(column[i : i + batch_size], i) for i in range(0, len(split), batch_size)])
        for column in split.columns
    )


def _alternating(split: Split, batch_size: int, call: _Call) -> Columns:
    batches = [
        [call(column[i : i + batch_size], i) for column in split.columns]
        for i in range(0, len(split), batch_size)
    ]
    return tuple(np.vstack(position) for position in zip(*batches, strict=True))


def _spans(split: Split, batch_size: int, call: _Call) -> Columns:
    """Each batch of items encodes the units that no earlier one had, shortest first."""
    known: dict[tuple[str, ...], np.ndarray] = {}
    for start in range(0, len(split), batch_size):
        spans = [span for column in split.spans for span in column[start : start + batch_size]]
        new = {tuple(unit): None for span in spans for unit in span if tuple(unit) not in known}
        units = sorted(new, key=len)
        for i in range(0, len(units), batch_size):
            chunk = units[i : i + batch_size]
            known.update(zip(chunk, call([list(unit) for unit in chunk], start), strict=True))
    return _span_means(split, lambda span: np.stack([known[tuple(unit)] for unit in span]))


def _span_means(split: Split, vectors_of: Callable[[list[Tokens]], np.ndarray]) -> Columns:
    return tuple(np.stack([vectors_of(span).mean(axis=0) for span in column]) for column in split.spans)


def _gathered(split: Split, look_up: Callable[[list[Tokens]], np.ndarray]) -> Columns:
    if split.spans:
        return _span_means(split, look_up)
    return tuple(look_up(column) for column in split.columns)


_ORDERS: Mapping[Encoding, Callable[[Split, int, _Call], Columns]] = {
    "columns": _by_columns,
    "alternating": _alternating,
    "spans": _spans,
}
