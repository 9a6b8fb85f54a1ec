"""Run a notebook's function in several processes that exchange tensors, and leave none of them behind."""

import contextlib
import inspect
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from .words import _

# What each process runs. However the notebook's process ends, its end of the pipe closes, and this one ends too.
# It leaves by os._exit, because a farewell to the group would wait for ranks that have failed.
_PROGRAM = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(1)), daemon=True).start()
import torch
import torch.distributed as dist
from torch import nn

{functions}

try:
    torch.set_num_threads(1)
    rank, world_size, meeting_place = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    dist.init_process_group("gloo", init_method=meeting_place, rank=rank, world_size=world_size)
    {worker}(rank, world_size)
except Exception as error:
    print(f"{{type(error).__name__}}: {{error}}")
sys.stdout.flush()
os._exit(0)
"""


def run_ranks(worker: Callable, *helpers: Callable, world_size: int = 2, timeout_s: float = 120) -> list[str]:
    """Run `worker(rank, world_size)` in processes that form a group; print what each prints, and return these texts.

    They know `torch`, `nn`, `dist`, and the sources of `worker` and `helpers`, which are functions of the notebook.
    All have ended when this returns, after `timeout_s` at the latest, even if the cell is interrupted. If they cannot
    be started here, or the environment variable GRADLAB_ONE_PROCESS is set, this says so and returns an empty list.
    """
    if os.environ.get("GRADLAB_ONE_PROCESS"):
        return _not_started(_("GRADLAB_ONE_PROCESS is set"))
    functions = "\n\n".join(inspect.getsource(function) for function in (*helpers, worker))
    end = time.monotonic() + timeout_s
    with tempfile.TemporaryDirectory(prefix="gradlab-ranks-") as folder, contextlib.ExitStack() as started:
        program, meeting_place = Path(folder, "program.py"), Path(folder, "meeting_place").as_uri()
        program.write_text(_PROGRAM.format(functions=functions, worker=worker.__name__), encoding="utf-8")
        outputs = [Path(folder, f"rank_{rank}.txt") for rank in range(world_size)]
        processes, texts = [], []
        for rank, output in enumerate(outputs):
            try:
                process = subprocess.Popen(
                    [sys.executable, "-I", str(program), str(rank), str(world_size), meeting_place],
                    stdin=subprocess.PIPE,
                    stdout=started.enter_context(output.open("wb")),
                    stderr=subprocess.DEVNULL,
                    env=os.environ | _loopback(),
                )
            except OSError as error:
                return _not_started(error)
            processes.append(process)
            started.enter_context(process)  # in the end, closes its input and waits for it,
            started.callback(process.kill)  # after this
        for rank, (process, output) in enumerate(zip(processes, outputs, strict=True)):
            try:
                process.wait(max(0, end - time.monotonic()))
                ending = _("ended without a word (exit status {status})", status=process.returncode)
                said = output.read_text(encoding="utf-8") or ending
            except subprocess.TimeoutExpired:
                said = output.read_text(encoding="utf-8")
                said += _("not finished after {seconds:g} s, so it was ended", seconds=timeout_s)
            texts.append(said)
            for line in said.splitlines():
                # Translators: a rank is a process, with a number
                print(_("rank {rank}: {line}", rank=rank, line=line))
        return texts


def _not_started(why: object) -> list[str]:
    print(_("This cell needs several processes, but none can be started here: {why}. Read on.", why=why))
    return []


def _loopback() -> dict[str, str]:
    """Return the setting by which the processes meet on this machine, whatever its name resolves to."""
    with contextlib.suppress(AttributeError, OSError):  # Windows lists none
        names = {name for _, name in socket.if_nameindex()} & {"lo", "lo0"}
        return {"GLOO_SOCKET_IFNAME": names.pop()} if names else {}
    return {}
