"""What a user hands in, checked once at the door: scores, pairs of score lists, song ids.

Every refusal is a ``ValueError`` that says what was given, what is expected and what to do. A Space holds
only its own files, so the text is formed here and not by the repository's tools.
"""

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

INPUT_NAMES = ("predictions", "references")
_SHOWN = 5
# Every integer up to here, and not every one beyond, has its own double.
_EXACT_INTEGERS = 2**53


def refusal(given: str, expected: str, remedy: str) -> ValueError:
    """The error for bad input, in one shape.

    Args:
        given: what was found, with its place.
        expected: what would have been accepted.
        remedy: what the user can do.
    """
    return ValueError(f"{given}\n  expected: {expected}\n  what to do: {remedy}")


def checked_pair(
    predictions: object, references: object, names: tuple[str, str] = INPUT_NAMES
) -> tuple[np.ndarray, np.ndarray]:
    """Two equally long columns of finite doubles.

    Args:
        predictions: one score a row: list, tuple, array, tensor of any device and precision, Series; shape
            (n,) or (n, 1), as a regression head returns it.
        references: the gold score of each row, in the same forms.
        names: what to call the two in a message.

    Returns:
        Two float64 arrays of shape (n,); n may be 0.

    Raises:
        ValueError: a side is missing, not one column of finite numbers, or longer than the other.

    Example:
        >>> checked_pair([[0.5], [2]], (1, 3))
        (array([0.5, 2. ]), array([1., 3.]))
    """
    checked = checked_columns(dict(zip(names, (predictions, references), strict=True)))
    return checked[names[0]], checked[names[1]]


def checked_columns(columns: Mapping[str, object]) -> dict[str, np.ndarray]:
    """Equally long columns of finite doubles.

    Args:
        columns: name → values, see :func:`checked_pair`.

    Raises:
        ValueError: see :func:`checked_pair`.
    """
    checked = {name: as_scores(values, name) for name, values in columns.items()}
    *others, last = checked
    for name in others:
        refuse_mismatch(name, len(checked[name]), last, len(checked[last]))
    return checked


def refuse_mismatch(name: str, rows: int, other_name: str, other_rows: int) -> None:
    """Raise unless both columns have the same number of rows."""
    if rows != other_rows:
        raise refusal(
            f"{name} has {rows} rows and {other_name} has {other_rows}",
            "one value of each for every pair of lyrics",
            "check that no batch was left out or counted twice",
        )


def refuse_too_few(rows: int) -> None:
    """Raise unless there are two rows, without which no correlation exists."""
    if rows < 2:
        raise refusal(
            f"{rows} row{'' if rows == 1 else 's'} to score",
            "at least 2, since a correlation of fewer does not exist",
            "add the missing rows before calling compute",
        )


def as_scores(values: object, name: str) -> np.ndarray:
    """One column of finite doubles out of anything that holds real numbers.

    Args:
        values: see :func:`checked_pair`.
        name: what to call it in a message.

    Returns:
        A float64 array of shape (n,); the caller's own data where it already is one.

    Raises:
        ValueError: strings (numeric ones too), None, NaN or infinity, several columns, complex numbers,
            dates, masked values, integers that no double can hold.
    """
    column = _one_column(_as_array(values, name), name)
    scores = _as_doubles(column, name)
    # A minimum or maximum is finite only if every value is: two passes without a mask.
    if len(scores) and not (math.isfinite(scores.min()) and math.isfinite(scores.max())):
        raise _non_finite(scores, name)
    return scores


def as_song_codes(clusters: object, rows: int) -> np.ndarray:
    """The two songs of every row as numbers 0 … songs − 1, numbered in the order of their ids.

    Args:
        clusters: shape (n, 2), the ids of the two songs of each row, all integers or all strings.
        rows: n, the number of scored rows.

    Returns:
        An integer array of shape (n, 2).

    Raises:
        ValueError: not two ids a row, another number of rows, ids missing or of mixed kinds, a song paired
            with itself.

    Example:
        >>> as_song_codes([("b", "a"), ("c", "a")], rows=2)
        array([[1, 0],
               [2, 0]])
    """
    ids = _as_array(clusters, "clusters")
    if ids.ndim != 2 or ids.shape[1] != 2:
        raise refusal(
            f"clusters has shape {ids.shape}",
            "(n, 2): the ids of the two songs of every row",
            "pass list(zip(song_1, song_2))",
        )
    refuse_mismatch("clusters", len(ids), "predictions", rows)
    codes = np.unique(_one_kind_of_id(ids), return_inverse=True)[1].reshape(ids.shape)
    alone = np.flatnonzero(codes[:, 0] == codes[:, 1])
    if len(alone):
        raise refusal(
            f"clusters pairs a song with itself in {_places(alone)}",
            "two different songs in every row",
            "check the two id columns",
        )
    return codes


def _one_kind_of_id(ids: np.ndarray) -> np.ndarray:
    kinds = {
        str if isinstance(i, str) else int if isinstance(i, numbers.Integral) else type(i) for i in ids.flat
    }
    if kinds <= {str}:
        return ids.astype(str)
    if kinds <= {int}:
        return _whole_ids(ids)
    raise refusal(
        f"clusters holds ids of type {', '.join(sorted(kind.__name__ for kind in kinds))}",
        "ids that are all strings or all integers, none missing",
        "convert both id columns to strings",
    )


def _whole_ids(ids: np.ndarray) -> np.ndarray:
    try:
        return ids.astype(np.int64)
    except OverflowError as error:
        raise refusal(
            "clusters holds integers beyond 64 bits",
            "ids that are all strings or all integers of 64 bits",
            "convert both id columns to strings",
        ) from error


def _as_array(values: Any, name: str) -> np.ndarray:
    if isinstance(values, (str, bytes)) or values is None:
        raise refusal(
            f"{name} is {values!r}", "a list or array with one value a row", "pass the whole column"
        )
    _refuse_masked(values, name)
    if isinstance(values, (list, tuple)):
        return _array_of_list(values, name)
    return np.asarray(_off_the_device(values))


def _array_of_list(values: Sequence[Any], name: str) -> np.ndarray:
    if any(hasattr(value, "detach") for value in values[:1]):
        values = [_off_the_device(value) for value in values]
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise refusal(
            f"{name} is ragged or mixed: {error}", "one value in every row", "flatten it to one column"
        ) from error
    # NumPy turns [1, "2"] into two strings: look at the values as they were given.
    return np.asarray(values, dtype=object) if array.dtype.kind in "US" else array


def _off_the_device(value: Any) -> Any:
    """A torch tensor as an array, torch not being imported for it; anything else as it is."""
    if not hasattr(value, "detach"):
        return value
    tensor = value.detach().cpu()
    # NumPy has no bfloat16; every float of 32 bits or fewer is a double exactly.
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()


def _refuse_masked(values: object, name: str) -> None:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        masked = np.flatnonzero(np.ma.getmaskarray(values).reshape(-1))
        raise refusal(
            f"{name} has masked values in {_places(masked)}",
            "a score in every row",
            "score or drop those rows",
        )


def _one_column(array: np.ndarray, name: str) -> np.ndarray:
    if array.ndim == 1:
        return array
    if array.ndim == 2 and array.shape[1] == 1:
        return array[:, 0]
    found = (
        f"{name} has shape {array.shape}"
        if array.ndim
        else f"{name} is a single {type(array.item()).__name__}"
    )
    raise refusal(
        found,
        "one column: shape (n,) or (n, 1)",
        "pass one column, such as logits[:, 0]; a model with several outputs is not a regression model",
    )


def _as_doubles(column: np.ndarray, name: str) -> np.ndarray:
    kind = column.dtype.kind
    if kind in "bf":
        return column.astype(np.float64, copy=False)
    if kind in "iu":
        _refuse_beyond_doubles(column, name)
        return column.astype(np.float64)
    if kind == "O":
        return _doubles_of_objects(column, name)
    raise _not_numbers(column.tolist(), name, range(len(column)))


def _doubles_of_objects(column: np.ndarray, name: str) -> np.ndarray:
    bad = [row for row, value in enumerate(column) if not _is_real(value)]
    if bad:
        raise _not_numbers(column, name, bad)
    _refuse_beyond_doubles([value for value in column if isinstance(value, int)], name)
    return np.array([_as_double(value) for value in column], dtype=np.float64)


def _as_double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
    except ValueError:
        # A signalling NaN of the decimal module.
        return math.nan


def _is_real(value: object) -> bool:
    return isinstance(value, (numbers.Number, np.bool_)) and not isinstance(
        value, (complex, np.complexfloating)
    )


def _refuse_beyond_doubles(integers: np.ndarray | Sequence[int], name: str) -> None:
    if len(integers) and max(-int(np.min(integers)), int(np.max(integers))) > _EXACT_INTEGERS:
        raise refusal(
            f"{name} holds integers beyond 2**53, which a double cannot tell apart",
            "scores, not ids or hashes",
            "check which column is passed",
        )


def _not_numbers(column: Sequence[Any] | np.ndarray, name: str, bad: Sequence[int]) -> ValueError:
    shown = ", ".join(f"{column[row]!r} in row {row}" for row in bad[:_SHOWN])
    more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
    return refusal(
        f"{name}: {len(bad)} of {len(column)} values are not real numbers: {shown}{more} (rows count from 0)",
        "numbers only; strings are refused even where they look like numbers",
        "convert the column yourself and score or drop the rows without a number",
    )


def _non_finite(scores: np.ndarray, name: str) -> ValueError:
    found = [
        f"{label} in {_places(rows)}"
        for label, rows in (
            ("NaN", np.flatnonzero(np.isnan(scores))),
            ("infinity", np.flatnonzero(np.isinf(scores))),
        )
        if len(rows)
    ]
    return refusal(
        f"{name} of {len(scores)} rows holds {'; '.join(found)}",
        "a finite number in every row",
        "find out why the model or the table gave it; a missing score is not a 0",
    )


def _places(rows: np.ndarray) -> str:
    shown = ", ".join(str(row) for row in rows[:_SHOWN])
    more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"{len(rows)} row{'' if len(rows) == 1 else 's'}: {shown}{more} (counted from 0)"
