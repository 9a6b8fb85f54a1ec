"""Jacobians, Hessians and products with them, built on `autograd.grad`."""

from ..core.backward import grad
from ..core.modes import enable_grad
from ..core.tensor import Tensor
from ..functions.creation import zeros_like
from ..functions.shaping import stack


def _as_tuple(value, what, name):
    if isinstance(value, Tensor):
        return False, (value,)
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    for i, each in enumerate(values):
        if not isinstance(each, Tensor):
            if isinstance(value, (tuple, list)):
                raise TypeError(
                    f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the value at "
                    f"index {i} has type {type(each)}."
                )
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but the given {what} has "
                f"type {type(each)}."
            )
    return True, values


def _refuse_strict(strict):
    if strict:
        raise NotImplementedError(
            "strict=True is left out of the mini engine; use torch.autograd.functional, or leave strict=False"
        )


def _prepare(inputs, create_graph):
    """Return new tensors with the memory of `inputs`, connected to the caller's graph only with `create_graph`."""
    return tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_() for x in inputs)


def _finish(values, create_graph):
    return values if create_graph else tuple(value.detach() for value in values)


def _grad(outputs, inputs, weights, create_graph):
    """Return, for each of `inputs`, the gradient of the weighted sum of `outputs`; zeros for an unused input."""
    pairs = [(y, w) for y, w in zip(outputs, weights, strict=True) if y.requires_grad]
    if not pairs:
        return tuple(zeros_like(x) for x in inputs)
    outputs, weights = zip(*pairs, strict=True)
    found = grad(outputs, inputs, weights, create_graph=create_graph, retain_graph=True, allow_unused=True)
    return tuple(zeros_like(x) if g is None else g for g, x in zip(found, inputs, strict=True))


def _check_v(v, other, several):
    if len(v) != len(other):
        if several:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (each, like) in enumerate(zip(v, other, strict=True)):
        if each.shape != like.shape:
            entry = f"Entry {i} in " if several else ""
            raise RuntimeError(f"{entry}v has invalid size: should be {like.shape} but got {each.shape}.")


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """Return the Jacobian of `func`; its shape is the output's shape followed by the input's.

    With several inputs or outputs, return nested tuples, outputs first. Runs one backward pass per row.
    """
    _refuse_strict(strict)
    if strategy != "reverse-mode":
        raise NotImplementedError("forward mode is left out of the mini engine; use torch.autograd.functional.jacobian")
    with enable_grad():
        several_in, inputs = _as_tuple(inputs, "inputs", "jacobian")
        inputs = _prepare(inputs, create_graph)
        several_out, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", "jacobian")
        result = []
        for output in outputs:
            flat = output.reshape(-1)
            rows = [_grad([flat[i]], inputs, [None], create_graph) for i in range(flat.numel())]
            columns = zip(*rows, strict=True) if rows else [()] * len(inputs)
            blocks = [stack(column).reshape(*output.shape, *x.shape) for column, x in zip(columns, inputs, strict=True)]
            blocks = _finish(tuple(blocks), create_graph)
            result.append(blocks if several_in else blocks[0])
    return tuple(result) if several_out else result[0]


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """Return the second derivatives of `func`, which returns a one-element tensor, with respect to `inputs`."""
    _refuse_strict(strict)
    several, inputs = _as_tuple(inputs, "inputs", "hessian")

    def first(*inputs):
        output = _scalar(func(*inputs), "hessian")
        found = _grad([output], inputs, [None], True)
        return found if several else found[0]

    return jacobian(first, inputs if several else inputs[0], create_graph=create_graph)


def _scalar(output, name):
    several, outputs = _as_tuple(output, "outputs of the user-provided function", name)
    if several:
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if output.numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {name} should contain a single element")
    return outputs[0].reshape(())


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """Return `func(*inputs)` and vᵀJ, where J is the Jacobian of `func` at `inputs`."""
    _refuse_strict(strict)
    with enable_grad():
        several_in, inputs = _as_tuple(inputs, "inputs", "vjp")
        inputs = _prepare(inputs, create_graph)
        several_out, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", "vjp")
        if v is not None:
            _, v = _as_tuple(v, "v", "vjp")
            _check_v(v, outputs, several_out)
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single "
                "Tensor with a single element."
            )
        found = _grad(outputs, inputs, v or [None], create_graph)
    outputs, found = _finish(outputs, create_graph), _finish(found, create_graph)
    return outputs if several_out else outputs[0], found if several_in else found[0]


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """Return `func(*inputs)` and Jv, from two backward passes: uᵀJ is linear in u, and differentiating it gives Jv."""
    _refuse_strict(strict)
    with enable_grad():
        several_in, inputs = _as_tuple(inputs, "inputs", "jvp")
        inputs = _prepare(inputs, create_graph)
        if v is not None:
            _, v = _as_tuple(v, "v", "jvp")
            _check_v(v, inputs, several_in)
        elif len(inputs) != 1 or inputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
                "single element."
            )
        several_out, outputs = _as_tuple(func(*inputs), "outputs of the user-provided function", "jvp")
        u = tuple(zeros_like(y).requires_grad_() for y in outputs)
        products = _grad(outputs, inputs, u, True)
        found = _grad(products, u, v or [None], create_graph)
    outputs, found = _finish(outputs, create_graph), _finish(found, create_graph)
    return outputs if several_out else outputs[0], found if several_out else found[0]


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """Return `func(*inputs)`, a one-element tensor, and its Hessian times v."""
    return _second(func, inputs, v, create_graph, strict, "hvp")


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """Return `func(*inputs)`, a one-element tensor, and vᵀ times its Hessian, which is symmetric."""
    return _second(func, inputs, v, create_graph, strict, "vhp")


def _second(func, inputs, v, create_graph, strict, name):
    _refuse_strict(strict)
    with enable_grad():
        several, inputs = _as_tuple(inputs, "inputs", name)
        inputs = _prepare(inputs, create_graph)
        if v is not None:
            _, v = _as_tuple(v, "v", name)
            _check_v(v, inputs, several)
        elif len(inputs) != 1 or inputs[0].numel() != 1:
            raise RuntimeError(
                "The vector v can only be None if the input to the user-provided function is a single Tensor with a "
                "single element."
            )
        output = func(*inputs)
        first = _grad([_scalar(output, name)], inputs, [None], True)
        found = _grad(first, inputs, v or [None], create_graph)
    found = _finish(found, create_graph)
    return _finish((output,), create_graph)[0], found if several else found[0]
