"""The first difference between two observations, and the tolerances of a comparison."""

from dataclasses import dataclass
from typing import Any

from .observation import Value


@dataclass(frozen=True)
class Tolerance:
    """The tolerance of a comparison: two numbers agree if |yours − expected| ≤ atol + rtol · |expected|."""

    rtol: float
    atol: float


# Rounding over a few thousand operations stays below these tolerances; a gradient 0.1% off is far above them.
TOLERANCES = {"float64": Tolerance(1e-8, 1e-10), "float32": Tolerance(1e-4, 1e-6), "float16": Tolerance(1e-2, 1e-3)}
TOLERANCES["bfloat16"] = TOLERANCES["float16"]


@dataclass(frozen=True)
class Difference:
    """The first difference between two observations of one case.

    kind: what differs ("raised", "type", "dtype", "shape", "graph", "value", "mutated", "judged", …).
    where: which value differs; "" if there is only one. yours, expected: both sides as text. note: one more sentence.
    arrays: yours, the expected one, and a mask of the elements that differ, if both have several elements; else empty.
    pair: yours and the expected one as encoded values, if a value differs.
    whose: the label of the expected side: "torch's" for errors and numbers from torch, "expected" for everything else.
    """

    kind: str
    where: str
    yours: str
    expected: str
    note: str = ""
    arrays: tuple[Any, ...] = ()
    pair: tuple[Value, Value] | None = None
    whose: str = "expected"
