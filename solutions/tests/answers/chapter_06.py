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
