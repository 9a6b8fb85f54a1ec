"""Names from torch's early days: `LongTensor`, `Tensor(2, 3)`, `x.new`, `x._grad_fn`, `InplaceFunction`.

Each scenario's label states a fact; the same code runs on torch and on mini_autograd.
"""

import numpy as np
import pytest
from both import Scenarios, assert_same

SCENARIOS = Scenarios()
fact = SCENARIOS.fact


@pytest.mark.parametrize("fact", SCENARIOS)
def test_same_as_torch(fact):
    assert_same(*SCENARIOS[fact])


def types(torch):
    return [torch.FloatTensor, torch.DoubleTensor, torch.LongTensor, torch.IntTensor, torch.BoolTensor]


# ----- tensors by type -----


@fact("a type called with values makes a tensor of its dtype")
def _(torch):
    return [each(values) for each in types(torch) for values in ([1, 0], [[1.0], [0.0]], (), [True, torch.tensor(1)])]


@fact("an array shares its memory if it has the dtype already")
def _(torch):
    array = np.array([1, 2])
    same, cast = torch.LongTensor(array), torch.FloatTensor(array)
    array[0] = 7
    return same, cast


@fact("integers are sizes, and so is a Size")
def _(torch):
    return [
        [each(2, 3).shape, each(2).shape, each().shape, each(torch.ones(3, 1).shape).shape] for each in types(torch)
    ]


@fact("a tensor of the type's dtype is taken as it is")
def _(torch):
    x = torch.tensor([1, 2])
    made = torch.LongTensor(x)
    x[0] = 7
    return made


@fact("a tensor is an instance of the type of its dtype only")
def _(torch):
    tensors = [torch.ones(2, dtype=each.dtype) for each in types(torch)]
    return [[isinstance(tensor, each) for each in types(torch)] for tensor in tensors]


@fact("a type says its name and dtype")
def _(torch):
    return [(each.__name__, repr(each), each.dtype) for each in types(torch)]


@fact("type changes the dtype, given as type, name or dtype")
def _(torch):
    x = torch.tensor([1.5, 0.0], requires_grad=True)
    named = [x.type(name) for name in ("torch.LongTensor", "torch.DoubleTensor")]
    return x.type(), *(x.type(each) for each in types(torch)), *named, x.type(torch.float64)


@fact("a number is not a sequence of values", raises=TypeError)
def _(torch):
    torch.FloatTensor(2.5)


@fact("Tensor takes values and sizes as the types do")
def _(torch):
    return torch.Tensor(2, 3).shape, torch.Tensor([1, 2]), torch.Tensor(), torch.Tensor(torch.tensor([3]))


@fact("a subclass of Tensor is made in the same way")
def _(torch):
    class Named(torch.Tensor):
        pass

    return type(Named([1.0, 2.0])) is Named, Named(2, 1).shape


@fact("new makes a tensor of the same dtype, by sizes or values")
def _(torch):
    x = torch.tensor([1, 2])
    return x.new([3, 4]), x.new(2, 3).shape, x.new(x.shape).shape, x.new(), x.new(x)


@fact("inf, nan, pi and e are there")
def _(torch):
    return torch.inf, torch.nan, torch.pi, torch.e


# ----- what a tensor holds, deleted or set -----


def result(torch):
    return torch.tensor([1.0, 2.0], requires_grad=True) * 3


@fact("_grad_fn is grad_fn")
def _(torch):
    y = result(torch)
    return y._grad_fn is y.grad_fn, torch.ones(2)._grad_fn


@fact("_grad_fn cannot be deleted", raises=RuntimeError)
def _(torch):
    del result(torch)._grad_fn


@fact("_grad_fn set to None detaches")
def _(torch):
    y = result(torch)
    y._grad_fn = None
    return y, y.requires_grad, y.is_leaf


@fact("_grad_fn can be set to nothing else", raises=RuntimeError)
def _(torch):
    result(torch)._grad_fn = 3


@fact("_backward_hooks cannot be deleted", raises=RuntimeError)
def _(torch):
    del result(torch)._backward_hooks


@fact("hooks set as a dict are called")
def _(torch):
    x, seen = torch.ones(2, requires_grad=True), []
    x._backward_hooks = {0: lambda grad: seen.append(grad) or grad * 2}
    (x * 3).sum().backward()
    return seen, x.grad, torch.ones(2)._backward_hooks


# ----- Functions -----


@fact("an InplaceFunction returns the tensor that it changed, with its own node")
def _(torch):
    class Add(torch.autograd.function.InplaceFunction):
        @staticmethod
        def forward(ctx, a, b):
            ctx.mark_dirty(a)
            return a.add_(b), b + 2

        @staticmethod
        def backward(ctx, to_a, to_b):
            return to_a, to_a + to_b

    x, y = torch.ones(2), torch.ones(2, requires_grad=True)
    q, p = Add.apply(x, y)
    (q * torch.tensor([1.0, 10.0])).sum().backward()
    return q is x, type(q.grad_fn) is Add._backward_cls, p, y.grad


@fact("the nodes of a Function have one class, and each Function has its own")
def _(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    class Again(Double):
        pass

    x = torch.ones(2, requires_grad=True)
    a, b, c = Double.apply(x).grad_fn, Double.apply(x).grad_fn, Again.apply(x).grad_fn
    return type(a) is type(b) is Double._backward_cls, type(c) is type(a), a, c, type(c).__name__


@fact("saved_variables is saved_tensors, with a warning")
def _(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_variables
            return grad * x

    x = torch.tensor([3.0, 4.0], requires_grad=True)
    Double.apply(x).sum().backward()
    return x.grad


@fact("type_as takes over a dtype")
def _(torch):
    x = torch.ones(2, requires_grad=True)
    return x.type_as(x) is x, x.type_as(torch.tensor([1])), x.type_as(torch.ones(1, dtype=torch.float64))
