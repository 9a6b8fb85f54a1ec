"""Convert plain data to NumPy arrays and plain Python, for comparing and judging without torch, within tolerances.

NumPy is imported for a tensor or an array only, because chapter 00 runs where there is none.
"""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .observation import Array, Dict, DType, Float, List, Nonfinite, Other, Size, Tensor, Tuple, Value, parts, shape_of

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Tolerance:
    """The tolerance of a comparison: two numbers agree if |yours − expected| ≤ atol + rtol · |expected|."""

    rtol: float
    atol: float


# Rounding over a few thousand operations stays below these tolerances; a gradient 0.1% off is far above them.
TOLERANCES = {"float64": Tolerance(1e-8, 1e-10), "float32": Tolerance(1e-4, 1e-6), "float16": Tolerance(1e-2, 1e-3)}
TOLERANCES["bfloat16"] = TOLERANCES["float16"]

NONFINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def nonfinite(number: float) -> Nonfinite:
    """Return the name of NaN or an infinity."""
    return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"


def numbers_in(value: Tensor | Array) -> list[float]:
    """Return an encoded tensor's or array's values, in one dimension, as bools, integers and floats."""
    return [NONFINITE[n] if isinstance(n, str) else n for n in value.values]


def as_array(value: Tensor | Array) -> "np.ndarray":
    """Return an encoded tensor's or array's values as a NumPy array of its shape, with bools, integers or floats."""
    import numpy as np

    numbers = numbers_in(value)
    kinds = {type(n) for n in numbers}
    kind = bool if kinds == {bool} else np.int64 if kinds == {int} else float
    return np.array(numbers, dtype=kind).reshape(shape_of(value))


def as_python(value: Value) -> Any:
    """Return plain Python data for a judge: containers as lists, tensors as nested lists, anything else by its name."""
    match value:
        case Tensor() | Array():
            return as_array(value).tolist()
        case Dict():
            return {key: as_python(item) for key, item in value.items.items()}
        case List() | Tuple() | Size():
            return [as_python(item) for item in parts(value).values()]
        case Float():
            return NONFINITE[value.value]
        case DType():
            return f"torch.{value.name}"
        case Other():
            return value.type
    return value
