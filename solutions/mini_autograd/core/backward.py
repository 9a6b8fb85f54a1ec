"""`backward` and `grad`: check the arguments as torch does, then run the engine."""

import warnings

import numpy as np

from ..values.size import Size
from . import engine
from .hooks import wrap
from .tensor import Tensor, make

CREATES_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
    "the cycle and avoid the leak."
)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """Accumulate the gradient of the weighted sum of `tensors` into the leaves below them, or only into `inputs`.

    grad_tensors: for each tensor an external gradient of its shape; None means 1.0 for a one-element tensor.
    retain_graph: keep the saved values for another pass (the default with `create_graph`). Raises RuntimeError as torch
    does if a gradient is missing or has the wrong shape, or if there is no graph.
    """
    if inputs is not None:
        inputs = _several(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _several(tensors)
    gradients = _weights(grad_tensors, tensors)
    if create_graph:
        warnings.warn(CREATES_CYCLE, UserWarning, stacklevel=2)
    _run(tensors, gradients, retain_graph, create_graph, inputs, accumulate=True)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    *,
    allow_unused=None,
    materialize_grads=False,
):
    """Return, for each of `inputs`, the gradient of the weighted sum of `outputs`, and store nothing.

    grad_outputs: external gradients, as in `backward`. allow_unused: return None, instead of raising, for an input that
    is not part of the graph; materialize_grads: return zeros for it.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outputs, inputs = _several(outputs), _several(inputs)
    gradients = _weights(grad_outputs, outputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    captured = _run(outputs, gradients, retain_graph, create_graph, inputs, accumulate=False)
    results = []
    for index, (gradient, source) in enumerate(zip(captured, inputs, strict=True)):
        if gradient is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
        if gradient is None and materialize_grads:
            gradient = make(np.zeros_like(source._data))
            gradient._requires_grad = create_graph
        results.append(wrap(gradient))
    return tuple(results)


def _several(tensors):
    return (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)


def _weights(gradients, tensors):
    """Return one external gradient for each of `tensors`: the given one, or 1.0 for a one-element tensor."""
    gradients = (None,) * len(tensors) if gradients is None else _several(gradients)
    for gradient in gradients:
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    weights = []
    for index, (gradient, tensor) in enumerate(zip(gradients, tensors, strict=True)):
        if gradient is not None and gradient.shape != tensor.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{index}] has a shape of {Size(gradient.shape)} "
                f"and output[{index}] has a shape of {Size(tensor.shape)}."
            )
        if gradient is None and tensor.requires_grad:
            if tensor._data.size != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            gradient = make(np.ones_like(tensor._data))
        weights.append(gradient)
    return weights


def _run(tensors, gradients, retain_graph, create_graph, inputs, accumulate):
    """Run the engine from the edges of `tensors`: on arrays, or on Tensors if the pass itself is recorded."""
    for index, tensor in enumerate(tensors):
        if not tensor.requires_grad:
            raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
    with np.errstate(all="ignore"):
        return engine.run(
            [tensor._edge_or_leaf() for tensor in tensors],
            gradients if create_graph else [gradient._data for gradient in gradients],
            keep_graph=create_graph if retain_graph is None else retain_graph,
            create_graph=create_graph,
            requested=None if inputs is None else [_edge_of(tensor, accumulate) for tensor in inputs],
            accumulate=accumulate,
        )


def _edge_of(tensor, accumulate):
    """Return the edge at which the gradient of `tensor`, one of `inputs`, arrives."""
    if not isinstance(tensor, Tensor):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(tensor).__name__}")
    if not tensor.requires_grad:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    if accumulate:
        tensor.retain_grad()  # no effect on a leaf
    return tensor._edge_or_leaf()


def _backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Run backward from this tensor; see `autograd.backward`."""
    backward(self, gradient, retain_graph, create_graph, inputs)


Tensor.backward = _backward
