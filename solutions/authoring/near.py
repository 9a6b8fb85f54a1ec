"""Compare plain data, such as records, ignoring the last digits of numbers, which vary by machine."""

import math
from typing import Any


def near(value: Any, other: Any) -> bool:
    """Return whether two pieces of plain data are equal but for the last digits of their numbers."""
    if type(value) is type(other) is float:
        return math.isclose(value, other, rel_tol=1e-5, abs_tol=1e-6)
    if type(value) is type(other) is dict:
        return value.keys() == other.keys() and all(near(part, other[key]) for key, part in value.items())
    if type(value) is type(other) is list:
        return len(value) == len(other) and all(map(near, value, other))
    return type(value) is type(other) and value == other
