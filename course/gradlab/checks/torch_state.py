"""torch's part of the known state in which a learner's code runs."""

import contextlib
from collections.abc import Callable, Iterator

import torch
from torch.nn.modules import module as nn_module

_GLOBAL_HOOKS = [
    name for name in vars(nn_module) if name.startswith("_global_") and isinstance(getattr(nn_module, name), dict)
]
CPU = torch.device("cpu")


@contextlib.contextmanager
def torch_state() -> Iterator[Callable[[], list[str]]]:
    """Enter the state of a fresh torch process with seed 0, and restore the earlier state on exit, even after an error.

    The state is: grad mode on, inference and anomaly mode off, default dtype float32, default device the CPU, no global
    module hooks. Yields a function that lists the settings that have changed since, as codes.
    """
    dtype, device, state = torch.get_default_dtype(), torch.get_default_device(), torch.get_rng_state()
    anomaly, nan_check = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    hooks = {name: dict(getattr(nn_module, name)) for name in _GLOBAL_HOOKS}
    full_backward = nn_module._global_is_full_backward_hook

    def left_changed() -> list[str]:
        settings = {
            "grad_mode_off": not torch.is_grad_enabled(),
            "inference_mode_on": torch.is_inference_mode_enabled(),
            "anomaly_mode_on": torch.is_anomaly_enabled(),
            f"default_dtype:{torch.get_default_dtype()}": torch.get_default_dtype() is not torch.float32,
            f"default_device:{torch.get_default_device()}": torch.get_default_device() != CPU,
            "module_hooks": any(getattr(nn_module, name) for name in _GLOBAL_HOOKS),
        }
        return [code for code, is_so in settings.items() if is_so]

    with torch.inference_mode(False), torch.enable_grad():
        try:
            torch.set_default_dtype(torch.float32)
            _set_default_device(CPU)
            torch.autograd.set_detect_anomaly(False)
            torch.default_generator.manual_seed(0)  # torch.manual_seed would also queue a call for every GPU
            for name in _GLOBAL_HOOKS:
                getattr(nn_module, name).clear()
            nn_module._global_is_full_backward_hook = None
            yield left_changed
        finally:
            torch.set_default_dtype(dtype)
            _set_default_device(device)
            torch.autograd.set_detect_anomaly(anomaly, nan_check)
            torch.set_rng_state(state)
            for name, entries in hooks.items():
                getattr(nn_module, name).clear()
                getattr(nn_module, name).update(entries)
            nn_module._global_is_full_backward_hook = full_backward


def _set_default_device(device: torch.device) -> None:
    """Set torch's default device, but only if it differs: setting it once slows down all of torch's later calls."""
    if torch.get_default_device() != device:
        torch.set_default_device(None if device == CPU else device)
