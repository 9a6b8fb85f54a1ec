"""What this process remembers of its checks, in one object."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from IPython.display import DisplayHandle

from .record import CheckRecord


@dataclass
class Memory:
    """What is remembered until the kernel ends.

    authored: set while a chapter is built: makes a check's record from its reference cell, or returns None without such
    a cell. stands: by the check's name, whether its last run passed. summaries: where `summary` was last shown; checks
    passed later appear there too. repeated: by check, the kind of its last failure, and how often it was repeated.
    """

    authored: Callable[[Any], CheckRecord | None] | None = None
    stands: dict[str, bool] = field(default_factory=dict)
    summaries: list[DisplayHandle] = field(default_factory=list)
    repeated: dict[str, tuple[tuple[str, str], int]] = field(default_factory=dict)


memory = Memory()
