"""Kernels for tests, forked from one process that has imported torch: what else takes most of a kernel's time.

A kernel spec named python3 in a folder of its own stands before the installed one wherever JUPYTER_PATH names that
folder. Jupyter starts this file as the kernel, which asks the server for a fork and lives as long as that does.
Imported is only what is not of this project; a kernel's names, arguments, folder and environment are its own.
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
import time
from collections.abc import Iterator
from pathlib import Path

IMPORTED = ["torch", "torch._dynamo", "matplotlib.pyplot", "ipywidgets", "ipykernel.kernelapp", "ipykernel.zmqshell"]
INLINE = "module://matplotlib_inline.backend_inline"  # as ipykernel sets it for a kernel that imports matplotlib


@contextlib.contextmanager
def kernels() -> Iterator[str]:
    """Run the server; yields the folder for JUPYTER_PATH, or "" where processes cannot be forked."""
    if not hasattr(os, "fork"):
        yield ""
        return
    from ipykernel.kernelspec import get_kernel_dict  # which is not there for `ask`

    with tempfile.TemporaryDirectory() as folder:
        address = f"{folder}/server"
        spec = Path(folder, "kernels/python3/kernel.json")
        spec.parent.mkdir(parents=True)
        argv = [sys.executable, "-I", "-S", __file__, "ask", address, "-f", "{connection_file}"]
        own = {"argv": argv, "interrupt_mode": "message", "metadata": {"supported_encryption": ["curve"]}}
        spec.write_text(json.dumps({**get_kernel_dict(), **own}))
        env = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": INLINE}
        server = subprocess.Popen([sys.executable, __file__, "serve", address], env=env)
        try:
            yield folder
        finally:
            server.terminate()
            server.wait()


def serve(address: str) -> None:
    """Fork a kernel for whoever asks, until this process is terminated."""
    for module in IMPORTED:
        importlib.import_module(module)
    if threading.active_count() > 1:
        raise SystemExit("A process with several threads cannot be forked into kernels.")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for kernels that have ended
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(64)
        while True:
            asking, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                become_kernel(asking)
            asking.close()


def become_kernel(asking: socket.socket) -> None:
    """Be the kernel that was asked for, until it ends or who asked for it does."""
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
        sys.path[0] = ""  # as python -m has it
        sys.argv = ["ipykernel_launcher", *request["arguments"]]
        threading.Thread(target=end_with, args=[asking], daemon=True).start()
        IPKernelApp.launch_instance(argv=sys.argv[1:], parent_handle=os.getppid())
        code = 0
    finally:
        os._exit(code)


def end_with(asking: socket.socket) -> None:
    """End this process as soon as the other end of a socket has closed."""
    asking.recv(1)
    os._exit(1)


def ask(address: str, *arguments: str) -> None:
    """Ask the server for a kernel, and return when that has ended."""
    request = {"cwd": os.getcwd(), "env": dict(os.environ), "arguments": arguments}
    with socket.socket(socket.AF_UNIX) as server:
        while server.connect_ex(address):  # while it imports
            time.sleep(0.1)
        socket.send_fds(server, [json.dumps(request).encode()], [1, 2])
        server.recv(1)


if __name__ == "__main__":
    {"serve": serve, "ask": ask}[sys.argv[1]](*sys.argv[2:])
