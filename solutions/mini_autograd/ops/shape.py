"""Operations that rearrange elements: views, indexing, joining."""

import functools

import numpy as np

from ..core.operation import operation
from .elementwise import clone, keep

# ----- views: the outputs share memory with the input -----

expand = operation(
    "ExpandBackward0", lambda self, shape: np.broadcast_to(self, shape), view="one", self=lambda grad: grad
)

view = operation(
    "ViewBackward0",
    lambda self, shape: np.reshape(self, shape, copy=False),
    view="one",
    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)
unsafe_view = operation(
    "UnsafeViewBackward0",
    np.reshape,
    names=("self", "shape"),
    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)


def reshape(self, shape):
    """Return a view if the memory layout allows it, else a copy."""
    try:
        return view(self, shape)
    except ValueError:
        return unsafe_view(clone(self), shape)


alias = operation("AliasBackward0", lambda self: self.view(), view="one", self=lambda grad: grad)
t = operation("TBackward0", lambda self: self.T, view="one", self=lambda grad: t(grad))
transpose = operation(
    "TransposeBackward0",
    lambda self, dim0, dim1: self.swapaxes(dim0, dim1),
    view="one",
    self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1),
)
permute = operation(
    "PermuteBackward0",
    lambda self, dims: self.transpose(dims),
    view="one",
    self=lambda grad, dims: permute(grad, tuple(int(i) for i in np.argsort(dims))),
)
unsqueeze = operation(
    "UnsqueezeBackward0",
    lambda self, dim: np.expand_dims(self, dim),
    view="one",
    self=lambda grad, dim: squeeze_dim(grad, dim),
)
squeeze = operation(
    "SqueezeBackward0",
    lambda self: self.squeeze(),
    view="one",
    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)
squeeze_dim = operation(
    "SqueezeBackward1",
    lambda self, dim: self.squeeze(dim) if self.shape[dim] == 1 else self.view(),
    view="one",
    self=lambda grad, self_sym_sizes: reshape(grad, self_sym_sizes),
)
select = operation(
    "SelectBackward0",
    lambda self, dim, index: self[(slice(None),) * dim + (index, ...)],
    view="one",
    self=lambda grad, self_sym_sizes, dim, index: spread_slice(
        unsqueeze(grad, dim), self_sym_sizes, dim, index, index + 1, 1
    ),
)
slice_ = operation(
    "SliceBackward0",
    lambda self, dim, start, end, step: self[(slice(None),) * dim + (slice(start, end, step),)],
    view="one",
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


def _split(self, split_size, dim):
    return tuple(np.split(self, range(split_size, self.shape[dim], split_size), dim))


split = operation("SplitBackward0", _split, view="many", self=lambda grad, dim: cat(grad, dim))
split_with_sizes = operation(
    "SplitWithSizesBackward0",
    lambda self, split_sizes, dim: tuple(np.split(self, np.cumsum(split_sizes[:-1]), dim)),
    view="many",
    self=lambda grad, dim: cat(grad, dim),
)
unbind = operation(
    "UnbindBackward0",
    lambda self, dim: tuple(self[(slice(None),) * dim + (i, ...)] for i in range(self.shape[dim])),
    view="many",
    self=lambda grad, dim: stack(grad, dim),
)


# ----- repeating -----


def _repeat_gradient(grad, self_sym_sizes, repeats):
    """Sum the gradients of all copies: each dimension is split into (number of copies, its size)."""
    sizes = (1,) * (len(repeats) - len(self_sym_sizes)) + tuple(self_sym_sizes)
    apart = reshape(grad, tuple(n for pair in zip(repeats, sizes, strict=True) for n in pair))
    return reshape(apart.sum(tuple(range(0, 2 * len(sizes), 2))), self_sym_sizes)


repeat = operation("RepeatBackward0", lambda self, repeats: np.tile(self, repeats), self=_repeat_gradient)

# ----- padding -----


def _pad(self, pad, value):
    """Pad the last dimensions with `value`, starting from the last one; a negative number crops."""
    pairs = [(0, 0)] * (self.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    cut = tuple(slice(max(0, -a), n + min(0, b)) for n, (a, b) in zip(self.shape, pairs, strict=True))
    return np.pad(self[cut], [(max(0, a), max(0, b)) for a, b in pairs], constant_values=value)


constant_pad = operation(
    "ConstantPadNdBackward0", _pad, self=lambda grad, pad: constant_pad(grad, tuple(-n for n in pad), 0)
)

# ----- joining -----


@functools.cache
def _cat_of(count):
    return operation(
        "CatBackward0",
        lambda *args: np.concatenate(args[:count], args[count]),
        names=[*(f"tensor{i}" for i in range(count)), "dim", "starts"],
        promote="same",
        joint=_cat_gradients,
        **{f"tensor{i}": None for i in range(count)},
    )


def _cat_gradients(grad, needs, dim, starts):
    return [
        slice_(grad, dim, start, end, 1) if need else None
        for need, start, end in zip(needs, starts, starts[1:], strict=False)
    ]


def cat(tensors, dim):
    """Join tensors (or arrays) along an existing dimension."""
    starts = [0]
    for tensor in tensors:
        starts.append(starts[-1] + tensor.shape[dim])
    return _cat_of(len(tensors))(*tensors, dim, starts)


@functools.cache
def _stack_of(count):
    return operation(
        "StackBackward0",
        lambda *args: np.stack(args[:count], args[count]),
        names=[*(f"tensor{i}" for i in range(count)), "dim"],
        promote="same",
        joint=lambda grad, needs, dim: [select(grad, dim, i) if need else None for i, need in enumerate(needs)],
        **{f"tensor{i}": None for i in range(count)},
    )


def stack(tensors, dim):
    """Join tensors (or arrays) along a new dimension."""
    return _stack_of(len(tensors))(*tensors, dim)


# ----- selecting elements; in each pair, one is the other's gradient -----

# By index in the flattened tensor. `AsStrided` is torch's name for the step from a base to its view.
take = operation(
    "AsStridedBackward0",
    lambda self, index: self.reshape(-1)[index],
    self=lambda grad, self_sym_sizes, index: put(grad, index, self_sym_sizes),
)


def add_at(shape, index, values):
    """Return zeros of `shape` with `values` added at `index`; repeated positions accumulate."""
    whole = np.zeros(shape, values.dtype)
    np.add.at(whole, index, values)
    return whole


put = operation(
    "PutBackward0",
    lambda self, index, shape: add_at(int(np.prod(shape)), index, self).reshape(shape),
    self=lambda grad, index: take(grad, index),
)

# By NumPy's indexing with arrays, including repeated and masked positions.
index = operation(
    "IndexBackward0",
    lambda self, indices: np.array(self[indices]),
    constants=("indices",),
    self=lambda grad, self_sym_sizes, indices: index_add(grad, indices, self_sym_sizes),
)
index_add = operation(
    "IndexPutBackward0",
    lambda self, indices, shape: add_at(shape, indices, self),
    constants=("indices",),
    self=lambda grad, indices: index(grad, indices),
)


def _index_put(self, values, indices, unset):
    changed = self.copy()
    changed[indices] = values
    return changed


index_put = operation(
    "IndexPutBackward0",
    _index_put,
    constants=("indices", "unset"),
    self=lambda grad, unset: keep(grad, unset),
    values=lambda grad, indices: index(grad, indices),
)

# Along one dimension, as `gather` does.
gather = operation(
    "GatherBackward0",
    lambda self, dim, index: self[_along(dim, index)],
    constants=("index",),
    self=lambda grad, self_sym_sizes, dim, index: scatter_add(grad, dim, index, self_sym_sizes),
)


def _along(dim, index):
    """Return the NumPy index that selects `index` along `dim` and every position along the rest."""
    where = [np.arange(n).reshape(-1, *(1,) * (index.ndim - 1 - i)) for i, n in enumerate(index.shape)]
    where[dim] = index
    return tuple(where)


scatter_add = operation(
    "ScatterAddBackward0",
    lambda self, dim, index, shape: add_at(shape, _along(dim, index), self),
    constants=("index",),
    self=lambda grad, dim, index: gather(grad, dim, index),
)


def _scatter(self, dim, index, shape):
    whole = np.zeros(shape, self.dtype)
    whole[_along(dim, index)] = self
    return whole


# The same as `scatter_add` if no position along `dim` is repeated.
scatter = operation(
    "ScatterBackward0", _scatter, constants=("index",), self=lambda grad, dim, index: gather(grad, dim, index)
)

embedding = operation(
    "EmbeddingBackward0",
    lambda weight, indices, padding_idx: weight[indices],
    constants=("indices",),
    weight=lambda grad, weight_sym_sizes, indices, padding_idx: index_add(
        grad if padding_idx is None else keep(grad, (indices != padding_idx)[..., None]), indices, weight_sym_sizes
    ),
)

flip = operation("FlipBackward0", np.flip, names=("self", "dims"), self=lambda grad, dims: flip(grad, dims))
