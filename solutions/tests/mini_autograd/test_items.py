"""`x[…]` and `x[…] = v`: lists that contain more than numbers, and values that can be assigned.

Each scenario's label states a fact; the same code runs on torch and on mini_autograd.
"""

import numpy as np
import pytest
from both import Scenarios, assert_same

import mini_autograd

SCENARIOS = Scenarios()
fact = SCENARIOS.fact


@pytest.mark.parametrize("fact", SCENARIOS)
def test_same_as_torch(fact):
    assert_same(*SCENARIOS[fact])


def indices(torch):
    """Return lists that torch takes for tuples of indices, as it warns, and tuples that hold tensors and lists."""
    T = torch.tensor
    return {
        "lists": [[0, 2], [2, 1]],
        "tensors": [T([0, 2]), T([2, 1])],
        "tensors of one number": [T(1), T(2)],
        "a tensor and a number": [T(0), 1],
        "an array": [np.array([0, 1])],
        "a slice": [slice(None), [1, 2]],
        "an ellipsis": [..., 1],
        "None": [None, 1],
        "a tuple with a tensor and a list": (T([1, 0]), [2, 1]),
        "a tuple with a list": ([1, 0], slice(None)),
        "numbers": [2, 0],
    }


def _add(name):
    @fact(f"an index is read: {name}")
    def _(torch):
        x = torch.arange(9.0).reshape(3, 3).requires_grad_()
        y = x[indices(torch)[name]]
        y.sum().backward()
        return y, x.grad

    @fact(f"a number is written: {name}")
    def _(torch):
        x = torch.ones(3, 3, requires_grad=True)
        y = x + 2
        y[indices(torch)[name]] = 7
        y.sum().backward()
        return y, x.grad, y._version

    @fact(f"a tensor is written: {name}")
    def _(torch):
        x = torch.ones(3, 3, requires_grad=True)
        y = x + 2
        value = x.new(x[indices(torch)[name]].shape).fill_(7).requires_grad_()
        y[indices(torch)[name]] = value
        y.sum().backward()
        return y, x.grad, value.grad


for _name in indices(mini_autograd):
    _add(_name)


@fact("a list of at least 32 lists is one index")
def _(torch):
    return torch.arange(3.0)[[[0, 2]] * 32].shape


@fact("Python's numbers, and NumPy's that are like them, can be assigned")
def _(torch):
    x = torch.zeros(7)
    for position, value in enumerate([1, 2.5, True, np.float64(3.5), np.int64(4), np.int32(5), float("inf")]):
        x[position] = value
    return x


for _value in ([1.0, 2.0], (1.0, 2.0), np.array([1.0, 2.0]), np.array(1.0), np.float32(1.0), "one", None, {}):

    @fact(f"{_value!r} cannot be assigned", raises=TypeError)
    def _(torch, value=_value):
        torch.zeros(2)[:] = value


@fact("a list of tensors cannot be assigned", raises=TypeError)
def _(torch):
    torch.zeros(2)[:] = [torch.tensor(1.0), torch.tensor(2.0)]


# ----- into NumPy's arrays -----


@fact("numpy() is refused while a gradient would be lost unnoticed", raises=RuntimeError)
def _(torch):
    torch.ones(2, requires_grad=True).numpy()


@fact("in no_grad, numpy() gives the values")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        return x.numpy().tolist()


@fact("an array takes over a tensor that requires no gradient, and in no_grad any")
def _(torch):
    array, x = np.zeros((2, 2)), torch.tensor([1.0, 2.0], requires_grad=True)
    array[0] = x.detach()
    with torch.no_grad():
        array[1] = x
    return array.tolist()


@fact("an array takes over an element, with a warning")
def _(torch):
    array = np.zeros(2)
    array[0] = torch.tensor([1.0, 2.0], requires_grad=True)[1]
    return array.tolist()


@fact("an array does not take over a tensor that requires a gradient", raises=RuntimeError)
def _(torch):
    np.zeros(2)[:] = torch.ones(2, requires_grad=True)


@fact("an index must not require a gradient", raises=IndexError)
def _(torch):
    torch.arange(3.0)[[torch.tensor(1.0, requires_grad=True)]]
