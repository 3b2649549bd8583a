"""Values as tables show them and as JSON knows them."""

import math
from typing import Any


def without_nan(value: Any) -> Any:
    """The same value with lists for tuples and None for every figure that is undefined."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def percent(value: float | None) -> str:
    """A score in per cent with one decimal, never "-0.0"."""
    return "undefined" if value is None or value != value else f"{100 * value:z.1f}"


def two_decimals(value: float | None) -> str:
    """A figure with two decimals, never "-0.00"."""
    return "undefined" if value is None or value != value else f"{value:z.2f}"
