"""Run a learner's code in a known state, and restore the earlier state afterwards."""

import contextlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

_LIMIT = sys.getrecursionlimit()


@contextlib.contextmanager
def known_state() -> Iterator[Callable[[], list[str]]]:
    """Enter the state of a fresh process with seed 0, and restore the earlier state on exit, even after an error.

    The state is: a fixed recursion limit, fixed random states of Python, NumPy and torch, each warning shown once and
    never raised as an error, and torch's settings as in a new process. NumPy and torch count only if they have been
    imported. Yields a function that lists the settings that have changed since, as codes with what they are now. Random
    states and warnings do not count: any code may change them.
    """
    limit, state, numpy = sys.getrecursionlimit(), random.getstate(), sys.modules.get("numpy")
    numpy_state = numpy and numpy.random.get_state()

    def left_changed() -> list[str]:
        own = [f"recursion_limit:{sys.getrecursionlimit()}"] * (sys.getrecursionlimit() != _LIMIT)
        return torch_changed() + own

    with warnings.catch_warnings(), _torch_state() as torch_changed:
        try:
            warnings.simplefilter("default")
            sys.setrecursionlimit(_LIMIT)
            random.seed(0)
            if numpy:
                numpy.random.seed(0)
            yield left_changed
        finally:
            sys.setrecursionlimit(limit)
            random.setstate(state)
            if numpy:
                numpy.random.set_state(numpy_state)


@contextlib.contextmanager
def _torch_state() -> Iterator[Callable[[], list[str]]]:
    """Do the same for torch, if it has been imported.

    The state is: grad mode on, inference and anomaly mode off, default dtype float32, default device the CPU, no global
    module hooks.
    """
    if not sys.modules.get("torch"):
        yield list
        return
    import torch
    from torch.nn.modules import module as nn_module

    cpu, dtype, device = torch.device("cpu"), torch.get_default_dtype(), torch.get_default_device()
    state = torch.get_rng_state()
    kept = [value for name, value in vars(nn_module).items() if name.startswith("_global_") and isinstance(value, dict)]
    hooks = [(registered, dict(registered)) for registered in kept]
    full_backward = nn_module._global_is_full_backward_hook

    def left_changed() -> list[str]:
        settings = {
            "grad_mode_off": not torch.is_grad_enabled(),
            "inference_mode_on": torch.is_inference_mode_enabled(),
            "anomaly_mode_on": torch.is_anomaly_enabled(),
            f"default_dtype:{torch.get_default_dtype()}": torch.get_default_dtype() is not torch.float32,
            f"default_device:{torch.get_default_device()}": torch.get_default_device() != cpu,
            "module_hooks": any(registered for registered, _before in hooks),
        }
        return [code for code, is_so in settings.items() if is_so]

    with torch.inference_mode(False), torch.enable_grad(), torch.autograd.set_detect_anomaly(False):
        try:
            torch.set_default_dtype(torch.float32)
            _set_default_device(cpu)
            torch.default_generator.manual_seed(0)  # torch.manual_seed would also queue a call for every GPU
            for registered, _before in hooks:
                registered.clear()
            nn_module._global_is_full_backward_hook = None
            yield left_changed
        finally:
            torch.set_default_dtype(dtype)
            _set_default_device(device)
            torch.set_rng_state(state)
            for registered, before in hooks:
                registered.clear()
                registered.update(before)
            nn_module._global_is_full_backward_hook = full_backward


def _set_default_device(device: "torch.device") -> None:
    """Set torch's default device, but only if it differs: setting it once slows down all of torch's later calls."""
    import torch

    if torch.get_default_device() != device:
        torch.set_default_device(None if device == torch.device("cpu") else device)
