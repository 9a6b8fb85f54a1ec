"""The part of torch's interface that lessons of chapters 02, 03 and 06 use, around the engine that you have built.

There is no new autograd idea here: these lines make tensors, index them, print them and change them in place as torch
does. `finish` adds what you wrote in chapter 14. Then a lesson needs to change only its import, to
`from gradlab import like_torch as torch`.
"""

import types

import numpy as np
from engine_11 import AccumulateGrad, Node, Tensor, as_array, no_grad, operation, record, state
from engine_13 import grad

__all__ = ["Tensor", "autograd", "no_grad", "optim", "tensor"]

float32, float64, int64, bool = (np.dtype(name) for name in ("float32", "float64", "int64", "bool"))
autograd = types.SimpleNamespace(grad=grad)
optim = types.SimpleNamespace()


def finish(matmul, SGD):
    """Use what chapter 14 adds: matmul(matrix, matrix) and the class SGD(parameters, lr, …)."""

    def product(self, other):
        if 1 in (self.data.ndim, other.data.ndim):
            return _matrix_vector(transpose(other), self) if self.data.ndim == 1 else _matrix_vector(self, other)
        return matmul(self, other)

    Tensor.__matmul__ = product
    optim.SGD = type("SGD", (SGD,), {"zero_grad": Adam.zero_grad})  # which can also leave zeros


# Tensors from nothing


class Generator:
    """A source of random numbers; they differ from torch's."""

    def manual_seed(self, seed):
        self.rng = np.random.default_rng(seed)
        return self


_default = Generator().manual_seed(0)
manual_seed = _default.manual_seed


def tensor(data, dtype=None, requires_grad=False):
    array = np.array(as_array(data.data if isinstance(data, Tensor) else data), dtype)
    return Tensor(array, requires_grad)


def full(shape, value, dtype=float32, requires_grad=False):
    return Tensor(np.full(shape, value, dtype), requires_grad)


def _shape(sizes):
    return sizes[0] if sizes and isinstance(sizes[0], tuple) else sizes


def zeros(*sizes, **kwargs):
    return full(_shape(sizes), 0, **kwargs)


def ones(*sizes, **kwargs):
    return full(_shape(sizes), 1, **kwargs)


def randn(*sizes, generator=_default, requires_grad=False):
    return Tensor(np.asarray(generator.rng.standard_normal(_shape(sizes)), float32), requires_grad)


def linspace(start, end, steps):
    return Tensor(np.linspace(start, end, steps, dtype=float32))


def zeros_like(other):
    return Tensor(np.zeros_like(other.data))


def ones_like(other):
    return Tensor(np.ones_like(other.data))


# Comparing


def equal(a, b):
    return np.array_equal(a.data, b.data)


def isclose(a, b):
    return Tensor(np.isclose(a.data, b.data, rtol=1e-5, atol=1e-8))


def allclose(a, b):
    return isclose(a, b).data.all().item()


# Operations, each with its gradient formula


def _put_back(grad, shape, key):
    whole = np.zeros(shape, grad.dtype)
    np.add.at(whole, key, grad)
    return whole


def _pick(self, key):
    return np.asarray(self[key])


_index = {
    int: operation("SelectBackward0", _pick, self=_put_back),
    slice: operation("SliceBackward0", _pick, self=_put_back),
    list: operation("IndexBackward0", _pick, self=_put_back, key=lambda grad: None),  # a tensor, so freed
}


class StackBackward0(Node):
    """Every input has its own row in the result, and so in the gradient."""

    def apply(self, gradient):
        return list(gradient)


def stack(tensors):
    result = Tensor(np.stack([each.data for each in tensors]))
    record(StackBackward0(), tensors, result)
    return result


exp = operation("ExpBackward0", lambda self: np.exp(self), self=lambda grad, result: grad * result)
sin = operation("SinBackward0", lambda self: np.sin(self), self=lambda grad, self: grad * np.cos(self))
tanh = operation("TanhBackward0", lambda self: np.tanh(self), self=lambda grad, result: grad * (1 - result**2))
abs = operation("AbsBackward0", lambda self: np.abs(self), self=lambda grad, self: grad * np.sign(self))
clone = operation("CloneBackward0", lambda self: self.copy(), self=lambda grad: grad)
flip = operation("FlipBackward0", lambda self, dim: np.flip(self, dim), self=lambda grad, dim: np.flip(grad, dim))
transpose = operation("TBackward0", lambda self: self.T, self=lambda grad: grad.T)
_matrix_vector = operation(
    "MvBackward0",
    lambda self, vec: self @ vec,
    self=lambda grad, vec: grad[:, None] * vec,
    vec=lambda grad, self: self.T @ grad,
)
mean = operation(
    "MeanBackward0",
    lambda self: self.mean(),
    self=lambda grad, shape: np.broadcast_to(grad / np.prod(shape), shape),
)
prod = operation(  # of elements other than 0
    "ProdBackward0", lambda self: self.prod(), self=lambda grad, self, result: grad * result / self
)
_clamp = operation(
    "ClampBackward1",
    lambda self, min, max: self.clip(min, max),
    self=lambda grad, self, min, max: grad * (self == self.clip(min, max)),
)


def in_place(operate):
    """Return a method that applies `operate` in the tensor's own memory; the tensor then has a new grad_fn."""

    def change(self, *args):
        if state.grad and self.requires_grad and self.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        new = operate(self, *args)
        self.data[...] = new.data
        if new.requires_grad:
            self.grad_fn, self.requires_grad = new.grad_fn, True
        return self

    return change


class Adam:
    """Adam with torch's defaults, after Kingma and Ba, 2015, algorithm 1."""

    def __init__(self, parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.parameters, self.lr, self.betas, self.eps, self.steps = list(parameters), lr, betas, eps, 0
        self.means = [np.zeros_like(each.data) for each in self.parameters]
        self.squares = [np.zeros_like(each.data) for each in self.parameters]

    def zero_grad(self, set_to_none=True):
        for each in self.parameters:
            each.grad = None if set_to_none or each.grad is None else zeros_like(each.grad)

    def step(self):
        self.steps += 1
        first, second = self.betas
        for each, m, v in zip(self.parameters, self.means, self.squares, strict=True):
            if each.grad is not None:
                m[...] = first * m + (1 - first) * each.grad.data
                v[...] = second * v + (1 - second) * each.grad.data**2
                size = np.sqrt(v / (1 - second**self.steps)) + self.eps
                each.data[...] -= self.lr * m / (1 - first**self.steps) / size


optim.Adam = Adam


# As torch prints a tensor, with four digits


def _formatter(values):
    """Return a function that formats a number; all results have the same width."""
    if values.dtype.kind != "f":
        width = max(len(str(value)) for value in values.tolist())
        return lambda value: str(value).rjust(width)
    finite = values[np.isfinite(values) & (values != 0)].astype(float)
    sizes = np.abs(finite)
    wide = sizes.size and (sizes.max() / sizes.min() > 1000 or sizes.max() > 1e8 or sizes.min() < 1e-4)
    whole = not wide and (sizes == np.ceil(sizes)).all()
    style = "{:.4e}" if wide else "{:.0f}." if whole else "{:.4f}"
    width = max((len(style.format(value)) for value in finite), default=1)
    return lambda value: (style if np.isfinite(value) else "{}").format(value).rjust(width)


def _repr(self):
    text = "[]"
    if self.data.size:
        options = {"formatter": {"all": _formatter(self.data.reshape(-1))}, "separator": ", ", "max_line_width": 81}
        text = np.array2string(self.data, prefix="tensor(", **options)
    if self.dtype not in (float32, int64, bool):
        text += f", dtype=torch.{self.dtype}"
    if self.grad_fn:
        text += f", grad_fn=<{self.grad_fn.name()}>"
    elif self.requires_grad:
        text += ", requires_grad=True"
    return f"tensor({text})"


# What else a torch tensor has

_METHODS = {
    "__repr__": _repr,
    "__format__": lambda self, style: format(self.item(), style) if style else repr(self),
    "__len__": lambda self: len(self.data),
    "__getitem__": lambda self, key: _index[type(key)](self, key),
    "__eq__": lambda self, other: Tensor(np.equal(self.data, other.data if isinstance(other, Tensor) else other)),
    "__hash__": object.__hash__,
    "__bool__": lambda self: self.data.item() not in (0, False),
    "__iadd__": in_place(Tensor.__add__),
    "__isub__": in_place(Tensor.__sub__),
    "__imul__": in_place(Tensor.__mul__),
    "sub_": in_place(Tensor.__sub__),
    "mul_": in_place(Tensor.__mul__),
    "zero_": in_place(zeros_like),
    "exp": exp,
    "sin": sin,
    "tanh": tanh,
    "abs": abs,
    "clone": clone,
    "mean": mean,
    "prod": prod,
    "square": lambda self: self**2,
    "flip": flip,
    "clamp": lambda self, min=None, max=None: _clamp(self, min, max),
    "split": lambda self, size: tuple(self[at : at + size] for at in range(0, len(self), size)),
    "item": lambda self: self.data.item(),
    "numel": lambda self: self.data.size,
    "nbytes": property(lambda self: self.data.nbytes),
    "data_ptr": lambda self: self.data.ctypes.data,
}
AccumulateGrad.name = lambda node: "torch::autograd::AccumulateGrad"  # its name in torch, which draw cuts
for _name, _method in _METHODS.items():
    setattr(Tensor, _name, _method)
