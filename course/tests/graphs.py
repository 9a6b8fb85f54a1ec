"""Computations whose graphs the tests draw and step through: name -> function that returns the roots and the names."""

import torch
from torch import nn
from torch.nn import functional as F

GRAPHS = {}


def graph(make):
    """Register a computation. Each call builds it afresh, from the same seed."""

    def seeded():
        torch.manual_seed(0)
        return make()

    GRAPHS[make.__name__] = seeded
    return seeded


def all_nodes(*roots):
    """Return the nodes of the graph behind some tensors."""
    seen, todo = {}, [root.grad_fn for root in roots]
    while todo:
        fn = todo.pop()
        if fn not in seen:
            seen[fn] = True
            todo += [child for child, _ in fn.next_functions if child is not None]
    return list(seen)


def vector(*numbers, grad=True):
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=grad)


@graph
def diamond():
    x = vector(1.0, 2.0)
    a, b = x * 3, x.exp()
    return [(a * b).sum()], {"x": x, "a": a, "b": b}


@graph
def two_losses():
    x, w = vector(1.0, 2.0), vector(0.3, 0.7)
    trunk = (x * w).tanh()
    return [trunk.sum(), (trunk**2).mean()], {"x": x, "w": w, "trunk": trunk}


class Block(nn.Module):
    """A residual block, as in ResNet-18."""

    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.relu(x + self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


def resnet(blocks):
    net = nn.Sequential(nn.Conv2d(1, 2, 3), *[Block(2) for _ in range(blocks)], nn.Flatten(), nn.Linear(72, 3)).double()
    return [net(torch.randn(1, 1, 8, 8, dtype=torch.float64)).logsumexp(1).sum()], {"net": net}


@graph
def two_residual_blocks():
    return resnet(2)


class Cube(torch.autograd.Function):
    """x³, written by hand."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


@graph
def custom_function():
    x = vector(1.0, -2.0)
    return [(Cube.apply(x) + Cube.apply(x * 2)).sum()], {"x": x}


@graph
def frozen_parts():
    w, f, b = vector(1.0, 2.0), vector(3.0, 4.0, grad=False), vector(0.5, 0.6, grad=False)
    head = nn.Linear(2, 2).double().requires_grad_(False)
    return [(head((w * f + b).reshape(1, 2)) / 2).sum()], {"w": w, "f": f, "b": b, "head": head}


@graph
def views():
    x = torch.randn(4, 6, dtype=torch.float64, requires_grad=True)
    a, b = x.T.reshape(4, 6).chunk(2, dim=1)
    rows = (a * b).unbind()
    return [(rows[0] + rows[2][0] + rows[3].flip(0)).sum()], {"x": x, "a": a, "b": b, "rows": rows}


@graph
def in_place():
    x = vector(1.0, 2.0)
    y = x * 2
    y.add_(1).mul_(x)
    return [y.sum()], {"x": x, "y": y}


@graph
def skips_of_many_lengths():
    x = vector(0.1, 0.2)
    steps = [x]
    for k in range(6):
        steps.append(torch.tanh(steps[-1] + steps[k // 2] * steps[0]))
    return [sum(steps).sum()], {"x": x}


@graph
def one_number():
    x = torch.tensor(1.0, requires_grad=True)
    return [x**3], {"x": x}
