"""The order of hooks, and the attributes of nodes. The same code runs on torch and on mini_autograd.

The tests compare values, dtypes, names of nodes, error types and messages, warnings, and the order of hooks.
"""

import pytest
from both import assert_same_in, cases


def hooks_and_nodes(torch, see, show):
    """The order of hooks, and what nodes show."""
    T = torch.tensor

    def X():
        return T([1.0, 2.0], requires_grad=True)

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

    see("hooks run in the order: tensor, retain_grad, prehook, node, leaf, accumulated", f)

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

    see("hooks change what grad returns and retain_grad keeps", f)

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

    see("grad runs the hooks of a leaf but accumulates nothing", f)

    def f():
        orders = []
        for count in range(1, 13):
            ev = []
            ls = [T([float(i), 1.0], requires_grad=True) for i in range(count)]
            for i, each in enumerate(ls):
                each.register_hook(lambda g, i=i, ev=ev: ev.append(i))
            torch.stack([each if i % 4 else each * 2 for i, each in enumerate(ls)]).sum().backward()
            orders.append(ev)
        return orders

    see("leaves that are ready at once run in torch's order, beside other nodes", f)

    def f():
        x = X()
        y = x * 2
        y * 3
        y.register_hook(lambda g: g.mul_(2))
        v = T([1.0, 5.0])
        y.backward(v)
        return (v, x.grad)

    see("a hook that changes its argument in place changes what torch changes", f)

    def f():
        x = X()
        y = x * 1
        y.backward(T([1.0, 5.0]), create_graph=True)
        return x.grad

    see("backward with create_graph warns", f)

    def f():
        x = X()
        v = T([1.0, 5.0])
        x.backward(v)
        return (x.grad is v, x.grad.data_ptr() == v.data_ptr())

    see("a leaf does not take over the gradient given to backward", f)

    def f():
        x = X()
        w = X()
        v = T([1.0, 5.0])
        (x + w).backward(v)
        return (x.grad.data_ptr() == w.grad.data_ptr(), x.grad.data_ptr() == v.data_ptr())

    see("two leaves do not share a gradient", f)

    def f():
        x = X()
        (x * 2).sum().backward()
        g = x.grad
        (x * 2).sum().backward()
        return (g is x.grad, g)

    see("gradients accumulate in the same tensor", f)

    def f():
        x = X()
        y = x * 2
        g = y.grad_fn(T([1.0, 10.0]))
        return (g, y.grad_fn.next_functions[0][0].variable is x, y.grad_fn.next_functions[0][0](T([1.0, 1.0])), x.grad)

    see("a node can be called by hand", f)

    def f():
        x = T([[1.0, 2.0]], requires_grad=True)
        w = T([[1.0], [2.0]], requires_grad=True)
        return (x * w).grad_fn(torch.ones(2, 2))

    see("a node called by hand sums or not as torch's, for a product", f)

    def f():
        x = T([[1.0, 2.0]], requires_grad=True)
        w = T([[1.0], [2.0]], requires_grad=True)
        return (x + w).grad_fn(torch.ones(2, 2))

    see("a node called by hand sums or not as torch's, for a sum", f)

    def f():
        x = X()
        y = x.exp()
        return (y.grad_fn._saved_result is y, (y * y).grad_fn._saved_self is y, y.grad_fn is y.grad_fn)

    see("a saved output is that output or a new tensor, as in torch", f)

    def f():
        x = X()
        return x.exp().grad_fn._saved_nothing

    see("a node has no other saved values", f, raises=AttributeError)


@pytest.mark.parametrize("label", cases(hooks_and_nodes))
def test_same_as_torch(label):
    assert_same_in(hooks_and_nodes, label)
