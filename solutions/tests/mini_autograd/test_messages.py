"""Messages that learners meet, about tensors, backward, hooks and shapes.

The same code runs on torch and on mini_autograd. The tests compare values, dtypes, names of nodes, error types and
messages, warnings, and the order of hooks.
"""

import pytest
import torch as real
from both import assert_same, assert_same_in, cases


def messages(torch, see, show):
    """What a learner meets: messages of tensors, backward, hooks and shapes."""
    T = torch.tensor

    def X():
        return T([1.0, 2.0], requires_grad=True)

    def f():
        x = X()
        y = x * 1
        z = y.exp()
        z.add_(1)
        z.sum().backward()

    see("a saved result that was changed in place is refused", f, raises=RuntimeError)

    def f():
        x = X()
        y = x * 1
        z = y * y
        y.add_(1)
        z.sum().backward()

    see("a saved input that was changed in place is refused", f, raises=RuntimeError)

    def f():
        w = X()
        x = X()
        z = x * w
        with torch.no_grad():
            w.add_(1)
        z.sum().backward()

    see("a saved leaf that was changed under no_grad is refused", f, raises=RuntimeError)

    def f():
        w = T([1.0, 2.0])
        x = X()
        z = x * w
        w.add_(1)
        z.sum().backward()

    see("a saved constant that was changed in place is refused", f, raises=RuntimeError)
    see("a leaf that requires grad is not changed in place", lambda: X().add_(1), raises=RuntimeError)
    see("a leaf that requires grad is not changed through a view", lambda: X()[0].add_(1), raises=RuntimeError)
    see("no element of a leaf that requires grad is assigned", lambda: X().__setitem__(0, 1.0), raises=RuntimeError)
    see(
        "one of the views of unbind is not changed in place", lambda: (X() * 1).unbind()[0].add_(1), raises=RuntimeError
    )
    see("one of the views of chunk is not changed in place", lambda: (X() * 1).chunk(2)[0].add_(1), raises=RuntimeError)

    def f():
        x = X()
        with torch.no_grad():
            v = x[:1]
        v.add_(1)

    see("a view taken under no_grad is not changed outside", f, raises=RuntimeError)

    def f():
        x = X() * 1
        with torch.no_grad():
            v = x[:1]
        v.mul_(X()[:1])

    see("a view taken under no_grad of a tensor that is not a leaf is not changed outside", f, raises=RuntimeError)
    see("numpy() is refused where a gradient would be lost", lambda: (X() * 1).numpy(), raises=RuntimeError)
    see("float() of a tensor that requires grad warns", lambda: float(X().sum()))
    see("item() wants one element", lambda: X().item(), raises=RuntimeError)
    see("the truth of several elements is ambiguous", lambda: bool(X()), raises=RuntimeError)
    see("int() wants one element", lambda: int(T([1.0, 2.0])), raises=ValueError)
    see("an integer tensor cannot ask for gradients", lambda: T([1]).requires_grad_(), raises=RuntimeError)
    see(
        "an integer tensor is not made with requires_grad=True", lambda: T([1], requires_grad=True), raises=RuntimeError
    )

    def f():
        y = X() * 1
        y.requires_grad = False

    see("requires_grad is not switched off on a tensor that is not a leaf", f, raises=RuntimeError)
    see(
        "requires_grad_(False) is refused on a tensor that is not a leaf",
        lambda: (X() * 1).requires_grad_(False),
        raises=RuntimeError,
    )
    see("requires_grad_(True) changes nothing on a tensor that is not a leaf", lambda: (X() * 1).requires_grad_(True))
    see("backward wants a tensor that requires grad", lambda: T(1.0).backward(), raises=RuntimeError)
    see("backward of several elements wants a gradient", lambda: (X() * 1).backward(), raises=RuntimeError)
    see("the gradient must have the shape of the tensor", lambda: (X() * 1).backward(T([1.0])), raises=RuntimeError)
    see("the gradient of a number must be a number", lambda: X().sum().backward(T([[1.0]])), raises=RuntimeError)
    see("gradients must be tensors", lambda: (X() * 1).backward([1.0, 2.0]), raises=TypeError)
    see(
        "there must be a gradient for each tensor",
        lambda: torch.autograd.backward([X() * 1, X() * 2], [T([1.0, 2.0])]),
        raises=RuntimeError,
    )
    see(
        "a gradient of another dtype is converted or refused as in torch",
        lambda: (X() * 1).backward(T([1.0, 2.0], dtype=torch.float64)),
    )
    see("a gradient of integers is converted or refused as in torch", lambda: (X() * 1).backward(T([1, 2])))

    def f():
        x = X()
        y = x * 3
        y.sum().backward()
        y.sum().backward()

    see("a second walk through freed values is refused", f, raises=RuntimeError)

    def f():
        x = X()
        y = x + 3
        y.sum().backward()
        y.sum().backward()
        return x.grad

    see("a second walk is allowed where nothing was saved", f)

    def f():
        x = X()
        y = x * 3
        y.sum().backward()
        return y.grad_fn._saved_other

    see("a freed saved value is not shown", f, raises=RuntimeError)

    def f():
        x = X()
        w = X()
        y = x.sum()
        return torch.autograd.grad(y, [w])

    see("an input that plays no part is refused", f, raises=RuntimeError)

    def f():
        x = X()
        w = X()
        y = x.sum()
        return (
            torch.autograd.grad(y, [w], allow_unused=True),
            torch.autograd.grad((x * 1).sum(), [w, x], materialize_grads=True),
        )

    see("allow_unused gives None and materialize_grads zeros", f)
    see(
        "materialize_grads contradicts allow_unused=False",
        lambda: torch.autograd.grad(X().sum(), [X()], allow_unused=False, materialize_grads=True),
        raises=ValueError,
    )
    see("grad wants inputs that require grad", lambda: torch.autograd.grad(X().sum(), [T([1.0])]), raises=RuntimeError)
    see("grad of several elements wants grad_outputs", lambda: torch.autograd.grad(X() * 1, [X()]), raises=RuntimeError)
    see(
        "the gradient of a tensor by itself is the weight",
        lambda: (lambda x: torch.autograd.grad(x, x, T([3.0, 4.0])))(X()),
    )
    see("grad wants inputs", lambda: torch.autograd.grad(X().sum(), []), raises=RuntimeError)
    see("backward refuses an empty list of inputs", lambda: X().sum().backward(inputs=[]), raises=RuntimeError)

    def f():
        x = X()
        y = x * 2
        z = (y * y).sum()
        z.backward(inputs=[y])
        return (y.grad, x.grad)

    see("backward fills in a tensor that is not a leaf if it is among inputs", f)

    def f():
        x = X()
        w = X()
        (x * w).sum().backward(inputs=x)
        return (x.grad, w.grad)

    see("backward fills in inputs alone", f)

    def f():
        x = X()
        y = x * 1
        return y.grad

    see("asking for grad of a tensor that is not a leaf warns", f)
    see("a hook wants a tensor that requires grad", lambda: T([1.0]).register_hook(show), raises=RuntimeError)

    def f():
        x = X()
        x.register_hook(lambda g: g[:1])
        x.sum().backward()

    see("a hook may not change the shape", f, raises=RuntimeError)

    def f():
        x = X()
        x.register_hook(lambda g: 3)
        x.sum().backward()

    see("a hook must return a tensor", f, raises=TypeError)
    see("retain_grad wants a tensor that requires grad", lambda: T([1.0]).retain_grad(), raises=RuntimeError)
    see("retain_grad does nothing on a leaf", lambda: X().retain_grad())
    see(
        "post-accumulate hooks are for leaves",
        lambda: (X() * 1).register_post_accumulate_grad_hook(show),
        raises=RuntimeError,
    )
    see(
        "post-accumulate hooks are for tensors that require grad",
        lambda: T([1.0]).register_post_accumulate_grad_hook(show),
        raises=RuntimeError,
    )

    def f():
        x = X()
        x.register_post_accumulate_grad_hook(lambda p: 3)
        x.sum().backward()
        return x.grad

    see("a post-accumulate hook may not return a value", f, raises=TypeError)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: gi + gi)
        y.sum().backward()

    see("a node hook must return as many gradients as it was given", f, raises=RuntimeError)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_hook(lambda gi, go: gi[0] * 2)
        y.sum().backward()

    see("a node hook must return a tuple", f, raises=TypeError)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_prehook(lambda go: go[0] * 2)
        y.sum().backward()
        return x.grad

    see("a prehook may return a single tensor or not, as in torch", f, raises=TypeError)

    def f():
        x = X()
        y = x * 1
        y.grad_fn.register_prehook(lambda go: (go[0] * 2, go[0]))
        y.sum().backward()
        return x.grad

    see("a prehook must return as many gradients as it was given", f, raises=RuntimeError)

    def f():
        x = X()
        x.grad = T([1.0])

    see("grad must have the shape of its tensor", f, raises=RuntimeError)

    def f():
        x = X()
        x.grad = T([1.0, 2.0], dtype=torch.float64)

    see("grad must have the dtype of its tensor", f, raises=RuntimeError)

    def f():
        x = X()
        x.grad = 3

    see("grad must be a tensor", f, raises=TypeError)

    def f():
        x = X()
        x.grad = x

    see("a tensor is not its own grad", f, raises=RuntimeError)
    see("a view is not detached in place", lambda: (X() * 1)[:1].detach_(), raises=RuntimeError)
    see("an expanded tensor is not written to", lambda: torch.zeros(1).expand(3).add_(1), raises=RuntimeError)
    see(
        "a change in place does not enlarge its tensor", lambda: torch.zeros(1).add_(T([1.0, 2.0])), raises=RuntimeError
    )
    see("a change in place does not change the dtype", lambda: T([1]).add_(1.5), raises=RuntimeError)
    see("shapes that do not broadcast are named", lambda: T([1.0, 2.0]) + T([1.0, 2.0, 3.0]), raises=RuntimeError)
    see(
        "shapes that do not multiply are named for matrices",
        lambda: torch.ones(2, 3) @ torch.ones(2, 3),
        raises=RuntimeError,
    )
    see(
        "shapes that do not multiply are named for a matrix and a vector",
        lambda: torch.ones(2, 3) @ torch.ones(2),
        raises=RuntimeError,
    )
    see(
        "shapes that do not multiply are named for two vectors",
        lambda: torch.ones(2) @ torch.ones(3),
        raises=RuntimeError,
    )
    see(
        "shapes that do not multiply are named for batches",
        lambda: torch.ones(2, 2, 3) @ torch.ones(2, 2, 3),
        raises=RuntimeError,
    )
    see("a number does not multiply as a matrix", lambda: T(1.0) @ T([1.0]), raises=RuntimeError)
    see("view is refused where the memory does not allow it", lambda: torch.ones(2, 3).t().view(6), raises=RuntimeError)
    see("reshape keeps the number of elements", lambda: torch.ones(2, 3).reshape(4), raises=RuntimeError)
    see("expand repeats dimensions of size 1 only", lambda: torch.ones(2, 3).expand(4, 3), raises=RuntimeError)
    see("an index stays within its dimension", lambda: torch.ones(2)[5], raises=IndexError)
    see("there are no more indices than dimensions", lambda: torch.ones(2)[0, 0], raises=IndexError)
    see("a dimension stays within the tensor's", lambda: torch.ones(2).sum(3), raises=IndexError)
    see(
        "item() of several elements is refused without gradients too", lambda: T([1.0, 2.0]).item(), raises=RuntimeError
    )
    see("what is inferred must come out even", lambda: torch.ones(2, 3).reshape(-1, 4), raises=RuntimeError)
    see(
        "cat wants equal sizes in the other dimensions",
        lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 2)]),
        raises=RuntimeError,
    )
    see("stack wants equal shapes", lambda: torch.stack([torch.ones(2), torch.ones(3)]), raises=RuntimeError)


@pytest.mark.parametrize("label", cases(messages))
def test_same_as_torch(label):
    assert_same_in(messages, label)


@pytest.mark.parametrize("ours", [lambda x: x * 2.01, lambda x: (x * 2).detach(), lambda x: x + x])
def test_the_comparison_notices_other_values_and_names(ours):
    with pytest.raises(AssertionError):
        assert_same(lambda lib: (lambda x: x * 2 if lib is real else ours(x))(lib.ones(2, requires_grad=True)))


@pytest.mark.parametrize(
    ("scenario", "expected", "noticed"),
    [
        (lambda lib: lib.ones(2).nonsense, None, AttributeError),
        (lambda lib: lib.ones(2).item(), TypeError, RuntimeError),
        (lambda lib: lib.ones(2) * 2, RuntimeError, AssertionError),
        (lambda lib: lib.ones(2 if lib is real else 3).item(), RuntimeError, AssertionError),
    ],
    ids=["an error nobody expected", "another error", "no error", "other words"],
)
def test_the_comparison_accepts_only_the_error_that_was_expected(scenario, expected, noticed):
    """An error that comes on both libraries is no agreement unless the scenario is about it."""
    with pytest.raises(noticed):
        assert_same(scenario, expected)


def test_the_comparison_notices_what_is_only_shown():
    def listing(lib, see, show):
        see("a fact", lambda: show(1 if lib is real else 2))

    with pytest.raises(AssertionError):
        assert_same_in(listing, "a fact")
