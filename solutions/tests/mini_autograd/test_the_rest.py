"""Modes, Jacobians, double backward, re-entrance. The same code runs on torch and on mini_autograd.

Compared are values, dtypes, names of nodes, error types and words, warnings, and the order of hooks.
"""
# ruff: noqa: F841 - scenarios do odd things on purpose, and leave results unused

import pytest
from both import assert_same, cases, collect, functional_of


def the_rest(torch, see):
    """Modes, Jacobians, double backward, re-entrance."""
    T, A, F, FF, seen = torch.tensor, torch.autograd, functional_of(torch), torch.autograd.functional, []

    def X():
        return T([1.0, 2.0], requires_grad=True)

    def show(*values):
        seen.append(values)

    def f():
        y = X() * 1
        y.fill_(T(3.0))
        return (y.grad_fn, y.grad_fn.next_functions)

    see("fill t", f)

    def f():
        y = X() * 1
        y.fill_(T(3.0, requires_grad=True))
        return (y.grad_fn, y.grad_fn.next_functions)

    see("fill t 2", f)

    def f():
        y = X() * 1
        y[0] = T(3.0, requires_grad=True)
        return (y.grad_fn, y.grad_fn.next_functions)

    see("set t", f)

    def f():
        y = X() * 1
        y[[0]] = T(3.0, requires_grad=True)
        y[T([True, False])] = T([3.0])
        return (y.grad_fn, y.grad_fn.next_functions)

    see("set adv", f)

    def f():
        y = torch.ones(2, 3, requires_grad=True) * 1
        y[:, [0, 1]] = 5.0
        return (y.grad_fn, y.grad_fn.next_functions)

    see("set adv2", f)

    def f():
        y = torch.ones(2, 3, requires_grad=True) * 1
        y[0, :] = T([1.0, 2.0, 3.0])
        y[..., 1] = 0
        y[:] = y * 2
        return (y.grad_fn, y)

    see("set 2", f)

    def f():
        y = torch.ones(2, 3)
        y[:] = T([[[1.0, 2.0, 3.0]]])
        return y

    see("set extra dims", f)

    def f():
        y = torch.ones(2, 3)
        y[0] = T([1.0, 2.0])

    see("set bad", f)

    def f():
        y = T([1, 2])
        y[0] = 2.7
        return y

    see("set int", f)

    def f():
        y = T([1, 2])
        y.fill_(2.7)
        y.copy_(T([1.5, 2.5]))
        return y

    see("fill int", f)

    def f():
        x = X()
        y = x * 1
        y.masked_fill_(y > 1, 5.0)
        return (y, y.grad_fn)

    see("mf", f)

    def f():
        x = X()
        y = x * 1
        y.clamp_(max=1.0)
        y.sigmoid_().exp_().neg_()
        return (y, y.grad_fn)

    see("unary_", f)

    def f():
        x = T([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        return (
            x[:, 0],
            x[0, :1],
            x[None, 0],
            x[..., None],
            x[T([0, 1]), T([1, 0])],
            x[x > 2],
            x[[0, 0]],
            x[:, [1]],
            x[0][1],
            x[-1],
            x[1:, ..., 0],
            x[T(1)],
            x[T([True, False])],
            x[:, T([[0], [1]])],
            x[None],
            x[True],
        )

    see("idx", f)

    def f():
        return [
            (a.sum().backward(), x.grad)[1]
            for x in [T([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)]
            for a in [x[T([0, 1, 0])] * T([[1.0, 2.0]]), x[:, [0, 0]] * 3, x[x > 2] * 7]
        ]

    see("idx g", f)
    see("dict", lambda: {X(): 1} and 1)
    see("max both", lambda: (X().max(0).indices, X().max(dim=0, keepdim=True)))
    see("round", lambda: T([0.5, 1.5, -2.5]).round())
    see("sum neg", lambda: torch.ones(2, 3).sum((-1, 0)))
    see("sum kd", lambda: torch.ones(2, 3).sum(-1, keepdim=True))
    see("mean tuple", lambda: torch.ones(2, 3).mean(dim=(0, 1)))
    see("std", lambda: (X().std(), X().var(unbiased=False), X().var(dim=0, correction=0)))
    see("pows", lambda: (X() ** 0, X() ** 0.5, 2 ** X(), X() ** X(), X() ** (-1), X().pow(3)))
    see(
        "matmuls",
        lambda: [
            (torch.ones(a, requires_grad=True) @ torch.ones(b)).shape
            for a, b in [
                ((2,), (2,)),
                ((2, 3), (3,)),
                ((2,), (2, 3)),
                ((2, 3), (3, 4)),
                ((5, 2, 3), (3, 4)),
                ((5, 2, 3), (5, 3, 4)),
                ((5, 2, 3), (3,)),
                ((3,), (5, 3, 2)),
                ((2, 3), (5, 3, 2)),
                ((4, 1, 2, 3), (5, 3, 2)),
            ]
        ],
    )

    def f():
        x = X()

        @torch.no_grad()
        def g():
            return x * 2

        @torch.no_grad
        def h():
            return x * 2

        @torch.set_grad_enabled(False)
        def k():
            return x * 2

        @torch.inference_mode()
        def m():
            return x * 2

        @torch.enable_grad()
        def e():
            return x * 2

        @torch.no_grad()
        def gen():
            y = x * 2
            z = yield y.requires_grad
            yield (torch.is_grad_enabled(), z)

        it = gen()
        a = next(it)
        b = torch.is_grad_enabled()
        c = it.send(5)
        with torch.no_grad():
            d = e().requires_grad
        return (g(), h(), k(), m(), a, b, c, d, torch.is_grad_enabled())

    see("modes", f)

    def f():
        torch.set_grad_enabled(False)
        a = torch.is_grad_enabled()
        torch.set_grad_enabled(True)
        with torch.set_grad_enabled(False):
            b = torch.is_grad_enabled()
        try:
            with torch.no_grad():
                raise ValueError
        except ValueError:
            pass
        n = torch.no_grad()
        with n:
            with torch.enable_grad():
                c = torch.is_grad_enabled()
            d = torch.is_grad_enabled()
        return (a, b, c, d, torch.is_grad_enabled(), torch.is_inference_mode_enabled())

    see("modes2", f)
    see("jac", lambda: FF.jacobian(lambda x, y: (x * y, x.sum()), (X(), X())))
    see("jac1", lambda: FF.jacobian(lambda x: x**3, X(), create_graph=True))
    see("hess", lambda: FF.hessian(lambda x: (x**3).sum(), X()))
    see("hess2", lambda: FF.hessian(lambda x, y: (x**3 * y).sum(), (X(), X())))
    see("vjp", lambda: FF.vjp(lambda x: x**3, X(), T([1.0, 3.0])))
    see("jvp", lambda: FF.jvp(lambda x: x**3, X(), T([1.0, 3.0])))
    see("hvp", lambda: FF.hvp(lambda x: (x**3).sum(), X(), T([1.0, 3.0])))
    see("vhp", lambda: FF.vhp(lambda x: (x**3).sum(), X(), T([1.0, 3.0])))
    see("vjp err", lambda: FF.vjp(lambda x: x**3, X(), T([1.0])))
    see("vjp err2", lambda: FF.vjp(lambda x: x**3, X()))
    see("hvp err", lambda: FF.hvp(lambda x: x**3, X(), X()))
    see("jac err", lambda: FF.jacobian(lambda x: 3, X()))
    see("gc", lambda: A.gradcheck(lambda x: x**3, X().double().detach().requires_grad_()))
    see("ggc", lambda: A.gradgradcheck(lambda x: x**3, X().double().detach().requires_grad_()))

    class Bad(A.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2.002

    see("gc bad", lambda: A.gradcheck(Bad.apply, X().double().detach().requires_grad_()))
    see("gc bad2", lambda: A.gradcheck(Bad.apply, X().double().detach().requires_grad_(), raise_exception=False))
    see("gc none", lambda: A.gradcheck(lambda x: x, T([1.0])))

    def f():
        x = X()
        ev = []

        def hook(g):
            w = X()
            (w * g).sum().backward()
            ev.append(w.grad.clone())

        y = x * 2
        y.register_hook(hook)
        (y * y).sum().backward()
        return (ev, x.grad)

    see("reentrant", f)

    def f():
        x = X()
        y = x * 2

        def bad(g):
            raise ValueError("oops")

        h = y.register_hook(bad)
        z = (y * y).sum()
        try:
            z.backward()
        except ValueError as e:
            m = str(e)
        a = torch.is_grad_enabled()
        h.remove()
        try:
            z.backward()
            r = x.grad
        except RuntimeError as e:
            r = str(e)[:30]
        return (m, a, r)

    see("raising hook", f)

    def f():
        x = X()
        y = x * 2
        z = (y * y).sum()
        (g,) = A.grad(z, x, create_graph=True)
        (h,) = A.grad(g, x, T([1.0, 10.0]))
        return (g, h)

    see("double", f)

    def f():
        x = X()
        y = x * 2
        A.backward([y.sum(), (y * y).sum()], [None, T(3.0)])
        return x.grad

    see("roots", f)

    def f():
        x = X()
        y = x * x
        y.sum().backward(create_graph=True)
        g = x.grad
        (g * g).sum().backward()
        return (x.grad, g is x.grad)

    see("cg backward", f)
    see(
        "torch.add",
        lambda: (
            torch.add(X(), X(), alpha=2),
            torch.sub(X(), 1.0),
            torch.mul(X(), 2),
            torch.div(X(), 2),
            torch.pow(X(), 2),
            torch.sum(X()),
            torch.matmul(X(), X()),
            torch.exp(X()),
        ),
    )
    see("tolist", lambda: X().tolist())
    see("format", lambda: f"{X().sum():.2f}")


@pytest.mark.parametrize("label", cases(the_rest))
def test_same_as_torch(label):
    assert_same(lambda lib: collect(the_rest, lib)[label]())
