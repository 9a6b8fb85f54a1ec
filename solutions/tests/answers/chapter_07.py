"""Answers to the exercises of chapter 07 that have found something in a check."""


@wrong("07.2", "Likely slip: the total of those that grew.")
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
@wrong("07.6", "the gradient at its output was", "not: a pre-hook")
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


# the weight on the left, as on the way there
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
