"""Import the heavy libraries once, then fork one kernel per request into a waiting sandbox.

`provisioner.ForkServer` runs this folder as a program, outside any package, so that a kernel's memory holds no code of
grading but this folder's. Each message on a connection to its SEQPACKET socket is a JSON object with the arguments of
`run_kernel`, plus three descriptors: a pidfd of the sandbox's first process, a pipe for the kernel's process id once it
answers, and a pipe for its exit code. The other end of the last pipe keeps the sandbox alive. With a fourth descriptor,
a socket, the forked process is not a kernel: it observes answers alone (`gradlab.checks.alone`). The server ends when
its stdin is closed.
"""

import contextlib
import ctypes
import fcntl
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kernel_memory import WRITABLE, groups_folder, make_group, memory_used_mib, processes, remove_groups
from kernel_rights import CLONE_NEWUSER, call, drop_privileges, filter_alone, libc

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
NICER = 5  # grading and the machine's other work come before submissions
LAST = 19  # the niceness of sessions created by a submission, each of which would otherwise get an equal share

NS_GET_USERNS = 0xB701  # of ioctl
NAMESPACES = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000  # mount, uts, ipc, pid, net
RDONLY, NOSUID, NODEV, NOEXEC, REMOUNT, BIND = 1, 2, 4, 8, 32, 4096  # of mount
MADV_COLLAPSE = 25
MOST_TEXT = 500_000  # characters that wait in an output stream; its messages must stay below 8 MB


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


def preload(course: str) -> None:
    """Import the modules that kernels need, with gradlab from `course`; raise RuntimeError if that starts a thread."""
    sys.path[0] = course  # instead of this folder
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
