"""Measure a cell's time: processor time or sleep, without time spent waiting for a processor.

A busy machine therefore does not use up a cell's limit. Linux keeps these counts, so a submission cannot change them.
"""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.provisioning import LocalProvisioner

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Reading:
    """Linux's counts so far for one kernel; zero on other systems.

    cpu_s: processor seconds of all the kernel's processes and their reaped children. waited_s: the seconds for which
    each of the kernel's threads was runnable but had no processor, by thread id.
    """

    cpu_s: float
    waited_s: dict[str, float]

    @classmethod
    def of(cls, provisioner: LocalProvisioner) -> "Reading":
        """Return a kernel's counts as a Reading; for a sandboxed kernel, include the processes that it started."""
        kernel = Path("/proc", str(getattr(provisioner, "kernel_pid", None) or provisioner.pid))
        inside = getattr(provisioner, "inside", None)
        processes = list(inside.glob("proc/[0-9]*")) if inside else []  # none if the kernel hides them
        cpu_s = sum(map(_cpu_s, processes or [kernel]))
        return cls(cpu_s, {thread.name: _waited_s(thread) for thread in kernel.glob("task/*")})

    def since(self, before: "Reading", slept_s: float) -> tuple[float, float]:
        """Return the seconds a kernel has used since `before`, and the seconds it waited for a processor.

        slept_s: the interval that the caller intended to sleep. If the sleep took longer, the machine was busy, and an
        idle kernel may have been waiting as well, so only the intended interval counts.
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
