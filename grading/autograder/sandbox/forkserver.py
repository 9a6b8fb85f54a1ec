"""Import the heavy libraries once, then fork one kernel per request into a waiting sandbox.

`provisioner.ForkServer` runs this as a script, outside any package, so that no grading code is in a kernel's memory.
Each message on a connection to its SEQPACKET socket is a JSON object with the arguments of `run_kernel`, plus three
descriptors: a pidfd of the sandbox's first process, a pipe for the kernel's process id once it answers, and a pipe for
its exit code. The other end of the last pipe keeps the sandbox alive. With a fourth descriptor, a socket, the forked
process is not a kernel: it observes answers alone (`gradlab.checks.alone`). The server ends when its stdin is closed.
"""

import contextlib
import ctypes
import errno
import fcntl
import gc
import json
import os
import platform
import resource
import select
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

PRELOADED = [
    "torch",
    "torch._dynamo",  # otherwise the first backward pass or optimizer would take a second to import it
    "numpy",
    "matplotlib.pyplot",
    "ipykernel.kernelapp",
    "ipykernel.ipkernel",
    "ipykernel.zmqshell",
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.core.logger",
    "IPython.core.oinspect",
    "IPython.core.pylabtools",
    "IPython.extensions.storemagic",
    "IPython.utils.wildcard",
    "faulthandler",
    "matplotlib.backends.backend_agg",
    "pygments.formatters.terminal256",  # the first error imports this and the next two modules
    "pygments.styles.default",
    "stack_data",
    "tornado.platform.asyncio",
    "gradlab",
    "gradlab.checks.alone",
    "gradlab.predict",
    "gradlab.saved",
]
LOOK_MS = 250
START_S = 600  # the longest time for a kernel to open its sockets
CHANNELS = ("shell", "iopub", "stdin", "hb", "control")
WRITABLE = ["/tmp", "/home/student", "/dev/shm", "/run/kernel"]
INODE = 1 << 10  # bytes of memory per file, folder or link, besides its content
SOCKET, TCP = 420 << 10, 10 << 20  # the most bytes that a socket can buffer, by Linux's defaults
GROUP = "gradlab-"  # the prefix of control group names
VERSION_1 = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.oom_control"  # files of a control group
VERSION_2 = "memory.max", "memory.swap.max", "memory.events"
NICER = 5  # grading and the machine's other work come before submissions
LAST = 19  # the niceness of sessions created by a submission, each of which would otherwise get an equal share

CLONE_NEWUSER = 0x10000000
NS_GET_USERNS = 0xB701  # of ioctl
NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000  # mount, uts, ipc, pid, net
DUMPABLE, SECCOMP, CAPBSET_DROP, NO_NEW_PRIVS = 4, 22, 24, 38  # of prctl
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND = 1, 2, 4, 8, 32, 4096  # of mount
CLONE3, MAP_SHARED, MAP_ANONYMOUS, PROT_EXEC = 435, 0x01, 0x20, 0x04
MADV_COLLAPSE = 25
MOST_TEXT = 500_000  # characters that wait in an output stream; its messages must stay below 8 MB
REFUSED = ["memfd_create", "memfd_secret", "shmget", "msgget", "add_key", "request_key", "keyctl"]
REFUSED_ALONE = ["execve", "execveat", "prctl", "ptrace", "process_vm_writev"]
CALLS = ["clone", "unshare", "mmap", *REFUSED, "mprotect", "pkey_mprotect", *REFUSED_ALONE]
_ARCHITECTURES = {  # by machine: the architecture's number, and the numbers of these calls
    "x86_64": (0xC000003E, [56, 272, 9, 319, 447, 29, 68, 248, 249, 250, 10, 329, 59, 322, 157, 101, 311]),
    "aarch64": (0xC00000B7, [220, 97, 222, 279, 447, 194, 186, 217, 218, 219, 226, 288, 221, 281, 167, 117, 271]),
}
ARCHITECTURES = {name: (own, dict(zip(CALLS, calls, strict=True))) for name, (own, calls) in _ARCHITECTURES.items()}
LOAD, IF_EQUAL, IF_AT_LEAST, IF_SET, LEAVE = 0x20, 0x15, 0x35, 0x45, 0x06  # operations of a filter
ALLOW, REFUSE, UNKNOWN = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x00050000 | errno.ENOSYS  # how a filter leaves
ARGUMENT = range(16, 64, 8)  # where a filter finds a call's arguments

libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments) -> None:
    """Call a function of the C library; raise OSError if it fails."""
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def drop_privileges(uid: int) -> None:
    """Give up all capabilities permanently; root becomes the user `uid`."""
    for capability in range(64):
        libc.prctl(CAPBSET_DROP, capability, 0, 0, 0)  # fails for capabilities unknown to this kernel
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    version, nothing = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    call("capset", version, nothing)
    call("prctl", NO_NEW_PRIVS, 1, 0, 0, 0)
    filter_calls()
    call("prctl", DUMPABLE, 1, 0, 0, 0)  # otherwise, after changing user, it could not read its own /proc entries


def filter_calls() -> None:
    """Install a seccomp filter against system calls that a kernel does not need or that could bypass a limit.

    It refuses:
    - user namespaces, in which anyone may mount (bubblewrap forbids them too, unless it runs as root);
    - memory that belongs to no process or folder and would go uncounted, such as memfds, System V segments and queues,
      and shared memory without a file;
    - keyrings, because the session's keyring belongs to the grading account.

    clone3, whose flags a filter cannot see, is reported as missing, so the C library calls clone.
    """
    _, numbers = ARCHITECTURES[platform.machine()]
    steps = [(IF_EQUAL, 0, 1, CLONE3), (LEAVE, 0, 0, UNKNOWN)]
    for name in REFUSED:
        steps += [(IF_EQUAL, 0, 1, numbers[name]), (LEAVE, 0, 0, REFUSE)]
    for name in ("clone", "unshare"):
        steps += _if_called(name, (LOAD, 0, 0, ARGUMENT[0]), (IF_SET, 0, 1, CLONE_NEWUSER))
    shared = [(LOAD, 0, 0, ARGUMENT[3]), (IF_SET, 0, 2, MAP_SHARED), (IF_SET, 0, 1, MAP_ANONYMOUS)]
    install([*steps, *_if_called("mmap", *shared)])


def filter_alone() -> None:
    """Add a filter for a process that observes answers alone, in which no code may change or come from outside.

    It refuses other programs, memory that becomes executable (files can still be: Python has compiled modules), and
    access to other processes. Nothing can read or write the process's memory through /proc.
    """
    call("prctl", DUMPABLE, 0, 0, 0, 0)
    _, numbers = ARCHITECTURES[platform.machine()]
    steps = []
    for name in REFUSED_ALONE:
        steps += [(IF_EQUAL, 0, 1, numbers[name]), (LEAVE, 0, 0, REFUSE)]
    executable = [(LOAD, 0, 0, ARGUMENT[2]), (IF_SET, 0, 1, PROT_EXEC)]
    for name in ("mprotect", "pkey_mprotect"):
        steps += _if_called(name, *executable)
    nothing = [(LOAD, 0, 0, ARGUMENT[2]), (IF_SET, 0, 3, PROT_EXEC), (LOAD, 0, 0, ARGUMENT[3])]
    install([*steps, *_if_called("mmap", *nothing, (IF_SET, 0, 1, MAP_ANONYMOUS))])


def _if_called(name: str, *conditions: tuple) -> list[tuple]:
    """Return steps that refuse a call under these conditions, the last of which skips one step if it is not met."""
    steps = [*conditions, (LEAVE, 0, 0, REFUSE), (LEAVE, 0, 0, ALLOW)]
    return [(IF_EQUAL, 0, len(steps), ARCHITECTURES[platform.machine()][1][name]), *steps]


def install(steps: list[tuple]) -> None:
    """Install a seccomp filter: the operation, steps to skip if true, steps to skip if false, and operand of each step.

    The steps begin with the call's number loaded; a call that they do not leave is allowed.
    """
    steps = [
        (LOAD, 0, 0, 4),
        (IF_EQUAL, 1, 0, ARCHITECTURES[platform.machine()][0]),
        (LEAVE, 0, 0, REFUSE),
        (LOAD, 0, 0, 0),
        (IF_AT_LEAST, 0, 1, 0x40000000),  # x32 calls, which have their own numbers
        (LEAVE, 0, 0, REFUSE),
        *steps,
        (LEAVE, 0, 0, ALLOW),
    ]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(program)))
    call("prctl", SECCOMP, 2, ctypes.c_void_p(ctypes.addressof(header)), 0, 0)


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


def run_kernel(argv: list[str], connection: dict, **sandbox) -> None:
    """Turn this process, a forked child in the sandbox's namespaces, into the kernel; see `settle` for `sandbox`."""
    settle(**sandbox)
    Path("/run/kernel/connection.json").write_text(json.dumps(connection))
    sys.argv = ["ipykernel_launcher", *argv]
    import zmq
    from ipykernel.iostream import OutStream
    from ipykernel.kernelapp import IPKernelApp

    OutStream.write = in_parts(OutStream.write)  # type: ignore[method-assign, assignment]

    class Kernel(IPKernelApp):
        def init_iopub(self, context: zmq.Context) -> None:
            context.setsockopt(zmq.SNDHWM, 0)  # otherwise output, and a cell's end, would be lost if the client is slow
            super().init_iopub(context)

    Kernel.launch_instance(argv=argv)


def in_parts(write: Callable[[Any, str], int | None]) -> Callable[[Any, str], int | None]:
    """Return the method `write` of a kernel's output stream with a limit on the text that waits to be sent.

    Otherwise a cell that prints without end fills a message, five times a second, with more than a client accepts.
    """

    def written(stream: Any, text: str) -> int | None:
        if not isinstance(text, str):
            return write(stream, text)  # which refuses it
        for start in range(0, len(text), MOST_TEXT):
            part = text[start : start + MOST_TEXT]
            write(stream, part)
            stream.unsent = getattr(stream, "unsent", 0) + len(part)
            if stream.unsent >= MOST_TEXT:
                stream.unsent = 0
                stream.flush()
        return len(text)

    return written


def settle(environment: dict, work: str, limits: dict, uid: int, keep: int | None = None) -> None:
    """Give this process, a forked child in the sandbox's namespaces, the sandbox's rights, limits and environment.

    limits: resource limits, each in its own unit, by name without the prefix RLIMIT_. keep: the descriptor that becomes
    3; all others are closed.
    """
    os.setsid()  # Linux divides processor time equally among sessions, not processes
    os.nice(NICER)
    share("self", NICER)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")  # the first to be killed if the machine runs out of memory
    started_with = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    for name, value in limits.items():
        value += started_with if name == "DATA" else 0
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))
    drop_privileges(uid)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    if keep is not None:
        os.dup2(keep, 3)
    os.closerange(3 if keep is None else 4, resource.getrlimit(resource.RLIMIT_NOFILE)[0] + 64)
    os.umask(0o022)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(work)
    vars(sys.modules["gradlab.notebook"])["FOLDER"] = Path(work)
    sys.path.append("")  # last, so that files beside the notebook do not shadow installed modules
    sys.modules["numpy"].random.seed()  # otherwise every kernel would draw the same numbers


def observe_alone(control: int, **sandbox) -> None:
    """Turn this process, like `run_kernel`, into one that observes answers alone, as asked on the socket `control`."""
    settle(**sandbox, keep=control)
    sys.modules["gradlab.checks.alone"].serve(socket.socket(fileno=3), filter_alone)


def serve(
    request: dict, memory_mib: int, memory_exit: int, sandbox: int, ready: int, ended: int, control: int | None = None
) -> None:
    """Fork the kernel into the sandbox and watch it until it ends; runs in a child of the server.

    memory_exit: the exit code to report if the sandbox needed more than `memory_mib` MiB. control: see `observe_alone`.
    """
    folder = groups_folder()
    group = make_group(folder, memory_mib) if folder else None
    users = enter(sandbox)
    for path in WRITABLE if control is not None else ():
        remount(path, NOEXEC)
    before = processes()
    kernel = os.fork()  # the process namespace applies from this fork on
    if kernel == 0:
        code = 1
        try:
            if group:
                os.write(group.procs, b"0")
            if users is not None:
                call("setns", users, CLONE_NEWUSER)
            if control is None:
                run_kernel(**request)
            else:
                observe_alone(control, **request)
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    with reaped(kernel):
        end = select.poll()
        end.register(os.pidfd_open(kernel), select.POLLIN)
        if control is not None:
            os.close(control)
        silent, until = [*CHANNELS] if control is None else [], time.monotonic() + START_S
        while silent := [name for name in silent if not answers(request["connection"], name)]:
            if end.poll(5) or time.monotonic() > until:
                break
        else:
            if control is None:
                remount("/run/kernel", RDONLY)  # otherwise a link as a socket could lead a client out of the sandbox
            os.write(ready, b"%d\n" % kernel)
        os.close(ready)
        session = min(map(int, processes() - before), default=0)  # the kernel's session id inside
        while not end.poll(LOOK_MS):
            put_last(processes() - before, session)
            if memory_used_mib(memory_mib) > memory_mib or (group and group.has_killed()):
                code = memory_exit
                break
        else:
            _, status, used = os.wait4(kernel, 0)
            code = min(os.waitstatus_to_exitcode(status), 1)  # any other code was chosen by the submission
            if code == -signal.SIGXCPU and used.ru_utime + used.ru_stime < request["limits"]["CPU"] - 1:
                code = 1  # it sent this signal to itself
            if group and group.has_killed():
                code = memory_exit
        with contextlib.suppress(BrokenPipeError):  # the sandbox was ended from outside
            os.write(ended, b"%d\n" % (code if code >= 0 else 128 - code))


@contextlib.contextmanager
def reaped(child: int) -> Iterator[None]:
    """End and reap a child at the end of the block: its sandbox cannot end while an orphan waits to be reaped."""
    try:
        yield
    finally:
        with contextlib.suppress(ChildProcessError):  # the block reaped it
            if os.waitpid(child, os.WNOHANG)[0] == 0:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)


def enter(sandbox: int) -> int | None:
    """Enter a sandbox's namespaces by its pidfd; return a descriptor of its kernel's user namespace, or None as root.

    Without root, this enters the outer user namespace, which owns the mounts: only from there can they be changed.
    """
    if os.geteuid() == 0:
        call("setns", sandbox, NAMESPACES)
        return None
    pid = next(
        line.split()[1] for line in Path(f"/proc/self/fdinfo/{sandbox}").read_text().splitlines() if "Pid:" in line
    )
    mounts = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    users = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
    call("setns", fcntl.ioctl(mounts, NS_GET_USERNS), CLONE_NEWUSER)
    call("setns", sandbox, NAMESPACES)
    return users


def remount(mounted: str, flag: int) -> None:
    """Make the mount point `mounted` in the sandbox read-only or without programs; sockets in it keep working."""
    call("mount", None, mounted.encode(), None, flag | NOSUID | NODEV | REMOUNT | BIND, None)


def answers(connection: dict, name: str) -> bool:
    """Return whether a kernel's socket accepts connections; afterwards, do not ask again.

    On a busy machine the kernel accepts late: a hundred waiting connections would fill the socket's queue, and a client
    that finds it full does not try again.
    """
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(f"{connection['ip']}-{connection[name + '_port']}") == 0


def processes() -> set[str]:
    """Return the ids of all processes in the sandbox, as numbered inside."""
    return set(filter(str.isdigit, os.listdir("/proc")))


def put_last(started: set[str], session: int) -> None:
    """Let the processes in `started` outside the kernel's `session` use only processor time that nothing else needs."""
    for process in started:
        with contextlib.suppress(OSError):
            _, _, _, its_session, *_ = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            if int(its_session) != session:
                share(process, LAST)


def share(process: str, niceness: int) -> None:
    """Set the niceness of a process's session, if supported; Linux limits ordinary users to ten changes a second."""
    with contextlib.suppress(OSError):
        group = Path(f"/proc/{process}/autogroup")
        if not group.read_text().endswith(f" {niceness}\n"):
            group.write_text(str(niceness))


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


def preload(course: str) -> None:
    """Import the modules that kernels need, with gradlab from `course`; raise RuntimeError if that starts a thread."""
    sys.path.insert(0, course)
    gc.disable()  # collecting would take a sixth of the time
    for module in PRELOADED:
        __import__(module)
    for name in sys.modules["gradlab"].__all__:
        getattr(sys.modules["gradlab"], name)  # imports its module
    sys.modules["torch"].set_num_threads(1)
    sys.modules["gradlab.checks.alone"].require()
    if len(os.listdir("/proc/self/task")) != 1:
        raise RuntimeError("The fork server has more than one thread; kernels that it forks would hang.")
    gc.collect()
    gc.freeze()
    gc.enable()
    collapse()


def collapse() -> None:
    """Put this process's memory into huge pages, which makes a fork cost half as much; before Linux 6.1, do nothing."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, access, _, _, inode, *_ = line.split()
        if access == "rw-p" and inode == "0":
            start, end = (int(address, 16) for address in addresses.split("-"))
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_COLLAPSE)


def main(course: str, listening: int) -> None:
    """Serve requests on connections to a listening socket until stdin is closed."""
    preload(course)
    groups = groups_folder()
    listener = socket.socket(fileno=listening)
    clients: dict[int, socket.socket] = {}
    awaited = select.poll()
    awaited.register(0, select.POLLIN)
    awaited.register(listener, select.POLLIN)
    while True:
        if groups:
            remove_groups(groups)
        ready = [fd for fd, _ in awaited.poll()]
        if 0 in ready:
            break
        if listening in ready:
            client = listener.accept()[0]
            clients[client.fileno()] = client
            awaited.register(client, select.POLLIN)
        for fd in clients.keys() & ready:
            message, fds, _, _ = socket.recv_fds(clients[fd], 1 << 16, 4)
            if not message:
                awaited.unregister(fd)
                clients.pop(fd).close()
            elif os.fork() == 0:
                try:
                    for opened in (listener, *clients.values()):
                        opened.close()
                    request = json.loads(message)
                    serve(request, request.pop("memory_mib"), request.pop("memory_exit"), *fds)
                except BaseException:
                    traceback.print_exc()
                finally:
                    os._exit(0)
            for received in fds:
                os.close(received)
        with contextlib.suppress(ChildProcessError):  # a child's processor time counts only once it is waited for
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    with contextlib.suppress(ChildProcessError):
        while os.wait():
            pass
    if groups:
        remove_groups(groups)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
