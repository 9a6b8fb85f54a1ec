"""`backward` and `grad`: what may be asked of the engine, checked as torch checks it."""

import warnings
from collections.abc import Sequence

import numpy as np

from ..values.size import Size
from . import engine
from .tensor import Tensor, make

CREATES_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
    "the cycle and avoid the leak."
)


def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, grad_variables=None, inputs=None):
    """Accumulate into the leaves below `tensors` (or into `inputs` alone) the gradient of their weighted sum.

    grad_tensors: for each tensor a gradient of its shape, the weights; None stands for 1.0 where a tensor has one
    element. retain_graph: keep the saved values for another walk (as `create_graph` does by default).
    Raises RuntimeError as torch does where a gradient is missing, has another shape, or there is no graph.
    """
    if inputs is not None:
        inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
        if not inputs:
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    gradients = _weights(_as_sequence(grad_tensors, len(tensors)), tensors)
    if create_graph:
        warnings.warn(CREATES_CYCLE, UserWarning, stacklevel=2)
    _run(tensors, gradients, retain_graph, create_graph, inputs, accumulate=True)


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """Return, for each of `inputs`, the gradient of the weighted sum of `outputs`, and store nothing.

    grad_outputs: the weights, as in `backward`. allow_unused: None instead of an error for an input that is not part
    of the graph; materialize_grads: zeros instead.
    """
    if is_grads_batched:
        raise NotImplementedError(
            "is_grads_batched is left out of the mini engine, which has no vmap; call grad once for each row, "
            "or use torch.autograd.grad"
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outputs = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    gradients = _weights(_as_sequence(grad_outputs, len(outputs)), outputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    found = _run(outputs, gradients, retain_graph, create_graph, inputs, accumulate=False)
    results = []
    for index, (gradient, source) in enumerate(zip(found, inputs, strict=True)):
        if gradient is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
        if gradient is None:
            results.append(make(np.zeros_like(source._data)) if materialize_grads else None)
        else:
            results.append(gradient if isinstance(gradient, Tensor) else make(np.asarray(gradient)))
    return tuple(results)


def _as_sequence(gradients, count):
    if gradients is None:
        return (None,) * count
    return tuple(gradients) if isinstance(gradients, Sequence) else (gradients,)


def _weights(gradients, tensors):
    """Return one gradient for each of `tensors`: the one given, or 1.0 for one element."""
    for gradient in gradients:
        if gradient is not None and not isinstance(gradient, Tensor):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if len(gradients) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(gradients)} gradients")
    weights = []
    for index, (gradient, tensor) in enumerate(zip(gradients, tensors, strict=True)):
        if gradient is not None:
            if gradient.shape != tensor.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{index}] has a shape of {Size(gradient.shape)} "
                    f"and output[{index}] has a shape of {Size(tensor.shape)}."
                )
        elif tensor.requires_grad:
            if tensor._data.size != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            gradient = make(np.ones_like(tensor._data))
        weights.append(gradient)
    return weights


def _run(tensors, gradients, retain_graph, create_graph, inputs, accumulate):
    roots = []
    for index, tensor in enumerate(tensors):
        if not tensor.requires_grad:
            raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
        roots.append(tensor._edge_or_leaf())
    captures = None
    if inputs is not None:
        for tensor in inputs:
            if not tensor.requires_grad:
                raise RuntimeError("One of the differentiated Tensors does not require grad")
            if accumulate and not tensor.is_leaf:
                tensor.retain_grad()
        captures = [tensor._edge_or_leaf() for tensor in inputs]
    with np.errstate(all="ignore"):
        return engine.run(
            roots,
            gradients if create_graph else [gradient._data for gradient in gradients],
            keep_graph=create_graph if retain_graph is None else retain_graph,
            create_graph=create_graph,
            captures=captures,
            accumulate=accumulate,
        )


def _backward(self, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """Run backward from here; see `autograd.backward`."""
    backward(self, gradient, retain_graph, create_graph, inputs=inputs)


Tensor.backward = _backward
