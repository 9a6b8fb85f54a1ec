"""Edge cases of the API: rejected calls with their messages, and rare forms of calls.

Each scenario's label states a fact. The same code runs on torch and on mini_autograd, and the tests compare values,
dtypes, names of nodes, errors (type and message) and warnings.
"""

import warnings

import numpy as np
import pytest
from both import Scenarios, assert_same, functional_of

SCENARIOS = Scenarios()
fact = SCENARIOS.fact


def leaf(torch, *values):
    return torch.tensor(values or [1.0, 2.0], requires_grad=True)


def doubling(torch, backward, **members):
    """Return a Function whose forward doubles its first argument."""
    members = {"forward": staticmethod(lambda ctx, x, *rest: x * 2), "backward": staticmethod(backward), **members}
    return type("Doubling", (torch.autograd.Function,), members)


# ----- autograd.Function -----


@fact("the node of a Function prints with its name")
def _(torch):
    text = repr(doubling(torch, lambda ctx, g: g).apply(leaf(torch)).grad_fn)
    return text.split(" at ")[0]


@fact("superfluous gradients that are None are let pass")
def _(torch):
    x = leaf(torch)
    doubling(torch, lambda ctx, g: (g * 3, None, None)).apply(x).backward(torch.tensor([1.0, 5.0]))
    return x.grad


@fact("too few gradients are refused", raises=RuntimeError)
def _(torch):
    doubling(torch, lambda ctx, g: g).apply(leaf(torch), leaf(torch)).sum().backward()


@fact("a gradient for an argument that is not a tensor is refused", raises=RuntimeError)
def _(torch):
    doubling(torch, lambda ctx, g: (g, g)).apply(leaf(torch), 3.0).sum().backward()


@fact("a Function without forward says so", raises=NotImplementedError)
def _(torch):
    type("Empty", (torch.autograd.Function,), {}).apply(leaf(torch))


@fact("None may be saved for backward, and comes back as None")
def _(torch):
    def forward(ctx, x):
        ctx.save_for_backward(None, x)
        return x * 2

    def backward(ctx, g):
        nothing, x = ctx.saved_tensors
        assert nothing is None
        return g * x

    x = leaf(torch)
    doubling(torch, backward, forward=staticmethod(forward)).apply(x).backward(torch.tensor([1.0, 5.0]))
    return x.grad


@fact("forward may return what is not a tensor beside what is")
def _(torch):
    forward = staticmethod(lambda ctx, x: (x * 2, 3, None))
    return doubling(torch, lambda ctx, g, *rest: g, forward=forward).apply(leaf(torch))


@fact("once_differentiable raises only when the second derivative is asked for")
def _(torch):
    from_once = torch.autograd.function.once_differentiable(lambda ctx, g: g * 3)
    x = leaf(torch)
    y = doubling(torch, from_once).apply(x)
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    seen = g.detach().clone(), g.requires_grad
    try:
        g.sum().backward()
    except RuntimeError as error:
        return seen, str(error)
    return seen


@fact("once_differentiable passes on a tuple, and a None in it")
def _(torch):
    from_once = torch.autograd.function.once_differentiable(lambda ctx, g: (g * 3, None))
    x = leaf(torch)
    y = doubling(torch, from_once).apply(x, 7)
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    return g.requires_grad, g.grad_fn is not None


@fact("what is marked dirty must be returned", RuntimeError)
def _(torch):
    forward = staticmethod(lambda ctx, x: (ctx.mark_dirty(x), x * 2)[1])
    doubling(torch, lambda ctx, g: g, forward=forward).apply(leaf(torch) * 1)


# ----- autograd.functional -----


def _functional_cases():
    product = "the function's inputs and v are checked by "
    yield (
        product + "vjp: v too short",
        lambda F, T: F.vjp(lambda x: (x, x), T([1.0, 2.0]), (T([1.0, 2.0]),)),
        RuntimeError,
    )
    yield product + "vjp: one v too many", lambda F, T: F.vjp(lambda x: x, T([1.0]), (T([1.0]), T([1.0]))), RuntimeError
    yield (
        product + "jvp: v for two inputs",
        lambda F, T: F.jvp(lambda x, y: x + y, (T([1.0]), T([1.0])), (T([1.0]),)),
        RuntimeError,
    )
    yield product + "jvp: v is needed", lambda F, T: F.jvp(lambda x: x, T([1.0, 2.0])), RuntimeError
    yield product + "hvp: v is needed", lambda F, T: F.hvp(lambda x: x.sum(), T([1.0, 2.0])), RuntimeError
    yield (
        product + "vhp: v of another shape",
        lambda F, T: F.vhp(lambda x: x.sum(), T([1.0, 2.0]), T([1.0])),
        RuntimeError,
    )
    yield (
        "hessian wants one tensor from its function",
        lambda F, T: F.hessian(lambda x: (x.sum(), x), T([1.0])),
        RuntimeError,
    )
    yield (
        "hessian wants one element from its function",
        lambda F, T: F.hessian(lambda x: x, T([1.0, 2.0])),
        RuntimeError,
    )
    yield "jacobian refuses inputs that are not tensors", lambda F, T: F.jacobian(lambda x: x, (T([1.0]), 3)), TypeError
    yield "jacobian refuses an input that is a number", lambda F, T: F.jacobian(lambda x: x, 3), TypeError
    yield "jacobian of a constant is zero", lambda F, T: F.jacobian(lambda x: T([1.0, 2.0]), T([1.0, 2.0, 3.0]))
    yield (
        "jacobian of an empty output is refused",
        lambda F, T: F.jacobian(lambda x: x[:0] * 2, T([1.0, 2.0])),
        RuntimeError,
    )
    yield "jvp needs no v for one number", lambda F, T: F.jvp(lambda x: (x * 3, x * x), T([2.0]))
    yield "hvp needs no v for one number", lambda F, T: F.hvp(lambda x: (x**3).sum(), T([2.0]))
    yield (
        "hvp of several inputs gives a tuple",
        lambda F, T: F.hvp(
            lambda x, y: (x * x * y).sum(), (T([1.0, 2.0]), T([3.0, 4.0])), (T([1.0, 0.5]), T([2.0, -1.0]))
        ),
    )
    yield (
        "vjp with several outputs takes a tuple",
        lambda F, T: F.vjp(lambda x: (x * 2, x * x), T([1.0, 3.0]), (T([1.0, -1.0]), T([2.0, 0.5]))),
    )


for _label, _use, *_raises in _functional_cases():
    fact(_label, *_raises)(lambda torch, use=_use: use(torch.autograd.functional, torch.tensor))


@fact("jvp with create_graph stays connected to the caller's graph")
def _(torch):
    x = leaf(torch)
    _, found = torch.autograd.functional.jvp(lambda x: x**3, x, torch.tensor([1.0, 3.0]), create_graph=True)
    return torch.autograd.grad(found, x, torch.tensor([1.0, 10.0]))


# ----- tensors made, converted, compared -----


def _plain_cases():
    F = functional_of
    yield "as_tensor gives a tensor itself back", lambda t: (lambda x: t.as_tensor(x) is x)(t.ones(2))
    yield "as_tensor converts where a dtype is given", lambda t: t.as_tensor(t.ones(2), dtype=t.float64)
    yield "from_numpy takes arrays only", lambda t: t.from_numpy([1.0]), TypeError
    yield "full_like takes shape and dtype from its argument", lambda t: t.full_like(t.ones(2, 3), 7)
    yield "only floating dtypes may be the default", lambda t: t.set_default_dtype(t.int64), TypeError
    yield "relu may work in place", lambda t: F(t).relu(t.tensor([-1.0, 2.0]), inplace=True)
    yield "one_hot counts the classes itself", lambda t: F(t).one_hot(t.tensor([2, 0]))
    yield "one_hot may be told their number", lambda t: F(t).one_hot(t.tensor([[2], [0]]), 4)
    yield (
        "conv2d refuses pictures without channels",
        lambda t: F(t).conv2d(t.ones(3, 3), t.ones(1, 1, 2, 2)),
        RuntimeError,
    )
    yield "max_pool2d refuses pictures without channels", lambda t: F(t).max_pool2d(t.ones(3, 3), 2), RuntimeError
    yield (
        "conv2d takes padding in words",
        lambda t: F(t).conv2d(t.ones(1, 1, 3, 3), t.ones(1, 1, 2, 2), padding="valid"),
    )
    yield "an unknown reduction is refused", lambda t: F(t).mse_loss(t.ones(2), t.ones(2), reduction="all"), ValueError
    yield "an integer to a broken power is floating", lambda t: t.tensor([4, 9]) ** 0.5
    yield "an integer to a negative power is refused", lambda t: t.tensor([4, 9]) ** -1, RuntimeError
    yield "a number to an integer tensor stays an integer", lambda t: 2 ** t.tensor([1, 3])
    yield "a broken number to an integer tensor is floating", lambda t: 2.5 ** t.tensor([1, 3])
    yield "where chooses between two numbers", lambda t: t.where(t.tensor([True, False]), 1.0, 2.0)
    yield "masked_fill wants a mask of bool", lambda t: t.ones(2).masked_fill(t.ones(2), 0.0), RuntimeError
    yield (
        "allclose has absolute and relative tolerance",
        lambda t: (
            t.allclose(t.ones(2), t.tensor([1.0, 1.00001])),
            t.allclose(t.ones(2), t.tensor([1.0, 1.1])),
        ),
    )
    yield (
        "argsort goes up or down",
        lambda t: (
            t.argsort(t.tensor([3, 1, 2])),
            t.tensor([3.0, 1.0, 2.0]).argsort(descending=True),
        ),
    )
    yield "sum may be told its dtype", lambda t: t.ones(3, requires_grad=True).sum(dtype=t.float64)
    yield "the first argument of var may be `unbiased`", lambda t: t.tensor([1.0, 2.0, 4.0]).var(False)
    yield "max over a dimension prints its two results", lambda t: repr(t.tensor([[1.0, 2.0]]).max(1))
    yield "max over the dimension of a number", lambda t: t.tensor(3.0, requires_grad=True).max(0)
    yield "the type has a name", lambda t: (t.ones(2).type(), t.ones(2).dim(), t.ones(2, dtype=t.float64).type())
    yield "numbers compare as tensors too", lambda t: (t.is_tensor(t.ones(1)), t.is_tensor(1.0))


def _division_cases():
    x = lambda t: t.tensor([5.0, -5.0], requires_grad=True)  # noqa: E731
    yield "what // gives has a node", lambda t: (x(t) // 2, x(t) // x(t), 7 // x(t))
    yield "// is not differentiated", lambda t: (x(t) // 2).sum().backward(), RuntimeError
    yield "nor is it in place", lambda t: (x(t) * 1).floor_divide_(2).sum().backward(), RuntimeError
    yield "nor is a number's remainder", lambda t: (7 % x(t)).sum().backward(), RuntimeError
    yield "a remainder has the sign of the divisor", lambda t: (x(t) % 3, x(t) % -3, 7 % x(t), t.remainder(x(t), 3))
    yield "integers divide to integers", lambda t: (t.tensor([5, -5]) // 2, t.tensor([5, -5]) % 3)
    yield "a broken divisor makes them floating", lambda t: (t.tensor([5, -5]) // 1.5, t.tensor([5, -5]) % 1.5)
    yield "integers are not divided by zero", lambda t: t.tensor([5, -5]) // 0, RuntimeError
    yield "nor is there a remainder", lambda t: t.tensor([5, -5]) % 0, RuntimeError
    yield "floating numbers are", lambda t: (x(t) // 0, x(t) % 0)
    yield (
        "rounding goes down or to zero",
        lambda t: [t.div(t.tensor([5, -5]), 2, rounding_mode=mode) for mode in ("floor", "trunc")],
    )
    yield "no other way", lambda t: t.div(x(t), 2, rounding_mode="up"), RuntimeError
    yield "% works in place", lambda t: (x(t) * 1).remainder_(3)


def _pooling_cases():
    def picture(t, dtype):
        return (5 - t.arange(16).reshape(1, 1, 4, 4)).to(dtype)

    yield (
        "max_pool2d pads integers with the lowest",
        lambda t: [
            functional_of(t).max_pool2d(picture(t, dtype), 3, stride=2, padding=1) for dtype in (t.int32, t.int64)
        ],
    )
    yield "avg_pool2d cuts integers off", lambda t: functional_of(t).avg_pool2d(picture(t, t.int64), 2)
    yield "std is for floating numbers", lambda t: t.tensor([1, 2, 4]).std(), RuntimeError
    yield "and so is var", lambda t: t.tensor([1, 2, 4]).var(0), RuntimeError
    yield "a weight that is a number is refused", lambda t: t.autograd.grad(leaf(t) * 2, leaf(t), 3.0), TypeError
    yield "so it is by backward", lambda t: (leaf(t) * 2).backward(3.0), TypeError


def _shape_cases():
    pad = lambda t, *args: functional_of(t).pad(t.ones(2, 3), *args)  # noqa: E731
    yield "padding comes in pairs", lambda t: pad(t, (1,)), RuntimeError
    yield "padding is for dimensions that are there", lambda t: pad(t, (1,) * 6), RuntimeError
    yield "padding does not cut off more than there is", lambda t: pad(t, (-2, -2)), RuntimeError
    yield "repeat wants a number for each dimension", lambda t: t.ones(2, 2).repeat(2), RuntimeError
    yield "repeat wants no negative number", lambda t: t.ones(2, 2).repeat(2, -1), RuntimeError
    yield "a diagonal lies between two dimensions", lambda t: t.ones(2, 2).diagonal(0, 1, 1), RuntimeError
    yield "a diagonal is a view", lambda t: (lambda x: (x.diagonal().add_(2), x))(t.zeros(2, 3))
    yield (
        "a diagonal of a computed tensor is changed in place",
        lambda t: (lambda x: (x.diagonal().mul_(2), x, t.autograd.grad(x.sum(), [x])))(
            t.ones(2, 3, requires_grad=True) * 1
        ),
    )
    yield "hstack wants something to stack", lambda t: t.hstack([]), RuntimeError
    yield "vstack wants something to stack", lambda t: t.vstack([]), RuntimeError
    yield "split wants sizes that come out even", lambda t: t.ones(3).split([1, 1]), RuntimeError
    yield "split wants sizes that are not negative", lambda t: t.ones(3).split([-1, 4]), RuntimeError
    yield "split wants a size that is not negative", lambda t: t.ones(3).split(-1), RuntimeError
    yield "split wants a size that is not zero", lambda t: t.ones(3).split(0), RuntimeError
    yield (
        "products and running sums of integers are long",
        lambda t: [
            (x.prod(), x.cumsum(0), x.cumprod(0)) for x in (t.tensor([2, 3], dtype=t.int32), t.tensor([True, True]))
        ],
    )
    yield (
        "they may be told their dtype",
        lambda t: [getattr(t.ones(2), name)(0, dtype=t.float64) for name in ("prod", "cumsum", "cumprod")],
    )
    yield "a dimension to sum along must be there", lambda t: t.ones(2).cumsum(1), IndexError
    yield "view infers one size only", lambda t: t.ones(4).view(-1, -1), RuntimeError
    yield "flatten wants its dimensions in order", lambda t: t.ones(2, 2).flatten(1, 0), RuntimeError
    yield "expand cannot drop dimensions", lambda t: t.ones(2, 2).expand(2), RuntimeError
    yield "expand_as takes the shape of another", lambda t: t.ones(2, 1).expand_as(t.ones(2, 3))
    yield "t is for matrices", lambda t: t.ones(2, 2, 2).t(), RuntimeError
    yield "permute wants every dimension", lambda t: t.ones(2, 2).permute(0), RuntimeError
    yield "select stays within its dimension", lambda t: t.ones(2).select(0, 5), IndexError
    yield "cat wants equally many dimensions", lambda t: t.cat([t.ones(2), t.ones(2, 2)]), RuntimeError
    yield "cat wants equal sizes elsewhere", lambda t: t.cat([t.ones(2, 2), t.ones(2, 3)]), RuntimeError
    yield "stack wants something to stack", lambda t: t.stack([]), RuntimeError
    yield "chunk wants a positive number", lambda t: t.ones(4).chunk(0), RuntimeError
    yield "stride counts elements", lambda t: t.ones(2, 3).t().stride()
    yield "an empty list picks nothing", lambda t: t.ones(2)[[]]
    yield "a broken number is no index", lambda t: t.ones(2)[t.tensor([0.5])], IndexError
    yield "copy_ refuses more dimensions than there are", lambda t: t.ones(2).copy_(t.ones(3, 2)), RuntimeError
    yield "copy_ refuses a size that does not broadcast", lambda t: t.ones(2).copy_(t.ones(3)), RuntimeError
    yield (
        "linear refuses features that do not match",
        lambda t: functional_of(t).linear(t.ones(2, 3), t.ones(4, 5), t.ones(4)),
        RuntimeError,
    )
    yield (
        "linear refuses a weight of another dtype",
        lambda t: functional_of(t).linear(t.ones(2, 3), t.ones(4, 3, dtype=t.float64), t.ones(4)),
        RuntimeError,
    )
    yield (
        "linear refuses an input of another dtype",
        lambda t: functional_of(t).linear(t.ones(2, 3), t.ones(4, 3, dtype=t.float64), t.ones(4, dtype=t.float64)),
        RuntimeError,
    )
    yield (
        "linear without bias refuses mixed dtypes",
        lambda t: functional_of(t).linear(t.ones(2, 3), t.ones(4, 3, dtype=t.float64)),
        RuntimeError,
    )


for _label, _use, *_raises in (*_plain_cases(), *_division_cases(), *_pooling_cases(), *_shape_cases()):
    fact(_label, *_raises)(_use)


@fact("the default dtype can be changed")
def _(torch):
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        return torch.tensor([1.5]), torch.ones(1)
    finally:
        torch.set_default_dtype(before)


@fact("the class itself makes tensors of the default dtype")
def _(torch):
    return torch.Tensor([1, 2]), torch.Tensor([[1.5]]).shape


@fact("an array may be made of a tensor in another dtype")
def _(torch):
    return str(np.asarray(torch.ones(2), dtype=np.float64).dtype), [10, 20, 30][torch.tensor(1)]


@fact("a tensor with fractions is no index of a list", raises=TypeError)
def _(torch):
    return [10, 20][torch.tensor(1.0)]


# ----- tensors, their gradients and nodes -----


@fact("an index of text is refused", raises=TypeError)
def _(torch):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.ones(2)["a"]


@fact("detach_ cuts a tensor off in place")
def _(torch):
    y = leaf(torch) * 2
    same = y.detach_()
    return same is y, y.requires_grad, y.grad_fn, y.output_nr


@fact("a gradient can be deleted")
def _(torch):
    x = leaf(torch)
    (x * 2).sum().backward()
    del x.grad
    return x.grad


@fact("a second recorded backward adds to the gradient out of place")
def _(torch):
    x = leaf(torch)
    for factor in (2, 3):
        (g,) = torch.autograd.grad((x * x * factor).sum(), x, create_graph=True)
        g.sum().backward(create_graph=True)
    return x.grad.detach()


@fact("the second backward with create_graph leaves a gradient that is connected")
def _(torch):
    x = leaf(torch)
    (x**3).sum().backward(create_graph=True)
    (x**3).sum().backward(create_graph=True)
    return x.grad


@fact("nodes print, carry metadata and are numbered as they are made")
def _(torch):
    y = leaf(torch) * 2
    z = y * 2
    y.grad_fn.metadata["mine"] = 1
    later = z.grad_fn._sequence_nr() > y.grad_fn._sequence_nr()
    return y.grad_fn.metadata, later, repr(y.grad_fn).split(" at ")[0]


@fact("a value that was not needed is saved as None")
def _(torch):
    return (leaf(torch) * torch.tensor([3.0, 4.0])).grad_fn._saved_self


@fact("a hook in a with statement is removed at its end")
def _(torch):
    x = leaf(torch)
    seen = []
    with x.register_hook(lambda g: seen.append(g.clone())) as handle:
        (x * 2).sum().backward()
    (x * 2).sum().backward()
    handle.remove()
    return seen


@fact("a post-accumulate hook must return nothing", raises=TypeError)
def _(torch):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda parameter: 3)
    (x * 2).sum().backward()


@fact("hooks on an output to which nothing comes are called with None")
def _(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    seen = []
    first, second = (x * 1).unbind()
    first.register_hook(lambda g: seen.append(("first", g)))
    second.register_hook(lambda g: seen.append(("second", g.clone())))
    second.backward(torch.tensor([1.0, 5.0]))
    return seen, x.grad


@fact("a pack hook may not change what it is given", raises=RuntimeError)
def _(torch):
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x.mul_(2), lambda x: x):
        leaf(torch).exp()


@fact("an unpack hook must return a tensor", raises=TypeError)
def _(torch):
    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: 3):
        y = (x * x).sum()
    y.backward()


# ----- modes and changes in place -----


@fact("what is sent or thrown into a decorated generator arrives, and its return value comes out")
def _(torch):
    @torch.no_grad()
    def steps():
        try:
            yield torch.is_grad_enabled()
        except KeyError:
            got = yield "caught", torch.is_grad_enabled()
        return got

    running = steps()
    seen = [next(running), torch.is_grad_enabled(), running.throw(KeyError("x"))]
    try:
        running.send("last")
    except StopIteration as stop:
        seen.append(stop.value)
    return seen


@fact("inference_mode decorates without parentheses")
def _(torch):
    @torch.inference_mode
    def double(x):
        return x * 2

    return double(leaf(torch)).requires_grad, torch.is_inference_mode_enabled()


@fact("an inference tensor is not changed in place outside", raises=RuntimeError)
def _(torch):
    with torch.inference_mode():
        x = torch.ones(2)
    x.add_(1)


@fact("a view changed in place passes nothing on where nothing arrives")
def _(torch):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 1
    y[0].mul_(3)
    first, second = y.unbind()
    return torch.autograd.grad(first, x, torch.tensor([1.0, 5.0])), second


@pytest.mark.parametrize("fact", SCENARIOS)
def test_same_as_torch(fact):
    assert_same(*SCENARIOS[fact])
