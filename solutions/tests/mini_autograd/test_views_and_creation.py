"""Views, in-place changes, indexing, creation, dtypes. The same code runs on torch and on mini_autograd.

The tests compare values, dtypes, names of nodes, error types and messages, warnings, and the order of hooks.
"""

import pytest
from both import assert_same_in, cases, functional_of


def views_and_creation(torch, see, show):
    """Views, in-place changes, indexing, creation, dtypes."""
    T, F = torch.tensor, functional_of(torch)

    def X():
        return T([1.0, 2.0], requires_grad=True)

    def f():
        x = X()
        with torch.no_grad():
            v = x[:1]
        return (v.requires_grad, v.is_leaf, v.grad_fn, v._is_view(), v._base is x)

    see("a view taken under no_grad is a leaf without gradient that knows its base", f)

    def f():
        x = torch.zeros(2)
        v = x[:1]
        x.mul_(X())
        return (v.requires_grad, v.grad_fn, v.is_leaf, x.grad_fn)

    see("a view follows when its base comes to require grad", f)

    def f():
        x = torch.zeros(2, 2)
        v = x[:1]
        w = x.t()
        v.mul_(X())
        return (w.grad_fn, x.grad_fn, v.grad_fn, w[0].grad_fn, x.sum().grad_fn.next_functions)

    see("a change through one view reaches the others", f)

    def f():
        x = X()
        y = x * 1
        d = y.detach()
        d.add_(1)
        return (y._version, d._version, d._is_view(), y)

    see("a detached tensor shares the version", f)

    def f():
        x = X()
        y = x * 1
        d = y.data
        d.add_(1)
        return (y._version, d._version)

    see("data is an alias with a version of its own", f)

    def f():
        y = T([1.0, 2.0])
        y.mul_(X())
        return (y.grad_fn.next_functions, y.is_leaf)

    see("a constant changed with a gradient joins the graph", f)

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

    see("each change in place has torch's node", f)

    def f():
        y = X() * 1
        y[0] = X()[1]
        return y.grad_fn.next_functions

    see("assigning an element connects both sides", f)

    def f():
        x = X()
        y = x * 1
        v = y.view(2, 1)
        v.retain_grad()
        y.mul_(2)
        return v.grad_fn

    see("a view that retains its gradient is taken anew after a change of its base", f)

    def f():
        y = X() * 1
        y += 1
        y -= X()
        y *= 2
        y /= 2
        y **= 2
        return (y.grad_fn, y)

    see("the augmented operators work in place", f)

    def f():
        y = T([1, 2])
        y /= 2

    see("integers are not divided in place", f, raises=RuntimeError)

    def f():
        x = X()
        y = x * 1
        a = y[0]
        y.add_(1)
        a.backward()
        return (x.grad, a)

    see("the gradient of a view taken before a change of its base is right", f)

    def f():
        x = X()
        y = x * 1
        y[0] = 5
        (y * y).sum().backward()
        return x.grad

    see("an element that was overwritten passes no gradient", f)

    def f():
        x = X()
        y = x * 1
        v = y.view(2, 1)
        v.relu_()
        v.mul_(X()[:, None])
        return v.grad_fn

    see("two changes through one view follow one another", f)

    def f():
        x = X()
        x.data.add_(1)
        x.data = T([5.0, 6.0, 7.0])
        return (x, x._version)

    see("data can be replaced, also by another shape", f)

    def f():
        x = X()
        x.data = 3

    see("data must be a tensor", f, raises=TypeError)

    def f():
        x = X()
        x.data = T([1, 2])

    see("data of a tensor with gradients must be floating", f, raises=RuntimeError)
    see("slices do not run backwards", lambda: X()[::-1], raises=ValueError)
    see("a number with a fraction is no index", lambda: X()[0.5], raises=IndexError)
    see("a number has no index", lambda: T(1.0)[0], raises=IndexError)
    see("a mask must fit", lambda: X()[T([True, False, True])], raises=IndexError)
    see("a list of indices stays within the dimension", lambda: X()[[5]], raises=IndexError)
    see("slices do not stand still", lambda: X()[::0], raises=ValueError)
    see("a number is not iterated over", lambda: list(T(1.0)), raises=TypeError)
    see("a number has no length", lambda: len(T(1.0)), raises=TypeError)
    see("`in` looks at the values", lambda: 1.0 in X())
    see("iterating gives the views of unbind", lambda: list(X()))
    see("text is not added", lambda: X() + "a", raises=TypeError)
    see("a list is not added", lambda: X() + [1], raises=TypeError)
    see("functions want tensors", lambda: torch.exp(3.0), raises=TypeError)
    see("a tensor is not called", lambda: X()(3), raises=TypeError)
    see("comparisons have no gradient", lambda: X() == X())
    see("nothing is equal to None", lambda: X() == None)  # noqa: E711 - the comparison is the scenario
    see("nothing is equal to text", lambda: X() == "a")
    see("a tensor can be a key", lambda: hash(X()) != 0)
    see("`+=` refuses a leaf", lambda: X().__iadd__(1), raises=RuntimeError)
    see("only leaves are copied deeply", lambda: __import__("copy").deepcopy(X() * 1), raises=RuntimeError)
    see("a deep copy is a leaf of its own", lambda: __import__("copy").deepcopy(X()))
    see("shape is a Size", lambda: X().shape)
    see("size() is a Size", lambda: X().size())
    see("size(0) is a number", lambda: X().size(0))
    see("nested lists must be of equal lengths", lambda: T([[1, 2], [3]]), raises=ValueError)
    see("copying a tensor with tensor() warns", lambda: torch.tensor(X()))
    see("as_tensor takes lists", lambda: torch.as_tensor([1.0]))
    see("mixed numbers become floating", lambda: torch.tensor([1, 2.0, True]))
    see("a list of tensors becomes one", lambda: torch.tensor([T(1.0), T(2.0)]))
    see(
        "the makers of tensors choose torch's dtypes",
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
    see("grad wants a root that requires grad", lambda: torch.autograd.grad(T(1.0), X()), raises=RuntimeError)
    see(
        "grad_outputs must have the shape of the outputs",
        lambda: torch.autograd.grad(X() * 1, X(), grad_outputs=[T([1.0])]),
        raises=RuntimeError,
    )
    see(
        "a Size adds, compares and counts like torch's",
        lambda: (torch.Size([2, 3]).numel(), torch.Size([2]) + (3,), X().shape == (2,), torch.Size([2, 3])[1:]),
    )
    see("requires_grad must be a bool", lambda: setattr(X(), "requires_grad", 3), raises=RuntimeError)
    see("where with a condition alone gives indices", lambda: torch.where(X() > 1))
    see("max of nothing is refused", lambda: torch.zeros(0).max(), raises=RuntimeError)
    see("max of two tensors is the maximum", lambda: torch.max(X(), X() * 2))
    see("max over a dimension gives values and indices", lambda: X().max(0))
    see("the variance of one value warns", lambda: T([1.0]).var())
    see("the mean of integers is refused", lambda: T([1, 2]).mean(), raises=RuntimeError)
    see("argmax gives an index", lambda: X().argmax())
    see("integers to negative powers are refused", lambda: T([1, 2]) ** (-1), raises=RuntimeError)
    see("division makes integers floating", lambda: T([1, 2]) / 2)
    see("the sum of bools is an integer", lambda: T([True, True]).sum())
    see("the sum of int32 is an int64", lambda: torch.ones(2, dtype=torch.int32).sum())
    see("bools are not negated", lambda: -T([True]), raises=RuntimeError)
    see("bools are not subtracted", lambda: T([True]) - T([True]), raises=RuntimeError)
    see("a number does not raise the dtype within its category", lambda: (T([1.0]) * T(1.0, dtype=torch.float64)).dtype)
    see("a floating number makes integers floating", lambda: T([1]) * 1.5)
    see(
        "matrices of different dtypes are not multiplied",
        lambda: torch.ones(2, 2) @ torch.ones(2, 2).double(),
        raises=RuntimeError,
    )
    see("exp makes integers floating", lambda: T([1]).exp())
    see(
        "a gradient has the dtype of its leaf",
        lambda: (lambda x: ((x * T([1.0, 2.0]).double()).sum().backward(), x.grad))(X()),
    )
    see("clamp wants a bound", lambda: X().clamp(), raises=RuntimeError)
    see("cat wants something to join", lambda: torch.cat([]), raises=ValueError)
    see("the last chunk is the smaller one", lambda: [c.shape for c in torch.arange(5.0).chunk(3)])
    see("embedding indices stay within the table", lambda: F.embedding(T([5]), torch.ones(2, 2)), raises=IndexError)
    see("embedding indices are integers", lambda: F.embedding(T([0.0]), torch.ones(2, 2)), raises=RuntimeError)
    see(
        "conv2d wants the channels of its weight",
        lambda: F.conv2d(torch.ones(1, 2, 3, 3), torch.ones(1, 1, 2, 2)),
        raises=RuntimeError,
    )
    see(
        "a kernel is no larger than the padded picture",
        lambda: F.conv2d(torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 3)),
        raises=RuntimeError,
    )
    see(
        "cross_entropy wants classes that are there",
        lambda: F.cross_entropy(torch.ones(2, 3), T([0, 5])),
        raises=IndexError,
    )
    see(
        "cross_entropy wants a class for each sample",
        lambda: F.cross_entropy(torch.ones(2, 3), T([0])),
        raises=ValueError,
    )
    see(
        "cross_entropy wants classes as integers",
        lambda: F.cross_entropy(torch.ones(2, 3), T([0.0, 1.0])),
        raises=RuntimeError,
    )
    see("mse_loss warns where shapes differ", lambda: F.mse_loss(torch.ones(2, 1), torch.ones(2)))
    see(
        "binary cross entropy wants equal shapes",
        lambda: F.binary_cross_entropy_with_logits(torch.ones(2, 1), torch.ones(2)),
        raises=ValueError,
    )
    see("linear wants matching features", lambda: F.linear(torch.ones(2, 3), torch.ones(4, 2)), raises=RuntimeError)
    see("a pooling window fits into the picture", lambda: F.max_pool2d(torch.ones(1, 1, 1, 1), 2), raises=RuntimeError)
    see("a probability lies between 0 and 1", lambda: F.dropout(X(), 2.0), raises=ValueError)
    see("layer_norm wants the shape it normalises", lambda: F.layer_norm(X(), (3,)), raises=RuntimeError)
    see(
        "batch_norm wants more than one value for each channel",
        lambda: F.batch_norm(torch.ones(1, 2), None, None, training=True),
        raises=ValueError,
    )
    see(
        "padding is at most half of the window",
        lambda: F.avg_pool2d(torch.ones(1, 1, 3, 3), 2, padding=2),
        raises=RuntimeError,
    )


@pytest.mark.parametrize("label", cases(views_and_creation))
def test_same_as_torch(label):
    assert_same_in(views_and_creation, label)
