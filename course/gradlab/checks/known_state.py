"""Run a learner's code in a known state, and restore the earlier state afterwards."""

import contextlib
import random
import sys
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch.nn.modules import module as nn_module

_GLOBAL_HOOKS = [
    name for name in vars(nn_module) if name.startswith("_global_") and isinstance(getattr(nn_module, name), dict)
]
CPU = torch.device("cpu")
_LIMIT = sys.getrecursionlimit()


@contextlib.contextmanager
def known_state() -> Iterator[Callable[[], list[str]]]:
    """Enter the state of a fresh torch process with seed 0, and restore the earlier state on exit, even after an error.

    The state is: grad mode on, inference and anomaly mode off, default dtype float32, default device the CPU, a fixed
    recursion limit, fixed random states of torch, NumPy and Python, no global module hooks, and each warning shown once
    and never raised as an error. Yields a function that lists the settings that have changed since. Random
    states and warnings do not count: any code may change them.
    """
    dtype, device, limit = torch.get_default_dtype(), torch.get_default_device(), sys.getrecursionlimit()
    anomaly, nan_check = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    hooks = {name: dict(getattr(nn_module, name)) for name in _GLOBAL_HOOKS}
    full_backward = nn_module._global_is_full_backward_hook

    def left_changed() -> list[str]:
        found = {
            "gradients are switched off": not torch.is_grad_enabled(),
            "inference mode is on": torch.is_inference_mode_enabled(),
            "anomaly detection is on": torch.is_anomaly_enabled(),
            f"the default dtype is {torch.get_default_dtype()}": torch.get_default_dtype() is not torch.float32,
            f"the default device is {torch.get_default_device()}": torch.get_default_device() != CPU,
            "hooks for all modules are registered": any(getattr(nn_module, name) for name in _GLOBAL_HOOKS),
            f"the recursion limit is {sys.getrecursionlimit()}": sys.getrecursionlimit() != _LIMIT,
        }
        return [text for text, is_so in found.items() if is_so]

    with warnings.catch_warnings(), torch.inference_mode(False), torch.enable_grad():
        try:
            warnings.simplefilter("default")
            sys.setrecursionlimit(_LIMIT)
            torch.set_default_dtype(torch.float32)
            _set_default_device(CPU)
            torch.autograd.set_detect_anomaly(False)
            torch.default_generator.manual_seed(0)  # torch.manual_seed would also queue a call for every GPU
            np.random.seed(0)
            random.seed(0)
            for name in _GLOBAL_HOOKS:
                getattr(nn_module, name).clear()
            nn_module._global_is_full_backward_hook = None
            yield left_changed
        finally:
            sys.setrecursionlimit(limit)
            torch.set_default_dtype(dtype)
            _set_default_device(device)
            torch.autograd.set_detect_anomaly(anomaly, nan_check)
            torch.set_rng_state(states[0])
            np.random.set_state(states[1])
            random.setstate(states[2])
            for name, entries in hooks.items():
                getattr(nn_module, name).clear()
                getattr(nn_module, name).update(entries)
            nn_module._global_is_full_backward_hook = full_backward


def _set_default_device(device: torch.device) -> None:
    """Set torch's default device, but only if it differs: setting it once slows down all of torch's later calls."""
    if torch.get_default_device() != device:
        torch.set_default_device(None if device == CPU else device)
