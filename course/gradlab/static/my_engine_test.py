"""Compare my engine with torch: the same programs give the same numbers. Run this file directly or with pytest."""

import my_engine
import numpy as np
import torch


def leaves(make):
    """Return a column and a row that require gradients, as tensors of my engine or of torch."""
    return make(np.array([[1.5], [-2.0]]), requires_grad=True), make(np.array([3.0, 0.5, -1.0]), requires_grad=True)


def agree(program):
    """Run a program with my tensors and with torch's, and compare the arrays that it yields."""
    mine, torchs = list(program(my_engine.Tensor)), list(program(torch.tensor))
    assert len(mine) == len(torchs) > 0
    for value, expected in zip(mine, torchs, strict=True):
        np.testing.assert_allclose(np.asarray(value), np.asarray(expected), rtol=1e-9)


def test_gradients():
    def program(make):
        x, w = leaves(make)
        h = x * w - x / 2
        (h * h + h**3).backward(make(np.array([[1.0, 10.0, -2.0], [0.5, 3.0, 7.0]])))
        yield from (x.grad.data, w.grad.data)

    agree(program)


def test_functions():
    def program(make):
        x, w = leaves(make)
        y = x * w
        (y.relu() + y.tanh() * y.exp() + (y * y + 1).log()).mean().backward()
        yield from (x.grad.data, w.grad.data)
        y = x * w
        (y.max(1)[0] * y[:, 0] + y.max()).sum().backward()
        yield from (x.grad.data, w.grad.data)

    agree(program)


def test_hooks():
    def program(make):
        x, w = leaves(make)
        seen = []
        y = x * w
        y.register_hook(lambda gradient: gradient * 10)
        w.register_hook(lambda gradient: seen.append(gradient.data))
        (y**2).sum().backward()
        yield from (x.grad.data, w.grad.data, seen[0])

    agree(program)


if __name__ == "__main__":
    for test in (test_gradients, test_functions, test_hooks):
        test()
        print(f"{test.__name__}: matches torch")
