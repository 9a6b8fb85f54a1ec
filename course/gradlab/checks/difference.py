"""The first difference between two observations, as data."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .observation import Value

if TYPE_CHECKING:
    import numpy as np


RAISED = ("raised", "shortcut", "torch", "error type", "error message")  # kinds about an error that was raised
VALUES = ("type", "dtype", "shape", "length", "keys", "graph", "nan", "value")  # kinds about two values


@dataclass(frozen=True)
class Place:
    """Where in an observation a value stands.

    number: (n, count) for the n-th of several values, None if there is only one or its labels identify it. keys: the
    labels, keys and indices that lead from there to it.
    """

    number: tuple[int, int] | None = None
    keys: tuple[int | str, ...] = ()

    def inside(self, key: int | str) -> "Place":
        """Return the place of a part of this value."""
        return replace(self, keys=(*self.keys, key))

    @property
    def label(self) -> str | None:
        """The only key, if it is a label; "" for the whole of the only value; None for a part, or one of several."""
        if self.number or len(self.keys) > 1 or any(isinstance(key, int) for key in self.keys):
            return None
        return str(*self.keys)


@dataclass(frozen=True)
class Difference:
    """The first difference between two observations of one case, as data.

    kind: what differs: one of RAISED or VALUES, or "unsolved", "silent", "count", "happened", "mutated", "left",
    "judged", "form". sides: what is compared, yours first: errors or None, encoded values, numbers of values, names, or
    what a judge was given. index: of the first element that differs, if these are tensors or arrays. within: the two
    containers of simple values in which they stand. reason: why a judge rejects yours.
    """

    kind: str
    sides: tuple[Any, Any]
    place: Place = field(default_factory=Place)
    index: tuple[int, ...] | None = None
    within: tuple[Value, Value] | None = None
    reason: str = ""

    @property
    def pair(self) -> tuple[Value, Value] | None:
        """Yours and the expected one as encoded values, if a value differs: as large as they are shown."""
        return self.within or self.sides if self.kind in VALUES else None

    @cached_property
    def elements(self) -> "tuple[np.ndarray, np.ndarray, np.ndarray] | None":
        """Yours, the expected ones, and a mask of those that differ, if elements of tensors or arrays differ."""
        if self.index is None:
            return None
        from .arrays import elements  # imports NumPy

        return elements(*self.sides)
