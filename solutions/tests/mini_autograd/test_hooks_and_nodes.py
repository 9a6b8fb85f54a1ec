"""The order of hooks, and what nodes show. The same code runs on torch and on mini_autograd.

Compared are values, dtypes, names of nodes, error types and words, warnings, and the order of hooks.
"""
# ruff: noqa: E741, F841 - scenarios do odd things on purpose, and leave results unused

import pytest
from both import assert_same, cases, collect, functional_of


def hooks_and_nodes(torch, see):
    """The order of hooks, and what nodes show."""
    T, A, F, FF, seen = torch.tensor, torch.autograd, functional_of(torch), torch.autograd.functional, []

    def X():
        return T([1.0, 2.0], requires_grad=True)

    def show(*values):
        seen.append(values)

    def f():
        ev = []
        x = X()
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
        return ev

    see("order", f)

    def f():
        ev = []
        x = X()
        y = x * 2
        y.register_hook(lambda g: (ev.append("h1"), g * 10)[1])
        y.retain_grad()
        y.register_hook(lambda g: (ev.append("h2"), g * 10)[1])
        g = torch.autograd.grad(y.sum(), [y])
        x * 2
        return (g, y.grad, ev)

    see("grad hooks", f)

    def f():
        ev = []
        x = X()
        x.register_hook(lambda g: (ev.append("h1"), g * 10)[1])
        x.register_post_accumulate_grad_hook(lambda p: ev.append("xacc"))
        y = x * 2
        a = y.grad_fn.next_functions[0][0]
        a.register_prehook(lambda g: ev.append("apre"))
        a.register_hook(lambda *g: ev.append("apost"))
        y.grad_fn.register_hook(lambda *g: ev.append("ypost"))
        g = torch.autograd.grad(y.sum(), [x])
        return (g, x.grad, ev)

    see("grad leaf hooks", f)

    def f():
        ev = []
        ls = [T([float(i), 1.0], requires_grad=True) for i in range(5)]
        for i, l in enumerate(ls):
            l.register_hook(lambda g, i=i: ev.append(i))
        torch.stack(ls).sum().backward()
        return ev

    see("leaf order", f)

    def f():
        x = X()
        y = x * 2
        z = y * 3
        y.register_hook(lambda g: g.mul_(2))
        v = T([1.0, 5.0])
        y.backward(v)
        return (v, x.grad)

    see("hook inplace on ext", f)

    def f():
        x = X()
        y = x * 1
        y.backward(T([1.0, 5.0]), create_graph=True)
        return x.grad

    see("create_graph warn", f)

    def f():
        x = X()
        v = T([1.0, 5.0])
        x.backward(v)
        return (x.grad is v, x.grad.data_ptr() == v.data_ptr())

    def f():
        x = X()
        w = X()
        v = T([1.0, 5.0])
        (x + w).backward(v)
        return (x.grad.data_ptr() == w.grad.data_ptr(), x.grad.data_ptr() == v.data_ptr())

    def f():
        x = X()
        (x * 2).sum().backward()
        g = x.grad
        (x * 2).sum().backward()
        return (g is x.grad, g)

    see("accum identity", f)

    def f():
        x = X()
        y = x * 2
        g = y.grad_fn(T([1.0, 10.0]))
        return (g, y.grad_fn.next_functions[0][0].variable is x, y.grad_fn.next_functions[0][0](T([1.0, 1.0])), x.grad)

    see("call node", f)

    def f():
        x = T([[1.0, 2.0]], requires_grad=True)
        w = T([[1.0], [2.0]], requires_grad=True)
        return (x * w).grad_fn(torch.ones(2, 2))

    see("call node bcast", f)

    def f():
        x = T([[1.0, 2.0]], requires_grad=True)
        w = T([[1.0], [2.0]], requires_grad=True)
        return (x + w).grad_fn(torch.ones(2, 2))

    see("call node bcast 2", f)

    def f():
        x = X()
        y = (x * 2).exp()
        return (
            y.grad_fn.metadata,
            y.grad_fn.requires_grad,
            y.grad_fn._sequence_nr(),
            type(y.grad_fn.next_functions),
            repr(y.grad_fn)[:20],
            y.grad_fn._input_metadata,
        )

    def f():
        x = X()
        y = x.exp()
        return (y.grad_fn._saved_result is y, (y * y).grad_fn._saved_self is y, y.grad_fn is y.grad_fn)

    see("savedid", f)

    def f():
        x = X()
        return x.exp().grad_fn._saved_nothing

    see("savedattr", f)


@pytest.mark.parametrize("label", cases(hooks_and_nodes))
def test_same_as_torch(label):
    assert_same(lambda lib: collect(hooks_and_nodes, lib)[label]())
