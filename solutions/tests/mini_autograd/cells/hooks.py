"""The order of hooks, and what nodes show."""

# %% hooks run in the order: tensor, retain_grad, prehook, node, leaf, accumulated
ev = []
y = x * 2
z = y.exp()
y.register_hook(lambda g: ev.append("y1"))
y.retain_grad()
y.register_hook(lambda g: ev.append("y2"))
y.grad_fn.register_prehook(lambda g: ev.append("pre"))
y.grad_fn.register_hook(lambda a, b: ev.append(("post", a, b)))
x.register_hook(lambda g: ev.append("x"))
x.register_post_accumulate_grad_hook(lambda p: ev.append("xacc"))
a = y.grad_fn.next_functions[0][0]
a.register_prehook(lambda g: ev.append("apre"))
a.register_hook(lambda i, o: ev.append(("apost", i, o)))
z.sum().backward()
ev

# %% grad runs the hooks of a leaf and returns what they return, but accumulates nothing
ev = []
x.register_hook(lambda g: (ev.append("h1"), g * 10)[1])
x.register_post_accumulate_grad_hook(lambda p: ev.append("xacc"))
y = x * 2
a = y.grad_fn.next_functions[0][0]
a.register_prehook(lambda g: ev.append("apre"))
a.register_hook(lambda *g: ev.append("apost"))
y.grad_fn.register_hook(lambda *g: ev.append("ypost"))
g = A.grad(y.sum(), [x])
(g, x.grad, ev)

# %% up to three leaves that are ready at the same time run in the order of the inputs, and before other nodes
join = function(lambda ctx, *xs: xs[0] * 1, lambda ctx, g: (g,) * 3).apply
leaves, ev = [leaf() for _ in range(4)], []
for i, each in enumerate(leaves):
    each.register_hook(lambda g, i=i: ev.append(i))
(join(*leaves[:3]) + leaves[3] * 2).sum().backward()
ev

# %% an in-place change in a hook has the same effect as in torch
y = x * 2
y * 3
y.register_hook(lambda g: g.mul_(2))
v = T([1.0, 5.0])
y.backward(v)
(v, x.grad)

# %% a saved output is that output or a new tensor, as in torch
y = x.exp()
(y.grad_fn._saved_result is y, (y * y).grad_fn._saved_self is y, y.grad_fn is y.grad_fn)

# %% what a tensor's hook may not return
for value in (3, "text", [1.0], (1,), T([1.0]), leaf().double()):
    y = leaf() * 1
    y.register_hook(lambda grad, value=value: value)
    tried(y.sum().backward)

# %% what a node's hook may not return, but for Nones
for hook in (
    lambda gi, go: 3,
    lambda gi, go: "text",
    lambda gi, go: [1.0],
    lambda gi, go: (1,),
    lambda gi, go: gi[0] * 2,
    lambda gi, go: gi + gi,
    lambda gi, go: (gi[0], 3),
    lambda gi, go: (gi[0], gi[0]),
    lambda gi, go: (gi[0][:1], None),
    lambda gi, go: (None, None),
):
    x = leaf()
    y = x * 1
    y.grad_fn.register_hook(hook)
    tried(y.sum().backward)
    show(x.grad)

# %% what a node's prehook may not return
for hook in (
    lambda go: 3,
    lambda go: "text",
    lambda go: [go[0] * 2],
    lambda go: (1,),
    lambda go: go[0] * 2,
    lambda go: (go[0] * 2, go[0]),
):
    y = leaf() * 1
    y.grad_fn.register_prehook(hook)
    tried(y.sum().backward)

# %% what a post-accumulate hook may not return
for hook in (lambda tensor: 3, lambda tensor: tensor * 2):
    x = leaf()
    x.register_post_accumulate_grad_hook(hook)
    tried(x.sum().backward)
    show(x.grad)

# %% hooks stay on the node that the tensor had when they were registered
y = x * 2
y.register_hook(lambda g: show(1))
y.add_(1)
y.register_hook(lambda g: show(2))
y.sum().backward()

# %% retain_grad follows an in-place change, even through a view
for change in (lambda y: y.mul_(3), lambda y: y[0].mul_(3)):
    y = leaf() * 2
    y.retain_grad()
    change(y)
    y.sum().backward()
    show(y.grad, y.retains_grad, y.grad_fn)

# %% hooks on an output that receives no gradient are called with None
x = leaf()
first, second = function(lambda ctx, x: (x * 1, x * 3), lambda ctx, g, h: g + 3 * h).apply(x)
first.register_hook(lambda g: show("first", g))
second.register_hook(lambda g: show("second", g))
second.backward(T([1.0, 5.0]))
x.grad

# %% gradients accumulate in the same tensor, but not in one that a hook kept
kept, grads = [], []
x.register_hook(kept.append)
for _ in range(2):
    (x * T([2.0, 3.0])).backward(T([1.0, 10.0]))
    grads.append(x.grad)
kept, grads, grads[0] is grads[1]
