"""The engine of part two as chapter 13 leaves it. Made from the cells of that chapter."""

# %% engine-imports
from engine_11 import AccumulateGrad, Node, Tensor, accumulator, edge_or_leaf, no_grad, record
from engine_12 import accumulate, count_dependencies, run, weight


# %% answer-13-1
class RemovableHandle:
    """The handle that every register_…hook returns: remove() removes the hook, and so does the end of a with block."""

    def __init__(self, hooks):
        """Keep what remove() needs. hooks: the dict that holds the hook."""
        self.hooks = hooks  # the handle itself can be the key: no two handles are equal

    def remove(self):
        """Remove the hook from the dict, if it is still there."""
        self.hooks.pop(self, None)

    def __enter__(self):
        """Return what a with block calls by the name after `as`."""
        return self

    def __exit__(self, *error):
        """Remove the hook. Python calls this at the end of a with block."""
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
    """Replace Node.run: call the tensor hooks, then the node's own apply. Nothing is recorded."""
    with no_grad():
        return node.apply(call_tensor_hooks(node, gradient))


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


# %% engine-retain
def retain_grad(tensor):
    """Let a non-leaf tensor have a .grad, too."""
    if not tensor.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if not tensor.is_leaf:
        hooks_of(tensor.grad_fn, "retained_by")["tensor"] = tensor


# %% engine-post-accumulate
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


# %% engine-part
class Part(Node):
    """A node's stand-in in a smaller graph: it keeps the gradient that arrives, and runs the node if it leads on."""

    def __init__(self, node, runs):
        self.node, self.runs, self.outputs, self.gradient = node, runs, node.outputs, None

    def run(self, gradient):
        with no_grad():
            gradient = call_tensor_hooks(self.node, gradient)
            self.gradient = Tensor(gradient)
            return self.node.apply(gradient) if self.runs else []

    def release(self):
        if self.runs:
            self.node.release()


# %% engine-grad
def grad(output, inputs, grad_outputs=None, retain_graph=False):
    """Return a tuple: the gradient of output with respect to each of inputs, or None. Store nothing in .grad."""
    root = edge_or_leaf(output)[0]
    targets = [edge_or_leaf(each)[0] for each in ([inputs] if isinstance(inputs, Tensor) else inputs)]
    nodes = count_dependencies([(root, 0)])
    running = leading_to(targets, nodes)
    parts = {node: Part(node, node in running) for node in nodes if node in running or node in targets}
    for node in running:
        parts[node].next_functions = tuple((parts.get(below), 0) for below, _ in node.next_functions)
    if root in parts:
        run([(parts[root], 0)], [weight(output, grad_outputs)], retain_graph)
    return tuple(parts[node].gradient if node in parts else None for node in targets)


# %% engine-detach
def detach(tensor):
    """Return a new tensor that shares the memory but has no history."""
    return Tensor(tensor.data)


def requires_grad_(tensor, requires_grad=True):
    """Set whether a leaf requires a gradient, and return the leaf."""
    if not tensor.is_leaf:
        raise RuntimeError("you can only change requires_grad flags of leaf variables")
    tensor.requires_grad = requires_grad
    return tensor


# %% engine-attached
Node.run = run_with_hooks
AccumulateGrad.apply = lambda node, gradient: arrive(node, gradient)
Tensor.register_hook = lambda tensor, hook: register_hook(tensor, hook)
Tensor.register_post_accumulate_grad_hook = register_post_accumulate_grad_hook
Tensor.retain_grad, Tensor.detach, Tensor.requires_grad_ = retain_grad, detach, requires_grad_
Tensor._backward_hooks = property(lambda leaf: leaf._accumulator and hooks_of(leaf._accumulator, "tensor_hooks"))


# %% engine-module
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


# %% engine-registering
def registering(kind):
    """Return the method that adds a hook of one kind to a module and returns its handle."""
    return lambda module, hook: add_hook(hooks_of(module, kind), hook)


Module.register_forward_pre_hook = registering("_forward_pre_hooks")
Module.register_forward_hook = registering("_forward_hooks")
Module.register_full_backward_pre_hook = registering("_backward_pre_hooks")
Module.register_full_backward_hook = registering("_backward_hooks")


# %% engine-named
def named_modules(module, prefix=""):
    """Yield the module and all modules in it, each with the path that leads to it."""
    yield prefix, module
    for name, value in vars(module).items():
        if isinstance(value, Module):
            yield from named_modules(value, f"{prefix}.{name}".lstrip("."))


def named_parameters(module, recurse=True):
    """Yield the parameters of the module and, with recurse, of all modules in it, each with its path."""
    for path, each in named_modules(module) if recurse else [("", module)]:
        found = [(name, value) for name, value in vars(each).items() if isinstance(value, Parameter)]
        yield from ((f"{path}.{name}".lstrip("."), value) for name, value in found)


Module.named_modules, Module.named_parameters = named_modules, named_parameters
Module.parameters = lambda module: [parameter for _, parameter in named_parameters(module)]


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


# %% engine-identity
class BackwardHookFunctionBackward(Node):
    """The node of an identity: the gradient that it passes on is what see(gradient) returns."""

    def __init__(self, see):
        self.see = see

    def apply(self, gradient):
        return [self.see(Tensor(gradient)).data]


def identity(tensor, see):
    """Return the values of tensor as a new tensor. In the backward pass, its gradient goes through see."""
    output = Tensor(tensor.data)
    record(BackwardHookFunctionBackward(see), (tensor,), output)
    return output


# %% answer-13-7
class BackwardHook:
    """A module's full backward hooks during one call: its first input and its output each go through an identity."""

    def __init__(self, module):
        self.module = module
        self.pre_hooks = list(module._backward_pre_hooks.values())  # listed once, as in 13.3
        self.hooks = list(module._backward_hooks.values())

    def watch_inputs(self, args):
        """Return the inputs, a tuple, with the first one, a Tensor, sent through an identity that calls on_input."""
        watched = identity(args[0], self.on_input)
        self.count, self.sees_input = len(args), watched.requires_grad
        return (watched, *args[1:])

    def watch_outputs(self, output):
        """Return the output, a Tensor, sent through an identity that calls on_output."""
        return identity(output, self.on_output)

    def on_output(self, gradient):
        """Call the pre-hooks once the output's gradient (a Tensor) has arrived. Return the Tensor to pass on."""
        self.grad_output = (gradient,)
        for hook in self.pre_hooks:
            result = hook(self.module, self.grad_output)
            self.grad_output = self.grad_output if result is None else result
        if not self.sees_input:
            self.on_input(None)
        return self.grad_output[0]

    def on_input(self, gradient):
        """Call the hooks once the first input's gradient (a Tensor or None) is known. Return the one to pass on."""
        grad_input = (gradient,) + (None,) * (self.count - 1)
        for hook in self.hooks:
            result = hook(self.module, grad_input, self.grad_output)
            grad_input = grad_input if result is None else result
        return grad_input[0]
