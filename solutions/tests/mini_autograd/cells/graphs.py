"""Graphs used from outside: nodes called by hand, edges, views left behind."""


# %%
def left_behind(kind):
    """Return a view that autograd can no longer follow, because its base was changed."""
    y = leaf() * 1
    if kind == "unbind":
        view = y.unbind()[0]
    else:
        with torch.no_grad():
            view = y[:1]
    y.add_(1)
    return view


# %% values freed by grad are missing in backward -> RuntimeError
z = x.exp() * x
A.grad(z.sum(), x)
z.sum().backward()

# %% a value changed between two backward passes is refused in the second pass -> RuntimeError
x, w = leaf(), T([3.0, 4.0])
z = (x * w).sum()
z.backward(retain_graph=True)
w.add_(1)
z.backward()

# %% for a value that was freed and changed, the error says that it was freed -> RuntimeError
x, w = leaf(), T([3.0, 4.0])
z = (x * w).sum()
z.backward()
w.add_(1)
z.backward()

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

# %% a node called by hand accepts None for a missing gradient
first, _ = x.unbind()
(leaf() * 2).grad_fn(None), first.grad_fn(T(3.0), None)

# %% a leaf's node called by hand accumulates, and returns nothing
node = (x * 2).grad_fn.next_functions[0][0]
node(T([1.0, 5.0])), node(T([1.0, 5.0])), node(None), x.grad

# %% a non-function can be registered as a hook but not called -> TypeError
x.register_hook(3)
x.sum().backward()

# %% a hook with too few parameters fails when it is called -> TypeError
x.register_hook(lambda: None)
x.sum().backward()

# %% a tensor's edge consists of its node or accumulator and the output index
edges = [A.graph.get_gradient_edge(each) for each in (x, x * 2, x.unbind()[1])]
[(type(edge).__name__, edge._fields, edge.node, edge.output_nr) for edge in edges]

# %% a tensor that requires no gradient has no edge -> RuntimeError
A.graph.get_gradient_edge(torch.ones(2))

# %% grad accepts edges as outputs and as inputs
y = x * 2
to_x, to_y, to_z = map(A.graph.get_gradient_edge, (x, y, y * y))
weights = T([1.0, 10.0])
A.grad(to_z, [to_x, to_y, y], weights, retain_graph=True), A.grad([to_y], to_x, [weights])

# %% backward can start at an edge, and accumulates into the leaf behind an edge
x, w = leaf(), leaf()
edge_of = A.graph.get_gradient_edge
A.backward(edge_of(x * w), T([1.0, 10.0]), inputs=[edge_of(x)])
x.grad, w.grad

# %% backward accepts an edge inside the graph as an input, but stores nothing
y = x * x
A.backward((y * 2).sum(), inputs=[A.graph.get_gradient_edge(y)])
x.grad

# %% materialized zeros require a gradient if the other results do
x, unused = leaf(), torch.ones(2, 3, dtype=torch.float64, requires_grad=True)
plain = A.grad((x * x).sum(), [x, unused], materialize_grads=True)
plain, A.grad((x * x).sum(), [x, unused], create_graph=True, materialize_grads=True)

# %% zeros cannot be materialized for an edge -> RuntimeError
unused = A.graph.get_gradient_edge(x)
A.grad(leaf().sum(), [unused], materialize_grads=True)


# %% a mode that decorates a class warns
@torch.no_grad()
class Noted:
    def __init__(self):
        self.enabled = torch.is_grad_enabled()


Noted().enabled, torch.is_grad_enabled()

# %% a gradient that was copied counts as changed once
x, w = leaf(), T([3.0, 4.0])
(x + 0).backward(w)
y = leaf()
(y * 2).backward(w)
x.grad._version, y.grad._version

# %% each -> TypeError
(x * 2).grad_fn()
(x * 2).grad_fn(torch.ones(2), torch.ones(2))
x.unbind()[0].grad_fn(T(1.0))
(x * 2).grad_fn(3.0)

# %% each -> RuntimeError
A.grad(A.graph.get_gradient_edge(x * x), x)
A.grad(A.graph.get_gradient_edge(x * x), x, torch.ones(3))
A.grad(x.sum(), [3])
left_behind("unbind").grad_fn
left_behind("unbind") * 2
left_behind("unbind").add_(1)
left_behind("no_grad").grad_fn
left_behind("no_grad") * 2
left_behind("no_grad").add_(1)

# %% an edge whose output has one element needs no external gradient
A.grad(A.graph.get_gradient_edge((x * x).sum()), x)

# %% a view left behind can be printed, detached, and used in unrecorded computations
for view in (left_behind("unbind"), left_behind("no_grad")):
    show(repr(view), view.detach(), view.requires_grad)
with torch.no_grad():
    show(left_behind("unbind") * 2)

# %% prehooks see the gradients of several outputs, and each output can retain its own
first, second = x.unbind()
first.retain_grad()
second.retain_grad()
first.grad_fn.register_prehook(lambda grads: show(*grads) or tuple(grad * 2 for grad in grads))
(first + second * 3).backward()
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

# %% one of several outputs that is captured on the way to a leaf has its gradient from before its hooks
x = leaf()
a, b = (x * 2).unbind()
a.register_hook(lambda gradient: gradient * 10)
A.grad(a * 5 + b, (a, b, x))
