"""Compare gradients with central differences, as `torch.autograd.gradcheck` does in its slow, exact mode."""

import warnings

import numpy as np

from ..core.backward import grad
from ..core.tensor import Tensor, make
from ..values import dtypes

NOT_DOUBLE = (
    "Input #{index} requires gradient and is not a double precision floating point or complex. This check will likely "
    "fail if all the inputs are not of double precision floating point or complex. "
)


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` if a gradient is wrong."""


def gradcheck(func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, **left_out):
    """Return True if the gradients of `func` agree with central differences at `inputs`.

    inputs: a Tensor or a tuple; those that require gradients are checked and should be float64. They are shifted by
    ±eps in place and restored. Raises GradcheckError if gradients differ by more than atol + rtol·|numerical|, or
    returns False with `raise_exception=False`.
    """
    if left_out:
        raise TypeError(
            f"{sorted(left_out)[0]} is left out of the mini engine's gradcheck; use torch.autograd.gradcheck"
        )
    try:
        return _check(func, (inputs,) if isinstance(inputs, Tensor) else tuple(inputs), eps, atol, rtol)
    except GradcheckError:
        if raise_exception:
            raise
        return False


def _check(func, inputs, eps, atol, rtol):
    checked = [x for x in inputs if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for index, x in enumerate(inputs):
        if isinstance(x, Tensor) and x.requires_grad and x.dtype is not dtypes.float64:
            warnings.warn(NOT_DOUBLE.format(index=index), UserWarning, stacklevel=3)
    outputs = _outputs(func, inputs)
    if not outputs:
        raise GradcheckError("gradcheck expects func to return at least one output that requires gradients")
    numerical = [_numerical(func, inputs, x, eps) for x in checked]
    for number, output in enumerate(outputs):
        analytical = [np.zeros((x.numel(), output.numel())) for x in checked]
        for i in range(output.numel()):
            weights = np.zeros(output.shape, output._data.dtype)
            weights.reshape(-1)[i] = 1
            found = grad(output, checked, make(weights), retain_graph=True, allow_unused=True)
            for jacobian, gradient in zip(analytical, found, strict=True):
                if gradient is not None:
                    jacobian[:, i] = gradient.detach()._data.reshape(-1)
        for index, (a, n) in enumerate(zip(analytical, numerical, strict=True)):
            if not np.allclose(a, n[number], rtol=rtol, atol=atol, equal_nan=True):
                raise GradcheckError(
                    f"Jacobian mismatch for output {number} with respect to input {index},\n"
                    f"numerical:{make(n[number])!r}\nanalytical:{make(a)!r}\n"
                )
    return True


def _outputs(func, inputs):
    outputs = func(*inputs)
    outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    return [output for output in outputs if output.requires_grad]


def _numerical(func, inputs, x, eps):
    """Return, for each output, its central differences at x ± eps: a matrix with one row per element of x."""
    values = x._data.reshape(-1) if x._data.flags.c_contiguous else None
    rows = []
    for i in np.ndindex(x._data.shape) if values is None else range(values.size):
        memory = x._data if values is None else values
        before = memory[i].item()
        shifted = []
        for step in (eps, -eps):
            memory[i] = before + step
            try:
                shifted.append([np.array(y._data, np.float64).reshape(-1) for y in _outputs(func, inputs)])
            finally:
                memory[i] = before
        rows.append([(up - down) / (2 * eps) for up, down in zip(*shifted, strict=True)])
    if not rows:
        return [np.zeros((0, y.numel())) for y in _outputs(func, inputs)]
    return [np.stack(columns) for columns in zip(*rows, strict=True)]


def gradgradcheck(func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, **options):
    """Return True if second derivatives agree with central differences of first derivatives.

    grad_outputs: the external gradients of the first backward pass; random by default.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        draw = np.random.default_rng(0)
        grad_outputs = tuple(
            make(np.asarray(draw.uniform(0.5, 1.5, y.shape), y._data.dtype)).requires_grad_()
            for y in _outputs(func, inputs)
        )
    elif isinstance(grad_outputs, Tensor):
        grad_outputs = (grad_outputs,)
    count = len(inputs)

    def first(*both):
        inputs, weights = both[:count], both[count:]
        checked = tuple(x for x in inputs if isinstance(x, Tensor) and x.requires_grad)
        found = grad(_outputs(func, inputs), checked, weights, create_graph=True, allow_unused=True)
        return tuple(gradient for gradient in found if gradient is not None)

    return gradcheck(
        first, (*inputs, *grad_outputs), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, **options
    )
