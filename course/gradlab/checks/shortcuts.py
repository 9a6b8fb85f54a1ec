"""Block the shortcut that some exercises forbid: letting torch's autograd do what the learner should do by hand.

The block says so to a learner; code that is meant to get around it can. Grading repeats a check that passed in a
process where torch cannot differentiate (`alone`).
"""

import contextlib
import functools
import types
from collections.abc import Callable, Iterator

import torch
from torch._C import DispatchKey, DispatchKeySet

from .innermost import raised_in_torch
from .members import own_members

_ENTRIES = [
    (torch.Tensor, "torch.Tensor", ["backward"]),
    (torch.autograd, "torch.autograd", ["backward", "grad"]),
    (torch.autograd.functional, "torch.autograd.functional", ["jacobian", "hessian", "vjp", "jvp", "hvp", "vhp"]),
    (torch.func, "torch.func", ["grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian", "linearize"]),
    (torch.autograd.forward_ad, "torch.autograd.forward_ad", ["dual_level", "make_dual"]),
]
_KEYS = ("AutogradFunctionality", "AutogradCPU", "AutogradMeta", "AutogradOther", "AutogradNestedTensor")
_RECORDING = functools.reduce(DispatchKeySet.__or__, [DispatchKeySet(getattr(DispatchKey, key)) for key in _KEYS])
NOT_RECORDED = "does not require grad"  # in torch's message if `backward` is called without a recorded graph


class ShortcutError(Exception):
    """Raised in an exercise that forbids torch's autograd if the answer calls it."""


@contextlib.contextmanager
def blocked(recording: bool = False) -> Iterator[None]:
    """Make every public entry point to torch's autograd raise ShortcutError; restore them on exit.

    Unless `recording`, this thread records no graph.
    """
    entries = [(owner, name, f"{label}.{name} was called") for owner, label, names in _ENTRIES for name in names]
    saved = [getattr(owner, name) for owner, name, _ in entries]
    not_recording = contextlib.nullcontext() if recording else torch._C._ExcludeDispatchKeyGuard(_RECORDING)
    try:
        for owner, name, why in entries:
            setattr(owner, name, _refusing(why))
        with not_recording:
            yield
    finally:
        for (owner, name, _), entry in zip(entries, saved, strict=True):
            setattr(owner, name, entry)


def _refusing(why: str) -> Callable:
    def refused(*args, **kwargs):
        raise ShortcutError(why)

    return refused


def without_autograd(answer: Callable) -> Callable:
    """Wrap `answer` so that torch's autograd is blocked while it runs; for a class, wrap each of the learner's methods.

    An answer that receives part of a graph may record: whether it does is then part of the exercise.
    """
    if isinstance(answer, type):
        methods = {name: wrapped for name, member in own_members(answer).items() if (wrapped := _guarded(member))}
        names = {name: getattr(answer, name) for name in ("__module__", "__qualname__", "__doc__")}
        return type(answer)(answer.__name__, (answer,), names | methods)

    def guarded(*args, **kwargs):
        with blocked(recording=any(map(_of_a_graph, [*args, *kwargs.values()]))):
            try:
                return answer(*args, **kwargs)
            except RuntimeError as error:
                if NOT_RECORDED in str(error) and raised_in_torch(error):
                    raise ShortcutError("torch's autograd was called") from error
                raise

    return guarded


def _of_a_graph(given) -> bool:
    if isinstance(given, list | tuple):
        return any(map(_of_a_graph, given))
    return isinstance(given, torch.autograd.graph.Node) or (isinstance(given, torch.Tensor) and given.requires_grad)


def _guarded(member):
    """Wrap a class member so that autograd is blocked while it runs; return None if it contains no code."""
    if isinstance(member, types.FunctionType):
        return without_autograd(member)
    if isinstance(member, classmethod | staticmethod):
        return type(member)(without_autograd(member.__func__))
    if isinstance(member, property):
        return property(*(part and without_autograd(part) for part in (member.fget, member.fset, member.fdel)))
    return None
