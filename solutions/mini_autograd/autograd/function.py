"""`Function`: define an operation with your own backward."""

import functools
import inspect

import numpy as np

from ..core.hooks import unwrap, wrap
from ..core.modes import no_grad, state
from ..core.node import Node
from ..core.saved import FREED, restore, save
from ..core.tensor import Tensor, make
from ..ops.inplace import check_inplace, rebase


class FunctionCtx(Node):
    """The `ctx` of a Function's forward and backward, which is also the operation's node in the graph."""

    _forward_cls = None  # the Function
    _materialize = True
    _to_save = ()
    _saved = ()
    _dirty = ()
    _constant = ()
    needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Keep `tensors` (inputs, outputs, or None) for backward; call it once, in forward."""
        self._to_save = tensors

    def mark_dirty(self, *tensors):
        """Declare the inputs that forward changed in place; forward must return them."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Declare the outputs that have no gradient."""
        self._constant = tensors

    def set_materialize_grads(self, value):
        """Choose whether backward receives zeros (the default) or None for an unused output."""
        self._materialize = value

    @property
    def saved_tensors(self):
        """The tensors passed to `save_for_backward`."""
        if self._saved is None:
            raise RuntimeError(FREED)
        return tuple(restore(pair, self, True) for pair in self._saved)

    def name(self):
        return self._forward_cls.__name__ + "Backward"

    def __repr__(self):
        return f"<torch.autograd.function.{self.name()} object at {id(self):#x}>"

    def run(self, gradients, needs):
        received = [
            make(np.zeros(*form)) if gradient is None and self._materialize and form is not None else wrap(gradient)
            for gradient, form in zip(gradients, self.outputs, strict=True)
        ]
        produced = self._forward_cls.backward(self, *received)
        produced = produced if isinstance(produced, (tuple, list)) else (produced,)
        while len(produced) > len(self._is_tensor) and produced[-1] is None:
            produced = produced[:-1]
        if len(produced) != len(self._is_tensor):
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients "
                f"(expected {len(self._is_tensor)}, got {len(produced)})"
            )
        kept = []
        for index, (gradient, is_tensor) in enumerate(zip(produced, self._is_tensor, strict=True)):
            if gradient is not None and not is_tensor:
                raise RuntimeError(
                    f"function {self.name()} returned a gradient different than None at position {index + 1}, "
                    "but the corresponding forward input was not a Variable"
                )
            if gradient is not None and not isinstance(gradient, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(gradient).__name__})")
            if is_tensor:
                kept.append(unwrap(gradient))
        return kept

    def release(self):
        self._saved = None


class Function:
    """The base class of your operations: define static methods `forward(ctx, …)` and `backward(ctx, …)`; call `apply`.

    forward: computes with tensors, without recording; returns a tensor or a tuple. Without ctx as its first parameter,
    it needs a separate method `setup_context(ctx, inputs, output)`.
    backward: receives a gradient for each output and returns one, or None, for each argument of forward.
    """

    _backward_cls = FunctionCtx  # the class of its nodes, one per Function

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls._backward_cls = type(cls.__name__ + "Backward", (FunctionCtx,), {"_forward_cls": cls})

    def __init__(self):
        raise TypeError(f"a Function has only static methods; call {type(self).__name__}.apply(…) on the class itself")

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    @classmethod
    def apply(cls, *args):
        """Run forward on `args`, record it, and return its outputs."""
        if cls.setup_context is not Function.setup_context:
            bound = inspect.signature(cls.forward).bind(*args)
            bound.apply_defaults()
            args = bound.args
        ctx = cls._backward_cls()
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        ctx._is_tensor = [isinstance(arg, Tensor) for arg in args]
        ctx.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        recorded = state.grad and any(ctx.needs_input_grad)
        if recorded:
            ctx.next_functions = tuple(tensor._edge_or_leaf() for tensor in tensors)
        with no_grad():
            if cls.setup_context is Function.setup_context:
                result = cls.forward(ctx, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
        single = not isinstance(result, tuple)
        outputs = _connect(ctx, tensors, (result,) if single else result, recorded)
        if recorded:
            _save(ctx, outputs)
        return outputs[0] if single else outputs


CHANGED_VIEW = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
    "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input "
    "is not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting"
    " it into two Functions: one doing the inplace that returns a single Tensor and a second one that does the "
    "other operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)


def _connect(ctx, inputs, results, recorded):
    """Return the outputs of forward as outputs of the node `ctx`."""
    outputs, metadata = [], []
    if not all(any(result is tensor for result in results) for tensor in ctx._dirty):
        raise RuntimeError(
            "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function."
        )
    for result in results:
        if not isinstance(result, Tensor):
            outputs.append(result)
            metadata.append(None)
            continue
        number = len(metadata)
        metadata.append((result._data.shape, result._data.dtype))
        is_input = any(result is tensor for tensor in inputs)
        is_dirty = any(result is tensor for tensor in ctx._dirty)
        if is_dirty:
            if recorded and result.requires_grad and result.is_leaf:
                raise RuntimeError("a leaf Variable that requires grad has been used in an in-place operation.")
            if recorded and result._base is not None and sum(isinstance(each, Tensor) for each in results) > 1:
                raise RuntimeError(CHANGED_VIEW)
            check_inplace(result, recorded)
            result._bump()
            if recorded:
                ctx.outputs = tuple(metadata)
                rebase(result, ctx, number)
        elif any(result is tensor for tensor in ctx._constant):
            result = result._alias() if is_input else result
            result._edge, result._requires_grad = None, False
        else:
            source = result
            if is_input or result._base is not None:
                result = result._alias()
                if source._base is not None or is_input:
                    result._base = source if source._base is None else source._base
                    result._views = source._views
                    result._view_version = source._version_cell[0]
                    result._view_kind = "function" if recorded else source._view_kind
            if recorded and result._data.dtype.kind == "f":
                result._edge, result._requires_grad = (ctx, number), True
        outputs.append(result)
    ctx.outputs = tuple(metadata)
    return tuple(outputs)


def _save(ctx, outputs):
    saved = []
    for index, tensor in enumerate(ctx._to_save):
        if tensor is None:
            saved.append((None, None))
            continue
        if not isinstance(tensor, Tensor):
            raise TypeError(
                f"save_for_backward can only save variables, but argument {index} is of type {type(tensor).__name__}"
            )
        own = tensor._edge is not None and tensor._edge[0] is ctx
        saved.append(save(tensor, tensor._edge[1] if own else None))
    ctx._saved, ctx._to_save = tuple(saved), ()


def once_differentiable(backward):
    """Decorate a `backward` that cannot itself be differentiated: differentiating its results raises an error."""

    @functools.wraps(backward)
    def wrapper(ctx, *gradients):
        with no_grad():
            produced = backward(ctx, *gradients)
        if not state.grad or not any(g is not None and g.requires_grad for g in gradients):
            return produced
        marked = _refuse_second(produced if isinstance(produced, tuple) else (produced,))
        return marked if len(marked) > 1 else marked[0]

    return wrapper


class Error(Node):
    """The node for results of a once-differentiable backward; running it raises an error."""

    def run(self, gradients, needs):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def _refuse_second(results):
    """Return the tensors among `results` as outputs of an `Error` node, and None unchanged."""
    node = Error()
    leaves = [None if result is None else result.detach().requires_grad_() for result in results]
    node.next_functions = tuple((None, 0) if leaf is None else leaf._edge_or_leaf() for leaf in leaves)
    node.outputs = tuple(None if leaf is None else (leaf._data.shape, leaf._data.dtype) for leaf in leaves)
    return tuple(None if leaf is None else leaf._alias((node, number)) for number, leaf in enumerate(leaves))
