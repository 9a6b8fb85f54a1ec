"""Block the shortcut that some exercises forbid: letting torch's autograd do what the learner should do by hand.

While the learner's callable runs, torch runs no backward pass in any thread, the calling thread records no graph, and
Python starts no other thread or process, which could record one. A node of a graph recorded earlier can still be
called; grading flags such graphs.
"""

import _thread
import contextlib
import dis
import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator

import torch
from torch._C import DispatchKey, DispatchKeySet
from torch._C._dynamo import compiled_autograd
from torch._functorch import eager_transforms

_ENTRIES = [
    (torch.Tensor, ["backward"]),
    (torch.autograd, ["backward", "grad"]),
    (torch.autograd.functional, ["jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"]),
    (torch.func, ["grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize"]),
    (torch.autograd.forward_ad, ["dual_level", "make_dual"]),
]
# The functions that these entry points call by name; blocking them stops references saved earlier, too.
_INSIDE = [
    (torch.autograd, ["_engine_run_backward"]),
    (torch.autograd.graph, ["_engine_run_backward"]),
    (torch.autograd.functional, ["_grad_preprocess"]),
    (torch.autograd.forward_ad, ["enter_dual_level"]),
    (eager_transforms, ["grad_increment_nesting", "jvp_increment_nesting"]),
]
_RECORDING = functools.reduce(
    DispatchKeySet.__or__,
    [
        DispatchKeySet(getattr(DispatchKey, name))
        for name in ("AutogradFunctionality", "AutogradCPU", "AutogradMeta", "AutogradOther", "AutogradNestedTensor")
    ],
)
NOT_RECORDED = "does not require grad"  # in torch's message if `backward` is called without a recorded graph


# The audit events for starting threads and processes, and functions that raise no such event before Python 3.12
_EVENTS = ("_thread.start", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen")
_STARTS = [(_thread, ["start_new_thread"]), (threading, ["_start_new_thread", "_start_joinable_thread"])]
_STARTED = "a thread or a process was started, which could run autograd unseen"
_blocks: list[object] = []  # one for each active `blocked`


class ShortcutError(Exception):
    """Raised in an exercise that forbids torch's autograd if the answer calls it or could call it undetected."""


@functools.cache
def _watch_starts() -> None:
    """Make every `blocked` block refuse new threads and processes, with an audit hook, which Python cannot remove."""

    def refuse(event: str, _: tuple) -> None:
        if _blocks and event.startswith(_EVENTS):
            raise ShortcutError(_STARTED)

    sys.addaudithook(refuse)


@contextlib.contextmanager
def blocked(recording: bool = False) -> Iterator[None]:
    """Make every entry point to torch's autograd raise ShortcutError; restore them on exit.

    torch's engine itself refuses to run backward, in every thread. Unless `recording`, this thread records no graph. No
    other thread or process can start.
    """
    _watch_starts()
    labels = [(owner, name, f"{_name(owner)}.{name}") for owner, names in _ENTRIES for name in names]
    labels += [(owner, name, "torch's autograd") for owner, names in _INSIDE for name in names]
    labels = [(owner, name, f"{label} was called") for owner, name, label in labels]
    labels += [(owner, name, _STARTED) for owner, names in _STARTS for name in names if hasattr(owner, name)]
    saved = [(owner, name, getattr(owner, name)) for owner, name, _ in labels]
    not_recording = contextlib.nullcontext() if recording else torch._C._ExcludeDispatchKeyGuard(_RECORDING)
    before = compiled_autograd.set_autograd_compiler(
        _refusing("torch's autograd was called"), False
    )  # the engine calls it before each backward pass
    block = object()
    try:
        for owner, name, why in labels:
            setattr(owner, name, _refusing(why))
        _blocks.append(block)
        with not_recording:
            yield
    finally:
        _blocks.remove(block)
        for owner, name, entry in saved:
            setattr(owner, name, entry)
        compiled_autograd.set_autograd_compiler(*before)


def _refusing(why: str) -> Callable:
    def refused(*args, **kwargs):
        raise ShortcutError(why)

    return refused


def _name(owner) -> str:
    return f"{owner.__module__}.{owner.__name__}" if isinstance(owner, type) else owner.__name__


def without_autograd(answer: Callable) -> Callable:
    """Wrap `answer` so that torch's autograd is blocked while it runs; for a class, wrap each of the learner's methods.

    An answer that receives part of a graph may record: whether it does is then part of the exercise.
    """
    if isinstance(answer, type):
        methods = {name: guarded for name, member in own_members(answer).items() if (guarded := _guarded(member))}
        names = {name: getattr(answer, name) for name in ("__module__", "__qualname__", "__doc__")}
        return type(answer)(answer.__name__, (answer,), names | methods)

    def guarded(*args, **kwargs):
        with blocked(recording=any(map(_of_a_graph, [*args, *kwargs.values()]))):
            try:
                return answer(*args, **kwargs)
            except RuntimeError as error:
                if NOT_RECORDED in str(error) and not _raised_in_python(error):
                    raise ShortcutError("torch's autograd was called") from error
                raise

    return guarded


def _of_a_graph(given) -> bool:
    if isinstance(given, list | tuple):
        return any(map(_of_a_graph, given))
    return isinstance(given, torch.autograd.graph.Node) or (isinstance(given, torch.Tensor) and given.requires_grad)


def _raised_in_python(error: BaseException) -> bool:
    """Return whether a `raise` statement, not torch, raised the error; reads the bytecode of CPython 3.11 to 3.13."""
    trace = error.__traceback__
    while trace.tb_next is not None:
        trace = trace.tb_next
    return dis.opname[trace.tb_frame.f_code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"


def own_members(cls: type) -> dict:
    """Return the members that a class and its bases in the same module define, as stored in their `__dict__`."""
    own = [owner for owner in reversed(cls.__mro__) if owner.__module__ == cls.__module__]
    return {name: member for owner in own for name, member in vars(owner).items()}


def _guarded(member):
    """Wrap a class member so that autograd is blocked while it runs; return None if it contains no code."""
    if isinstance(member, types.FunctionType):
        return without_autograd(member)
    if isinstance(member, classmethod | staticmethod):
        return type(member)(without_autograd(member.__func__))
    if isinstance(member, property):
        return property(*(part and without_autograd(part) for part in (member.fget, member.fset, member.fdel)))
    return None
