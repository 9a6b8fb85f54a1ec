"""Provide the kernel provisioner that jupyter_client finds by its entry point; each kernel gets a sandbox."""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TextIO, cast

from jupyter_client.connect import KernelConnectionInfo, port_names
from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Int

from gradlab.words import _

from . import bubblewrap
from .machine import SandboxError, require_hidden

WAITING = ["/bin/sh", "-c", "echo ready; exec >&-; read code; exit ${code:-1}"]  # waits for the kernel's exit code
SOCKETS = "/run/kernel/s"
FORKSERVER = Path(__file__).with_name("forkserver")  # never imported: it runs on Linux only
ADDRESS = "GRADLAB_FORK_SERVER"  # the environment variable with the path of a fork server's socket
ADDRESSES_MIB = 16_384  # lowest limit on a process's address space; Linux may need 2 MiB of page tables per GiB
END_S = 60  # the longest time to wait for an ended sandbox; if its last process stays, it no longer runs
MEMORY_EXIT = 200  # the exit code of a sandbox that needed too much memory


class ForkServer:
    """A handle on the server, the process that has imported torch and forks kernels.

    This process starts the server, or finds it through the environment variable that ADDRESS names. A run starts one
    server for all of its workers. A process that finds the server gone starts its own.
    """

    def __init__(self):
        self.address = os.environ.get(ADDRESS, "")
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None
        self._socket: socket.socket | None = None

    def begin(self) -> None:
        """Start the server unless there is one; return immediately, while it imports."""
        with self._lock:
            if not self.address:
                self._start()

    def send(self, request: dict, fds: list[int]) -> None:
        """Request a kernel without waiting for it; see forkserver for `request` and `fds`."""
        with self._lock:
            try:
                socket.send_fds(self._connected(), [json.dumps(request).encode()], fds)
            except OSError:  # the server has ended
                self._start()
                socket.send_fds(self._connected(), [json.dumps(request).encode()], fds)

    def _connected(self) -> socket.socket:
        if self._socket is None:
            if not self.address:
                self._start()
            self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._socket.connect(self.address)
        return self._socket

    def _start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gradlab-")  # accessible to this user only
        self.address, self._socket = f"{self._folder.name}/socket", None
        caches = {name: os.environ[name] for name in ("HOME", "MPLCONFIGDIR") if name in os.environ}
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as requests:
            requests.bind(self.address)
            requests.listen()
            self._process = subprocess.Popen(
                [sys.executable, "-I", FORKSERVER, bubblewrap.GRADLAB.parent, str(requests.fileno())],
                stdin=subprocess.PIPE,  # never written to; closed when this process ends
                cwd="/",
                env=bubblewrap.ENVIRONMENT | {"MPLBACKEND": "agg"} | caches,
                pass_fds=[requests.fileno()],
            )


SERVER = ForkServer()


def free_uid(pid: int) -> int:
    """Return the user id for a kernel: the current one or, as root, an unused one that depends on `pid`.

    Kernels of one user would share a limit on processes.
    """
    if os.geteuid() != 0:
        return os.geteuid()
    mapped = sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines())
    half = min(mapped, 1 << 31) // 2
    return half + pid % half


class SandboxProvisioner(LocalProvisioner):
    """Start a kernel, forked from this process's fork server, in a sandbox.

    The kernel's five sockets are in the sandbox's own memory and are reached through /proc while it lives, so a kernel
    leaves no files behind.
    """

    memory_mib = Int(4096, help="Total memory of a kernel's processes, in MiB.").tag(config=True)
    cpu_s = Int(300, help="Processor time of one process, in seconds.").tag(config=True)
    processes = Int(64, help="Processes and threads of a kernel.").tag(config=True)
    file_mib = Int(64, help="Size of one file, in MiB.").tag(config=True)
    open_files = Int(512, help="Open files of one process.").tag(config=True)
    disk_mib = Int(128, help="Size of each of the home folder, /tmp and /dev/shm, in MiB of memory.").tag(config=True)

    parent: AsyncKernelManager
    process: subprocess.Popen[str] | None
    kernel_pid: int | None = None
    inside: Path | None = None  # the sandbox's root, as reached from outside
    _init_fd: int | None = None  # a pidfd of the sandbox's first process; when it ends, so do all others
    exit_code: int | None = None
    ending = False  # whether `end` was called

    async def pre_launch(self, **kwargs) -> dict:
        """Choose the sockets' names inside the sandbox; called by the kernel manager before launch_kernel."""
        manager = self.parent
        manager.transport, manager.ip = "ipc", SOCKETS
        for number, name in enumerate(port_names, start=1):
            setattr(manager, name, number)
        self.connection_info = manager.get_connection_info()
        cmd = manager.format_kernel_cmd(extra_arguments=kwargs.pop("extra_arguments", []))
        return await super(LocalProvisioner, self).pre_launch(cmd=cmd, **kwargs)

    async def launch_kernel(self, cmd: list[str], cwd: str | None = None, **kwargs) -> KernelConnectionInfo:
        """Start the kernel, and return when its sockets answer; called by the kernel manager.

        Raises SandboxError if bubblewrap fails, the kernel does not start, or `cwd` is visible in every sandbox.
        """
        request = {
            "argv": cmd[cmd.index("ipykernel_launcher") + 1 :],
            "connection": self.connection_info | {"key": self.parent.session.key.decode()},
        }
        await self._launch(request, Path(cwd or ".").resolve())
        self.inside = Path(f"/proc/{self.kernel_pid}/root")
        return self.connection_info | {"ip": f"{self.inside}{SOCKETS}"}

    async def launch_alone(self, folder: Path) -> socket.socket:
        """Start a process that observes answers alone, with the files in `folder`, and return its control socket.

        See `gradlab.checks.alone`. Raises SandboxError as `launch_kernel` does.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            await self._launch({}, folder, theirs.fileno())
        return ours

    async def _launch(self, request: dict, folder: Path, *control: int) -> None:
        """Start a sandbox, and the process in it that forkserver forks for `request` and `control`."""
        loop = asyncio.get_running_loop()
        with contextlib.ExitStack() as stack:
            ends = [end for _ in range(3) for end in zip(os.pipe(), "rw", strict=True)]
            files = [stack.enter_context(os.fdopen(fd, mode)) for fd, mode in ends]
            code_out, code_in, info_out, info_in, ready_out, ready_in = files
            require_hidden(folder)
            pipes = {"stdin": code_out, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            process = self.process = bubblewrap.start(folder, self.disk_mib, WAITING, info_in.fileno(), **pipes)
            self.pid = self.pgid = process.pid
            info_in.close()
            output, errors = cast(tuple[TextIO, TextIO], (process.stdout, process.stderr))
            if not await loop.run_in_executor(None, output.readline):  # printed once mounts are ready
                why = _("bubblewrap could not create a sandbox: {error}", error=errors.read().strip())
                raise SandboxError(why)
            self._init_fd = os.pidfd_open(json.loads(info_out.read())["child-pid"])
            request |= self._limits(process.pid)
            SERVER.send(request, [self._init_fd, ready_in.fileno(), code_in.fileno(), *control])
            ready_in.close()
            code_in.close()
            kernel = await loop.run_in_executor(None, ready_out.readline)
            if not kernel:
                raise SandboxError(_("The kernel could not be started in its sandbox."))
        self.kernel_pid = int(kernel)

    def _limits(self, pid: int) -> dict:
        mib = bubblewrap.MIB
        limits = {
            "DATA": self.memory_mib * mib,
            "AS": max(ADDRESSES_MIB, 2 * self.memory_mib) * mib,
            "CPU": self.cpu_s,
            "NPROC": self.processes,
            "CORE": 0,
            "FSIZE": self.file_mib * mib,
            "NOFILE": self.open_files,
        }
        return {
            "environment": bubblewrap.ENVIRONMENT,
            "work": bubblewrap.WORK,
            "limits": limits,
            "uid": free_uid(pid),
            "memory_mib": self.memory_mib,
            "memory_exit": MEMORY_EXIT,
        }

    async def kill(self, restart: bool = False) -> None:
        """End the kernel and everything it started, and return once it has; called by the kernel manager."""
        self.end()
        await self.wait()

    def end(self) -> None:
        """End the sandbox; may be called at any time and repeatedly."""
        self.ending = True
        if self._init_fd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init_fd, signal.SIGKILL)
        elif self.process is not None:
            self.process.kill()

    async def wait(self) -> int | None:
        """Wait until no process of the sandbox is left, and return the exit code; called by the kernel manager."""
        if self.process is not None:
            self.exit_code = await asyncio.get_running_loop().run_in_executor(None, self._wait, self.process)
            self.process = None
        return self.exit_code

    def _wait(self, process: subprocess.Popen[str]) -> int:
        try:
            code = process.wait(END_S if self.ending else None)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        for pipe in filter(None, (process.stdout, process.stderr)):
            pipe.close()
        init_fd, self._init_fd = self._init_fd, None
        if init_fd is not None:
            end = select.poll()
            end.register(init_fd, select.POLLIN)
            end.poll(END_S * 1000)
            with contextlib.suppress(ChildProcessError):  # it became a child of this one if Linux gives it orphans
                os.waitid(os.P_PIDFD, init_fd, os.WEXITED | os.WNOHANG)
            os.close(init_fd)
        return code

    async def cleanup(self, restart: bool = False) -> None:
        """End the sandbox if it still runs; called by the kernel manager when it is done with the kernel."""
        await self.kill()

    @property
    def limit_exceeded(self) -> str:
        """Describe the limit that ended the kernel; "" if no known limit did."""
        limits = {
            MEMORY_EXIT: _("It needed more than {mib} MiB of memory.", mib=self.memory_mib),
            128 + signal.SIGXCPU: _("It needed more than {seconds} seconds of processor time.", seconds=self.cpu_s),
        }
        return "" if self.exit_code is None else limits.get(self.exit_code, "")
