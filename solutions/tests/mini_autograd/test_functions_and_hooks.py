"""Custom functions, and hooks that replace a gradient.

The same code runs on torch and on mini_autograd. The tests compare values, dtypes, names of nodes, error types and
messages, warnings, and the order of hooks.
"""

import pytest
from both import assert_same_in, cases


def functions_and_hooks(torch, see, show):
    """Custom functions, and hooks that replace a gradient."""
    T, A = torch.tensor, torch.autograd

    def X():
        return T([1.0, 2.0], requires_grad=True)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_prehook(lambda go: [go[0] * 2])
        y.sum().backward()
        return x.grad

    see("a prehook must return a tuple", f, raises=TypeError)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: (None, None))
        y.sum().backward()
        return x.grad

    see("a node hook may take gradients away", f)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: (gi[0], 3))
        y.sum().backward()
        return x.grad

    see("a node hook may not replace None by a number", f, raises=RuntimeError)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: (gi[0], gi[0]))
        y.sum().backward()
        return x.grad

    see("a node hook may not replace None by a tensor", f, raises=RuntimeError)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: (gi[0][:1], None))
        y.sum().backward()
        return x.grad

    see("a node hook may not change the shape", f, raises=RuntimeError)

    def f():
        x = X()
        x.register_hook(lambda g: g.double())
        x.sum().backward()
        return x.grad

    see("a hook may not change the dtype", f, raises=RuntimeError)

    def f():
        x = X()
        y = x * 2
        h = y.register_hook(lambda g: g * 3)
        h.remove()
        h.remove()
        y.sum().backward()
        return x.grad

    see("a handle may be removed twice", f)

    def f():
        x = X()
        ev = []
        y = x * 2
        y.register_hook(lambda g: ev.append(1))
        y.add_(1)
        y.register_hook(lambda g: ev.append(2))
        y.sum().backward()
        return ev

    see("hooks stay with the tensor's place in the graph at which they were registered", f)

    def f():
        x = X()
        y = x * 2
        y.retain_grad()
        y.mul_(3)
        y.sum().backward()
        return y.grad

    see("retain_grad follows a change in place", f)

    def f():
        x = X()
        y = x * 2
        y.retain_grad()
        y[0].mul_(3)
        y.sum().backward()
        return (y.grad, y.retains_grad, y.grad_fn)

    see("retain_grad follows a change through a view", f)

    class TooMany(A.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (_x,) = ctx.saved_tensors
            return (g * 2, g)

    see("a gradient too many is refused", lambda: TooMany.apply(X()).sum().backward(), raises=RuntimeError)

    class TooFew(A.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.k = 1
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    see("a gradient too few is refused", lambda: TooFew.apply(X(), X()).sum().backward(), raises=RuntimeError)

    class Narrow(A.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g[:1]

    class F2(Narrow):
        @staticmethod
        def backward(ctx, g):
            return torch.ones(3)

    see(
        "a gradient in a smaller shape is refused or expanded as in torch",
        lambda: (lambda x: (Narrow.apply(x).sum().backward(), x.grad))(X()),
        raises=RuntimeError,
    )
    see("a gradient of another shape is refused", lambda: F2.apply(X()).sum().backward(), raises=RuntimeError)

    class F3(Narrow):
        @staticmethod
        def backward(ctx, g):
            return 3

    see("a gradient that is not a tensor is refused", lambda: F3.apply(X()).sum().backward(), raises=RuntimeError)

    class F4(A.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    see(
        "an input that is returned as it is becomes a view of it",
        lambda: (lambda x: (F4.apply(x), F4.apply(x) is x))(X()),
    )
    see("such an output is not changed in place", lambda: (lambda x: F4.apply(x).add_(1))(X()), raises=RuntimeError)

    class F5(A.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def f():
        x = X()
        y = x * 1
        z = F5.apply(y)
        z.backward(T([1.0, 5.0]))
        return (y is z, y, x.grad, y._version)

    see("mark_dirty moves the tensor into the graph", f)
    see("a leaf that requires grad is not marked dirty", lambda: F5.apply(X()), raises=RuntimeError)

    def f():
        x = X()
        y = x * 1
        v = y[:1]
        z = F5.apply(v)
        y.backward(T([1.0, 5.0]))
        return (v is z, y, x.grad, y._version)

    see("mark_dirty works through a view", f)

    class F6(A.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 1
            z = x * 2
            ctx.mark_non_differentiable(y)
            return (y, z)

        @staticmethod
        def backward(ctx, g, h):
            show("   got", g, h)
            return h * 2

    def f():
        x = X()
        y, z = F6.apply(x)
        z.backward(T([1.0, 5.0]))
        return (y, z, x.grad)

    see("mark_non_differentiable gives an output without gradient", f)

    class F7(A.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return (x * 1, x * 2)

        @staticmethod
        def backward(ctx, g, h):
            show("   got", g, h)
            return h * 2

    def f():
        x = X()
        y, z = F7.apply(x)
        z.backward(T([1.0, 5.0]))
        return (y, z, x.grad)

    see("without materialized gradients, backward receives None", f)

    class F8(A.Function):
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
            show("  ", x, o, ctx.needs_input_grad, o.grad_fn is ctx)
            return (g * ctx.k, None)

    def f():
        x = X()
        y = F8.apply(x, 3.0)
        y.backward(T([1.0, 5.0]))
        return (y, x.grad)

    see("setup_context receives inputs and output", f)

    class F9(F8):
        @staticmethod
        @A.function.once_differentiable
        def backward(ctx, g):
            x, _o = ctx.saved_tensors
            return (g * ctx.k * x, None)

    def f():
        x = X()
        y = F9.apply(x, 3.0)
        (g,) = A.grad(y.sum(), x, create_graph=True)
        show(g)
        g.sum().backward()

    see("once_differentiable lets the first derivative pass", f, raises=RuntimeError)
    see(
        "a Function without backward says so",
        lambda: type("G", (A.Function,), {"forward": staticmethod(lambda ctx, x: x * 2)}).apply(X()).sum().backward(),
        raises=NotImplementedError,
    )
    see("a Function is not instantiated", lambda: Narrow()(X()), raises=RuntimeError)
    see(
        "only tensors are saved for backward",
        lambda: type(
            "G", (A.Function,), {"forward": staticmethod(lambda ctx, x: (ctx.save_for_backward(3), x * 2)[1])}
        ).apply(X()),
        raises=TypeError,
    )
    see(
        "forward may return a number",
        lambda: type("G", (A.Function,), {"forward": staticmethod(lambda ctx, x: 3)}).apply(X()),
    )
    see(
        "forward may return tensors among others",
        lambda: type("G", (A.Function,), {"forward": staticmethod(lambda ctx, x: (x * 1, 3, None))}).apply(X()),
    )
    see(
        "a list is no tuple of outputs",
        lambda: type("G", (A.Function,), {"forward": staticmethod(lambda ctx, x: [x * 1, 3, None])}).apply(X()),
    )
    see("apply takes names of arguments or not, as torch does", lambda: Narrow.apply(x=X()))

    def f():
        x = X()
        y = F8.apply(x, 3.0)
        y.sum().backward()
        y.sum().backward()

    see("a second walk through a Function that saved something is refused", f, raises=RuntimeError)

    def f():
        x = X()
        y = Narrow.apply(x)
        y.sum().backward()
        y.sum().backward()
        return x.grad

    see("a second walk is allowed where it saved nothing", f, raises=RuntimeError)

    def f():
        x = X()
        y = F8.apply(x, 3.0)
        y.sum().backward()
        return y.grad_fn.saved_tensors

    see("saved tensors that were freed are not shown", f, raises=RuntimeError)

    def f():

        class R(A.Function):
            @staticmethod
            def forward(ctx, x):
                show("   ", torch.is_grad_enabled(), x.requires_grad, x.grad_fn)
                return x * 2

            @staticmethod
            def backward(ctx, g):
                show("   ", torch.is_grad_enabled(), g.requires_grad)
                return g * 2

        x = X()
        y = R.apply(x * 1)
        A.grad(y.sum(), x)
        y = R.apply(x * 1)
        A.grad(y.sum(), x, create_graph=True)

    see("forward is not recorded, backward only with create_graph", f)

    def f():
        x = X()
        y = F4.apply(x.detach())
        return (y, y is x)

    see("without gradients an output is a plain tensor", f)

    class FV(A.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(2, 1)

        @staticmethod
        def backward(ctx, g):
            return g.view(2)

    def f():
        x = X()
        y = FV.apply(x * 1)
        r = (y, y._is_view())
        y.add_(1)
        return r

    see("a view made in a Function is not changed in place", f, raises=RuntimeError)


@pytest.mark.parametrize("label", cases(functions_and_hooks))
def test_same_as_torch(label):
    assert_same_in(functions_and_hooks, label)
