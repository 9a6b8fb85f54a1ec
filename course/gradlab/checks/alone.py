"""Observe an answer alone: in a process in which torch can no longer do what the exercise forbids.

Grading repeats here each check that autograd or torch would be a shortcut around, if it passed in the notebook. Before
the first cell runs, torch's functions that start a backward pass, record an operation or enter forward mode (for part
two, those that make a tensor) are overwritten with an illegal instruction. Whatever name leads to one of them, Linux
ends the process, and the process that started it sees why. Cells run statement by statement under the block that
learners know, so code that only tries something out is skipped instead.
"""

import ast
import contextlib
import ctypes
import mmap
import os
import platform
import signal
import socket
import sys
from collections.abc import Callable
from io import BufferedRWPair
from pathlib import Path
from types import ModuleType

import msgspec
import torch

from ..words import _
from . import source
from .check import Check
from .encoding import text_within, type_name
from .given import in_place_of_yours
from .observation import Dict, Error, Observation
from .observe import call
from .shortcuts import blocked
from .without_torch import without_torch

FORBIDDEN = -signal.SIGILL  # the exit code of a process that did what its exercise forbids
_ILLEGAL = {"x86_64": b"\x0f\x0b", "aarch64": bytes(4)}  # an instruction that raises SIGILL
_CPU, _C10 = "libtorch_cpu.so", "libc10.so"  # libraries of torch
_RECORDS = [(_CPU, "_ZN2at15sequence_number17get_and_incrementEv")]  # at::sequence_number, for each node
_DERIVES = [
    (_CPU, "_ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_"),
    (_CPU, "_ZN5torch8autograd14ForwardADLevel12get_next_idxEv"),
    (_CPU, "_ZN5torch3jit13differentiateERSt10shared_ptrINS0_5GraphEE"),
]
_TENSORS = [
    (_C10, "_ZN3c1010TensorImplC1ENS0_8ImplTypeEONS_7StorageENS_14DispatchKeySetEN6caffe28TypeMetaE"),
    (_C10, "_ZN3c1010TensorImplC1EONS_7StorageENS_14DispatchKeySetEN6caffe28TypeMetaE"),
    (_C10, "_ZN3c1010TensorImplC1EONS_7StorageENS_14DispatchKeySetEN6caffe28TypeMetaESt8optionalINS_6DeviceEE"),
    (_C10, "_ZN3c1010TensorImplC1ENS_14DispatchKeySetEN6caffe28TypeMetaESt8optionalINS_6DeviceEE"),
]


class Alone(msgspec.Struct, frozen=True):
    """What to observe: one check of a check cell, after the cells that define what it uses.

    cells: those cells, in order. cases: their number. torch, records: whether torch is allowed, and may record. given,
    finished: see `CheckRecord`.
    """

    cells: list[str]
    cases: int
    check_cell: str
    check_id: str
    torch: bool
    records: bool
    given: str = ""
    finished: str = ""


def require() -> None:
    """Raise AttributeError if torch lacks one of the functions, and OSError if they may not be overwritten."""
    every = [*_DERIVES, *_RECORDS, *_TENSORS]
    for library, name in every:
        if not hasattr(_library(library), name):
            parts = {"library": library, "version": torch.__version__, "name": name}
            text = _(
                "{library} of torch {version} has no function {name}. Install the torch of requirements.txt.", **parts
            )
            raise AttributeError(text)
    child = os.fork()
    if child == 0:
        try:
            _overwrite(every)
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1]:
        raise OSError(_("Linux does not let torch's functions be overwritten, so no answer can be graded alone."))


def serve(control: socket.socket, confine: Callable[[], None]) -> None:
    """Observe answers for each socket received on `control`, in a child that calls `confine`; return at its end.

    A received socket carries, for one check after the other, an `Alone` and then the inputs of its cases, each as a
    line of JSON; all checks allow the same. The child replies to each case with a line, its Observation. When the child
    has ended, its exit code is sent on `control`.
    """
    while True:
        message, fds, *_flags = socket.recv_fds(control, 16, 1)
        if not message:
            return
        child = os.fork()
        if child == 0:
            try:
                os.setpgid(0, 0)  # so that it cannot end this process by ending its group
                control.close()
                _reply(socket.socket(fileno=fds[0]), confine)
            finally:
                os._exit(0)
        os.close(fds[0])
        control.send(b"%d" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def _reply(channel: socket.socket, confine: Callable[[], None]) -> None:
    lines = channel.makefile("rwb")
    for number, line in enumerate(iter(lines.readline, b"")):
        task = msgspec.json.decode(line, type=Alone)
        if number == 0:
            _forbid(task)
            confine()
        _observe(task, lines)


def _observe(task: Alone, lines: BufferedRWPair) -> None:
    try:
        stated = _stated(task)
    except (Exception, SystemExit) as error:
        failed = Observation([], Error(type_name(type(error)), text_within(str(error))))
        _answer(lines, task.cases, lambda case: failed)
    else:
        function = stated.answer if stated.scenario is call else stated.scenario
        with in_place_of_yours(function, task.given, task.finished, stated.answer):
            _answer(lines, task.cases, stated.as_released(task.given).observe_case)


def _answer(lines: BufferedRWPair, cases: int, observe: Callable[[Dict], Observation]) -> None:
    for _case in range(cases):
        seen = observe(msgspec.json.decode(lines.readline(), type=Dict))
        lines.write(msgspec.json.encode(seen) + b"\n")
        lines.flush()


def _forbid(task: Alone) -> None:
    _overwrite([*_DERIVES, *([] if task.records else _RECORDS), *([] if task.torch else _TENSORS)])
    if not task.torch:
        for name in ("get_rng_state", "set_rng_state"):  # `known_state` makes no other tensor
            setattr(torch, name, lambda *_arguments: None)


def _overwrite(functions: list[tuple[str, str]]) -> None:
    libc, illegal = ctypes.CDLL(None, use_errno=True), _ILLEGAL[platform.machine()]
    for library, name in functions:
        address = ctypes.cast(getattr(_library(library), name), ctypes.c_void_p).value or 0  # None means 0
        pages = ctypes.c_void_p(address - address % mmap.PAGESIZE), ctypes.c_size_t(2 * mmap.PAGESIZE)
        for protection in (mmap.PROT_READ | mmap.PROT_WRITE, mmap.PROT_READ | mmap.PROT_EXEC):
            if libc.mprotect(*pages, protection) < 0:
                raise OSError(ctypes.get_errno(), f"mprotect: {name}")
            if protection & mmap.PROT_WRITE:
                ctypes.memmove(address, illegal, len(illegal))


def _library(name: str) -> ctypes.CDLL:
    return ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / name))


def _stated(task: Alone) -> Check:
    """Run the cells and then the check cell; return the check as its cell states it."""
    from IPython import get_ipython
    from IPython.display import display

    module = ModuleType("__main__")
    names, stated = vars(module), []
    names |= {"display": display, "get_ipython": get_ipython}
    sys.modules["__main__"] = module
    with blocked() if task.torch else without_torch():
        for number, text in enumerate(task.cells, 1):
            for statement in source.read(text).statements:
                with contextlib.suppress(Exception, SystemExit):  # it stopped the cell in the notebook, or is refused
                    exec(compile(ast.Module([statement], []), f"<cell {number}>", "exec"), names)
    names["check"] = lambda *words, **options: stated.append(Check(*words, **options))
    exec(compile(task.check_cell, "<check>", "exec"), names)
    (check,) = (check for check in stated if check.check_id == task.check_id)
    return check
