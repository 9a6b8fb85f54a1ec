"""Measure and limit a sandbox's memory: its processes, files and sockets, by what Linux says of them."""

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

WRITABLE = ["/tmp", "/home/student", "/dev/shm", "/run/kernel"]
INODE = 1 << 10  # bytes of memory per file, folder or link, besides its content
SOCKET, TCP = 420 << 10, 10 << 20  # the most bytes that a socket can buffer, by Linux's defaults
GROUP = "gradlab-"  # the prefix of control group names
VERSION_1 = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control"  # files of a control group
VERSION_2 = "memory.max", "memory.swap.max", "memory.events"


class Group(NamedTuple):
    """A Linux control group that limits its processes' memory. Its files stay open: the sandbox cannot see its folder.

    procs: writing 0 to it adds the writing process and its future children. events: the kernel's event counters.
    """

    procs: int
    events: int

    def has_killed(self) -> bool:
        """Return whether Linux killed a process of the group for exceeding the limit."""
        return b"\noom_kill 0\n" not in b"\n" + os.pread(self.events, 1 << 12, 0)


def groups_folder(mounted: str = "/sys/fs/cgroup", own: str = "/proc/self/cgroup") -> Path | None:
    """Return the folder in which this process may create memory control groups; None if none is delegated.

    In cgroup v2, that is the nearest group at or above ours that limits memory; in v1, it is our own group.
    """
    for line in Path(own).read_text().splitlines():
        number, kinds, path = line.split(":", 2)
        group = Path(mounted, *(["memory"] if kinds else []), path.lstrip("/"))
        if number == "0":
            above = [group, *(folder for folder in group.parents if folder.is_relative_to(mounted))]
            limiting = (folder for folder in above if "memory" in _words(folder / "cgroup.subtree_control"))
            nearest = next(limiting, None)
            if nearest is None:
                continue
            group = nearest
        elif kinds != "memory":
            continue
        if os.access(group, os.W_OK) and os.access(group / "cgroup.procs", os.W_OK):
            return group
    return None


def _words(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


def make_group(folder: Path, memory_mib: int) -> Group:
    """Create a control group that limits one sandbox's memory, including swap, to `memory_mib` MiB."""
    group = folder / f"{GROUP}{os.getpid()}"
    group.mkdir()
    limit, swap, events = VERSION_2 if (group / VERSION_2[0]).exists() else VERSION_1
    (group / limit).write_text(str(memory_mib << 20))
    with contextlib.suppress(OSError):  # swap accounting may be off
        (group / swap).write_text("0" if swap == VERSION_2[1] else str(memory_mib << 20))
    return Group(os.open(group / "cgroup.procs", os.O_WRONLY), os.open(group / events, os.O_RDONLY))


def remove_groups(folder: Path) -> None:
    """Remove empty control groups whose process has ended, including those of a killed server."""
    for group in folder.glob(f"{GROUP}*"):
        if not Path("/proc", group.name.removeprefix(GROUP)).exists():
            with contextlib.suppress(OSError):
                group.rmdir()


def processes() -> set[str]:
    """Return the ids of all processes in the sandbox, as numbered inside."""
    return set(filter(str.isdigit, os.listdir("/proc")))


def memory_used_mib(limit_mib: float) -> float:
    """Return the sandbox's memory in MiB: its processes, its files, and the most its sockets can buffer.

    Memory shared by processes is divided among them if the total would otherwise exceed the limit.
    """
    there = processes()
    other_mib = files_mib() + sockets_mib() + sum(status_mib(process, "VmPTE:") for process in there)
    total = other_mib + sum(status_mib(process, "VmRSS:", "VmSwap:") for process in there)
    return total if total <= limit_mib else other_mib + sum(map(proportional_mib, there))


def files_mib() -> float:
    """Return the memory of the writable places in MiB: their blocks and Linux's overhead per file."""
    systems = list(map(os.statvfs, WRITABLE))
    blocks = sum((system.f_blocks - system.f_bfree) * system.f_frsize for system in systems)
    return (blocks + INODE * sum(system.f_files - system.f_ffree for system in systems)) / 2**20


def sockets_mib() -> float:
    """Return the most that the sandbox's sockets can buffer, in MiB; Linux does not report the actual amount."""
    kinds = {}
    with contextlib.suppress(OSError):  # the first process ended, and all others with it
        for line in Path("/proc/1/net/sockstat").read_text().splitlines():
            kind, _, count, *_ = line.split()
            kinds[kind] = int(count)
    tcp = kinds.get("TCP:", 0)
    return (tcp * TCP + max(kinds.get("sockets:", 0) - tcp, 0) * SOCKET) / 2**20


def status_mib(process: str, *names: str) -> float:
    """Return the sum of the fields `names`, such as `VmRSS:`, in a process's status, in MiB; 0 if it has ended."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(names)) / 1024
    return 0.0


def proportional_mib(process: str) -> float:
    """Return a process's memory in MiB, with its share of shared memory; this is slow.

    If Linux does not permit reading it, return the resident and swapped memory instead.
    """
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(("Pss:", "SwapPss:"))) / 1024
    return status_mib(process, "VmRSS:", "VmSwap:")
