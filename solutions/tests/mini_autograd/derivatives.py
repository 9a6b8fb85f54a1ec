"""Compare a function's value and its first and second derivatives on torch and on mini_autograd."""

import numpy as np
import torch

import mini_autograd as mini


def inputs(shapes, low=-2.0, high=2.0, seed=0, layout="plain"):
    """Return arrays of the given shapes, clear of zero and of ties; "transposed" ones are not contiguous."""
    draw = np.random.default_rng(seed)
    arrays = []
    for shape in shapes:
        count = int(np.prod(shape))
        values = np.linspace(low, high, count + 2)[1:-1] + draw.uniform(-0.01, 0.01, count)
        values = np.where(abs(values) < 0.05, 0.1, values)
        array = draw.permutation(values).reshape(shape)
        if layout == "transposed" and array.ndim > 1:
            array = np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)
        arrays.append(array)
    return arrays


def derivatives(lib, function, arrays):
    """Return value, gradients and second derivatives of `function`, weighed by uneven external gradients."""
    tensors = [lib.from_numpy(np.array(a, copy=True, order="K")).requires_grad_() for a in arrays]
    outputs = function(lib, *tensors)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    outputs = [output for output in outputs if output.requires_grad]
    assert outputs
    weights = [
        lib.from_numpy(np.linspace(0.3, 1.7, output.numel()).reshape(tuple(output.shape))).requires_grad_()
        for output in outputs
    ]
    names = [output.grad_fn.name() for output in outputs]
    plain = lib.autograd.grad(outputs, tensors, weights, retain_graph=True, allow_unused=True)
    first = lib.autograd.grad(outputs, tensors, weights, create_graph=True, allow_unused=True)
    for fast, recorded in zip(plain, first, strict=True):
        assert (fast is None) == (recorded is None)
        if fast is not None:
            np.testing.assert_allclose(fast.numpy(force=True), recorded.numpy(force=True), rtol=1e-9, atol=1e-11)
    curved = [g for g in first if g is not None and g.requires_grad]
    second = []
    if curved:
        second_weights = [lib.from_numpy(np.linspace(1.9, 0.4, g.numel()).reshape(tuple(g.shape))) for g in curved]
        second = lib.autograd.grad(curved, [*tensors, *weights], second_weights, allow_unused=True)
    zeros = [np.zeros(a.shape) for a in [*tensors, *weights]]
    filled = [
        z if g is None else g.numpy(force=True) for g, z in zip(second or [None] * len(zeros), zeros, strict=True)
    ]
    return (
        names,
        [o.numpy(force=True) for o in outputs],
        [g if g is None else g.numpy(force=True) for g in first],
        filled,
    )


def compare(function, arrays, names=True):
    expected = derivatives(torch, function, arrays)
    found = derivatives(mini, function, arrays)
    if names:
        assert found[0] == expected[0]
    for part, (a, b) in enumerate(zip(expected[1:], found[1:], strict=True)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            if x is None or y is None:
                assert (x is None) == (y is None), f"part {part}"
            else:
                assert x.shape == y.shape
                np.testing.assert_allclose(y, x, rtol=1e-7, atol=1e-9, err_msg=f"part {part}")
