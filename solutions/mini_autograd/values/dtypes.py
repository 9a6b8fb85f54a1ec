"""The dtypes, and torch's rules for mixing them."""

import numpy as np


class dtype:
    """A tensor's element type; `numpy` is the corresponding NumPy dtype."""

    def __init__(self, name, numpy_type, type_name):
        self.name, self.numpy, self.type_name = name, np.dtype(numpy_type), type_name
        self.is_floating_point = self.numpy.kind == "f"

    def __repr__(self):
        return "torch." + self.name


float32 = dtype("float32", np.float32, "FloatTensor")
float64 = dtype("float64", np.float64, "DoubleTensor")
int64 = dtype("int64", np.int64, "LongTensor")
bool = dtype("bool", np.bool_, "BoolTensor")

BY_NUMPY = {each.numpy: each for each in (float32, float64, int64, bool)}
DEFAULT = float32  # of Python floats


def of(array_dtype):
    """Return the dtype for a NumPy dtype."""
    try:
        return BY_NUMPY[array_dtype]
    except KeyError:
        raise TypeError(
            f"the mini engine has float32, float64, int64 and bool, and leaves out {array_dtype}; torch has more"
        ) from None


def result_type(values):
    """Return NumPy's dtype for an operation on `values` (arrays and Python numbers), by torch's rules.

    The highest category of bool, integer and floating point wins; within it, tensors with dimensions take precedence
    over 0-dimensional tensors, and these over Python numbers.
    """
    ranked = []
    for value in values:
        if isinstance(value, np.ndarray):
            ranked.append(("biuf".index(value.dtype.kind), 2 if value.ndim else 1, value.dtype))
        else:
            kind = np.asarray(value).dtype.kind
            number = {"f": DEFAULT, "i": int64, "b": bool}[kind].numpy
            ranked.append(("biuf".index(kind), 0, number))
    highest = max(ranked, key=lambda each: each[:2])[:2]
    return np.result_type(*[kind for *rank, kind in ranked if tuple(rank) == highest])


def promote(arrays, arity, rule):
    """Convert the first `arity` entries of `arrays` to one dtype, in place.

    rule: "float" converts integers to floating point, as division and exp do; "same" keeps integers.
    """
    common = result_type(arrays[:arity])
    if rule == "float" and common.kind != "f":
        common = DEFAULT.numpy
    for i, array in enumerate(arrays[:arity]):
        if isinstance(array, np.ndarray):
            arrays[i] = array.astype(common, copy=False)
