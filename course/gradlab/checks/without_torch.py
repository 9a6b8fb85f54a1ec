"""Part two: the learner's own engine takes torch's place, so nothing of torch may be used while a check runs."""

from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name


class TorchError(Exception):
    """Torch was used where the learner's own engine is asked for."""


class without_torch(TorchFunctionMode):
    """Inside the block, what torch is called for raises TorchError, and so does what torch itself refuses."""

    def __torch_function__(self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        name = resolve_name(function) or f"{function.__module__ or 'torch'}.{function.__name__}"
        raise TorchError(f"{name.removesuffix('.__get__')} was used")

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        if _is_torchs(error):
            raise TorchError(f"torch was used, and refused it: {error}").with_traceback(trace) from error


def refusing_torch(answer: Callable) -> Callable:
    """Wrap `answer` so that an object of torch's that it returns raises TorchError; a class must not be torch's."""
    if isinstance(answer, type):
        _refuse(answer)
        return answer

    def own(*args: Any, **kwargs: Any) -> Any:
        returned = answer(*args, **kwargs)
        inside = returned.values() if isinstance(returned, dict) else returned
        for value in [returned, *(inside if isinstance(returned, dict | list | tuple) else [])]:
            _refuse(torch.autograd.graph.Node if isinstance(value, torch.autograd.graph.Node) else type(value))
        return returned

    return own


def _refuse(kind: type) -> None:
    for one in kind.__mro__:
        if one.__module__.partition(".")[0] == "torch":
            raise TorchError(f"{one.__module__}.{one.__qualname__} was used")


def _is_torchs(error: BaseException | None) -> bool:
    """Tell an error that torch raised: for what is no tensor of its own, or in its Python code."""
    if error is None or isinstance(error, TorchError):
        return False
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
    return where.partition(".")[0] == "torch" or (isinstance(error, TypeError) and "must be Tensor, not" in str(error))
