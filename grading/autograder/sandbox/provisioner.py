"""The kernel provisioner that jupyter_client finds by its entry point: one sandbox for each kernel."""

import asyncio
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from jupyter_client.connect import KernelConnectionInfo, port_names
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Int

from . import bubblewrap
from .machine import SandboxError, require_hidden

WAITING = ["/bin/sh", "-c", "echo ready; exec >&-; read code; exit ${code:-1}"]  # until the kernel's exit code comes
SOCKETS = "/run/kernel/s"
FORKSERVER = Path(__file__).with_name("forkserver.py")  # never imported: it needs Linux from its first line on
ADDRESSES_MIB = 16_384  # of one process at least; for each GiB, Linux may need 2 MiB for tables
MEMORY_EXIT = 200  # the exit code that tells of a sandbox which needed too much memory


class ForkServer:
    """The process of this one that has imported torch; started when the first kernel is, and again if it has ended."""

    def __init__(self):
        self._lock = threading.Lock()
        self._process: subprocess.Popen | None = None

    def send(self, request: dict, fds: list[int]) -> None:
        """Ask for a kernel; returns at once."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._start()
            socket.send_fds(self._socket, [json.dumps(request).encode()], fds)

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        caches = {name: os.environ[name] for name in ("HOME", "MPLCONFIGDIR") if name in os.environ}
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", FORKSERVER, bubblewrap.GRADLAB.parent],
                stdin=theirs,
                cwd="/",
                env=bubblewrap.ENVIRONMENT | {"MPLBACKEND": "agg"} | caches,
            )


SERVER = ForkServer()


def free_uid(pid: int) -> int:
    """The user of a kernel: of one that root starts a user that nobody else has, because its limits count by user."""
    if os.geteuid() != 0:
        return os.geteuid()
    mapped = sum(int(line.split()[2]) for line in Path("/proc/self/uid_map").read_text().splitlines())
    half = min(mapped, 1 << 31) // 2
    return half + pid % half


class SandboxProvisioner(LocalProvisioner):
    """Start a kernel in a sandbox, forked from this process's fork server.

    The kernel's five sockets lie in the sandbox's own memory; they are reached through /proc while it lives. So a
    kernel leaves nothing behind.
    """

    memory_mib = Int(4096, help="Memory of all processes of a kernel together.").tag(config=True)
    cpu_s = Int(300, help="Processor time of one process.").tag(config=True)
    processes = Int(64, help="Processes and threads of a kernel.").tag(config=True)
    file_mib = Int(64, help="Size of one file.").tag(config=True)
    open_files = Int(512, help="Open files of one process.").tag(config=True)
    disk_mib = Int(128, help="Size of the home folder, of /tmp and of /dev/shm, each; it lies in memory.").tag(
        config=True
    )

    kernel_pid: int | None = None
    inside: Path | None = None  # the root of the sandbox, as it is reached from outside
    _init_fd: int | None = None  # of the sandbox's first process, with which all others end
    exit_code: int | None = None

    async def pre_launch(self, **kwargs) -> dict:
        """Called by the kernel manager before launch_kernel: name the sockets, as they are called inside."""
        manager = self.parent
        manager.transport, manager.ip = "ipc", SOCKETS
        for number, name in enumerate(port_names, start=1):
            setattr(manager, name, number)
        self.connection_info = manager.get_connection_info()
        cmd = manager.format_kernel_cmd(extra_arguments=kwargs.pop("extra_arguments", []))
        return await super(LocalProvisioner, self).pre_launch(cmd=cmd, **kwargs)

    async def launch_kernel(self, cmd: list[str], cwd: str | None = None, **kwargs) -> KernelConnectionInfo:
        """Called by the kernel manager; returns when the kernel's sockets answer. Raises SandboxError."""
        loop = asyncio.get_running_loop()
        with contextlib.ExitStack() as stack:
            files = [os.fdopen(fd, mode) for mode_pair in _pipes(3) for fd, mode in mode_pair]
            for file in files:
                stack.enter_context(file)
            code_out, code_in, info_out, info_in, ready_out, ready_in = files
            folder = Path(cwd or ".").resolve()
            require_hidden(folder)
            self.process = bubblewrap.start(
                folder,
                self.disk_mib,
                WAITING,
                info_in.fileno(),
                stdin=code_out,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            self.pid = self.pgid = self.process.pid
            info_in.close()
            if not await loop.run_in_executor(None, self.process.stdout.readline):  # its mounts are made
                raise SandboxError(f"bubblewrap could not make a sandbox: {self.process.stderr.read().strip()}")
            self._init_fd = os.pidfd_open(json.loads(info_out.read())["child-pid"])
            SERVER.send(self._request(cmd), [self._init_fd, ready_in.fileno(), code_in.fileno()])
            ready_in.close()
            code_in.close()
            kernel = await loop.run_in_executor(None, ready_out.readline)
            if not kernel:
                raise SandboxError("The kernel could not be started in its sandbox.")
        self.kernel_pid = int(kernel)
        self.inside = Path(f"/proc/{self.kernel_pid}/root")
        return self.connection_info | {"ip": f"{self.inside}{SOCKETS}"}

    def _request(self, cmd: list[str]) -> dict:
        mib = bubblewrap.MIB
        limits = {
            "DATA": self.memory_mib * mib,
            "AS": max(ADDRESSES_MIB, 2 * self.memory_mib) * mib,
            "CPU": self.cpu_s,
            "NPROC": self.processes,
            "CORE": 0,
        }
        limits |= {"FSIZE": self.file_mib * mib, "NOFILE": self.open_files}
        return {
            "argv": cmd[cmd.index("ipykernel_launcher") + 1 :],
            "environment": bubblewrap.ENVIRONMENT,
            "connection": self.connection_info | {"key": self.connection_info["key"].decode()},
            "work": bubblewrap.WORK,
            "limits": limits,
            "uid": free_uid(self.process.pid),
            "memory_mib": self.memory_mib,
            "memory_exit": MEMORY_EXIT,
        }

    async def kill(self, restart: bool = False) -> None:
        """Called by the kernel manager to end the kernel at once, and everything that it started."""
        self.end()

    def end(self) -> None:
        """End the sandbox; may be called at any time, and more than once."""
        if self._init_fd is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init_fd, signal.SIGKILL)
        elif self.process is not None:
            self.process.kill()

    async def wait(self) -> int | None:
        """Called by the kernel manager after kill; returns when no process of the sandbox is left."""
        if self.process is not None:
            self.exit_code = await asyncio.get_running_loop().run_in_executor(None, self._wait)
            self.process = None
        return self.exit_code

    def _wait(self) -> int:
        code = self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        if self._init_fd is not None:
            end = select.poll()
            end.register(self._init_fd, select.POLLIN)
            end.poll()
            os.close(self._init_fd)
            self._init_fd = None
        return code

    async def cleanup(self, restart: bool = False) -> None:
        """Called by the kernel manager when it is done with the kernel, however that ended."""
        self.end()
        await self.wait()

    @property
    def limit_exceeded(self) -> str:
        """The limit that ended the kernel, in words; "" if it was none that can be told."""
        return {
            MEMORY_EXIT: f"It needed more than {self.memory_mib} MiB of memory.",
            128 + signal.SIGXCPU: f"It needed more than {self.cpu_s} seconds of processor time.",
        }.get(self.exit_code, "")


def _pipes(count: int):
    return [tuple(zip(os.pipe(), ("r", "w"), strict=True)) for _ in range(count)]
