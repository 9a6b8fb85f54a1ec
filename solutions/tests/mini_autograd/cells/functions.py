"""Custom Functions."""

# %%
double = function(lambda ctx, x, *others: x * 2)
same = function(lambda ctx, x: x)


def changing(returned):
    """Return the `apply` of a Function that doubles its input in place and returns `returned(input)`."""

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return returned(x.mul_(2))

    return function(forward, lambda ctx, g, h=0: 2 * g + 3 * h).apply


in_place = changing(lambda y: y)


class Scaled(A.Function):
    @staticmethod
    def forward(x, k):
        return x * k

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, k = inputs
        ctx.save_for_backward(x, output)
        ctx.k = k

    @staticmethod
    def backward(ctx, g):
        x, o = ctx.saved_tensors
        show(x, o, ctx.needs_input_grad, o.grad_fn is ctx)
        return (g * ctx.k, None)


# %% mark_dirty moves a tensor into the graph, or the tensor of which it is a view, or a constant
for start in (x * 1, T([1.0, 2.0], requires_grad=True).clone()[:1], T([1.0, 2.0])):
    z = in_place(start)
    show(z is start, start, start._version, start.is_leaf)
y = x * 1
in_place(y[:1])
y.backward(T([1.0, 5.0]))
add = function(lambda ctx, a, b: (ctx.mark_dirty(a), a.add_(b))[1], lambda ctx, g: (g, g))
constant = torch.ones(2)
add.apply(constant, x).backward(T([1.0, 10.0]))
with torch.no_grad():
    view = (x * 1)[:1]
tried(add.apply, view, x[:1])
y, x.grad, constant, constant.is_leaf

# %% a changed tensor may be returned second or twice; a changed view only alone, without a recorded graph also twice
y = x.clone()
a, b = changing(lambda y: (y + 1, y))(y)
(a + 10 * b).sum().backward()
show(b is y, b.output_nr, a.output_nr, x.grad, b.grad_fn is a.grad_fn)
a, b = changing(lambda y: (y, y))(x.clone())
(a + b).sum().backward()
show(a is b, x.grad)
tried(changing(lambda y: (y, y + 1)), x.clone()[:1])
a, b = changing(lambda y: (y, y))(torch.ones(2, 2)[0])
a is b, a


# %% without materialized gradients, backward receives None
def forward(ctx, x):
    ctx.set_materialize_grads(False)
    return x * 1, x * 2


def backward(ctx, g, h):
    show(g, h)
    return h * 2


y, z = function(forward, backward).apply(x)
z.backward(T([1.0, 5.0]))
x.grad

# %% once_differentiable allows only the first derivative: its results come from a node called Error
once = A.function.once_differentiable(lambda ctx, g: (g * (3 if torch.is_grad_enabled() else 5), None))
y = function(lambda ctx, x, k: x * 2, once).apply(x, 7)
y.sum().backward(retain_graph=True)
(grad,) = A.grad((y * y).sum(), x, create_graph=True)
show(x.grad, grad, type(grad.grad_fn).__name__, grad.grad_fn.next_functions, repr(grad))
tried(grad.sum().backward)


# %% an output marked by mark_non_differentiable has no gradient
def forward(ctx, x):
    y, z = x * 1, x * 2
    ctx.mark_non_differentiable(y)
    return y, z


def backward(ctx, g, h):
    show(g, h)
    return h * 2


y, z = function(forward, backward).apply(x)
z.backward(T([1.0, 5.0]))
(y, z, x.grad)


# %% forward is never recorded, and backward only with create_graph
def forward(ctx, x):
    show(torch.is_grad_enabled(), x.requires_grad, x.grad_fn)
    return x * 2


def backward(ctx, g):
    show(torch.is_grad_enabled(), g.requires_grad)
    return g * 2


for create_graph in (False, True):
    y = function(forward, backward).apply(x * 1)
    A.grad(y.sum(), x, create_graph=create_graph)

# %% if no input requires a gradient, the output is a plain tensor
y = same.apply(x.detach())
(y, y is x)

# %% a returned input is a view of it
(same.apply(x), same.apply(x) is x)

# %% a view made in a Function, or a returned input, cannot be changed in place
y = function(lambda ctx, x: x.view(2, 1), lambda ctx, g: g.view(2)).apply(x * 1)
show(y, y._is_view())
tried(y.add_, 1)
tried(same.apply(x).add_, 1)

# %% each
function(lambda ctx, x: 3).apply(x)
function(lambda ctx, x: [x * 1, 3, None]).apply(x)
repr(double.apply(x).grad_fn).split(" at ")[0]

# %% each -> RuntimeError
function(lambda ctx, x: x * 2, lambda ctx, g: (g * 2, g)).apply(x).sum().backward()
double.apply(x, leaf()).sum().backward()
function(lambda ctx, x, k: x * 2, lambda ctx, g: (g, g)).apply(x, 3.0).sum().backward()
function(lambda ctx, x: x * 2, lambda ctx, g: torch.ones(3)).apply(x).sum().backward()
function(lambda ctx, x: x * 2, lambda ctx, g: 3).apply(x).sum().backward()
function(lambda ctx, x: (ctx.mark_dirty(x), x * 2)[1]).apply(x * 1)
in_place(x)

# %% only tensors can be saved for backward -> TypeError
function(lambda ctx, x: (ctx.save_for_backward(3), x * 2)[1]).apply(x)

# %% each -> NotImplementedError
type("Mine", (A.Function,), {}).apply(x)
type("Mine", (A.Function,), {"forward": staticmethod(lambda ctx, x: x * 2)}).apply(x).sum().backward()


# %% None may be saved for backward, and comes back as None; extra gradients are accepted if they are None
def forward(ctx, x):
    ctx.save_for_backward(None, x)
    return x * 2


def backward(ctx, g):
    nothing, x = ctx.saved_tensors
    show(nothing)
    return g * x, None, None


function(forward, backward).apply(x).backward(T([1.0, 5.0]))
x.grad

# %% all nodes of a Function have the same class, and each Function has a different class
again = type("Again", (double,), {})
a, b, c = double.apply(x).grad_fn, double.apply(x).grad_fn, again.apply(x).grad_fn
type(a) is type(b) is double._backward_cls, type(c) is type(a), a, c, type(c).__name__


# %% non-tensors keep their positions among inputs, outputs and gradients
def forward(ctx, a, x, k=2):
    ctx.k = k
    show(ctx.needs_input_grad)
    return "text", x * k, x * a, None


def backward(ctx, *grads):
    show(*grads)
    return None, grads[1] * ctx.k, None


outputs = function(forward, backward).apply(5, x, 3)
outputs[1].backward(T([1.0, 10.0]))
outputs, x.grad, [each.output_nr for each in outputs[1:3]], outputs[1].grad_fn.next_functions


# %% setup_context sees all outputs and an omitted argument's default, for which backward must return a gradient
def setup_context(ctx, inputs, output):
    ctx.save_for_backward(*output)
    ctx.k = inputs[1]


def backward(ctx, g, h):
    y, z = ctx.saved_tensors
    return g * ctx.k * z.detach() + h * y.detach(), *(None,) * (ctx.k - 2)


mine = function(lambda x, k=2: (x * k, x + k), backward, setup_context=staticmethod(setup_context))
y, z = mine.apply(x, 3)
(y * 2 + z).backward(T([1.0, 10.0]))
show(y, z, x.grad)
tried(mine.apply(x)[0].sum().backward)

# %% tensors in a list are not inputs of a Function
y = leaf()
z = function(lambda ctx, xs, y: xs[0] * y, lambda ctx, g: (None, g)).apply([x], y)
z.sum().backward()
z, x.grad, y.grad

# %% saved tensors that were freed are not shown, so a second backward that reads them is refused
y = Scaled.apply(x, 3.0)
z = function(lambda ctx, x: x * 2, lambda ctx, g: g * (2 + len(ctx.saved_tensors))).apply(x)
for each in (y, z):
    each.sum().backward()
    tried(each.sum().backward)
tried(getattr, y.grad_fn, "saved_tensors")

# %% a second backward runs if nothing was saved or read, or if the graph was retained
y = double.apply(x).sum()
y.backward()
y.backward()
z = Scaled.apply(x, 3.0).sum()
z.backward(retain_graph=True)
z.backward()
x.grad

# %% a change in place of one output leaves the retained gradient of the other
a, b = function(lambda ctx, x: (x * 2, x * 3), lambda ctx, g, h: 2 * g + 3 * h).apply(x)
a.retain_grad()
b.retain_grad()
a.mul_(5)
(a * b).sum().backward()
a.grad, b.grad, x.grad
