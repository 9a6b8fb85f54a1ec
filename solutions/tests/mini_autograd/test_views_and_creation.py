"""Views, in-place changes, indexing, creation, dtypes. The same code runs on torch and on mini_autograd.

Compared are values, dtypes, names of nodes, error types and words, warnings, and the order of hooks.
"""
# ruff: noqa: E711, F841 - scenarios do odd things on purpose, and leave results unused

import pytest
from both import assert_same, cases, collect, functional_of


def views_and_creation(torch, see):
    """Views, in-place changes, indexing, creation, dtypes."""
    T, A, F, FF, seen = torch.tensor, torch.autograd, functional_of(torch), torch.autograd.functional, []

    def X():
        return T([1.0, 2.0], requires_grad=True)

    def show(*values):
        seen.append(values)

    def f():
        x = X()
        with torch.no_grad():
            v = x[:1]
        return (v.requires_grad, v.is_leaf, v.grad_fn, v._is_view(), v._base is x)

    see("ng view", f)

    def f():
        x = torch.zeros(2)
        v = x[:1]
        x.mul_(X())
        return (v.requires_grad, v.grad_fn, v.is_leaf, x.grad_fn)

    see("view of later", f)

    def f():
        x = torch.zeros(2, 2)
        v = x[:1]
        w = x.t()
        v.mul_(X())
        return (w.grad_fn, x.grad_fn, v.grad_fn, w[0].grad_fn, x.sum().grad_fn.next_functions)

    see("two views", f)

    def f():
        x = X()
        y = x * 1
        d = y.detach()
        d.add_(1)
        return (y._version, d._version, d._is_view(), y)

    see("detach ver", f)

    def f():
        x = X()
        y = x * 1
        d = y.data
        d.add_(1)
        return (y._version, d._version)

    def f():
        y = T([1.0, 2.0])
        y.mul_(X())
        return (y.grad_fn.next_functions, y.is_leaf)

    see("const target", f)

    def f():
        y = X() * 1
        y.copy_(X())
        r = y.grad_fn
        z = X() * 1
        z.fill_(3.0)
        w = X() * 1
        w.zero_()
        u = X() * 1
        u[0] = 3.0
        s = X() * 1
        s[[0]] = X()[:1]
        m = X() * 1
        m[m > 1] = 0.0
        return (r, r.next_functions, z.grad_fn, z.grad_fn.next_functions, w.grad_fn, u.grad_fn, s.grad_fn, m.grad_fn)

    see("grad fns", f)

    def f():
        y = X() * 1
        y[0] = X()[1]
        return y.grad_fn.next_functions

    see("setitem", f)

    def f():
        x = X()
        y = x * 1
        v = y.view(2, 1)
        v.retain_grad()
        y.mul_(2)
        return v.grad_fn

    see("more 1", f)

    def f():
        y = X() * 1
        y += 1
        y -= X()
        y *= 2
        y /= 2
        y **= 2
        return (y.grad_fn, y)

    see("iops", f)

    def f():
        y = T([1, 2])
        y /= 2

    see("idiv", f)

    def f():
        x = X()
        y = x * 1
        a = y[0]
        y.add_(1)
        a.backward()
        return (x.grad, a)

    see("view then base", f)

    def f():
        x = X()
        y = x * 1
        y[0] = 5
        (y * y).sum().backward()
        return x.grad

    see("more 2", f)

    def f():
        x = X()
        y = x * 1
        v = y.view(2, 1)
        v.relu_()
        v.mul_(X()[:, None])
        return v.grad_fn

    see("more 3", f)

    def f():
        x = X()
        x.data.add_(1)
        x.data = T([5.0, 6.0, 7.0])
        return (x, x._version)

    see("set data", f)

    def f():
        x = X()
        x.data = 3

    see("set data 2", f)

    def f():
        x = X()
        x.data = T([1, 2])

    see("set data int", f)
    see("neg step", lambda: X()[::-1])
    see("float index", lambda: X()[0.5])
    see("0d idx", lambda: T(1.0)[0])
    see("mask bad", lambda: X()[T([True, False, True])])
    see("idx oob", lambda: X()[[5]])
    see("zeroslice", lambda: X()[::0])
    see("iter 0d", lambda: list(T(1.0)))
    see("len 0d", lambda: len(T(1.0)))
    see("contains", lambda: 1.0 in X())
    see("iter", lambda: list(X()))
    see("add str", lambda: X() + "a")
    see("add list", lambda: X() + [1])
    see("exp", lambda: torch.exp(3.0))
    see("call", lambda: X()(3))
    see("eq", lambda: X() == X())
    see("eq None", lambda: X() == None)
    see("eq str", lambda: X() == "a")
    see("hash", lambda: hash(X()) != 0)
    see("iadd leaf", lambda: X().__iadd__(1))
    see("deepcopy nonleaf", lambda: __import__("copy").deepcopy(X() * 1))
    see("deepcopy", lambda: __import__("copy").deepcopy(X()))
    see("shape", lambda: X().shape)
    see("size", lambda: X().size())
    see("size0", lambda: X().size(0))
    see("T 0", lambda: T([[1, 2], [3]]))
    see("tensor t", lambda: torch.tensor(X()))
    see("as_tensor", lambda: torch.as_tensor([1.0]))
    see("mixed", lambda: torch.tensor([1, 2.0, True]))
    see("list of tensors", lambda: torch.tensor([T(1.0), T(2.0)]))
    see(
        "arange",
        lambda: (
            torch.arange(3),
            torch.arange(0, 1, 0.25),
            torch.arange(1, 4.0),
            torch.full((2,), 1),
            torch.full((2,), 1.0),
            torch.eye(2),
            torch.zeros(2, 3).shape,
            torch.zeros((2, 3)).shape,
            torch.linspace(0, 1, 3),
        ),
    )
    see("grad int root", lambda: torch.autograd.grad(T(1.0), X()))
    see("grad_outputs", lambda: torch.autograd.grad(X() * 1, X(), grad_outputs=[T([1.0])]))
    see("sz", lambda: (torch.Size([2, 3]).numel(), torch.Size([2]) + (3,), X().shape == (2,), torch.Size([2, 3])[1:]))
    see("requires_grad bad", lambda: setattr(X(), "requires_grad", 3))
    see("where 1", lambda: torch.where(X() > 1))
    see("max", lambda: torch.zeros(0).max())
    see("torch.max2", lambda: torch.max(X(), X() * 2))
    see("max dim", lambda: X().max(0))
    see("var", lambda: T([1.0]).var())
    see("mean int", lambda: T([1, 2]).mean())
    see("argmax", lambda: X().argmax())
    see("pow int neg", lambda: T([1, 2]) ** (-1))
    see("int div", lambda: T([1, 2]) / 2)
    see("sum bool", lambda: T([True, True]).sum())
    see("sum int32", lambda: torch.ones(2, dtype=torch.int32).sum())
    see("neg bool", lambda: -T([True]))
    see("sub bool", lambda: T([True]) - T([True]))
    see("f32*f64 0d", lambda: (T([1.0]) * T(1.0, dtype=torch.float64)).dtype)
    see("int*float", lambda: T([1]) * 1.5)
    see("mm dtype", lambda: torch.ones(2, 2) @ torch.ones(2, 2).double())
    see("exp int", lambda: T([1]).exp())
    see("f64 x f32 grad", lambda: (lambda x: ((x * T([1.0, 2.0]).double()).sum().backward(), x.grad))(X()))
    see("clamp none", lambda: X().clamp())
    see("cat empty", lambda: torch.cat([]))
    see("chunk", lambda: [c.shape for c in torch.arange(5.0).chunk(3)])
    see("emb oob", lambda: F.embedding(T([5]), torch.ones(2, 2)))
    see("emb float", lambda: F.embedding(T([0.0]), torch.ones(2, 2)))
    see("conv ch", lambda: F.conv2d(torch.ones(1, 2, 3, 3), torch.ones(1, 1, 2, 2)))
    see("conv big", lambda: F.conv2d(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 3)))
    see("ce", lambda: F.cross_entropy(torch.ones(2, 3), T([0, 5])))
    see("ce sh", lambda: F.cross_entropy(torch.ones(2, 3), T([0])))
    see("ce dt", lambda: F.cross_entropy(torch.ones(2, 3), T([0.0, 1.0])))
    see("mse", lambda: F.mse_loss(torch.ones(2, 1), torch.ones(2)))
    see("bce", lambda: F.binary_cross_entropy_with_logits(torch.ones(2, 1), torch.ones(2)))
    see("linear", lambda: F.linear(torch.ones(2, 3), torch.ones(4, 2)))
    see("pool", lambda: F.max_pool2d(torch.ones(1, 1, 1, 1), 2))
    see("drop", lambda: F.dropout(X(), 2.0))
    see("ln", lambda: F.layer_norm(X(), (3,)))
    see("bn", lambda: F.batch_norm(torch.ones(1, 2), None, None, training=True))
    see("avgpool pad", lambda: F.avg_pool2d(torch.ones(1, 1, 3, 3), 2, padding=2))


@pytest.mark.parametrize("label", cases(views_and_creation))
def test_same_as_torch(label):
    assert_same(lambda lib: collect(views_and_creation, lib)[label]())
