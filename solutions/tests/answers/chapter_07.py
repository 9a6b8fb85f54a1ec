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
