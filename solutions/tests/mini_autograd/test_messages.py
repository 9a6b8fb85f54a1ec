"""What a learner meets: messages of tensors, backward, hooks and shapes.

The same code runs on torch and on mini_autograd.
Compared are values, dtypes, names of nodes, error types and words, warnings, and the order of hooks.
"""
# ruff: noqa: F841 - scenarios do odd things on purpose, and leave results unused

import pytest
import torch as real
from both import assert_same, cases, collect, functional_of


def messages(torch, see):
    """What a learner meets: messages of tensors, backward, hooks and shapes."""
    T, A, F, FF, seen = torch.tensor, torch.autograd, functional_of(torch), torch.autograd.functional, []

    def X():
        return T([1.0, 2.0], requires_grad=True)

    def show(*values):
        seen.append(values)

    def f():
        x = X()
        y = x * 1
        z = y.exp()
        z.add_(1)
        z.sum().backward()

    see("inplace exp", f)

    def f():
        x = X()
        y = x * 1
        z = y * y
        y.add_(1)
        z.sum().backward()

    see("inplace mul", f)

    def f():
        w = X()
        x = X()
        z = x * w
        with torch.no_grad():
            w.add_(1)
        z.sum().backward()

    see("inplace leaf", f)

    def f():
        w = T([1.0, 2.0])
        x = X()
        z = x * w
        w.add_(1)
        z.sum().backward()

    see("inplace const", f)
    see("leaf inplace", lambda: X().add_(1))
    see("leaf view inplace", lambda: X()[0].add_(1))
    see("setitem leaf", lambda: X().__setitem__(0, 1.0))
    see("unbind inplace", lambda: (X() * 1).unbind()[0].add_(1))
    see("chunk inplace", lambda: (X() * 1).chunk(2)[0].add_(1))

    def f():
        x = X()
        with torch.no_grad():
            v = x[:1]
        v.add_(1)

    see("nograd view inplace", f)

    def f():
        x = X() * 1
        with torch.no_grad():
            v = x[:1]
        v.mul_(X()[:1])

    see("nograd view inplace2", f)
    see("numpy nonleaf", lambda: (X() * 1).numpy())
    see("float", lambda: float(X().sum()))
    see("item", lambda: X().item())
    see("bool", lambda: bool(X()))
    see("int", lambda: int(T([1.0, 2.0])))
    see("req int", lambda: T([1]).requires_grad_())
    see("req int2", lambda: T([1], requires_grad=True))

    def f():
        y = X() * 1
        y.requires_grad = False

    see("req nonleaf", f)
    see("req_ nonleaf", lambda: (X() * 1).requires_grad_(False))
    see("req_ nonleaf True", lambda: (X() * 1).requires_grad_(True))
    see("bw nongrad", lambda: T(1.0).backward())
    see("bw vec", lambda: (X() * 1).backward())
    see("bw mismatch", lambda: (X() * 1).backward(T([1.0])))
    see("bw mism 0d", lambda: X().sum().backward(T([[1.0]])))
    see("bw none int", lambda: (X() * 1).backward([1.0, 2.0]))
    see("bw gradient list", lambda: torch.autograd.backward([X() * 1, X() * 2], [T([1.0, 2.0])]))
    see("bw dtype", lambda: (X() * 1).backward(T([1.0, 2.0], dtype=torch.float64)))
    see("bw int grad", lambda: (X() * 1).backward(T([1, 2])))

    def f():
        x = X()
        y = x * 3
        y.sum().backward()
        y.sum().backward()

    see("second", f)

    def f():
        x = X()
        y = x + 3
        y.sum().backward()
        y.sum().backward()
        return x.grad

    see("second add", f)

    def f():
        x = X()
        y = x * 3
        y.sum().backward()
        return y.grad_fn._saved_other

    see("saved freed", f)

    def f():
        x = X()
        w = X()
        y = x.sum()
        return torch.autograd.grad(y, [w])

    see("unused", f)

    def f():
        x = X()
        w = X()
        y = x.sum()
        return (
            torch.autograd.grad(y, [w], allow_unused=True),
            torch.autograd.grad((x * 1).sum(), [w, x], materialize_grads=True),
        )

    see("unused ok", f)
    see("unused mat", lambda: torch.autograd.grad(X().sum(), [X()], allow_unused=False, materialize_grads=True))
    see("grad no req input", lambda: torch.autograd.grad(X().sum(), [T([1.0])]))
    see("grad vec", lambda: torch.autograd.grad(X() * 1, [X()]))
    see("grad self", lambda: (lambda x: torch.autograd.grad(x, x, T([3.0, 4.0])))(X()))
    see("grad empty", lambda: torch.autograd.grad(X().sum(), []))
    see("bw inputs empty", lambda: X().sum().backward(inputs=[]))

    def f():
        x = X()
        y = x * 2
        z = (y * y).sum()
        z.backward(inputs=[y])
        return (y.grad, x.grad)

    see("inputs nonleaf", f)

    def f():
        x = X()
        w = X()
        (x * w).sum().backward(inputs=x)
        return (x.grad, w.grad)

    see("inputs one", f)

    def f():
        x = X()
        y = x * 1
        return y.grad

    see("nonleaf grad", f)
    see("hook noreq", lambda: T([1.0]).register_hook(show))

    def f():
        x = X()
        x.register_hook(lambda g: g[:1])
        x.sum().backward()

    see("hook shape", f)

    def f():
        x = X()
        x.register_hook(lambda g: 3)
        x.sum().backward()

    see("hook type", f)
    see("retain noreq", lambda: T([1.0]).retain_grad())
    see("retain leaf", lambda: X().retain_grad())
    see("postacc nonleaf", lambda: (X() * 1).register_post_accumulate_grad_hook(show))
    see("postacc noreq", lambda: T([1.0]).register_post_accumulate_grad_hook(show))

    def f():
        x = X()
        x.register_post_accumulate_grad_hook(lambda p: 3)
        x.sum().backward()
        return x.grad

    see("postacc return", f)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: gi + gi)
        y.sum().backward()

    see("nodehook size", f)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: gi[0] * 2)
        y.sum().backward()

    see("nodehook single", f)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_prehook(lambda go: go[0] * 2)
        y.sum().backward()
        return x.grad

    see("nodeprehook single", f)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_prehook(lambda go: (go[0] * 2, go[0]))
        y.sum().backward()
        return x.grad

    see("nodeprehook size", f)

    def f():
        x = X()
        x.grad = T([1.0])

    see("set grad shape", f)

    def f():
        x = X()
        x.grad = T([1.0, 2.0], dtype=torch.float64)

    see("set grad dtype", f)

    def f():
        x = X()
        x.grad = 3

    see("set grad type", f)

    def f():
        x = X()
        x.grad = x

    see("set grad self", f)
    see("detach_ view", lambda: (X() * 1)[:1].detach_())
    see("expand inplace", lambda: torch.zeros(1).expand(3).add_(1))
    see("bcast inplace", lambda: torch.zeros(1).add_(T([1.0, 2.0])))
    see("cast inplace", lambda: T([1]).add_(1.5))
    see("bcast", lambda: T([1.0, 2.0]) + T([1.0, 2.0, 3.0]))
    see("matmul", lambda: torch.ones(2, 3) @ torch.ones(2, 3))
    see("mv", lambda: torch.ones(2, 3) @ torch.ones(2))
    see("dot", lambda: torch.ones(2) @ torch.ones(3))
    see("bmm", lambda: torch.ones(2, 2, 3) @ torch.ones(2, 2, 3))
    see("0d matmul", lambda: T(1.0) @ T([1.0]))
    see("view", lambda: torch.ones(2, 3).t().view(6))
    see("reshape", lambda: torch.ones(2, 3).reshape(4))
    see("expand", lambda: torch.ones(2, 3).expand(4, 3))
    see("idx", lambda: torch.ones(2)[5])
    see("idx2", lambda: torch.ones(2)[0, 0])
    see("dim", lambda: torch.ones(2).sum(3))
    see("item 2", lambda: T([1.0, 2.0]).item())
    see("reshape-1", lambda: torch.ones(2, 3).reshape(-1, 4))
    see("cat", lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 2)]))
    see("stack", lambda: torch.stack([torch.ones(2), torch.ones(3)]))


@pytest.mark.parametrize("label", cases(messages))
def test_same_as_torch(label):
    assert_same(lambda lib: collect(messages, lib)[label]())


@pytest.mark.parametrize(
    "ours", [lambda x: x * 2.01, lambda x: (x * 2).detach(), lambda x: x + x, lambda x: x.nonsense]
)
def test_the_comparison_notices_other_values_names_and_errors(ours):
    with pytest.raises(AssertionError):
        assert_same(lambda lib: (lambda x: x * 2 if lib is real else ours(x))(lib.ones(2, requires_grad=True)))
