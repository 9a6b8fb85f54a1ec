"""Run the same code on torch and on mini_autograd and compare what can be seen."""

import re
import warnings

import numpy as np
import torch

import mini_autograd as mini


def functional_of(lib):
    return torch.nn.functional if lib is torch else mini.nn.functional


def plain(value):
    """Return `value` as data that compares across the two libraries: tensors with dtype, shape, values, grad_fn."""
    if isinstance(value, (torch.Tensor, mini.Tensor)):
        array = value.numpy(force=True)
        name = value.grad_fn.name() if value.grad_fn is not None else None
        return ("tensor", str(value.dtype), array.shape, np.array(array, copy=True), value.requires_grad, name)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "next_functions"):
        return ("node", value.name())
    return str(value) if type(value).__name__ == "dtype" else value


def same(a, b, path="result"):
    """Assert that two values made by `plain` agree."""
    if isinstance(a, np.ndarray):
        np.testing.assert_allclose(b, a, rtol=1e-6, atol=1e-9, err_msg=path)
    elif isinstance(a, (list, tuple)):
        assert isinstance(b, (list, tuple)), path
        assert len(a) == len(b), (path, a, b)
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{path}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), (path, a, b)
        same(list(a.values()), list(b.values()), path)
    elif isinstance(a, float):
        assert np.isclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True), (path, a, b)
    else:
        assert a == b, (path, a, b)


torch.set_warn_always(True)  # torch says some things once in a process; compared they are each time


def observe(scenario, lib):
    """Return what `scenario(lib)` gives: its result or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = ("returned", plain(scenario(lib)))
        except Exception as error:
            outcome = ("raised", type(error).__name__, str(error))
    said = [(w.category.__name__, re.sub(r" ?\(Triggered internally.*", "", str(w.message)).strip()) for w in caught]
    return [*outcome, said]


def assert_same(scenario):
    """Assert that `scenario` gives the same on both: values, error type and words, warnings."""
    same(observe(scenario, torch), observe(scenario, mini))


def collect(listing, lib):
    """Return the scenarios of `listing`, a function that calls `see(label, scenario)`, for one library."""
    found = {}
    listing(lib, found.__setitem__)
    return found


def cases(listing):
    """Return the labels of the scenarios of `listing`."""
    return list(collect(listing, torch))
