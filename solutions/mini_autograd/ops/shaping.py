"""Operations that rearrange elements. Most return views, which share memory with their input."""

import math

import numpy as np

from ..core.operation import operation
from .elementwise import clone


def dim_of(dim, ndim):
    """Return `dim`, which may be negative, as a number counted from the front."""
    low, high = (-ndim, ndim - 1) if ndim else (-1, 0)
    if not low <= dim <= high:
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return dim % ndim if ndim else 0


def sizes_of(sizes):
    """Return `sizes`, given as separate arguments or as one tuple or list, as a tuple."""
    return tuple(int(n) for n in (sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes))


# ----- other shapes -----

view_ = operation(
    "ViewBackward0",
    lambda self, shape: np.reshape(self, shape, copy=False),
    view=True,
    self=lambda grad, self_sym_sizes: reshape_(grad, self_sym_sizes),
)
unsafe_view = operation(
    "UnsafeViewBackward0",
    lambda self, shape: np.reshape(self, shape),
    self=lambda grad, self_sym_sizes: reshape_(grad, self_sym_sizes),
)


def reshape_(self, shape):
    """Return a view if the memory layout allows it, else a copy. The shape has no -1."""
    try:
        return view_(self, shape)
    except ValueError:
        return unsafe_view(clone(self), shape)


def reshape(input, *sizes):
    """Return input in a different shape: a view if the memory layout allows it, else a copy."""
    return reshape_(input, _complete(input, sizes))


def view(input, *sizes):
    """Return a view of input in a different shape; raises RuntimeError if the memory layout does not allow it."""
    sizes = _complete(input, sizes)
    try:
        return view_(input, sizes)
    except ValueError:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        ) from None


def _complete(input, sizes):
    """Return `sizes` with -1 replaced by the remaining size, after torch's check."""
    sizes = sizes_of(sizes)
    known = math.prod(n for n in sizes if n != -1)
    total = input._data.size
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    fits = total == known if -1 not in sizes else known and total % known == 0
    if not fits:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {total}")
    return tuple(total // known if n == -1 else n for n in sizes)


expand_ = operation(
    "ExpandBackward0", lambda self, shape: np.broadcast_to(self, shape), view=True, self=lambda grad: grad
)


def check_expand(shape, sizes):
    """Raise torch's error if a tensor of `shape` cannot be expanded to `sizes`, in which -1 keeps a size."""
    extra = len(sizes) - len(shape)
    for i, n in enumerate(shape, extra):
        if n != 1 and sizes[i] not in (-1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({sizes[i]}) must match the existing size ({n}) at "
                f"non-singleton dimension {i}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}"
            )


def expand(input, *sizes):
    """Return input with dimensions of size 1 repeated, without copying; -1 keeps a size."""
    sizes, shape = sizes_of(sizes), input._data.shape
    extra = len(sizes) - len(shape)
    if extra < 0:
        raise RuntimeError(
            f"expand(torch.{input._type_name()}{{{list(shape)}}}, size={list(sizes)}): the number of sizes "
            f"provided ({len(sizes)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    for i, n in enumerate(sizes):
        if n < -1 or (n == -1 and i < extra):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}"
            )
    check_expand(shape, sizes)
    return expand_(input, tuple(shape[i - extra] if n == -1 else n for i, n in enumerate(sizes)))


# ----- the same elements in a different order of dimensions -----

t_ = operation("TBackward0", lambda self: self.T, view=True, self=lambda grad: t_(grad))
transpose_ = operation(
    "TransposeBackward0",
    lambda self, dim0, dim1: self.swapaxes(dim0, dim1),
    view=True,
    self=lambda grad, dim0, dim1: transpose_(grad, dim0, dim1),
)
permute_ = operation(
    "PermuteBackward0",
    lambda self, dims: self.transpose(dims),
    view=True,
    self=lambda grad, dims: permute_(grad, tuple(int(i) for i in np.argsort(dims))),
)


def t(input):
    """Return the transposed matrix."""
    if input._data.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input._data.ndim}D")
    return t_(input)


def transpose(input, dim0, dim1):
    """Return a view with two dimensions swapped."""
    return transpose_(input, dim_of(dim0, input._data.ndim), dim_of(dim1, input._data.ndim))


def matrix_t(input):
    """Return the transposed matrix `x.T`; torch deprecates it for tensors that are not matrices."""
    if input._data.ndim != 2:
        raise RuntimeError(f"x.T takes a matrix, but this tensor is {input._data.ndim}D; use x.transpose(dim0, dim1)")
    return permute_(input, (1, 0))


# ----- a dimension of size 1 -----

unsqueeze_ = operation(
    "UnsqueezeBackward0",
    lambda self, dim: np.expand_dims(self, dim),
    view=True,
    self=lambda grad, dim: squeeze_(grad, dim),
)
squeeze_ = operation(
    "SqueezeBackward1",
    lambda self, dim: self.squeeze(dim) if self.shape[dim] == 1 else self.view(),
    view=True,
    self=lambda grad, self_sym_sizes: reshape_(grad, self_sym_sizes),
)


def unsqueeze(input, dim):
    """Return a view with a dimension of size 1 inserted at `dim`."""
    return unsqueeze_(input, dim_of(dim, input._data.ndim + 1))


# ----- a part of the elements -----

alias = operation("AliasBackward0", lambda self: self.view(), view=True, self=lambda grad: grad)
select = operation(
    "SelectBackward0",
    lambda self, dim, index: self[(slice(None),) * dim + (index, ...)],
    view=True,
    self=lambda grad, self_sym_sizes, dim, index: spread_slice(
        unsqueeze_(grad, dim), self_sym_sizes, dim, index, index + 1, 1
    ),
)
slice_ = operation(
    "SliceBackward0",
    lambda self, dim, start, end, step: self[(slice(None),) * dim + (slice(start, end, step),)],
    view=True,
    self=lambda grad, self_sym_sizes, dim, start, end, step: spread_slice(grad, self_sym_sizes, dim, start, end, step),
)


def _spread_slice(self, shape, dim, start, end, step):
    """Return zeros of `shape` with `self` in the slice: the inverse of `slice_`."""
    whole = np.zeros(shape, self.dtype)
    whole[(slice(None),) * dim + (slice(start, end, step),)] = self
    return whole


spread_slice = operation(
    "SliceBackwardBackward0",
    _spread_slice,
    self=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
)

# From a base to a view of it and back, by positions in the flattened base; each is the other's gradient.
take = operation(
    "AsStridedBackward0",
    lambda self, positions: self.reshape(-1)[positions],
    self=lambda grad, self_sym_sizes, positions: put(grad, positions, self_sym_sizes),
)


def _put(self, positions, shape):
    """Return zeros of `shape` with the elements of `self` added at `positions`, which may be repeated."""
    whole = np.zeros(math.prod(shape), self.dtype)
    np.add.at(whole, positions, self)
    return whole.reshape(shape)


put = operation("PutBackward0", _put, self=lambda grad, positions: take(grad, positions))
