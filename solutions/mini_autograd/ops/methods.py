"""The methods and operators of `Tensor`: a table of names for functions defined elsewhere."""

import functools

from ..core.tensor import Tensor
from ..values import dtypes
from ..values.printing import tensor_repr
from . import conversion, indexing, matrices, reductions, shaping
from . import elementwise as ew
from .inplace import inplace

# Both torch.name(x) and x.name().
FUNCTIONS = {
    "add": ew.add, "sub": ew.sub, "mul": ew.mul, "div": ew.div, "neg": ew.neg, "pow": ew.pow, "matmul": matrices.matmul,
    "exp": ew.exp, "log": ew.log, "sin": ew.sin, "cos": ew.cos, "tanh": ew.tanh, "sigmoid": ew.sigmoid, "relu": ew.relu,
    "sum": reductions.sum, "mean": reductions.mean, "log_softmax": reductions.log_softmax, "clone": ew.clone,
    "reshape": shaping.reshape, "t": shaping.t, "transpose": shaping.transpose, "unsqueeze": shaping.unsqueeze,
    "numel": conversion.numel, "detach": Tensor.detach,
}  # fmt: skip

METHODS = {
    "view": shaping.view, "expand": shaping.expand, "to": ew.to, "float": lambda self: ew.to(self, dtypes.float32),
    "double": lambda self: ew.to(self, dtypes.float64), "item": conversion.item, "tolist": conversion.tolist,
    "numpy": conversion.numpy, "size": conversion.size, "dim": conversion.dim,
}  # fmt: skip

OPERATORS = {
    "add": ew.add, "radd": ew.add, "sub": ew.sub, "rsub": ew.rsub, "mul": ew.mul, "rmul": ew.mul, "truediv": ew.div,
    "rtruediv": lambda self, other: ew.mul(ew.reciprocal(self), other),  # as in torch
    "pow": ew.pow, "neg": ew.neg, "matmul": matrices.matmul,
    "eq": ew.eq, "ne": ew.ne, "lt": ew.lt, "le": ew.le, "gt": ew.gt, "ge": ew.ge,
    "getitem": indexing.getitem, "setitem": indexing.setitem, "iter": indexing.iterate, "len": conversion.length,
    "repr": tensor_repr, "format": conversion.to_text, "array": conversion.to_array, "bool": conversion.to_bool,
    "float": conversion.to_float,
}  # fmt: skip


def _in_place(operation):
    return lambda self, *args: inplace(operation, self, *args)


# x.name_() for each of these, and the augmented operators.
IN_PLACE = {
    "add": ew.add, "sub": ew.sub, "mul": ew.mul, "div": ew.div, "neg": ew.neg, "exp": ew.exp, "log": ew.log,
    "sin": ew.sin, "cos": ew.cos, "tanh": ew.tanh, "sigmoid": ew.sigmoid, "relu": ew.relu, "copy": indexing.copy,
    "fill": indexing.fill, "zero": indexing.zero,
}  # fmt: skip
AUGMENTED = {"iadd": ew.add, "isub": ew.sub, "imul": ew.mul, "itruediv": ew.div}


def for_tensors(name, function):
    """Return `function` for use as `torch.name(x)`; it rejects anything but a Tensor, as torch does."""

    @functools.wraps(function)
    def checked(input, *args, **options):
        if not isinstance(input, Tensor):
            kind = type(input).__name__
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {kind}")
        return function(input, *args, **options)

    return checked


for _names, _form in ((FUNCTIONS, "{}"), (METHODS, "{}"), (OPERATORS, "__{}__")):
    for _name, _function in _names.items():
        setattr(Tensor, _form.format(_name), _function)
for _names, _form in ((IN_PLACE, "{}_"), (AUGMENTED, "__{}__")):
    for _name, _function in _names.items():
        setattr(Tensor, _form.format(_name), _in_place(_function))

Tensor.T = property(shaping.matrix_t)
Tensor.ndim = property(conversion.dim)
