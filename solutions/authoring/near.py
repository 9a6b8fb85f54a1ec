"""Compare plain data, such as records, ignoring the last digits of numbers, which vary by machine."""

import math
from typing import Any


def near(one: Any, other: Any) -> bool:
    """Return whether two pieces of plain data are equal but for the last digits of their numbers."""
    if type(one) is type(other) is float:
        return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-6)
    if type(one) is type(other) is dict:
        return one.keys() == other.keys() and all(near(part, other[key]) for key, part in one.items())
    if type(one) is type(other) is list:
        return len(one) == len(other) and all(map(near, one, other))
    return type(one) is type(other) and one == other
