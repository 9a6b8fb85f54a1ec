"""The engine of part two as chapter 13 leaves it. Made from the cells of that chapter."""

# %% engine-imports
from engine_11 import AccumulateGrad, Node, Tensor, accumulator, conform, edge_or_leaf, no_grad, operation
from engine_12 import accumulate, count_dependencies, run, weight


# %% answer-13-1
class RemovableHandle:
    """The handle that every register_…hook returns: remove() removes the hook, and so does the end of a with block."""

    def __init__(self, hooks):
        self.hooks = hooks  # the handle itself can be the key: no two handles are equal

    def remove(self):
        self.hooks.pop(self, None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def add_hook(hooks, hook):
    """Add hook to the end of hooks, a dict that keeps the order of calls, and return its handle."""
    handle = RemovableHandle(hooks)
    hooks[handle] = hook
    return handle


# %% engine-hooks-of
def hooks_of(owner, kind):
    """Return a node's or a module's dict for one kind of hook; make it when first needed."""
    return vars(owner).setdefault(kind, {})


# %% engine-run
def run_with_hooks(node, gradient):
    """Replace Node.run: call the hooks, and between them the node's own apply. Nothing is recorded."""
    with no_grad():
        return run_hooked(node, call_tensor_hooks(node, gradient))


# %% answer-13-2
def register_hook(tensor, hook):
    """Call hook(gradient) whenever a gradient arrives at tensor; a result other than None replaces the gradient.

    tensor: Tensor, leaf or non-leaf. hook: function of one Tensor.
    Returns the handle.
    """
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return add_hook(hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks"), hook)


# %% engine-checked
def checked(hook, result, gradient):
    """Return result, which hook returned for gradient, or raise torch's error if result cannot replace gradient."""
    name = getattr(hook, "__name__", "<unknown>")
    if not isinstance(result, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(result).__name__}'")
    if result.dtype != gradient.dtype:
        types = {"float32": "FloatTensor", "float64": "DoubleTensor", "int64": "LongTensor", "bool": "BoolTensor"}
        was, got = (types.get(str(each.dtype), each.dtype) for each in (gradient, result))
        raise RuntimeError(f"hook '{name}' has changed the type of value (was torch.{was} got torch.{got})")
    if result.shape != gradient.shape:
        raise RuntimeError(f"hook '{name}' has changed the size of value")
    return result


# %% answer-13-3
def call_tensor_hooks(node, gradient):
    """Return the gradient that the tensor hooks on node produce; if retain_grad was called, add it to .grad, too.

    node: Node. gradient: array, or a NumPy number for the shape ().
    Returns an array or number of the same shape and dtype.
    """
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        given = Tensor(gradient)
        result = hook(given)
        gradient = given.data if result is None else checked(hook, result, given).data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], gradient)
    return gradient


# %% engine-run-hooked
def replaced(hook, result, values):
    """Return the gradients to use after a node's hook was called with `values` and returned `result`."""
    if result is None:
        return values
    if not isinstance(result, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(result).__name__}'")
    pairs = zip(result, values, strict=True)
    return tuple(new if value is None else checked(hook, new, value) for new, value in pairs)


def run_hooked(node, gradient):
    """Call the node's prehooks, then node.apply, then the node's hooks; return the gradients for the nodes below."""
    outer = (Tensor(gradient),)
    for hook in list(hooks_of(node, "pre_hooks").values()):
        outer = replaced(hook, hook(outer), outer)
    produced = node.apply(outer[0].data)
    post_hooks = list(hooks_of(node, "post_hooks").values())
    if not post_hooks:
        return produced
    pairs = zip(produced, node.next_functions, strict=True)
    inner = tuple(None if below is None else Tensor(conform(each, below)) for each, (below, _) in pairs)
    for hook in post_hooks:
        inner = replaced(hook, hook(inner, outer), inner)
    return [None if each is None else each.data for each in inner]


Node.register_hook = lambda node, hook: add_hook(hooks_of(node, "post_hooks"), hook)
Node.register_prehook = lambda node, hook: add_hook(hooks_of(node, "pre_hooks"), hook)


# %% engine-retain
def retain_grad(tensor):
    """Let a non-leaf tensor have a .grad, too."""
    if not tensor.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if not tensor.is_leaf:
        hooks_of(tensor.grad_fn, "retained_by")["tensor"] = tensor


def register_post_accumulate_grad_hook(tensor, hook):
    """Call hook(tensor) after backward has added to the .grad of the leaf tensor."""
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if not tensor.is_leaf:
        raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return add_hook(hooks_of(accumulator(tensor), "post_accumulate"), hook)


# %% answer-13-4
def arrive(node, gradient):
    """Add a gradient to a leaf's .grad, then call the hooks that wait for it.

    node: AccumulateGrad, with the leaf in node.variable. gradient: array.
    Returns [], the gradients for the nodes below.
    """
    if node.variable.requires_grad:
        accumulate(node.variable, gradient)
    for hook in list(hooks_of(node, "post_accumulate").values()):
        hook(node.variable)
    return []


# %% answer-13-5
def leading_to(targets, nodes):
    """Return the set of those nodes from which a path of at least one edge leads to one of targets.

    targets: list of nodes. nodes: dict or list of all nodes of a graph, in any order.
    """
    above = {}
    for node in nodes:
        for below, _ in node.next_functions:
            above.setdefault(below, []).append(node)
    found, stack = set(), list(targets)
    while stack:
        for node in above.get(stack.pop(), ()):
            if node not in found:
                found.add(node)
                stack.append(node)
    return found


# %% engine-detach
def detach(tensor):
    """Return a new tensor that shares the memory but has no history."""
    return Tensor(tensor.data)


def requires_grad_(tensor, requires_grad=True):
    """Set whether a leaf requires a gradient, and return the leaf."""
    if not requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
            "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
        )
    if requires_grad and tensor.dtype.kind != "f":
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    tensor.requires_grad = requires_grad
    return tensor


Tensor.detach = detach
Tensor.requires_grad_ = requires_grad_


# %% engine-grad
class Part(Node):
    """A node's stand-in when only part of its graph runs; it runs and releases the node itself."""

    def __init__(self, node, runs):
        self.node, self.runs, self.outputs, self.gradient = node, runs, node.outputs, None

    def run(self, gradient):
        with no_grad():
            self.gradient = call_tensor_hooks(self.node, gradient)
            return run_hooked(self.node, self.gradient) if self.runs else [None] * len(self.next_functions)

    def release(self):
        if self.runs:
            self.node.release()


def run_to(targets, roots, gradients, keep_graph=False):
    """Run only what leads to targets, a list of nodes. Return the gradients that arrived at them, by node."""
    nodes = count_dependencies(roots)
    wanted = leading_to(targets, nodes)
    parts = {node: Part(node, node in wanted) for node in nodes if node in wanted or node in targets}
    for node, part in parts.items():
        part.next_functions = tuple((parts.get(below) if part.runs else None, 0) for below, _ in node.next_functions)
    starts = [(parts[node], gradient) for (node, _), gradient in zip(roots, gradients, strict=True) if node in parts]
    if starts:
        run([(part, 0) for part, _ in starts], [gradient for _, gradient in starts], keep_graph)
    return {node: parts[node].gradient for node in targets if node in parts}


def grad(outputs, inputs, grad_outputs=None, retain_graph=False, allow_unused=False):
    """Return the gradient of outputs, a tensor or several, with respect to each of inputs; store nothing in .grad."""
    outputs, inputs = ([each] if isinstance(each, Tensor) else list(each) for each in (outputs, inputs))
    if grad_outputs is None or isinstance(grad_outputs, Tensor):
        grad_outputs = [grad_outputs] * len(outputs)
    weights = [weight(*pair) for pair in zip(outputs, grad_outputs, strict=True)]
    if not all(each.requires_grad for each in inputs):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    nodes = [edge_or_leaf(each)[0] for each in inputs]
    found = run_to(nodes, [edge_or_leaf(each) for each in outputs], weights, retain_graph)
    for index, node in enumerate(nodes):
        if node not in found and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
    return tuple(Tensor(found[node]) if node in found else None for node in nodes)


Node.run = run_with_hooks
AccumulateGrad.apply = lambda node, gradient: arrive(node, gradient)
Tensor.register_hook = lambda tensor, hook: register_hook(tensor, hook)
Tensor.register_post_accumulate_grad_hook = register_post_accumulate_grad_hook
Tensor.retain_grad = retain_grad
Tensor._backward_hooks = property(lambda leaf: leaf._accumulator and hooks_of(leaf._accumulator, "tensor_hooks"))


# %% engine-module
identity = operation("BackwardHookFunctionBackward", lambda self: self, self=lambda grad: grad)


class Parameter(Tensor):
    """A tensor that a module trains."""

    def __init__(self, data, requires_grad=True):
        super().__init__(data.data if isinstance(data, Tensor) else data, requires_grad)


class Module:
    """A function with parameters, and hooks before and after it. It takes tensors and returns one tensor."""

    def __init__(self):
        self._forward_pre_hooks, self._forward_hooks = {}, {}
        self._backward_pre_hooks, self._backward_hooks = {}, {}

    def __call__(self, *args):
        return call_module(self, *args)

    def register_forward_pre_hook(self, hook):
        return add_hook(self._forward_pre_hooks, hook)

    def register_forward_hook(self, hook):
        return add_hook(self._forward_hooks, hook)

    def register_full_backward_pre_hook(self, hook):
        return add_hook(self._backward_pre_hooks, hook)

    def register_full_backward_hook(self, hook):
        return add_hook(self._backward_hooks, hook)

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, module in self.named_children():
            yield from module.named_modules(f"{prefix}.{name}".lstrip("."))

    def named_children(self):
        return [(name, value) for name, value in vars(self).items() if isinstance(value, Module)]

    def modules(self):
        return [module for _, module in self.named_modules()]

    def children(self):
        return iter([module for _, module in self.named_children()])

    def named_parameters(self, recurse=True):
        for path, module in self.named_modules() if recurse else [("", self)]:
            for name, value in vars(module).items():
                if isinstance(value, Parameter):
                    yield f"{path}.{name}".lstrip("."), value

    def parameters(self):
        return [parameter for _, parameter in self.named_parameters()]


# %% answer-13-6
def call_module(module, *args):
    """Return the output of module.forward(*args), calling the module's hooks before and after it.

    module: Module. args: its inputs; the first is a Tensor.
    """
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watch:
        args = watch.watch_inputs(args)
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        result = hook(module, args, output)
        output = output if result is None else result
    return watch.watch_outputs(output) if watch else output


# %% answer-13-7
class BackwardHook:
    """A module's full backward hooks during one call: its first input and its output each go through a node."""

    def __init__(self, module):
        self.module, self.count, self.grad_output = module, 0, None
        self.pre_hooks = list(module._backward_pre_hooks.values())  # listed once, as in 13.3
        self.hooks = list(module._backward_hooks.values())
        self.sees_input = False

    def watch_inputs(self, args):
        """Return the inputs, the first one sent through a node that sees grad_input."""
        self.count = len(args)
        if not args[0].requires_grad:
            return args
        watched = identity(args[0])
        if watched.grad_fn is not None:
            self.sees_input = True
            watched.grad_fn.register_hook(lambda inner, outer: self.on_input(inner[0]))
        return (watched, *args[1:])

    def watch_outputs(self, output):
        """Return the output, sent through a node that sees grad_output."""
        watched = identity(output)
        if watched.grad_fn is not None:
            watched.grad_fn.register_hook(lambda inner, outer: self.on_output(outer[0]))
        return watched

    def on_output(self, gradient):
        """Call the pre-hooks once the output's gradient (a Tensor) has arrived. Returns a one-element tuple."""
        self.grad_output = (gradient,)
        for hook in self.pre_hooks:
            result = hook(self.module, self.grad_output)
            self.grad_output = self.grad_output if result is None else result
        if not self.sees_input:
            self.on_input(None)
        return self.grad_output

    def on_input(self, gradient):
        """Call the hooks once the first input's gradient (a Tensor or None) is known. Returns a tuple, or None."""
        grad_input = (gradient,) + (None,) * (self.count - 1)
        for hook in self.hooks:
            result = hook(self.module, grad_input, self.grad_output)
            grad_input = grad_input if result is None else result
        return None if gradient is None else (grad_input[0],)
