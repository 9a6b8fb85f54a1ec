"""Graphs used from outside: nodes called by hand, edges, views left behind."""


# %%
def pair(x):
    """Return two results of one node: x and 3x."""
    return function(lambda ctx, x: (x * 1, x * 3), lambda ctx, g, h: g + 3 * h).apply(x)


def left_behind(kind):
    """Return a view that autograd can no longer follow, because its base was changed."""
    y = leaf() * 1
    if kind == "function":
        view = function(lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2)).apply(y)
    else:
        with torch.no_grad():
            view = y[:1]
    y.add_(1)
    return view


# %% a value changed between two backward passes is refused; if it was freed, the error says only that
w = T([3.0, 4.0])
retained, freed = (x * w).sum(), (x * w).sum()
retained.backward(retain_graph=True)
freed.backward()
w.add_(1)
tried(retained.backward)
tried(freed.backward)

# %% the first backward frees the part of the graph that two results share -> RuntimeError
y = x**2
first, second = y.exp().sum(), y.sin().sum()
first.backward()
second.backward()

# %% a saved value that was changed cannot be inspected either -> RuntimeError
w = T([3.0, 4.0])
z = x * w
w.add_(1)
z.grad_fn._saved_other

# %% a non-function can be registered as a hook but not called -> TypeError
x.register_hook(3)
x.sum().backward()

# %% materialized zeros require a gradient if the other results do
x, unused = leaf(), torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
plain = A.grad((x * x).sum(), [x, unused], materialize_grads=True)
plain, A.grad((x * x).sum(), [x, unused], create_graph=True, materialize_grads=True)

# %% a gradient that was copied counts as changed once
x, w = leaf(), T([3.0, 4.0])
(x + 0).backward(w)
y = leaf()
(y * 2).backward(w)
x.grad._version, y.grad._version

# %% a view left behind can only be printed, detached, and used in unrecorded computations
for view in (left_behind("function"), left_behind("no_grad")):
    tried(getattr, view, "grad_fn")
    tried(lambda: view * 2)  # noqa: B023 - called immediately
    tried(view.add_, 1)
    show(view.detach(), view.requires_grad, "Invalid" in repr(view))
with torch.no_grad():
    show(left_behind("function") * 2)

# %% prehooks see the gradients of several outputs, and each output can retain its own
first, second = pair(x)
first.retain_grad()
second.retain_grad()
first.grad_fn.register_prehook(lambda grads: show(*grads) or tuple(grad * 2 for grad in grads))
(first + second * 3).sum().backward()
first.grad, second.grad, x.grad

# %% an inner tensor that is captured on the way to another has its gradient from before its hooks
x = leaf()
y = x * 2
y.register_hook(lambda gradient: gradient * 10)
w = y * y
w.retain_grad()
w.register_hook(lambda gradient: gradient * 3)
show(*A.grad(w.sum(), (y, x), retain_graph=True))
show(*A.grad(w.sum(), (x, w, y, w), retain_graph=True))
show(w.grad)
show(*A.grad(w.sum(), (y,), retain_graph=True))
w.sum().backward(inputs=[y, x])
y.grad, x.grad
