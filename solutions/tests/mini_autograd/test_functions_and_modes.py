"""Custom functions, hooks that replace, saved-tensor hooks, inference mode.

The same code runs on torch and on mini_autograd.
Compared are values, dtypes, names of nodes, error types and words, warnings, and the order of hooks.
"""
# ruff: noqa: F811, F841, RUF059 - scenarios do odd things on purpose, and leave results unused

import pytest
from both import assert_same, cases, collect, functional_of


def functions_and_modes(torch, see):
    """Custom functions, hooks that replace, saved-tensor hooks, inference mode."""
    T, A, F, FF, seen = torch.tensor, torch.autograd, functional_of(torch), torch.autograd.functional, []

    def X():
        return T([1.0, 2.0], requires_grad=True)

    def show(*values):
        seen.append(values)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_prehook(lambda go: [go[0] * 2])
        y.sum().backward()
        return x.grad

    see("prehook list", f)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: (None, None))
        y.sum().backward()
        return x.grad

    see("post None", f)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: (gi[0], 3))
        y.sum().backward()
        return x.grad

    see("post 3", f)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: (gi[0], gi[0]))
        y.sum().backward()
        return x.grad

    see("post fill None", f)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: (gi[0][:1], None))
        y.sum().backward()
        return x.grad

    see("post size", f)

    def f():
        x = X()
        x.register_hook(lambda g: g.double())
        x.sum().backward()
        return x.grad

    see("hook dtype", f)

    def f():
        x = X()
        y = x * 2
        h = y.register_hook(lambda g: g * 3)
        h.remove()
        h.remove()
        y.sum().backward()
        return x.grad

    see("rm", f)

    def f():
        x = X()
        ev = []
        y = x * 2
        y.register_hook(lambda g: ev.append(1))
        y.add_(1)
        y.register_hook(lambda g: ev.append(2))
        y.sum().backward()
        return ev

    see("hook inplace", f)

    def f():
        x = X()
        ev = []
        y = x * 2
        y.retain_grad()
        z = y.grad_fn
        y.mul_(3)
        y.sum().backward()
        return y.grad

    see("retain inplace", f)

    def f():
        x = X()
        ev = []
        y = x * 2
        y.retain_grad()
        y[0].mul_(3)
        y.sum().backward()
        return (y.grad, y.retains_grad, y.grad_fn)

    see("retain inplace view", f)

    class F(A.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return (g * 2, g)

    see("too many", lambda: F.apply(X()).sum().backward())

    class F(A.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.k = 1
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    see("too few", lambda: F.apply(X(), X()).sum().backward())

    def f():
        y = F.apply(X(), 3.0)
        return (
            y.grad_fn,
            y.grad_fn.name(),
            type(y.grad_fn).__mro__,
            y.grad_fn.next_functions,
            y,
            y.grad_fn.needs_input_grad,
        )

    class F(A.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g[:1]

    class F2(F):
        @staticmethod
        def backward(ctx, g):
            return torch.ones(3)

    see("bc shape", lambda: (lambda x: (F.apply(x).sum().backward(), x.grad))(X()))
    see("bad shape", lambda: F2.apply(X()).sum().backward())

    class F3(F):
        @staticmethod
        def backward(ctx, g):
            return 3

    see("bad type", lambda: F3.apply(X()).sum().backward())

    class F4(A.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g

    see("identity", lambda: (lambda x: (F4.apply(x), F4.apply(x) is x))(X()))
    see("identity2", lambda: (lambda x: F4.apply(x).add_(1))(X()))

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

    see("dirty", f)
    see("dirty leaf", lambda: F5.apply(X()))

    def f():
        x = X()
        y = x * 1
        v = y[:1]
        z = F5.apply(v)
        y.backward(T([1.0, 5.0]))
        return (v is z, y, x.grad, y._version)

    see("dirty view", f)

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

    see("nondiff", f)

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

    see("no materialize", f)

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

    see("setup", f)

    class F9(F8):
        @staticmethod
        @A.function.once_differentiable
        def backward(ctx, g):
            x, o = ctx.saved_tensors
            return (g * ctx.k * x, None)

    def f():
        x = X()
        y = F9.apply(x, 3.0)
        (g,) = A.grad(y.sum(), x, create_graph=True)
        show(g)
        g.sum().backward()

    see("once", f)
    see(
        "no backward",
        lambda: type("G", (A.Function,), {"forward": staticmethod(lambda ctx, x: x * 2)}).apply(X()).sum().backward(),
    )
    see("instantiate", lambda: F()(X()))
    see(
        "save nontensor",
        lambda: type(
            "G", (A.Function,), {"forward": staticmethod(lambda ctx, x: (ctx.save_for_backward(3), x * 2)[1])}
        ).apply(X()),
    )
    see("nontensor out", lambda: type("G", (A.Function,), {"forward": staticmethod(lambda ctx, x: 3)}).apply(X()))
    see(
        "mixed out",
        lambda: type("G", (A.Function,), {"forward": staticmethod(lambda ctx, x: (x * 1, 3, None))}).apply(X()),
    )
    see(
        "list out",
        lambda: type("G", (A.Function,), {"forward": staticmethod(lambda ctx, x: [x * 1, 3, None])}).apply(X()),
    )
    see("kw", lambda: F.apply(x=X()))

    def f():
        x = X()
        y = F8.apply(x, 3.0)
        y.sum().backward()
        y.sum().backward()

    see("fn second", f)

    def f():
        x = X()
        y = F.apply(x)
        y.sum().backward()
        y.sum().backward()
        return x.grad

    see("fn second nosave", f)

    def f():
        x = X()
        y = F8.apply(x, 3.0)
        y.sum().backward()
        return y.grad_fn.saved_tensors

    see("fn saved freed", f)

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

    see("modes", f)

    def f():
        x = X()
        y = F4.apply(x.detach())
        return (y, y is x)

    see("nograd in", f)

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

    see("fn view", f)
    with torch.inference_mode():
        it = T([1.0, 2.0])
        it2 = it * 2
    see("inf mul", lambda: X() * it)
    see("inf add", lambda: X() + it)
    see("inf req", lambda: it.requires_grad_())
    see("inf ver", lambda: it._version)
    see(
        "inf repr",
        lambda: (
            it,
            it.is_inference(),
            it2.clone().is_inference(),
            it.detach().is_inference(),
            it[0].is_inference(),
            (it + 1).is_inference(),
        ),
    )

    def f():
        x = X()
        y = x * 2
        with torch.inference_mode():
            z = y * 2
            w = y[:1]
            r = (z.is_inference(), z.requires_grad, w.is_inference(), T([1.0], requires_grad=True))
        return (r, w * X()[:1])

    see("inf", f)

    def f():
        x = X()
        y = x * 2
        with torch.inference_mode():
            y.add_(1)
        return (y, y._version, y.grad_fn)

    see("inf inplace normal", f)

    def f():
        with torch.inference_mode(), torch.enable_grad():
            return (X() * 2, torch.is_grad_enabled())

    see("inf enable", f)

    def f():
        x = X()
        ev = []
        with A.graph.saved_tensors_hooks(
            lambda t: (ev.append(("p", t.clone())), t)[1], lambda t: (ev.append("u"), t)[1]
        ):
            y = (x * x).exp() * 3
        y.sum().backward()
        return (ev, x.grad)

    see("sth", f)


@pytest.mark.parametrize("label", cases(functions_and_modes))
def test_same_as_torch(label):
    assert_same(lambda lib: collect(functions_and_modes, lib)[label]())
