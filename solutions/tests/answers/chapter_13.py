"""Answers to the exercises of chapter 13 that have found something in a check."""


# a Tensor returned
@wrong("13.3", "call_tensor_hooks returned Tensor, not an array")
def call_tensor_hooks(node, gradient):
    given = Tensor(gradient)
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        result = hook(given)
        given = given if result is None else checked(hook, result, given)
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], given.data)
    return given


# nothing returned
@wrong("13.4", "TypeError: 'NoneType' object is not iterable")
def arrive(node, gradient):
    if node.variable.requires_grad:
        accumulate(node.variable, gradient)
    for hook in list(hooks_of(node, "post_accumulate").values()):
        hook(node.variable)


# None treated as a node
@wrong("13.5", "AttributeError: 'NoneType' object has no attribute 'next_functions'")
def leading_to(targets, nodes):
    found = set()
    for start in nodes:
        stack, seen = [start], set()
        while stack:
            for below, _ in stack.pop().next_functions:
                if below in targets:
                    found.add(start)
                if below not in seen:
                    seen.add(below)
                    stack.append(below)
    return found


# a Tensor for a tuple
@wrong("13.7", "TypeError: expected tuple, but hook returned 'Tensor'")
class BackwardHook(BackwardHook):
    def on_output(self, gradient):
        self.grad_output = (gradient,)
        for hook in self.pre_hooks:
            result = hook(self.module, self.grad_output)
            self.grad_output = self.grad_output if result is None else result
        if not self.sees_input:
            self.on_input(None)
        return self.grad_output[0]


# the length as key
@wrong("13.1", "once more")
def add_hook(hooks, hook):

    key = max([k for k in hooks if isinstance(k, int)], default=0) + 1
    hooks[key] = hook

    class Handle:
        def remove(self):
            hooks.pop(key, None)

        def __enter__(self):
            return self

        def __exit__(self, *error):
            self.remove()

    return Handle()


# a list on the tensor
@wrong("13.2", "left on y")
def register_hook(tensor, hook):
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    vars(tensor).setdefault("my_hooks", []).append(hook)
    return add_hook(hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks"), hook)


# refuses after registering
@wrong("13.2", "left on w")
def register_hook(tensor, hook):
    handle = add_hook(hooks_of(tensor.grad_fn or accumulator(tensor), "tensor_hooks"), hook)
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return handle


# nothing retained without hooks
@wrong("13.3", "retained, and no hook")
def call_tensor_hooks(node, gradient):
    hooks = list(hooks_of(node, "tensor_hooks").values())
    if not hooks:
        return gradient
    for hook in hooks:
        given = Tensor(gradient)
        result = hook(given)
        gradient = given.data if result is None else checked(hook, result, given).data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], gradient)
    return gradient


# 0.0 taken for None
@wrong("13.3", "returns the number 0")
def call_tensor_hooks(node, gradient):
    hooks = list(hooks_of(node, "tensor_hooks").values())
    for hook in hooks:
        given = Tensor(gradient)
        result = hook(given)
        gradient = checked(hook, result, given).data if result else given.data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], gradient)
    return gradient


# the array that arrived
@wrong("13.3", "the array that arrived first in backward 1, afterwards")
def call_tensor_hooks(node, gradient):
    hooks = list(hooks_of(node, "tensor_hooks").values())
    for hook in hooks:
        given = Tensor(gradient)
        result = hook(given)
        gradient = given.data if result is None else checked(hook, result, given).data
    kept = hooks_of(node, "retained_by").get("tensor")
    if kept is not None and kept.grad is None:
        kept.grad = Tensor(gradient)
    elif kept is not None:
        kept.grad.data += gradient
    return gradient


# the array that arrived
@wrong("13.4", "incoming array kept")
def arrive(node, gradient):
    leaf = node.variable
    if leaf.requires_grad:
        if leaf.grad is None:
            leaf.grad = Tensor(gradient)
        else:
            leaf.grad.data += gradient
    for hook in list(hooks_of(node, "post_accumulate").values()):
        hook(leaf)
    return []


# until nothing changes
@wrong("13.5")
def leading_to(targets, nodes):
    found, changed = set(), True
    while changed:
        changed = False
        for node in nodes:
            if node not in found and any(b in found or b in targets for b, _ in node.next_functions):
                found.add(node)
                changed = True
    return found


# every path
@wrong("13.5", "were looked at more than")
def leading_to(targets, nodes):
    def leads(node):
        stack = [node]
        while stack:
            for below, _ in stack.pop().next_functions:
                if below in targets:
                    return True
                if below is not None:
                    stack.append(below)
        return False

    return {node for node in nodes if leads(node)}


# only the first input replaced
@wrong("13.6", "returns a tensor for two inputs")
def call_module(module, *args):
    forward_hooks = list(module._forward_hooks.values())
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result, *args[1:])
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    args = watch.watch_inputs(args) if watch else args
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        result = hook(module, args, output)
        output = output if result is None else result
    return watch.watch_outputs(output) if watch else output


# listed too early
@wrong("13.6", "registers a forward hook")
def call_module(module, *args):
    forward_hooks = list(module._forward_hooks.values())
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    args = watch.watch_inputs(args) if watch else args
    output = module.forward(*args)
    for hook in forward_hooks:
        result = hook(module, args, output)
        output = output if result is None else result
    return watch.watch_outputs(output) if watch else output


# the given middle is gone
@wrong("13.6", "what a BackwardHook watched")
def call_module(module, *args):
    forward_hooks = list(module._forward_hooks.values())
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    args = watch.watch_inputs(args) if watch else args
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        result = hook(module, args, output)
        output = output if result is None else result
    return output


# a function around the hook
@wrong("13.2", "at the node of y, 1")
def register_hook(tensor, hook):
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return add_hook(hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks"), lambda gradient: hook(gradient))


# a gradient kept that nobody asked for
@wrong("13.2", "'retained_by'")
def register_hook(tensor, hook):
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    node = edge_or_leaf(tensor)[0]
    hooks_of(node, "retained_by")["tensor"] = tensor
    return add_hook(hooks_of(node, "tensor_hooks"), hook)


# written into a number of NumPy's
@wrong("13.3", "one number, shape (), written into")
def call_tensor_hooks(node, gradient):
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        given = Tensor(gradient)
        result = hook(given)
        gradient = gradient if result is None else checked(hook, result, given).data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], gradient)
    return gradient


# a hook's error
@wrong("13.3", "Your function returned, but should have raised an error.")
def call_tensor_hooks(node, gradient):
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        given = Tensor(gradient)
        try:
            result = hook(given)
        except ValueError:
            result = None
        gradient = given.data if result is None else checked(hook, result, given).data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], gradient)
    return gradient


# as it was in the first walk
@wrong("13.4", "x frozen between the two backward passes")
def arrive(node, gradient):
    node.wanted = vars(node).get("wanted", node.variable.requires_grad)
    if node.wanted:
        accumulate(node.variable, gradient)
    for hook in list(hooks_of(node, "post_accumulate").values()):
        hook(node.variable)
    return []


# no targets
@wrong("13.5", "no target at all")
def leading_to(targets, nodes):
    above = {}
    for node in nodes:
        for below, _ in node.next_functions:
            above.setdefault(below, []).append(node)
    found, stack = set(), [targets[0], *targets[1:]]
    while stack:
        for node in above.get(stack.pop(), ()):
            if node not in found:
                found.add(node)
                stack.append(node)
    return found


# over the dict as it grows
@wrong("13.4", "Registering or removing a hook took effect at once")
def arrive(node, gradient):
    if node.variable.requires_grad:
        accumulate(node.variable, gradient)
    done = []
    while len(done) < len(hooks_of(node, "post_accumulate")):
        key = next(key for key in hooks_of(node, "post_accumulate") if key not in done)
        done.append(key)
        hooks_of(node, "post_accumulate")[key](node.variable)
    return []


# every target, wherever it is
@wrong("13.5", "Such a target only waits for its gradient.")
def leading_to(targets, nodes):
    above = {}
    for node in nodes:
        for below, _ in node.next_functions:
            above.setdefault(below, []).append(node)
    found, stack = set(targets), list(targets)
    while stack:
        for node in above.get(stack.pop(), ()):
            if node not in found:
                found.add(node)
                stack.append(node)
    return found


# marks that stay
@wrong("13.5", "A second call finds fewer")
def leading_to(targets, nodes):
    above = {}
    for node in nodes:
        for below, _ in node.next_functions:
            above.setdefault(below, []).append(node)
    found, stack = set(), list(targets)
    while stack:
        for node in above.get(stack.pop(), ()):
            if not vars(node).get("visited"):
                node.visited = True
                found.add(node)
                stack.append(node)
    return found


# a zero for an output
@wrong("13.6", "Only None leaves things as they are.")
def call_module(module, *args):
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result:
            args = result if isinstance(result, tuple) else (result,)
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watch:
        args = watch.watch_inputs(args)
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        result = hook(module, args, output)
        if result:
            output = result
    return watch.watch_outputs(output) if watch else output


# the middle in front
@wrong("13.6", "what a BackwardHook watched")
def call_module(module, *args):
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watch:
        args = watch.watch_inputs(args)
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        result = hook(module, args, output)
        if result is not None:
            output = result
    return watch.watch_outputs(output) if watch else output


# what a hook left, instead of what was given
@wrong("13.7", "'what on_input(None) returns'")
class BackwardHook(BackwardHook):
    def on_output(self, gradient):
        self.grad_output = (gradient,)
        for hook in self.pre_hooks:
            result = hook(self.module, self.grad_output)
            self.grad_output = self.grad_output if result is None else result
        if not self.sees_input:
            self.on_input(None)
        return self.grad_output

    def on_input(self, gradient):
        grad_input = (gradient,) + (None,) * (self.count - 1)
        for hook in self.hooks:
            result = hook(self.module, grad_input, self.grad_output)
            grad_input = grad_input if result is None else result
        return None if grad_input[0] is None else (grad_input[0],)


# every path, edge by edge
@wrong("13.5", "go on from a node only when you first reach it")
def leading_to(targets, nodes):
    above = {}
    for node in nodes:
        for below, _ in node.next_functions:
            above.setdefault(below, []).append(node)
    found, stack = set(), list(targets)
    while stack:
        for node in above.get(stack.pop(), ()):
            found.add(node)
            stack.append(node)
    return found


# a copy at the beginning
@wrong("13.3", "the array that arrived first")
def call_tensor_hooks(node, gradient):
    given = Tensor(np.array(gradient))
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        result = hook(given)
        given = given if result is None else checked(hook, result, given)
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], given.data)
    return given.data


# a new Tensor for each sum
@wrong("13.4", "references to the old one miss the sum")
def arrive(node, gradient):
    leaf = node.variable
    if leaf.requires_grad:
        leaf.grad = Tensor(gradient.copy() if leaf.grad is None else leaf.grad.data + gradient)
    for hook in list(hooks_of(node, "post_accumulate").values()):
        hook(leaf)
    return []


# the number 0 taken for None
@wrong("13.6", "A pre-hook's result that is false")
def call_module(module, *args):
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result:
            args = result if isinstance(result, tuple) else (result,)
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watch:
        args = watch.watch_inputs(args)
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        result = hook(module, args, output)
        output = output if result is None else result
    return watch.watch_outputs(output) if watch else output


# a list of inputs taken for a tuple
@wrong("13.6", "a pre-hook that returns a list")
def call_module(module, *args):
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = tuple(result) if isinstance(result, tuple | list) else (result,)
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watch:
        args = watch.watch_inputs(args)
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        result = hook(module, args, output)
        output = output if result is None else result
    return watch.watch_outputs(output) if watch else output


# the inputs as they were before they were watched
@wrong("13.6", "before watch_inputs")
def call_module(module, *args):
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
    given = args
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watch:
        args = watch.watch_inputs(args)
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        result = hook(module, given, output)
        output = output if result is None else result
    return watch.watch_outputs(output) if watch else output


# no hook without a gradient
@wrong("13.7", "on_output must call on_input(None), which must call the hooks", "not: Call on_input(None) then")
class BackwardHook(BackwardHook):
    def on_input(self, gradient):
        if gradient is None:
            return None
        grad_input = (gradient,) + (None,) * (self.count - 1)
        for hook in self.hooks:
            result = hook(self.module, grad_input, self.grad_output)
            grad_input = grad_input if result is None else result
        return (grad_input[0],)


# the first registration of its function
@wrong("13.1", "after removal 1, of hook 3")
def add_hook(hooks, hook):
    class Handle(RemovableHandle):
        done = False

        def remove(self):
            key = next((key for key, value in self.hooks.items() if value is hook and not self.done), None)
            self.hooks.pop(key, None)
            self.done = True

    handle = Handle(hooks)
    hooks[handle] = hook
    return handle


# what leads to a node is kept as an attribute of the node
@wrong("13.5", "attributes that nodes gained or lost")
def leading_to(targets, nodes):
    for node in [*nodes, *targets]:
        node.above = []
    for node in nodes:
        for below, _ in node.next_functions:
            if below is not None:
                below.above.append(node)
    found, stack = set(), list(targets)
    while stack:
        for node in stack.pop().above:
            if node not in found:
                found.add(node)
                stack.append(node)
    return found


# a leaf that was frozen after it got its accumulator is accepted
@wrong("13.2", "once it is frozen")
def register_hook(tensor, hook):
    node = tensor.grad_fn or tensor._accumulator
    if node is None:
        node, _ = edge_or_leaf(tensor)
    if node is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    return add_hook(hooks_of(node, "tensor_hooks"), hook)


# the same function is not registered a second time; the earlier handle is used
@wrong("13.2", "hooks called")
def register_hook(tensor, hook):
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    hooks = hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks")
    for handle, known in hooks.items():
        if known is hook:
            return handle
    return add_hook(hooks, hook)


# a leaf that already has a .grad: its hook is called at once with it
@wrong("13.2", "called while registering")
def register_hook(tensor, hook):
    if not tensor.requires_grad:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if tensor.grad is not None:
        hook(tensor.grad)
    return add_hook(hooks_of(edge_or_leaf(tensor)[0], "tensor_hooks"), hook)


# only the result of the last hook is checked, against what arrived
@wrong("13.3", "then the right one")
def call_tensor_hooks(node, gradient):
    first = given = Tensor(gradient)
    hook = None
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        result = hook(given)
        given = given if result is None else result
    if hook is not None:
        checked(hook, given, first)
    gradient = given.data
    tensor = hooks_of(node, "retained_by").get("tensor")
    if tensor is not None:
        accumulate(tensor, gradient)
    return gradient


# a function that is registered twice is called once
@wrong("13.3", "one function registered twice")
def call_tensor_hooks(node, gradient):
    for hook in list(dict.fromkeys(hooks_of(node, "tensor_hooks").values())):
        given = Tensor(gradient)
        result = hook(given)
        gradient = given.data if result is None else checked(hook, result, given).data
    tensor = hooks_of(node, "retained_by").get("tensor")
    if tensor is not None:
        accumulate(tensor, gradient)
    return gradient


# the result is written into the array that arrived, so an array that is on its way elsewhere changes
@wrong("13.3", "scaled where backward begins")
def call_tensor_hooks(node, gradient):
    gradient = np.asarray(gradient)
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        given = Tensor(gradient)
        result = hook(given)
        if result is not None:
            gradient[...] = checked(hook, result, given).data
    tensor = hooks_of(node, "retained_by").get("tensor")
    if tensor is not None:
        accumulate(tensor, gradient)
    return gradient


# retain_grad only sees what hooks returned, not what a hook wrote: it keeps a copy made before the last hook
@wrong("13.3", "retained, then written into")
def call_tensor_hooks(node, gradient):
    kept = gradient.copy()
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        given = Tensor(gradient)
        result = hook(given)
        gradient = given.data if result is None else checked(hook, result, given).data
        if result is not None:
            kept = gradient
    tensor = hooks_of(node, "retained_by").get("tensor")
    if tensor is not None:
        accumulate(tensor, kept)
    return gradient


# only the last target counts
@wrong("13.5", "a target on each")
def leading_to(targets, nodes):
    above = {}
    for node in nodes:
        for below, _ in node.next_functions:
            if below is not None:
                above.setdefault(below, []).append(node)
    found, stack = set(), []
    for target in targets:
        found, stack = set(), [target]
        while stack:
            for node in above.get(stack.pop(), []):
                if node not in found:
                    found.add(node)
                    stack.append(node)
    return found


# an error in a hook is swallowed
@wrong("13.6", "a hook that raises an error")
def call_module(module, *args):
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watch:
        args = watch.watch_inputs(args)
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        try:
            result = hook(module, args, output)
        except Exception:
            result = None
        if result is not None:
            output = result
    return watch.watch_outputs(output) if watch else output


# retain_grad keeps the gradient even if a hook raised an error
@wrong("13.3", "retained, and a hook that raises an error")
def call_tensor_hooks(node, gradient):
    try:
        for hook in list(hooks_of(node, "tensor_hooks").values()):
            given = Tensor(gradient)
            result = hook(given)
            gradient = given.data if result is None else checked(hook, result, given).data
    finally:
        tensor = hooks_of(node, "retained_by").get("tensor")
        if tensor is not None:
            accumulate(tensor, gradient)
    return gradient


# requires_grad is asked again before each hook: a hook that freezes the leaf silences the others
@wrong("13.4", "a hook that freezes x")
def arrive(node, gradient):
    leaf = node.variable
    frozen = not leaf.requires_grad
    if not frozen:
        accumulate(leaf, gradient)
    for hook in list(hooks_of(node, "post_accumulate").values()):
        if frozen or leaf.requires_grad:
            hook(leaf)
    return []


# the tensor hooks are called here a second time
@wrong("13.4", "a tensor hook on x")
def arrive(node, gradient):
    if node.variable.requires_grad:
        accumulate(node.variable, call_tensor_hooks(node, gradient))
    for hook in list(hooks_of(node, "post_accumulate").values()):
        hook(node.variable)
    return []


# a tuple of a subclass is packed into another tuple
@wrong("13.6", "a named tuple")
def call_module(module, *args):
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = result if type(result) is tuple else (result,)
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watch:
        args = watch.watch_inputs(args)
    output = module.forward(*args)
    for hook in list(module._forward_hooks.values()):
        result = hook(module, args, output)
        if result is not None:
            output = result
    return watch.watch_outputs(output) if watch else output


# forward hooks are listed after the pre-hooks but before forward: one that forward registers is missed
@wrong("13.6", "forward registers a hook")
def call_module(module, *args):
    for hook in list(module._forward_pre_hooks.values()):
        result = hook(module, args)
        if result is not None:
            args = result if isinstance(result, tuple) else (result,)
    forward_hooks = list(module._forward_hooks.values())
    watch = BackwardHook(module) if module._backward_hooks or module._backward_pre_hooks else None
    if watch:
        args = watch.watch_inputs(args)
    output = module.forward(*args)
    for hook in forward_hooks:
        result = hook(module, args, output)
        if result is not None:
            output = result
    return watch.watch_outputs(output) if watch else output


# for a gradient of None the results of hooks are ignored, so later hooks do not see them
@wrong("13.7", "reaches the next hook")
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
        grad_output = (gradient,)
        for hook in self.pre_hooks:
            result = hook(self.module, grad_output)
            if result is not None:
                grad_output = result
        self.grad_output = grad_output
        if not self.sees_input:
            self.on_input(None)
        return grad_output

    def on_input(self, gradient):
        """Call the hooks once the first input's gradient (a Tensor or None) is known. Returns a tuple, or None."""
        grad_input = (gradient,) + (None,) * (self.count - 1)
        for hook in self.hooks:
            result = hook(self.module, grad_input, self.grad_output)
            if result is not None and gradient is not None:
                grad_input = result
        return None if gradient is None else (grad_input[0],)


# accepts arrays
@wrong("13.3")
def call_tensor_hooks(node, gradient):
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        given = Tensor(gradient)
        result = hook(given)
        if isinstance(result, np.ndarray):
            result = Tensor(result)
        gradient = given.data if result is None else checked(hook, result, given).data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(hooks_of(node, "retained_by")["tensor"], gradient)
    return gradient


# targets count as nodes of the graph
@wrong("13.5")
def leading_to(targets, nodes):
    above = {}
    for node in [*nodes, *targets]:
        for below, _ in node.next_functions:
            if below is not None:
                above.setdefault(below, []).append(node)
    found = set()
    stack = list(targets)
    while stack:
        node = stack.pop()
        for parent in above.get(node, []):
            if parent not in found:
                found.add(parent)
                stack.append(parent)
    return found


# nothing returned where no hook is
@wrong("13.3", "call_tensor_hooks returned NoneType, not an array")
def call_tensor_hooks(node, gradient):
    hooks = list(hooks_of(node, "tensor_hooks").values())
    for hook in hooks:
        given = Tensor(gradient)
        result = hook(given)
        gradient = given.data if result is None else checked(hook, result, given).data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], gradient)
    if hooks:
        return gradient


# a list
@wrong("13.3", "call_tensor_hooks returned list, not an array")
def call_tensor_hooks(node, gradient):
    for hook in list(hooks_of(node, "tensor_hooks").values()):
        given = Tensor(gradient)
        result = hook(given)
        gradient = given.data if result is None else checked(hook, result, given).data
    if "tensor" in hooks_of(node, "retained_by"):
        accumulate(node.retained_by["tensor"], gradient)
    return gradient.tolist()
