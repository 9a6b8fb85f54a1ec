"""Modes, Jacobians, double backward, re-entrance. The same code runs on torch and on mini_autograd.

The tests compare values, dtypes, names of nodes, error types and messages, warnings, and the order of hooks.
"""

import pytest
from both import assert_same_in, cases


def the_rest(torch, see, show):
    """Modes, Jacobians, double backward, re-entrance."""
    T, A, FF = torch.tensor, torch.autograd, torch.autograd.functional

    def X():
        return T([1.0, 2.0], requires_grad=True)

    def f():
        y = X() * 1
        y.fill_(T(3.0))
        return (y.grad_fn, y.grad_fn.next_functions)

    see("fill_ with a constant tensor has torch's node", f)

    def f():
        y = X() * 1
        y.fill_(T(3.0, requires_grad=True))
        return (y.grad_fn, y.grad_fn.next_functions)

    see("fill_ with a tensor that requires grad is connected to it", f)

    def f():
        y = X() * 1
        y[0] = T(3.0, requires_grad=True)
        return (y.grad_fn, y.grad_fn.next_functions)

    see("an element set from a tensor is connected to it", f)

    def f():
        y = X() * 1
        y[[0]] = T(3.0, requires_grad=True)
        y[T([True, False])] = T([3.0])
        return (y.grad_fn, y.grad_fn.next_functions)

    see("elements are set by lists and masks", f)

    def f():
        y = torch.ones(2, 3, requires_grad=True) * 1
        y[:, [0, 1]] = 5.0
        return (y.grad_fn, y.grad_fn.next_functions)

    see("several columns are set to a number", f)

    def f():
        y = torch.ones(2, 3, requires_grad=True) * 1
        y[0, :] = T([1.0, 2.0, 3.0])
        y[..., 1] = 0
        y[:] = y * 2
        return (y.grad_fn, y)

    see("rows, columns and everything can be set", f)

    def f():
        y = torch.ones(2, 3)
        y[:] = T([[[1.0, 2.0, 3.0]]])
        return y

    see("superfluous dimensions of size 1 are dropped from what is set", f)

    def f():
        y = torch.ones(2, 3)
        y[0] = T([1.0, 2.0])

    see("what is set must fit", f, raises=RuntimeError)

    def f():
        y = T([1, 2])
        y[0] = 2.7
        return y

    see("integers cut off what is set", f)

    def f():
        y = T([1, 2])
        y.fill_(2.7)
        y.copy_(T([1.5, 2.5]))
        return y

    see("fill_ and copy_ cut off too", f)

    def f():
        x = X()
        y = x * 1
        y.masked_fill_(y > 1, 5.0)
        return (y, y.grad_fn)

    see("masked_fill_ has torch's node", f)

    def f():
        x = X()
        y = x * 1
        y.clamp_(max=1.0)
        y.sigmoid_().exp_().neg_()
        return (y, y.grad_fn)

    see("functions of one argument work in place, one after the other", f)

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

    see("each form of index gives torch's values and node", f)

    def f():
        return [
            (a.sum().backward(), x.grad)[1]
            for x in [T([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)]
            for a in [x[T([0, 1, 0])] * T([[1.0, 2.0]]), x[:, [0, 0]] * 3, x[x > 2] * 7]
        ]

    see("gradients of indexing add up where elements are repeated", f)
    see("a tensor can be a key of a dict", lambda: {X(): 1} and 1)
    see("max over a dimension has names for its results", lambda: (X().max(0).indices, X().max(dim=0, keepdim=True)))
    see("round goes to the even number", lambda: T([0.5, 1.5, -2.5]).round())
    see("sum takes negative dimensions", lambda: torch.ones(2, 3).sum((-1, 0)))
    see("sum can keep its dimension", lambda: torch.ones(2, 3).sum(-1, keepdim=True))
    see("mean takes several dimensions", lambda: torch.ones(2, 3).mean(dim=(0, 1)))
    see(
        "std and var take torch's ways of saying the correction",
        lambda: (X().std(), X().var(unbiased=False), X().var(dim=0, correction=0)),
    )
    see(
        "powers have torch's nodes by what is a tensor",
        lambda: (X() ** 0, X() ** 0.5, 2 ** X(), X() ** X(), X() ** (-1), X().pow(3)),
    )
    see(
        "matmul gives torch's shapes",
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

    see("modes decorate functions and generators, with and without parentheses", f)

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

    see("modes nest, and are restored after an error", f)

    def f():
        mode = torch.set_grad_enabled(False)
        torch.set_grad_enabled(True)
        with mode:
            inside = torch.is_grad_enabled()
        return inside, torch.is_grad_enabled()

    see("set_grad_enabled sets its mode again where a with block begins", f)
    see(
        "the Jacobian of several inputs and outputs is nested",
        lambda: FF.jacobian(lambda x, y: (x * y, x.sum()), (X(), X())),
    )
    see("the Jacobian can be connected to the graph", lambda: FF.jacobian(lambda x: x**3, X(), create_graph=True))
    see("the Hessian is right", lambda: FF.hessian(lambda x: (x**3).sum(), X()))
    see("the Hessian of several inputs is nested", lambda: FF.hessian(lambda x, y: (x**3 * y).sum(), (X(), X())))
    see("vjp gives the value and the product", lambda: FF.vjp(lambda x: x**3, X(), T([1.0, 3.0])))
    see("jvp gives the value and the product", lambda: FF.jvp(lambda x: x**3, X(), T([1.0, 3.0])))
    see("hvp gives the value and the product", lambda: FF.hvp(lambda x: (x**3).sum(), X(), T([1.0, 3.0])))
    see("vhp gives the value and the product", lambda: FF.vhp(lambda x: (x**3).sum(), X(), T([1.0, 3.0])))
    see("vjp wants v in the shape of the output", lambda: FF.vjp(lambda x: x**3, X(), T([1.0])), raises=RuntimeError)
    see("vjp wants v if there are several elements", lambda: FF.vjp(lambda x: x**3, X()), raises=RuntimeError)
    see("hvp wants a function that gives one element", lambda: FF.hvp(lambda x: x**3, X(), X()), raises=RuntimeError)
    see("jacobian wants a function that gives tensors", lambda: FF.jacobian(lambda x: 3, X()), raises=TypeError)
    see("gradcheck passes what is right", lambda: A.gradcheck(lambda x: x**3, X().double().detach().requires_grad_()))
    see(
        "gradgradcheck passes what is right",
        lambda: A.gradgradcheck(lambda x: x**3, X().double().detach().requires_grad_()),
    )

    class Bad(A.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2.002

    see(
        "gradcheck refuses a gradient that is wrong by a thousandth",
        lambda: A.gradcheck(Bad.apply, X().double().detach().requires_grad_()),
    )
    see(
        "gradcheck returns False instead if it is told to",
        lambda: A.gradcheck(Bad.apply, X().double().detach().requires_grad_(), raise_exception=False),
    )
    see("gradcheck wants an input that requires grad", lambda: A.gradcheck(lambda x: x, T([1.0])), raises=ValueError)

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

    see("a hook may run backward", f, raises=RuntimeError)

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

    see("a hook that raises leaves the mode as it was, and saved values freed as torch does", f)

    def f():
        x = X()
        y = x * 2
        z = (y * y).sum()
        (g,) = A.grad(z, x, create_graph=True)
        (h,) = A.grad(g, x, T([1.0, 10.0]))
        return (g, h)

    see("second derivatives are right", f)

    def f():
        x = X()
        y = x * 2
        A.backward([y.sum(), (y * y).sum()], [None, T(3.0)])
        return x.grad

    see("backward starts from several roots", f)

    def f():
        x = X()
        y = x * x
        y.sum().backward(create_graph=True)
        g = x.grad
        (g * g).sum().backward()
        return (x.grad, g is x.grad)

    see("backward with create_graph warns and can be differentiated", f)
    see(
        "the functions of arithmetic have torch's nodes",
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
    see("tolist gives Python numbers", lambda: X().tolist())
    see("a number is formatted", lambda: f"{X().sum():.2f}")


@pytest.mark.parametrize("label", cases(the_rest))
def test_same_as_torch(label):
    assert_same_in(the_rest, label)
