"""Compare a function's value and its first and second derivatives on torch and on mini_autograd."""

import numpy as np
from both import assert_same


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


def compare(function, arrays, names=True):
    """Assert that both libraries agree on `function`; without `names`, its outputs' nodes may have different ones."""

    def scenario(lib):
        outputs, *gradients = derivatives(lib, function, arrays)
        return outputs if names else [output.detach() for output in outputs], *gradients

    assert_same(scenario)


def derivatives(lib, function, arrays):
    """Return outputs, gradients, recorded gradients and second derivatives, for uneven external gradients."""
    tensors = [lib.from_numpy(np.array(a, copy=True, order="K")).requires_grad_() for a in arrays]
    outputs = function(lib, *tensors)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    outputs = [output for output in outputs if output.requires_grad]
    assert outputs
    weights = [
        lib.from_numpy(np.linspace(0.3, 1.7, output.numel()).reshape(tuple(output.shape))).requires_grad_()
        for output in outputs
    ]
    plain = lib.autograd.grad(outputs, tensors, weights, retain_graph=True, allow_unused=True)
    first = lib.autograd.grad(outputs, tensors, weights, create_graph=True, allow_unused=True)
    curved = [g for g in first if g is not None and g.requires_grad]
    second_weights = [lib.from_numpy(np.linspace(1.9, 0.4, g.numel()).reshape(tuple(g.shape))) for g in curved]
    everything = [*tensors, *weights]
    second = [lib.zeros_like(each) for each in everything]
    if curved:
        second = lib.autograd.grad(curved, everything, second_weights, materialize_grads=True)
    plain, first = ([g if g is None else g.detach() for g in gradients] for gradients in (plain, first))
    return outputs, plain, first, second
