"""Values as JSON knows them."""

import math
from typing import Any


def without_nan(value: Any) -> Any:
    """The same value with lists for tuples and None for every figure that is undefined."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
