"""Fork kernels for tests from one process that has imported torch, because that import dominates a kernel's start.

`python tools/kernels.py with COMMAND…` runs a command with such kernels. JUPYTER_PATH names a separate folder whose
kernel spec, named python3, takes precedence over the installed one. Jupyter starts this file as the kernel; it asks the
server for a fork, and lives as long as the fork does. The server imports nothing of this project, and each kernel has
its own name, arguments, folder and environment.
"""

import contextlib
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

IMPORTED = ["torch", "torch._dynamo", "matplotlib.pyplot", "ipywidgets", "ipykernel.kernelapp", "ipykernel.zmqshell"]
INLINE = "module://matplotlib_inline.backend_inline"  # as ipykernel sets it for a kernel that imports matplotlib


def run_with_kernels(*command: str) -> None:
    """Run a command with forked kernels, or with plain ones if processes cannot be forked; exit with its code."""
    with kernels() if hasattr(os, "fork") else contextlib.nullcontext() as folder:
        env = {**os.environ, "JUPYTER_PATH": folder, "GRADLAB_TEST_KERNELS": folder} if folder else None
        code = subprocess.run(command, env=env, check=False).returncode
    sys.exit(code)


@contextlib.contextmanager
def kernels() -> Iterator[str]:
    """Run the server during the block, and yield the folder to use as JUPYTER_PATH."""
    from ipykernel.kernelspec import get_kernel_dict  # not available to `ask`

    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/server"
        spec = Path(folder, "kernels/python3/kernel.json")
        spec.parent.mkdir(parents=True)
        argv = [sys.executable, "-I", "-S", __file__, "ask", address, "-f", "{connection_file}"]
        own = {"argv": argv, "interrupt_mode": "message", "metadata": {"supported_encryption": ["curve"]}}
        spec.write_text(json.dumps({**get_kernel_dict(), **own}))
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(address)
            listening.listen(64)
            command = [sys.executable, __file__, "serve", str(listening.fileno())]
            env = {**os.environ, "MPLBACKEND": INLINE}
            server = subprocess.Popen(command, env=env, pass_fds=[listening.fileno()])
        try:
            yield folder  # only the server listens now, so no client waits for a dead server
        finally:
            server.terminate()
            server.wait()


def serve(listening_fd: str) -> None:
    """Fork a kernel for each process that asks, until this process is terminated."""
    listening = socket.socket(fileno=int(listening_fd))
    for module in IMPORTED:
        importlib.import_module(module)
    if threading.active_count() > 1:
        raise SystemExit("A process with several threads cannot be forked into kernels.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # so that no kernel that has ended stays
    while True:
        asking, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            become_kernel(asking)
        asking.close()


def become_kernel(asking: socket.socket) -> None:
    """Run as the requested kernel, until it ends or the requesting process does."""
    from ipykernel.kernelapp import IPKernelApp

    code = 1
    try:
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        os.setsid()
        text, outputs, _, _ = socket.recv_fds(asking, 1 << 20, 2)
        for fd, output in enumerate(outputs, start=1):
            os.dup2(output, fd)
        request = json.loads(text)
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        sys.path[0] = ""  # as with python -m
        sys.argv = ["ipykernel_launcher", *request["arguments"]]
        threading.Thread(target=end_with, args=[asking], daemon=True).start()
        IPKernelApp.launch_instance(argv=sys.argv[1:], parent_handle=os.getppid())
        code = 0
    finally:
        os._exit(code)


def end_with(asking: socket.socket) -> None:
    """End this process as soon as the other end of the socket `asking` is closed."""
    asking.recv(1)
    os._exit(1)


def ask(address: str, *arguments: str) -> None:
    """Ask the server for a kernel, and return when it has ended; raise ConnectionError if there is no server."""
    request = {"cwd": os.getcwd(), "env": dict(os.environ), "arguments": arguments}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        socket.send_fds(server, [json.dumps(request).encode()], [1, 2])
        server.recv(1)


if __name__ == "__main__":
    {"with": run_with_kernels, "serve": serve, "ask": ask}[sys.argv[1]](*sys.argv[2:])
