"""Part two: the learner's own engine replaces torch, so a check raises an error on any use of torch."""

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from .innermost import raised_in_torch


class TorchError(Exception):
    """Raised on any use of torch where the learner's own engine is required."""


_UNSEEN = ("from_numpy", "from_dlpack", "frombuffer")  # no mode sees them: they take no tensor


class without_torch(TorchFunctionMode):
    """A context manager: in its block, calling torch raises TorchError, which replaces torch's own errors, too."""

    def __enter__(self) -> "without_torch":
        self._unseen = {name: getattr(torch, name) for name in _UNSEEN}
        for name in _UNSEEN:
            setattr(torch, name, functools.partial(self.__torch_function__, self._unseen[name], ()))
        return super().__enter__()

    def __torch_function__(self, func: Callable, types: Any, *args: Any, **kwargs: Any) -> Any:
        name = resolve_name(func) or f"{func.__module__ or 'torch'}.{func.__name__}"
        raise TorchError(f"{name.removesuffix('.__get__')} was used")

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        super().__exit__(kind, error, trace)
        for name, function in self._unseen.items():
            setattr(torch, name, function)
        if _is_torchs(error):
            raise TorchError(f"torch was used and raised: {error}").with_traceback(trace) from error


def refusing_torch(answer: Callable) -> Callable:
    """Wrap `answer` so that returning a torch object raises TorchError; a torch class raises it immediately."""
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
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] == "torch":
            raise TorchError(f"{base.__module__}.{base.__qualname__} was used")


def _is_torchs(error: BaseException | None) -> bool:
    """Return whether an error came from torch's Python code, or from torch rejecting a value that is not a tensor."""
    if error is None or isinstance(error, TorchError):
        return False
    return raised_in_torch(error) or (isinstance(error, TypeError) and "must be Tensor, not" in str(error))
