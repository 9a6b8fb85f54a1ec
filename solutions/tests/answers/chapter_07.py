"""Answers to the exercises of chapter 07 that have found something in a check."""


@wrong("07.2", "Likely slip: the total instead of the increase.")
def leaks(model, function, x):
    def number(module):
        kinds = ["_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"]
        return sum(len(getattr(module, kind)) for kind in kinds)

    before = {name: number(module) for name, module in model.named_modules()}
    with contextlib.suppress(Exception):
        function(model, x)
    return {name: number(module) for name, module in model.named_modules() if number(module) > before[name]}


@wrong("07.2", "calls of the first function")
def leaks(model, function, x):
    def count():
        kinds = ["_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"]
        return {name: sum(len(getattr(m, kind)) for kind in kinds) for name, m in model.named_modules()}

    before = count()
    with torch.inference_mode(), contextlib.suppress(Exception):
        function(model, x)
    after = count()
    return {name: after[name] - before[name] for name in after if after[name] > before[name]}


@wrong("07.2", "calls of the first function")
def leaks(model, function, x):
    def count():
        kinds = ["_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"]
        return {name: sum(len(getattr(m, kind)) for kind in kinds) for name, m in model.named_modules()}

    before = count()
    model.eval()
    with contextlib.suppress(Exception):
        function(model, x)
    model.train()
    after = count()
    return {name: after[name] - before[name] for name in after if after[name] > before[name]}


@wrong("07.2", "calls of the first function")
def leaks(model, function, x):
    def count():
        kinds = ["_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"]
        return {name: sum(len(getattr(m, kind)) for kind in kinds) for name, m in model.named_modules()}

    before = count()
    with contextlib.suppress(Exception):
        function(model, torch.zeros_like(x))
    after = count()
    return {name: after[name] - before[name] for name in after if after[name] > before[name]}


@right("07.3")
@contextlib.contextmanager
def capture(model, names):
    modules = dict(model.named_modules())
    name_of = {modules[name]: name for name in names}
    kept = {name: [] for name in names}

    def hook(module, input, output):
        if module in name_of:
            kept[name_of[module]].append(output.detach().clone())

    handle = nn.modules.module.register_module_forward_hook(hook)
    try:
        yield kept
    finally:
        handle.remove()


@wrong("07.6", "another module of its class")
def scale_gradient(module, factor):
    kind = type(module)

    def hook(module, grad_input, grad_output):
        theirs = isinstance(module, kind)
        return tuple(None if g is None else g * factor for g in grad_input) if theirs else None

    return nn.modules.module.register_module_full_backward_hook(hook)


# the mode is left changed
@wrong("07.2", "model.training = True")
def leaks(model, function, x):
    def count():
        kinds = ["_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"]
        return {name: sum(len(getattr(m, kind)) for kind in kinds) for name, m in model.named_modules()}

    before = count()
    model.train()
    with contextlib.suppress(Exception):
        function(model, x)
    after = count()
    return {name: after[name] - before[name] for name in after if after[name] > before[name]}


# the list reversed in place
@wrong("07.5", "the list changed", "not: takes from it")
def order_of_events(module):
    def events(tree, way):
        name, members = (tree, []) if isinstance(tree, str) else (tree[0], tree[1:])
        members = members[::-1] if way == "backward" else members
        return [f"{name} {way} pre", *[event for member in members for event in events(member, way)], f"{name} {way}"]

    found = events(module, "forward") + events(module, "backward")
    if isinstance(module, list):
        module.reverse()
    return found


# scaled at the output, by a hook on the tensor
@wrong("07.6", "not of its output", "not: a pre-hook")
def scale_gradient(module, factor):
    def hook(module, args, output):
        output.register_hook(lambda gradient: gradient * factor)

    return module.register_forward_hook(hook)


# the handle is not returned
@wrong("07.1", "AttributeError: 'NoneType' object has no attribute 'remove'")
def silence(module, channels):
    def hook(module, input, output):
        output = output.clone()
        output[:, channels] = 0
        return output

    module.register_forward_hook(hook)


# the function's error is not caught
@wrong("07.2", "ValueError: the function failed")
def leaks(model, function, x):
    kinds = ["_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"]

    def count():
        return {name: sum(len(getattr(m, kind)) for kind in kinds) for name, m in model.named_modules()}

    before = count()
    function(model, x)
    after = count()
    return {name: after[name] - before[name] for name in after if after[name] > before[name]}


# the error of the block is caught
@wrong("07.3", "came out of the block")
@contextmanager
def capture(model, names):
    kept, handles = {name: [] for name in names}, []
    try:
        for name in names:
            keep = lambda module, input, output, name=name: kept[name].append(output.detach().clone())  # noqa: E731
            handles.append(model.get_submodule(name).register_forward_hook(keep))
    except AttributeError:
        for handle in handles:
            handle.remove()
        raise
    with contextlib.suppress(Exception):
        yield kept
    for handle in handles:
        handle.remove()


# None is detached
@wrong("07.4", "AttributeError: 'NoneType' object has no attribute 'detach'")
class Tap:
    def __init__(self, module, backward=False):
        self.input = self.output = None
        register = module.register_full_backward_hook if backward else module.register_forward_hook
        self.handle = register(self.hook)

    def hook(self, module, input, output):
        self.input = tuple(item.detach() for item in input)
        self.output = tuple(item.detach() for item in output) if isinstance(output, tuple) else output.detach()

    def close(self):
        self.handle.remove()


# a tuple is detached
@wrong("07.4", "AttributeError: 'tuple' object has no attribute 'detach'")
class Tap:
    def __init__(self, module, backward=False):
        self.input = self.output = None
        register = module.register_full_backward_hook if backward else module.register_forward_hook
        self.handle = register(self.hook)

    def hook(self, module, input, output):
        self.input = input.detach()
        self.output = output.detach()

    def close(self):
        self.handle.remove()


# no self
@wrong("07.4", "TypeError: Tap.hook() takes 3 positional arguments but 4 were given")
class Tap:
    def __init__(self, module, backward=False):
        self.input = self.output = None
        register = module.register_full_backward_hook if backward else module.register_forward_hook
        self.handle = register(self.hook)

    def hook(module, input, output):
        pass

    def close(self):
        self.handle.remove()


# the weight on the left, as in the forward pass
@wrong("07.7", "First difference at index [0] (2 of 2 elements differ) in 'fc2'")
def way_back(x, W1, b1, W2, b2, v):
    h = torch.sigmoid(W1 @ x + b1)
    y = torch.sigmoid(W2 @ h + b2)
    at_s2 = v * y * (1 - y)
    at_fc2 = W2 @ at_s2
    at_s1 = at_fc2 * h * (1 - h)
    return {
        "s2": at_s2,
        "fc2": at_fc2,
        "s1": at_s1,
        "fc1": W1 @ at_s1,
        "fc2.weight": torch.outer(at_s2, h),
        "fc2.bias": at_s2.sum().reshape(1),
        "fc1.weight": torch.outer(at_s1, x),
        "fc1.bias": at_s1.sum().reshape(1),
    }


# right where every argument is a tensor: then something is scaled
@wrong("07.6", "not: Nothing is scaled")
def scale_gradient(module, factor):
    def hook(module, grad_input, grad_output):
        if all(gradient is not None for gradient in grad_input):
            return tuple(gradient * factor for gradient in grad_input)

    return module.register_full_backward_hook(hook)


@wrong("07.3", "First difference at 'names after the block'")
@contextlib.contextmanager
def capture(model, names):
    kept, handles = {}, []
    try:
        while names:
            name = names.pop(0)
            kept[name] = []

            def hook(module, input, output, name=name):
                kept[name].append(output.detach().clone())

            handles.append(model.get_submodule(name).register_forward_hook(hook))
        yield kept
    finally:
        for handle in handles:
            handle.remove()


@wrong("07.3", "Your dict's keys differ from the expected ones.")
@contextlib.contextmanager
def capture(model, names):
    kept = {name: [] for name in names}
    with contextlib.ExitStack() as handles:
        for name in names:

            def hook(module, input, output, name=name):
                kept[name].append(output.detach().clone())

            handles.enter_context(model.get_submodule(name).register_forward_hook(hook))
        yield kept
    kept.clear()


# removed after an Exception only
@wrong("07.3", "hooks on the model after a block with KeyboardInterrupt")
@contextmanager
def capture(model, names):
    kept, handles = {name: [] for name in names}, []
    try:
        for name in names:
            keep = lambda module, input, output, name=name: kept[name].append(output.detach().clone())  # noqa: E731
            handles.append(model.get_submodule(name).register_forward_hook(keep))
        yield kept
    except Exception:
        for handle in handles:
            handle.remove()
        raise
    for handle in handles:
        handle.remove()


# a clone replaces the output
@wrong("07.3", "how many nodes capture adds to the graph")
@contextmanager
def capture(model, names):
    kept = {name: [] for name in names}
    with contextlib.ExitStack() as handles:
        for name in names:

            def hook(module, input, output, name=name):
                kept[name].append(output.detach().clone())
                return output.clone()

            handles.enter_context(model.get_submodule(name).register_forward_hook(hook))
        yield kept


# forward is replaced in names too
@wrong("07.5", "forward_net")
def order_of_events(module):
    def visit(tree):
        name, *members = [tree] if isinstance(tree, str) else tree
        return [f"{name} forward pre", *[event for member in members for event in visit(member)], f"{name} forward"]

    there, back = visit(module), []
    for event in reversed(there):
        event = event.replace("forward", "backward")
        back.append(event.removesuffix(" pre") if event.endswith(" pre") else event + " pre")
    return there + back


# detached gradients replace those that pass
@wrong("07.4", "a gradient with create_graph=True")
class Tap:
    def __init__(self, module, backward=False):
        self.input = self.output = None
        self.backward = backward
        self.handle = (module.register_full_backward_hook if backward else module.register_forward_hook)(self.hook)

    def hook(self, module, input, output):
        self.input = tuple(None if t is None else t.detach() for t in input)
        self.output = tuple(t.detach() for t in output) if self.backward else output.detach()
        return self.input if self.backward else None

    def close(self):
        self.handle.remove()


# a hook on each submodule: a block scales several times
@wrong("07.6", "for the layer of this section")
def scale_gradient(module, factor):
    def hook(module, grad_input, grad_output):
        return tuple(None if g is None else g * factor for g in grad_input)

    for one in module.modules():
        handle = one.register_full_backward_hook(hook)
    return handle


# compares sets of hook functions, so one function registered twice counts once
@wrong("07.2")
def leaks(model, function, x):
    kinds = ["_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"]

    def found():
        return {
            name: {hook for kind in kinds for hook in getattr(m, kind).values()} for name, m in model.named_modules()
        }

    before = found()
    with contextlib.suppress(Exception):
        function(model, x)
    after = found()
    return {name: len(after[name] - before[name]) for name in after if after[name] - before[name]}


# a backward tap registers a forward hook too
@wrong("07.4")
class Tap:
    def __init__(self, module, backward=False):
        self.input = self.output = None
        self.handles = [module.register_forward_hook(self.hook)]
        if backward:
            self.handles.append(module.register_full_backward_hook(self.hook))

    def hook(self, module, input, output):
        self.input = tuple(None if t is None else t.detach() for t in input)
        if isinstance(output, tuple):
            self.output = tuple(None if t is None else t.detach() for t in output)
        else:
            self.output = output.detach()

    def close(self):
        for handle in self.handles:
            handle.remove()


# pairs instead of a dict
@wrong("07.3")
def capture(model, names):
    import contextlib

    @contextlib.contextmanager
    def block():
        kept = {name: [] for name in names}
        modules = dict(model.named_modules())
        handles = []
        try:
            for name in names:

                def hook(module, input, output, name=name):
                    kept[name].append(output.detach().clone())

                handles.append(modules[name].register_forward_hook(hook))
            yield list(kept.items())
        finally:
            for handle in handles:
                handle.remove()

    return block()
