"""Answers to the exercises of chapter 09 that have found something in a check."""


@wrong("09.1", "Likely slip: nearly the same is not the same.")
def written_into(tensors, call):
    before = {name: (tensor._version, tensor.detach().clone()) for name, tensor in tensors.items()}
    call()
    found = {}
    for name, tensor in tensors.items():
        if tensor._version != before[name][0]:
            found[name] = "counted"
        elif not torch.allclose(tensor.detach(), before[name][1], equal_nan=True):
            found[name] = "in silence"
    return found


@wrong("09.1")
def written_into(tensors, call):
    before = {name: (tensor._version, tensor.detach().clone().nan_to_num()) for name, tensor in tensors.items()}
    call()
    found = {}
    for name, tensor in tensors.items():
        if tensor._version != before[name][0]:
            found[name] = "counted"
        elif not torch.equal(tensor.detach().nan_to_num(), before[name][1]):
            found[name] = "in silence"
    return found


@wrong("09.1", "Likely slip: sums compared.")
def written_into(tensors, call):
    before = {name: (tensor._version, tensor.detach().sum()) for name, tensor in tensors.items()}
    call()
    found = {}
    for name, tensor in tensors.items():
        if tensor._version != before[name][0]:
            found[name] = "counted"
        elif not same_numbers(tensor.detach().sum(), before[name][1]):
            found[name] = "in silence"
    return found


@wrong("09.1", "requires_grad")
def written_into(tensors, call):
    for tensor in tensors.values():
        if tensor.is_leaf:
            tensor.requires_grad_(False)
    before = {name: (tensor._version, tensor.clone()) for name, tensor in tensors.items()}
    call()
    found = {}
    for name, tensor in tensors.items():
        if tensor._version != before[name][0]:
            found[name] = "counted"
        elif not same_numbers(tensor, before[name][1]):
            found[name] = "in silence"
    return found


@wrong("09.3", "the example")
def first_bad(tensors, walk):
    bad = []
    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():

            def look(gradient, name=name):
                if not gradient.isfinite().all():
                    bad.append(name)

            def look_below(below, above, name=name):
                if not all(g.isfinite().all() for g in [*below, *above] if g is not None):
                    bad.append(name)

            if tensor.grad_fn is not None:
                handles.enter_context(tensor.grad_fn.register_hook(look_below))
            else:
                handles.enter_context(tensor.register_hook(look))
        walk()
    return bad[0] if bad else None


@wrong("09.3", "Likely slip: walk called after the block.", "not: return statement")
def first_bad(tensors, walk):
    bad = []
    handles = contextlib.ExitStack()
    with handles:

        def hook_for(name):
            def hook(gradient):
                if not gradient.isfinite().all():
                    bad.append(name)

            return hook

        for name, tensor in tensors.items():
            handles.enter_context(tensor.register_hook(hook_for(name)))
    walk()
    return bad[0] if bad else None


@wrong("09.3", "The events differ from the expected ones.", "'the error that reached the caller, backward pass 1")
def first_bad(tensors, walk):
    bad = []
    with contextlib.ExitStack() as handles, contextlib.suppress(Exception):
        for name, tensor in tensors.items():

            def hook(gradient, name=name):
                if not gradient.isfinite().all():
                    bad.append(name)

            handles.enter_context(tensor.register_hook(hook))
        walk()
    return bad[0] if bad else None


@wrong("09.4", "not: return statement", "Likely slip: no backward.")
def blame(forward):
    message = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with torch.autograd.detect_anomaly():
                loss = forward()
        except RuntimeError as error:
            message = str(error)
    return message, forward_function(caught)


@wrong("09.5", "Likely slip: the logarithm cut off near zero.")
def x_log_x(x):
    return torch.where(x > 0, x * x.clamp(min=1e-12).log(), 0.0)


@wrong("09.5", "Likely slip: cut off near zero.")
def x_log_x(x):
    safe = x.clamp(min=1e-12)
    return torch.where(x > 0, safe * safe.log(), 0.0)


@wrong("09.5", "Likely slip: the logarithm of zero.")
def x_log_x(x):
    positive = x > 0
    safe = torch.where(positive, x, 1.0)
    return torch.where(positive, safe * x.log(), 0.0)


@wrong("09.6", "Likely slip: a backward pass with the graph retained.")
def why_none(tensor, loss):
    if not tensor.is_leaf and not tensor.retains_grad:
        return "no leaf"
    if tensor.grad is not None:
        return None
    if not tensor.requires_grad:
        return "needs no gradient"
    if loss.grad_fn is None:
        return "no graph"
    try:
        (found,) = torch.autograd.grad(loss, [tensor], retain_graph=True, allow_unused=True)
    except RuntimeError:
        return "not walked or cleared"
    return "not reached" if found is None else "not walked or cleared"


@wrong("09.6")
def why_none(tensor, loss):
    if not tensor.is_leaf and not tensor.retains_grad:
        return "no leaf"
    if tensor.grad is not None:
        return None
    if not tensor.requires_grad:
        return "needs no gradient"
    if loss.grad_fn is None:
        return "no graph"
    for node in nodes_behind(loss):
        if hasattr(node, "variable") and node.variable.data_ptr() == tensor.data_ptr():
            return "not walked or cleared"
    return "not walked or cleared" if tensor.grad_fn in nodes_behind(loss) and tensor.grad_fn else "not reached"


@wrong("09.6", "retain its gradient")
def why_none(tensor, loss):
    keeps = tensor.is_leaf or tensor.retains_grad
    if tensor.requires_grad:
        tensor.retain_grad()
    if not keeps:
        return "no leaf"
    if tensor.grad is not None:
        return None
    if not tensor.requires_grad:
        return "needs no gradient"
    if loss.grad_fn is None:
        return "no graph"
    nodes = nodes_behind(loss)
    if tensor.is_leaf:
        reached = any(getattr(node, "variable", None) is tensor for node in nodes)
    else:
        reached = tensor.grad_fn in nodes
    return "not walked or cleared" if reached else "not reached"


@wrong("09.6", "not: only the last operations", "not: only leaves found")
def why_none(tensor, loss):
    if not tensor.is_leaf and not tensor.retains_grad:
        return "no leaf"
    if tensor.grad is not None:
        return None
    if not tensor.requires_grad:
        return "needs no gradient"
    if loss.grad_fn is None:
        return "no graph"
    nodes = nodes_behind(tensor)
    if tensor.is_leaf:
        reached = any(getattr(node, "variable", None) is tensor for node in nodes)
    else:
        reached = tensor.grad_fn in nodes
    return "not walked or cleared" if reached else "not reached"


# runs the call in another grad mode
@wrong("09.1", "calls made, number 1")
def written_into(tensors, call):
    before = {name: (tensor._version, tensor.detach().clone()) for name, tensor in tensors.items()}
    with torch.no_grad():
        call()
    found = {}
    for name, (version, numbers) in before.items():
        if tensors[name]._version != version:
            found[name] = "counted"
        elif not same_numbers(tensors[name].detach(), numbers):
            found[name] = "in silence"
    return found


# takes the writes back
@wrong("09.1")
def written_into(tensors, call):
    before = {name: (tensor._version, tensor.detach().clone()) for name, tensor in tensors.items()}
    call()
    found = {}
    for name, (version, numbers) in before.items():
        if tensors[name]._version != version:
            found[name] = "counted"
        elif not same_numbers(tensors[name].detach(), numbers):
            found[name] = "in silence"
    for name, tensor in tensors.items():
        tensor.data.copy_(before[name][1])
    return found


# huge, but finite
@wrong("09.3", "Likely slip: huge but finite.", "not: sums")
def first_bad(tensors, walk):
    bad = []
    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():

            def hook(gradient, name=name):
                if not (gradient.abs() < 1e30).all():
                    bad.append(name)

            handles.enter_context(tensor.register_hook(hook))
        walk()
    return bad[0] if bad else None


# read before it is there
@wrong("09.1", "KeyError")
def written_into(tensors, call):
    before = {name: (tensor._version, tensor.detach().clone()) for name, tensor in tensors.items()}
    call()
    found = {}
    for name, tensor in tensors.items():
        if tensor._version != before[name][0]:
            found[name] = "counted"
        if found[name] != "counted" and not same_numbers(tensor.detach(), before[name][1]):
            found[name] = "in silence"
    return found


# None is squared
@wrong("09.2", "TypeError: unsupported operand type(s) for ** or pow(): 'NoneType' and 'int'")
def clip_all(parameters, max_norm):
    norm = sum((parameter.grad**2).sum().item() for parameter in parameters) ** 0.5
    if norm > max_norm:
        for parameter in parameters:
            parameter.grad *= max_norm / norm
    return norm


# the norm of nothing
@wrong("09.2", "ZeroDivisionError")
def clip_all(parameters, max_norm):
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = sum((gradient**2).sum().item() for gradient in gradients) ** 0.5
    for gradient in gradients:
        gradient *= min(1.0, max_norm / norm)
    return norm


# nothing divided by nothing
@wrong("09.2", "There is a nan")
def clip_all(parameters, max_norm):
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = torch.tensor(sum((gradient**2).sum().item() for gradient in gradients), dtype=torch.float64).sqrt()
    for gradient in gradients:
        gradient *= norm.clamp(max=max_norm) / norm
    return norm.item()


# a norm that is a tensor
@wrong("09.2", "The type differs from the expected one.")
def clip_all(parameters, max_norm):
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    norm = sum(((gradient**2).sum() for gradient in gradients), start=torch.zeros((), dtype=torch.float64)) ** 0.5
    if norm > max_norm:
        for gradient in gradients:
            gradient *= max_norm / norm
    return norm


# numbers compared
@wrong("09.6", "Boolean value of Tensor with more than one value is ambiguous")
def why_none(tensor, loss):
    if not tensor.is_leaf and not tensor.retains_grad:
        return "no leaf"
    if tensor.grad is not None:
        return None
    if not tensor.requires_grad:
        return "needs no gradient"
    if loss.grad_fn is None:
        return "no graph"
    nodes = nodes_behind(loss)
    leaves = [node.variable for node in nodes if hasattr(node, "variable")]
    return "not walked or cleared" if tensor in leaves or tensor.grad_fn in nodes else "not reached"


@wrong("09.1", "called, recording: True")
def written_into(tensors, call):
    before = {name: (tensor._version, tensor.detach().clone()) for name, tensor in tensors.items()}
    with torch.enable_grad():
        call()
    found = {}
    for name, tensor in tensors.items():
        version, copy = before[name]
        if tensor._version != version:
            found[name] = "counted"
        elif not same_numbers(tensor.detach(), copy):
            found[name] = "in silence"
    return found


# anomaly mode is on in backward, but it does not look for NaN
@wrong("09.4", "Likely slip: a nan missed.")
def blame(forward):
    message = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with torch.autograd.detect_anomaly(check_nan=False):
                forward().backward()
        except RuntimeError as error:
            message = str(error)
    return message, forward_function(caught)


# stops at the first leaf it finds
@wrong("09.6", "First difference at 'returned, the first factor'")
def why_none(tensor, loss):
    if (tensor.is_leaf or tensor.retains_grad) and tensor.grad is not None:
        return None
    if not tensor.requires_grad:
        return "needs no gradient"
    if not tensor.is_leaf and not tensor.retains_grad:
        return "no leaf"
    if loss.grad_fn is None:
        return "no graph"
    for node in nodes_behind(loss):
        if hasattr(node, "variable"):
            return "not walked or cleared" if node.variable is tensor else "not reached"
        if node is tensor.grad_fn:
            return "not walked or cleared"
    return "not reached"


# nearly 0 where it must be 0
@wrong("09.5")
def x_log_x(x):
    safe = torch.where(x > 0, x, 1e-12)
    return safe * safe.log()


# the loss must have no dimension
@wrong("09.4", "returned, sound")
def blame(forward):
    message = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with torch.autograd.detect_anomaly():
                forward().backward(torch.tensor(1.0, dtype=torch.float64))
        except RuntimeError as error:
            message = str(error)
    return message, forward_function(caught)


# below the smallest normal number, x counts as 0
@wrong("09.5", "x.grad")
def x_log_x(x):
    positive = x > torch.finfo(x.dtype).tiny
    safe = torch.where(positive, x, 1.0)
    return torch.where(positive, safe * safe.log(), 0.0)


# the loss is told to retain its gradient
@wrong("09.6", "does the loss retain its gradient afterwards")
def why_none(tensor, loss):
    if not tensor.is_leaf and not tensor.retains_grad:
        return "no leaf"
    if tensor.grad is not None:
        return None
    if not tensor.requires_grad:
        return "needs no gradient"
    if loss.grad_fn is None:
        return "no graph"
    if tensor is not loss:
        loss.retain_grad()
    nodes = nodes_behind(loss)
    if tensor.is_leaf:
        reached = any(getattr(node, "variable", None) is tensor for node in nodes)
    else:
        reached = tensor.grad_fn in nodes
    return "not walked or cleared" if reached else "not reached"


# the hook stops the backward pass with an error
@wrong("09.3", "x.grad")
def first_bad(tensors, walk):
    class Found(Exception):
        pass

    def hook_for(name):
        def hook(gradient):
            if not gradient.isfinite().all():
                raise Found(name)

        return hook

    handles = [tensor.register_hook(hook_for(name)) for name, tensor in tensors.items()]
    try:
        walk()
    except Found as found:
        return str(found)
    finally:
        for handle in handles:
            handle.remove()


# equal tensors mistaken: by storage
@wrong("09.1", "not expected")
def written_into(tensors, call):
    before = {t.data_ptr(): (t._version, t.detach().clone()) for n, t in tensors.items()}
    call()
    out = {}
    for n, t in tensors.items():
        version, values = before[t.data_ptr()]
        if t._version != version:
            out[n] = "counted"
        elif values.shape != t.shape or not same_numbers(t, values):
            out[n] = "in silence"
    return out


# an untracked loss is skipped
@wrong("09.4", "requires no gradient")
def blame(forward):
    message = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with torch.autograd.detect_anomaly():
                loss = forward()
                if loss.requires_grad:
                    loss.backward()
        except RuntimeError as error:
            message = str(error)
    return message, forward_function(caught)


# check_nan forgotten in the restored state
@wrong("09.4", "look for NaN")
def blame(forward):
    message = None
    before = torch.is_anomaly_enabled()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.autograd.set_detect_anomaly(True)
        try:
            forward().backward()
        except RuntimeError as error:
            message = str(error)
        finally:
            torch.autograd.set_detect_anomaly(before, check_nan=False)
    return message, forward_function(caught)


# the path stops at the first None
@wrong("09.6", "comes after None")
def why_none(tensor, loss):
    if (tensor.is_leaf or tensor.retains_grad) and tensor.grad is not None:
        return None
    if not tensor.requires_grad:
        return "needs no gradient"
    if not tensor.is_leaf and not tensor.retains_grad:
        return "no leaf"
    if not loss.requires_grad:
        return "no graph"
    todo, seen = [loss.grad_fn], set()
    while todo:
        n = todo.pop()
        if n in seen:
            continue
        seen.add(n)
        if n is tensor.grad_fn or getattr(n, "variable", None) is tensor:
            return "not walked or cleared"
        for m, _ in n.next_functions:
            if m is None:
                break
            todo.append(m)
    return "not reached"


# swallows the error of walk
@wrong("09.3", "walk()")
def first_bad(tensors, walk):
    bad = []
    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():

            def hook(gradient, name=name):
                if not gradient.isfinite().all():
                    bad.append(name)

            handles.enter_context(tensor.register_hook(hook))
        with contextlib.suppress(RuntimeError):
            walk()
    return bad[0] if bad else None


# a walk that fails is tried again
@wrong("09.3", "walk()")
def first_bad(tensors, walk):
    bad = []
    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():

            def hook(gradient, name=name):
                if not gradient.isfinite().all():
                    bad.append(name)

            handles.enter_context(tensor.register_hook(hook))
        try:
            walk()
        except RuntimeError:
            walk()
    return bad[0] if bad else None


# only looks at elements that are numbers now: a number overwritten with NaN in silence is missed
@wrong("09.1", "all to NaN")
def written_into(tensors, call):
    before = {name: (t.detach().clone(), t._version) for name, t in tensors.items()}
    call()
    found = {}
    for name, t in tensors.items():
        values, version = before[name]
        now = t.detach()
        if t._version != version:
            found[name] = "counted"
        elif not ((now == values) | now.isnan()).all():
            found[name] = "in silence"
    return found


# view(-1) fails for a gradient that is not contiguous
@wrong("09.2", "view size is not compatible")
def clip_all(parameters, max_norm):
    grads = [p.grad for p in parameters if p.grad is not None]
    if not grads:
        return 0.0
    norm = torch.cat([g.view(-1) for g in grads]).norm().item()
    if norm > max_norm:
        for g in grads:
            g.mul_(max_norm / norm)
    return norm


# leaves out parameters that are frozen now but still have a gradient
@wrong("09.2", "step 2")
def clip_all(parameters, max_norm):
    grads = [p.grad for p in parameters if p.requires_grad and p.grad is not None]
    norm = sum((g**2).sum().item() for g in grads) ** 0.5
    if norm > max_norm:
        for g in grads:
            g.mul_(max_norm / norm)
    return norm


# hooks the nodes: outputs of one node are taken for each other
@wrong("09.3", "split off")
def first_bad(tensors, walk):
    bad = []
    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():
            if tensor.is_leaf:

                def hook(gradient, name=name):
                    if not gradient.isfinite().all():
                        bad.append(name)

                handles.enter_context(tensor.register_hook(hook))
            else:

                def prehook(gradients, name=name):
                    if any(g is not None and not g.isfinite().all() for g in gradients):
                        bad.append(name)

                handles.enter_context(tensor.grad_fn.register_prehook(prehook))
        walk()
    return bad[0] if bad else None


# switches recording off while walk runs, so a walk that computes its loss first fails
@wrong("09.3", "does not require grad")
def first_bad(tensors, walk):
    bad = []
    with contextlib.ExitStack() as handles:
        for name, tensor in tensors.items():

            def hook(gradient, name=name):
                if not gradient.isfinite().all():
                    bad.append(name)

            handles.enter_context(tensor.register_hook(hook))
        with torch.no_grad():
            walk()
    return bad[0] if bad else None
