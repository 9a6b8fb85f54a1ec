"""Answers to the exercises of chapter 06 that have found something in a check."""


@wrong("06.5", "not: backward() itself")
def arrive_at_leaf(grad, parts, hooks):
    arrived = sum(parts[1:], start=parts[0])
    for hook in hooks:
        returned = hook(arrived)
        if returned is not None:
            arrived = returned
    grad = arrived if grad is None else grad + arrived


# detached, and not copied
@wrong("06.1", "detached and not copied")
@contextlib.contextmanager
def recording(tensors):
    seen = []
    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():
            handles.enter_context(tensor.register_hook(lambda g, name=name: seen.append((name, g.detach()))))
        yield seen


# one tensor for all uses
@wrong("06.3", "not: one strength for all")
def reverse_gradient(features, strength):
    if not hasattr(features, "branch"):
        features.branch = features.clone()
    features.branch.register_hook(lambda gradient: -strength * gradient)
    return features.branch


# no parameters
@wrong("06.6", "IndexError")
def step_inside_backward(parameters, lr):
    first = parameters[0]

    def step(parameter):
        parameter -= lr * parameter.grad
        parameter.grad = None

    return [parameter.register_post_accumulate_grad_hook(step) for parameter in [first, *parameters[1:]]]


# a step on a new tensor
@wrong("06.6", "a new tensor stepped")
def step_inside_backward(parameters, lr):
    def step(parameter):
        parameter = parameter - lr * parameter.grad
        parameter.grad = None

    return [parameter.register_post_accumulate_grad_hook(step) for parameter in parameters]


# no context manager
@wrong("06.1", "TypeError: 'generator' object does not support the context manager protocol")
def recording(tensors):
    seen = []
    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():
            handles.enter_context(tensor.register_hook(lambda g, name=name: seen.append((name, g.clone()))))
        yield seen


# the hook returns the pair
@wrong("06.1", "TypeError: expected Variable, but hook returned 'tuple'")
@contextlib.contextmanager
def recording(tensors):
    seen = []

    def hook_for(name):
        def keep(gradient):
            seen.append((name, gradient.clone()))
            return seen[-1]

        return keep

    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():
            handles.enter_context(tensor.register_hook(hook_for(name)))
        yield seen


# the hook returns a number
@wrong("06.2", "TypeError: expected Variable, but hook returned 'float'")
def clip_hook(limit, by):
    def by_value(gradient):
        return gradient.clamp(-limit, limit)

    def by_norm(gradient):
        norm = gradient.norm().item()
        return limit / norm if norm > limit else gradient

    return by_value if by == "value" else by_norm


# the inner function is not returned
@wrong("06.2", "TypeError: 'NoneType' object is not callable")
def clip_hook(limit, by):
    def hook(gradient):
        if by == "value":
            return gradient.clamp(-limit, limit)
        norm = gradient.norm()
        return gradient * (limit / norm) if norm > limit else gradient


# .grad instead of the argument
@wrong("06.4", "weight.grad when the hook is registered")
def hold_rows(weight, rows):
    weight.grad[rows] = 0
    return weight.register_hook(lambda gradient: gradient)


# what arrives is written into
@wrong("06.4", "changed in place: second v, third v, v")
def hold_rows(weight, rows):
    def zero_rows(gradient):
        gradient[rows] = 0

    return weight.register_hook(zero_rows)


# the handle is not returned
@wrong("06.4", "AttributeError: 'NoneType' object has no attribute 'remove'")
def hold_rows(weight, rows):
    def zero_rows(gradient):
        gradient = gradient.clone()
        gradient[rows] = 0
        return gradient

    weight.register_hook(zero_rows)


# the truth of a tensor
@wrong("06.5", "RuntimeError: Boolean value of Tensor with more than one value is ambiguous")
def arrive_at_leaf(grad, parts, hooks):
    arrived = sum(parts[1:], start=parts[0])
    for hook in hooks:
        arrived = hook(arrived) or arrived
    return arrived if grad is None else grad + arrived


# None is added to
@wrong("06.5", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'Tensor'")
def arrive_at_leaf(grad, parts, hooks):
    arrived = sum(parts[1:], start=parts[0])
    for hook in hooks:
        returned = hook(arrived)
        if returned is not None:
            arrived = returned
    return grad + arrived


# a second hook on each parameter, which nobody can remove
@wrong("06.6", "First difference at 'hooks left on each parameter'")
def step_inside_backward(parameters, lr):
    def step(parameter):
        parameter -= lr * parameter.grad
        parameter.grad = None

    for parameter in parameters:
        parameter.register_hook(lambda gradient: None)
    return [parameter.register_post_accumulate_grad_hook(step) for parameter in parameters]


# removed after an Exception only
@wrong("06.1", "KeyboardInterrupt after a pass", "First difference at 'block 1: hooks that fire after it'")
@contextlib.contextmanager
def recording(tensors):
    seen = []
    handles = [tensor.register_hook(lambda g, n=name: seen.append((n, g.clone()))) for name, tensor in tensors.items()]
    try:
        yield seen
    except Exception:
        for handle in handles:
            handle.remove()
        raise
    for handle in handles:
        handle.remove()


# no hook is called with zeros
@wrong("06.5", "where two parts cancel")
def arrive_at_leaf(grad, parts, hooks):
    arrived = sum(parts[1:], start=parts[0])
    for hook in hooks if arrived.any() else []:
        returned = hook(arrived)
        if returned is not None:
            arrived = returned
    return arrived if grad is None else grad + arrived


# each function called once
@wrong("06.5", "scale again", "grad after pass 1")
def arrive_at_leaf(grad, parts, hooks):
    arrived = sum(parts[1:], start=parts[0])
    for hook in dict.fromkeys(hooks):
        returned = hook(arrived)
        if returned is not None:
            arrived = returned
    return arrived if grad is None else grad + arrived


# the block runs under no_grad: a forward pass in it records no graph
@wrong("06.1", "does it record operations")
@contextlib.contextmanager
def recording(tensors):
    seen = []
    with contextlib.ExitStack() as handles, torch.no_grad():
        for name, tensor in tensors.items():
            handles.enter_context(tensor.register_hook(lambda g, name=name: seen.append((name, g.clone()))))
        yield seen


# gradients of zeros are left out
@wrong("06.1", "zeros")
@contextlib.contextmanager
def recording(tensors):
    seen = []

    def recorder(name):
        def hook(g):
            if g.any():
                seen.append((name, g.clone()))

        return hook

    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():
            handles.enter_context(tensor.register_hook(recorder(name)))
        yield seen


# view(-1) fails for a gradient that is not contiguous
@wrong("06.2", "view")
def clip_hook(limit, by):
    def hook(gradient):
        if by == "value":
            return gradient.clamp(-limit, limit)
        norm = gradient.view(-1).pow(2).sum().sqrt()
        if norm > limit:
            return gradient * (limit / norm)
        return gradient

    return hook


# hooks the features: a later pass from the label head alone is changed by the old gradient
@wrong("06.3", "the label head alone")
def reverse_gradient(features, strength):
    out = features.clone()
    kept = []
    out.register_hook(lambda gradient: kept.append(gradient))
    features.register_hook(lambda gradient: gradient - (1 + strength) * kept[-1] if kept else None)
    return out


# adds the old grad into what the hooks were given: a gradient that a hook kept, or returned, changes later
@wrong("06.5", "what the hooks were given")
def arrive_at_leaf(grad, parts, hooks):
    total = torch.zeros_like(parts[0])
    for part in parts:
        total += part
    for hook in hooks:
        new = hook(total)
        if new is not None:
            total = new
    if grad is not None:
        total += grad
    return total


# a gradient of zeros keeps its .grad
@wrong("06.6", "zero")
def step_inside_backward(parameters, lr):
    def hook(p):
        if p.grad.any():
            with torch.no_grad():
                p.sub_(lr * p.grad)
            p.grad = None

    return [p.register_post_accumulate_grad_hook(hook) for p in parameters]


# one buffer for all passes
@wrong("06.4")
def hold_rows(weight, rows):
    buffer = torch.zeros_like(weight, requires_grad=False)

    def hook(gradient):
        buffer.copy_(gradient)
        buffer[rows] = 0
        return buffer

    return weight.register_hook(hook)


# torch's function scales the .grad of what it is given
@wrong("06.2", "Likely slip: a gradient not clipped.")
def clip_hook(limit, by):
    def hook(gradient):
        if by == "value":
            return gradient.clamp(-limit, limit)
        torch.nn.utils.clip_grad_norm_([gradient], limit)
        return gradient

    return hook


# a hook on a view, through which no gradient passes
@wrong("06.4", "Register your hook on weight itself")
def hold_rows(weight, rows):
    return weight[rows].register_hook(torch.zeros_like)
