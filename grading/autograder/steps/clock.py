"""The time that a cell has had: seconds of processor time, or seconds asleep, but none of waiting for a processor.

Linux counts both, and a submission cannot write what it counts. So a busy machine takes nothing from a cell's limit.
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.provisioning import KernelProvisionerBase

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Reading:
    """What Linux has counted so far; nothing of it elsewhere.

    cpu_s: the processor time of all the kernel's processes, and of those that they have waited for. waited_s: for how
    long each thread of the kernel wanted a processor and had none.
    """

    cpu_s: float
    waited_s: dict[str, float]

    @classmethod
    def of(cls, provisioner: KernelProvisionerBase) -> "Reading":
        """Read the clocks of a kernel: a sandboxed one with all that it has started."""
        kernel = Path("/proc", str(getattr(provisioner, "kernel_pid", None) or provisioner.pid))
        inside = getattr(provisioner, "inside", None)
        processes = list(inside.glob("proc/[0-9]*")) if inside else []  # none if the kernel does not let itself be seen
        cpu_s = sum(map(_cpu_s, processes or [kernel]))
        return cls(cpu_s, {thread.name: _waited_s(thread) for thread in kernel.glob("task/*")})

    def since(self, before: "Reading", slept_s: float) -> tuple[float, float]:
        """The seconds that a kernel has had since `before`, and those for which it waited for a processor.

        slept_s: how long one meant to sleep in between. Who slept longer was kept waiting himself, and cannot tell
        whether a kernel that did not compute had something to do.
        """
        grown = (now - before.waited_s.get(thread, 0) for thread, now in self.waited_s.items())
        waited_s = max(grown, default=0.0)
        return max(self.cpu_s - before.cpu_s, slept_s - waited_s, 0.0), waited_s


def _cpu_s(process: Path) -> float:
    with contextlib.suppress(OSError):
        return sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:15])) / TICKS_A_SECOND
    return 0.0


def _waited_s(thread: Path) -> float:
    with contextlib.suppress(OSError):
        return int((thread / "schedstat").read_text().split()[1]) / 1e9
    return 0.0
