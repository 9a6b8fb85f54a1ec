"""Tensors detached after saving, saved values of Functions, leaves that changed, nodes with new shapes.

Each scenario's label states a fact; the same code runs on torch and on mini_autograd.
"""

import pytest
from both import Scenarios, assert_same, functional_of

SCENARIOS = Scenarios()
fact = SCENARIOS.fact


@pytest.mark.parametrize("fact", SCENARIOS)
def test_same_as_torch(fact):
    assert_same(*SCENARIOS[fact])


def leaf(torch):
    return torch.tensor([1.0, 2.0], requires_grad=True)


# ----- detached in place -----


@fact("a saved input that was detached in place is refused", RuntimeError)
def _(torch):
    y = leaf(torch) * 2
    z = y.sin()
    y.detach_()
    z.sum().backward()


@fact("a saved factor that was detached in place is refused, recorded too", RuntimeError)
def _(torch):
    x = leaf(torch)
    y = x * 2
    z = y * y
    y.detach_()
    torch.autograd.grad(z.sum(), x, create_graph=True)


@fact("a detached tensor whose value was not saved does not matter")
def _(torch):
    x = leaf(torch)
    y = x * 2
    z = y + 1
    y.detach_()
    z.sum().backward()
    return x.grad


@fact("a saved output may be detached in place")
def _(torch):
    x = leaf(torch)
    y = x.exp()
    z = y * 3
    y.detach_()
    z.sum().backward()
    return x.grad


@fact("a tensor that was saved after it was detached is a constant")
def _(torch):
    w = leaf(torch)
    y = leaf(torch) * 2
    y.detach_()
    (y * w).sum().backward()
    return w.grad


@fact("a saved tensor that was detached in place is still shown")
def _(torch):
    y = leaf(torch) * 2
    z = y * y
    y.detach_()
    return z.grad_fn._saved_self


@fact("a Function is given back its saved tensor that was detached in place")
def _(torch):
    seen = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.saved_tensors)
            return grad * 2

    x = leaf(torch)
    y = x * 2
    z = Double.apply(y)
    y.detach_()
    z.sum().backward()
    return seen, x.grad


# ----- what a Function keeps -----


def applied(torch, seen):
    """Return the result of a Function that saves its input, its output, and None."""

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(x, y, None)
            return y

        @staticmethod
        def backward(ctx, grad):
            seen.append(ctx.saved_tensors)
            return grad * 2

    return Double.apply(leaf(torch))


@fact("_raw_saved_tensors are as many as were saved")
def _(torch):
    raw = applied(torch, []).grad_fn._raw_saved_tensors
    return type(raw).__name__, [type(each).__name__ for each in raw]


@fact("hooks on one of _raw_saved_tensors pack it at once and unpack it for backward")
def _(torch):
    seen = []
    y = applied(torch, seen)
    for saved in y.grad_fn._raw_saved_tensors[:2]:
        saved.register_hooks(lambda value: (seen.append(value), value * 3)[1], lambda value: value + 1)
    y.sum().backward()
    return seen


@fact("one of _raw_saved_tensors takes only one pair of hooks", RuntimeError)
def _(torch):
    y = applied(torch, [])
    for _ in range(2):
        y.grad_fn._raw_saved_tensors[0].register_hooks(lambda value: value, lambda value: value)


@fact("None among _raw_saved_tensors takes no hooks", RuntimeError)
def _(torch):
    applied(torch, []).grad_fn._raw_saved_tensors[2].register_hooks(lambda value: value, lambda value: value)


@fact("_raw_saved_tensors are gone after backward", RuntimeError)
def _(torch):
    y = applied(torch, [])
    y.sum().backward()
    return y.grad_fn._raw_saved_tensors


# ----- leaves that changed since -----


@fact("a leaf that needs no gradient any more receives none")
def _(torch):
    x = leaf(torch)
    y = x * 2
    x.requires_grad_(False)
    y.sum().backward()
    return x.grad


@fact("a leaf that was detached in place receives none")
def _(torch):
    x = leaf(torch)
    y = x * x
    x.detach_()
    y.sum().backward()
    return x.grad, x.requires_grad


@fact("a leaf that has become the result of an operation is refused", RuntimeError)
def _(torch):
    x = leaf(torch)
    y = x * 2
    x.requires_grad_(False)
    x.mul_(leaf(torch))
    y.sum().backward()


# ----- nodes given what they do not expect -----


def accumulator(torch):
    x = leaf(torch)
    return x, (x * 2).grad_fn.next_functions[0][0]


@fact("a leaf's node called by hand spreads one number over the leaf")
def _(torch):
    x, node = accumulator(torch)
    return node(torch.ones(1)), x.grad


@fact("a leaf's node called by hand refuses more numbers than the leaf has", RuntimeError)
def _(torch):
    accumulator(torch)[1](torch.ones(3))


@fact("a leaf's node called by hand refuses more dimensions than the leaf has", RuntimeError)
def _(torch):
    accumulator(torch)[1](torch.ones(2, 2))


@fact("a leaf that has a gradient refuses another shape too", RuntimeError)
def _(torch):
    x, node = accumulator(torch)
    x.grad = torch.ones(2)
    node(torch.ones(3))


@fact("a leaf's node called by hand takes another dtype, and None")
def _(torch):
    x, node = accumulator(torch)
    return node(None), node(torch.ones(2).double()), x.grad


@fact("a node called by hand computes with what it is given")
def _(torch):
    node = (leaf(torch) * torch.tensor([3.0, 4.0])).grad_fn
    return node(torch.ones(2, 2)), node(torch.ones(2).double())


@fact("a node called by hand says that sizes differ", RuntimeError)
def _(torch):
    (leaf(torch) * leaf(torch)).grad_fn(torch.ones(3))


@fact("the node of a product of matrices says that shapes do not go together", RuntimeError)
def _(torch):
    product = torch.ones(2, 3, requires_grad=True) @ torch.ones(3, 2)
    product.grad_fn(torch.ones(3, 3))


# ----- hooks on what is saved -----


@fact("pack receives each tensor in its place in the graph")
def _(torch):
    seen = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda value: seen.append(value) or value.detach(), lambda value: value
    ):
        x = leaf(torch)
        y = (x * 2).exp() * x
        y.max(0)
    return seen


@fact("hooks set on one saved value receive it detached")
def _(torch):
    seen = []
    x = leaf(torch)
    y = x.exp() * x
    for raw in (y.grad_fn._raw_saved_self, y.grad_fn._raw_saved_other):
        raw.register_hooks(lambda value: seen.append(value) or value, lambda value: value)
    y.sum().backward()
    return seen, x.grad


# ----- what becomes of other dtypes, and of what hooks return -----


@fact("integers made of floats are constants")
def _(torch):
    x = leaf(torch)
    return x.long(), x.int(), x.bool(), x.to(torch.int64), (x * 2).long()


@fact("a hook after accumulation may return what it was given")
def _(torch):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda tensor: tensor)
    x.sum().backward()
    return x, x.grad


@fact("a hook after accumulation may return no other tensor", RuntimeError)
def _(torch):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda tensor: tensor * 2)
    x.sum().backward()


@fact("a hook after accumulation may return no number", TypeError)
def _(torch):
    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda tensor: 3)
    x.sum().backward()


@fact("gradcheck warns of single precision")
def _(torch):
    return torch.autograd.gradcheck(lambda x, y: x * y, (torch.zeros(2, requires_grad=True), torch.ones(1)), eps=0.5)


# ----- freed -----


def _both(torch):
    return torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), torch.tensor([1, 0]), torch.tensor([True, False])


def _written(torch, x, index):
    y = torch.zeros(3, 2)
    y[index + 1] = x
    return y


# Operations whose only saved tensors are indices, masks and targets.
SAVING_CONSTANTS = {
    "an index": lambda torch, x, index, mask: x[index],
    "a mask as an index": lambda torch, x, index, mask: x[mask],
    "elements written": lambda torch, x, index, mask: _written(torch, x, index),
    "masked_fill": lambda torch, x, index, mask: x.masked_fill(mask, 7.0),
    "where": lambda torch, x, index, mask: torch.where(mask, x, 0.0),
    "gather": lambda torch, x, index, mask: x.gather(1, index[:, None]),
    "index_select": lambda torch, x, index, mask: x.index_select(1, index),
    "embedding": lambda torch, x, index, mask: functional_of(torch).embedding(index, x),
    "nll_loss": lambda torch, x, index, mask: functional_of(torch).nll_loss(x, index),
}


for _label, _call in SAVING_CONSTANTS.items():

    @fact(f"a second backward is refused: {_label}", raises=RuntimeError)
    def _(torch, call=_call):
        y = call(torch, *_both(torch))
        y.backward(torch.ones_like(y))
        y.backward(torch.ones_like(y))

    @fact(f"a second backward runs if the graph was retained: {_label}")
    def _(torch, call=_call):
        x, *rest = _both(torch)
        y = call(torch, x, *rest)
        y.backward(torch.ones_like(y), retain_graph=True)
        y.backward(torch.ones_like(y))
        return y, x.grad


@fact("a second backward runs where nothing was saved")
def _(torch):
    x = leaf(torch)
    y = x.view(2, 1).expand(2, 3).sum(0) + 1
    y.backward(torch.ones_like(y))
    y.backward(torch.ones_like(y))
    return x.grad


@fact("a second backward runs through a view whose base was changed")
def _(torch):
    x = leaf(torch)
    y = x + 0
    view = y[:1]
    y.add_(1)
    view.sum().backward()
    view.sum().backward()
    return x.grad


def _asking(torch, *saved):
    def forward(ctx, x):
        ctx.save_for_backward(*saved)
        return x * 2

    def backward(ctx, grad):
        return grad * (2 + len(ctx.saved_tensors))

    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Asking", (torch.autograd.Function,), members)


@fact("a Function that asks for what it saved is refused a second backward", raises=RuntimeError)
def _(torch):
    y = _asking(torch, torch.ones(2)).apply(leaf(torch)).sum()
    y.backward()
    y.backward()


@fact("and so is one that asks though it saved nothing", raises=RuntimeError)
def _(torch):
    y = _asking(torch).apply(leaf(torch)).sum()
    y.backward()
    y.backward()


@fact("if the graph was retained it runs again")
def _(torch):
    x = leaf(torch)
    y = _asking(torch).apply(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@fact("what a Function saved cannot be read after backward", raises=RuntimeError)
def _(torch):
    y = _asking(torch).apply(leaf(torch))
    y.sum().backward()
    return y.grad_fn.saved_tensors
