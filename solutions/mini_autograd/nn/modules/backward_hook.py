"""Give a module's backward hooks their gradients: `BackwardHook`, and the legacy form.

`BackwardHook` passes the module's inputs through one node and its outputs through another; neither changes anything.
The outputs' node runs first in backward and knows grad_output; once the inputs' node runs, grad_input is known too.
"""

import functools
import warnings
import weakref

from ...autograd.function import Function
from ...core.modes import is_grad_enabled
from ...core.tensor import Tensor

NO_INPUT_GRADIENT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


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

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs = None  # set from when the outputs' node runs until the inputs' node runs
        self.input_positions = None  # which of the inputs are tensors; None if no input needs a gradient

    def watch_inputs(self, args):
        """Pass the inputs through the inputs' node and return them."""
        self.input_count = len(args)
        args, self.input_positions = self._through_node(args, self._on_inputs)
        return args

    def watch_outputs(self, result):
        """Pass the outputs through the outputs' node and return them."""
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
        values_out = list(values)
        for i, tensor in zip(positions, watched, strict=True):
            values_out[i] = tensor
        return tuple(values_out) if type(values) is tuple else type(values)(*values_out), positions

    def _on_outputs(self, _, gradients):
        """Call the pre hooks once the outputs' node has its gradients; the module receives what they return."""
        grad_outputs = [None] * self.output_count
        for i, gradient in zip(self.output_positions, gradients, strict=True):
            grad_outputs[i] = gradient
        self.grad_outputs = tuple(grad_outputs)
        for hook in self.pre_hooks:
            new = hook(self.module, self.grad_outputs)
            if new is None:
                continue
            if len(new) != self.output_count:
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, "
                    f"got {len(new)}, but expected {self.output_count}"
                )
            self.grad_outputs = new
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
        grad_inputs = [None] * self.input_count
        for i, gradient in zip(self.input_positions, gradients, strict=True):
            grad_inputs[i] = gradient
        grad_inputs = tuple(grad_inputs)
        for hook in self.hooks:
            new = hook(self.module, grad_inputs, self.grad_outputs)
            if new is None:
                continue
            if len(new) != self.input_count:
                raise RuntimeError(
                    "Backward hook returned an invalid number of grad_input, "
                    f"got {len(new)}, but expected {self.input_count}"
                )
            grad_inputs = new
        self.grad_outputs = None
        return tuple(grad_inputs[i] for i in self.input_positions)


# ----- the legacy backward hook, which sees only one node -----


def register_legacy_hooks(hooks, module, args, result):
    """Register `hooks` on the node that made the result, or the first tensor in it."""
    first = result
    while not isinstance(first, Tensor):
        first = next(v for v in first.values() if isinstance(v, Tensor)) if isinstance(first, dict) else first[0]
    node = first.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(_LegacyHook(hook, module))
    what, missing = _what_is_missed(args, result, node)
    if what:
        use_full = " Please use register_full_backward_hook to get the documented behavior."
        warnings.warn(
            f"Using {what} is deprecated and will be removed in future versions. This hook will be missing some "
            f"{missing}." + ("" if "nested" in what else use_full),
            FutureWarning,
            stacklevel=5,
        )


class _LegacyHook:
    """A node's hook that passes its module to the user's hook, without keeping the module alive."""

    def __init__(self, hook, module):
        functools.update_wrapper(self, hook)
        self.hook, self.module = hook, weakref.ref(module)

    def __call__(self, grad_input, grad_output):
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, grad_input, grad_output)


def _what_is_missed(args, result, node):
    """Return torch's words for why `node` misses a module's gradients and which ones, or (None, None)."""
    results = (result,) if isinstance(result, Tensor) else result
    plain = "non-full backward hooks on a Module that does not {} a single Tensor or a tuple of Tensors"
    if not _only_tensors(results):
        return plain.format("return"), "of the grad_output"
    if not _only_tensors(args):
        return plain.format("take as input"), "of the grad_input"
    nodes = {tensor.grad_fn for tensor in results} - {None}
    when = "a non-full backward hook when "
    if len(nodes) > 1:
        return when + "outputs are generated by different autograd Nodes", "grad_output"
    if nodes != {node}:
        return when + "outputs are nested in python data structure", "grad_output"
    if {tensor.grad_fn for tensor in args} - {None} != {below for below, _ in node.next_functions}:
        return when + "the forward contains multiple autograd Nodes", "grad_input"
    return None, None


def _only_tensors(values):
    return isinstance(values, tuple) and all(isinstance(value, Tensor) for value in values)
