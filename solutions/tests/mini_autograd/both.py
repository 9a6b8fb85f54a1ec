"""Run the same code on torch and on mini_autograd and compare everything observable."""

import re
import warnings

import numpy as np
import pytest
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


torch.set_warn_always(True)  # torch issues some warnings once per process; here they are compared every time


def observe(scenario, lib, raises=None):
    """Return what `scenario(lib)` gives: its result, or the error that it `raises`; and its warnings.

    Any other error passes through: a scenario that breaks on both libraries shows nothing.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = ("returned", plain(scenario(lib)))
        except Exception as error:
            if raises is None or not isinstance(error, raises):
                raise
            outcome = ("raised", type(error).__name__, str(error))
    assert raises is None or outcome[0] == "raised", f"{lib.__name__} raised no {raises.__name__} but gave {outcome[1]}"
    said = [(w.category.__name__, re.sub(r" ?\(Triggered internally.*", "", str(w.message)).strip()) for w in caught]
    return [*outcome, said]


def assert_same(scenario, raises=None):
    """Assert that `scenario` gives the same on both: values, warnings, and the words of the error that it `raises`."""
    same(observe(scenario, torch, raises), observe(scenario, mini, raises))


class Scenarios(dict):
    """Scenarios by name, each with the error that it ends in, or None; called, it decorates a function that is one."""

    def add(self, name, scenario, raises=None):
        assert name not in self, name
        self[name] = scenario, raises

    def fact(self, words, raises=None):
        """Decorate a function of the library as the scenario that shows the fact said in `words`."""
        return lambda scenario: self.add(words, scenario, raises)

    def __call__(self, function=None, *, raises=None):
        if function is None:
            return lambda function: self(function, raises=raises)
        self.add(function.__name__, function, raises)
        return function


def each(*lines):
    """Let a test run once for each line of code; one that ends in an error comes as a pair (line, type of error)."""
    pairs = [line if isinstance(line, tuple) else (line, None) for line in lines]
    return pytest.mark.parametrize(("line", "raises"), pairs, ids=[line for line, _ in pairs])


def collect(listing, lib):
    """Return the scenarios of `listing` for one library, and the list to which they will show values.

    listing(lib, see, show) calls `see(label, scenario, raises=None)` for each; inside one, `show(…)` notes values.
    """
    found, shown = Scenarios(), []
    listing(lib, found.add, lambda *values: shown.append(plain(values)))
    return found, shown


def cases(listing):
    """Return the labels of the scenarios of `listing`."""
    return list(collect(listing, torch)[0])


def assert_same_in(listing, label):
    """Assert that the scenario `label` of `listing` gives, and shows, the same on both libraries."""
    seen = {}
    for lib in (torch, mini):
        found, shown = collect(listing, lib)
        scenario, raises = found[label]
        seen[lib] = [observe(lambda lib, scenario=scenario: scenario(), lib, raises), shown]
    same(seen[torch], seen[mini])
