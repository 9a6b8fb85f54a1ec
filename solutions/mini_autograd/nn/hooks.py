"""Hooks on a module: before and after its `forward`, and when the gradients of its outputs and inputs are known.

A call with hooks runs forward pre hooks, `forward`, and forward hooks. For backward hooks, `BackwardHook` passes the
module's inputs through one node and its outputs through another; neither changes anything. The outputs' node runs first
in backward and knows grad_output; once the inputs' node runs, grad_input is known too.
"""

import warnings
from collections import OrderedDict

from ..autograd.function import Function
from ..core.hooks import add_hook
from ..core.modes import is_grad_enabled
from ..core.tensor import Tensor

NO_INPUT_GRADIENT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class HookedModule:
    """The part of `Module` that registers hooks and calls the module with them.

    Every registration returns a handle whose `remove()` unregisters the hook.
    """

    def _init_hooks(self):
        self._forward_pre_hooks, self._forward_hooks = OrderedDict(), OrderedDict()
        self._backward_pre_hooks, self._backward_hooks = OrderedDict(), OrderedDict()

    def register_forward_pre_hook(self, hook):
        """Call `hook(module, args)` before `forward`; a returned tuple or single value replaces args."""
        return add_hook(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook):
        """Call `hook(module, args, output)` after `forward`; a returned value replaces the output."""
        return add_hook(self._forward_hooks, hook)

    def register_full_backward_pre_hook(self, hook):
        """Call `hook(module, grad_output)` when the outputs' gradients are known; a returned tuple replaces them."""
        return add_hook(self._backward_pre_hooks, hook)

    def register_full_backward_hook(self, hook):
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs are known.

        Both gradients are tuples, with None for a non-tensor or an input without a gradient; a returned tuple
        replaces grad_input.
        """
        return add_hook(self._backward_hooks, hook)

    def __call__(self, *args, **kwargs):
        """Run `forward` with the hooks before and after it."""
        for hook in list(self._forward_pre_hooks.values()):
            new = hook(self, args)
            if new is not None:
                args = new if isinstance(new, tuple) else (new,)
        backward = BackwardHook(self) if self._backward_hooks or self._backward_pre_hooks else None
        if backward:
            args = backward.watch_inputs(args)
        result = self.forward(*args, **kwargs)
        for hook in list(self._forward_hooks.values()):
            new = hook(self, args, result)
            result = result if new is None else new
        return backward.watch_outputs(result) if backward else result


class BackwardHookFunction(Function):
    """The identity, as a node to which hooks can be attached."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx, *gradients):
        return gradients


class BackwardHook:
    """The full backward hooks of a module during one call.

    grad_input and grad_output have one entry per input or output, None for a non-tensor.
    """

    def __init__(self, module):
        self.module = module
        self.hooks, self.pre_hooks = list(module._backward_hooks.values()), list(module._backward_pre_hooks.values())
        self.grad_outputs = None  # set from when the outputs' node runs until the inputs' node runs
        self.input_positions = None  # which of the inputs are tensors; None if no input needs a gradient

    def watch_inputs(self, args):
        """Pass the inputs through the inputs' node and return them."""
        self.input_count = len(args)
        args, self.input_positions = self._through_node(args, self._on_inputs)
        return args

    def watch_outputs(self, result):
        """Pass the outputs through the outputs' node and return them."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors "
                f"but received {type(result)}",
                stacklevel=3,
            )
        outputs = result if isinstance(result, tuple) else (result,)
        self.output_count = len(outputs)
        outputs, self.output_positions = self._through_node(outputs, self._on_outputs)
        return outputs if isinstance(result, tuple) else outputs[0]

    def _through_node(self, values, when_run):
        """Pass the tensors in `values` through a node with the hook `when_run`; return values and their positions."""
        positions = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
        if not is_grad_enabled() or not any(values[i].requires_grad for i in positions):
            return values, None
        watched = BackwardHookFunction.apply(*[values[i] for i in positions])

        def hook(grad_inputs, grad_outputs):  # errors contain this name
            return when_run(grad_inputs, grad_outputs)

        next(tensor.grad_fn for tensor in watched if tensor.requires_grad).register_hook(hook)
        return _put(values, positions, watched), positions

    def _on_outputs(self, _, gradients):
        """Call the pre hooks once the outputs' node has its gradients; the module receives what they return."""
        self.grad_outputs = _put([None] * self.output_count, self.output_positions, gradients)
        for hook in self.pre_hooks:
            new = hook(self.module, self.grad_outputs)
            self.grad_outputs = _replaced(self.grad_outputs, new, "pre hook", "grad_output")
        passed_on = self.grad_outputs
        if self.input_positions is None:
            self._call_without_inputs()
        return tuple(passed_on[i] for i in self.output_positions)

    def _call_without_inputs(self):
        """Call the hooks immediately, because no input has a gradient to wait for."""
        warnings.warn(NO_INPUT_GRADIENT, stacklevel=5)
        for hook in self.hooks:
            new = hook(self.module, (None,) * self.input_count, self.grad_outputs)
            if new is not None and not (isinstance(new, tuple) and all(each is None for each in new)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None "
                    "for all gradients."
                )
        self.grad_outputs = None

    def _on_inputs(self, gradients, _):
        """Call the hooks once the inputs' node has run; earlier modules receive what they return."""
        if self.grad_outputs is None:
            return None  # a gradient bypassed the outputs, as in double backward
        grad_inputs = _put([None] * self.input_count, self.input_positions, gradients)
        for hook in self.hooks:
            new = hook(self.module, grad_inputs, self.grad_outputs)
            grad_inputs = _replaced(grad_inputs, new, "hook", "grad_input")
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.input_positions)


def _put(values, positions, new):
    """Return `values` as a tuple, with those at `positions` replaced by the new ones."""
    values = list(values)
    for i, value in zip(positions, new, strict=True):
        values[i] = value
    return tuple(values)


def _replaced(gradients, new, kind, name):
    """Return what a backward hook returned instead of `gradients`, or these if it returned None."""
    if new is not None and len(new) != len(gradients):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {name}, got {len(new)}, but expected {len(gradients)}"
        )
    return gradients if new is None else new
