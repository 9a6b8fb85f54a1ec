"""torch's functions that rearrange elements, built on the operations in `ops.shape`."""

import math

import numpy as np

from ..core.tensor import Tensor
from ..ops import shape as ops
from ..ops.elementwise import clone
from ..values.size import Size
from .arithmetic import _dim


def _sizes(sizes):
    return tuple(int(n) for n in (sizes[0] if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes))


def _complete(input, sizes):
    """Return `sizes` with -1 replaced by the remaining size, after torch's check."""
    sizes = _sizes(sizes)
    known = math.prod(n for n in sizes if n != -1)
    total = input._data.size
    if sizes.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    fits = total == known if -1 not in sizes else known and total % known == 0
    if not fits:
        raise RuntimeError(f"shape '{list(sizes)}' is invalid for input of size {total}")
    return tuple(total // known if n == -1 else n for n in sizes)


def reshape(input, *sizes):
    """Return input in a different shape: a view if the memory layout allows it, else a copy."""
    sizes = _complete(input, sizes)
    return ops.reshape(input, sizes)


def view(input, *sizes):
    """Return a view of input in a different shape; raises RuntimeError if the memory layout does not allow it."""
    sizes = _complete(input, sizes)
    try:
        return ops.view(input, sizes)
    except ValueError:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        ) from None


def view_as(input, other):
    """Return a view of input in the shape of other."""
    return view(input, other.shape)


def flatten(input, start_dim=0, end_dim=-1):
    """Return input with the dimensions from start_dim to end_dim merged into one."""
    start, end = _dim(start_dim, input.ndim), _dim(end_dim, input.ndim)
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if input.ndim == 0:
        return reshape(input, 1)
    if start == end:
        return input
    return reshape(input, (*input.shape[:start], math.prod(input.shape[start : end + 1]), *input.shape[end + 1 :]))


def expand(input, *sizes):
    """Return input with dimensions of size 1 repeated, without copying; -1 keeps a size."""
    sizes = _sizes(sizes)
    extra = len(sizes) - input.ndim
    if extra < 0:
        raise RuntimeError(
            f"expand(torch.{input._type_name()}{{{list(input.shape)}}}, size={list(sizes)}): the number of sizes "
            f"provided ({len(sizes)}) must be greater or equal to the number of dimensions in the tensor ({input.ndim})"
        )
    full = tuple(input.shape[i - extra] if n == -1 else n for i, n in enumerate(sizes))
    for i, n in enumerate(input.shape):
        if n not in (1, full[i + extra]):
            raise RuntimeError(
                f"The expanded size of the tensor ({full[i + extra]}) must match the existing size ({n}) at "
                f"non-singleton dimension {i + extra}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(input.shape)}"
            )
    return ops.expand(input, full)


def expand_as(input, other):
    """Return input expanded to the shape of other."""
    return expand(input, other.shape)


def transpose(input, dim0, dim1):
    """Return a view with two dimensions swapped."""
    return ops.transpose(input, _dim(dim0, input.ndim), _dim(dim1, input.ndim))


def t(input):
    """Return the transposed matrix."""
    if input.ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {input.ndim}D")
    return ops.t(input)


def permute(input, *dims):
    """Return a view with the dimensions in the given order."""
    dims = _sizes(dims)
    if len(dims) != input.ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {input.ndim} is not equal to len(dims) = {len(dims)}"
        )
    return ops.permute(input, tuple(_dim(d, input.ndim) for d in dims))


def reverse_dims(input):
    """Return a view with all dimensions in reverse order: `x.T`."""
    return ops.permute(input, tuple(reversed(range(input.ndim))))


def squeeze(input, dim=None):
    """Return a view without the dimensions of size 1, or without `dim` if its size is 1."""
    return ops.squeeze(input) if dim is None else ops.squeeze_dim(input, _dim(dim, input.ndim)) if input.ndim else input


def unsqueeze(input, dim):
    """Return a view with a dimension of size 1 inserted at `dim`."""
    return ops.unsqueeze(input, _dim(dim, input.ndim + 1))


def select(input, dim, index):
    """Return the view at `index` along `dim`."""
    dim = _dim(dim, input.ndim)
    size = input.shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input.shape)} at dimension {dim}"
        )
    return ops.select(input, dim, index % size)


def narrow(input, dim, start, length):
    """Return the view of `length` elements from `start` along `dim`."""
    dim = _dim(dim, input.ndim)
    return ops.slice_(input, dim, start, start + length, 1)


def contiguous(input):
    """Return input itself if it is contiguous in memory, else a copy."""
    return input if input._data.flags.c_contiguous else clone(input)


def cat(tensors, dim=0):
    """Join tensors along an existing dimension."""
    tensors = list(tensors)
    if not tensors:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    tensors = [x for x in tensors if x.shape != (0,)] or tensors[:1]  # as in torch, which accepts empty 1-D tensors
    first, dim = tensors[0], _dim(dim, tensors[0].ndim)
    for number, each in enumerate(tensors):
        if each.ndim != first.ndim:
            raise RuntimeError(f"Tensors must have same number of dimensions: got {first.ndim} and {each.ndim}")
        for i, (a, b) in enumerate(zip(first.shape, each.shape, strict=True)):
            if i != dim and a != b:
                raise RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {a} but got size {b} for "
                    f"tensor number {number} in the list."
                )
    return ops.cat(tensors, dim)


def stack(tensors, dim=0):
    """Join tensors of one shape along a new dimension."""
    tensors = list(tensors)
    if not tensors:
        raise RuntimeError("stack expects a non-empty TensorList")
    for number, each in enumerate(tensors):
        if each.shape != tensors[0].shape:
            raise RuntimeError(
                f"stack expects each tensor to be equal size, but got {list(tensors[0].shape)} at entry 0 and "
                f"{list(each.shape)} at entry {number}"
            )
    return ops.stack(tensors, _dim(dim, tensors[0].ndim + 1))


def repeat(input, *repeats):
    """Return input repeated along each dimension as often as `repeats` says."""
    repeats = _sizes(repeats)
    if len(repeats) < input.ndim:
        raise RuntimeError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    target = [n * m for n, m in zip((1,) * (len(repeats) - input.ndim) + tuple(input.shape), repeats, strict=True)]
    if any(n < 0 for n in target):
        negative = next(n for n in target if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {negative}: {target}")
    return ops.repeat(input, repeats)


def pad(input, pad, mode="constant", value=None):
    """Pad the last dimensions of input with `value`, by default 0; a negative number crops.

    pad: two numbers, before and after, for the last dimension, then two for the one before it, and so on.
    """
    if mode != "constant":
        raise NotImplementedError(
            f"pad with mode={mode!r} is left out of the mini engine, which pads with a constant; "
            "use torch.nn.functional.pad"
        )
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndim}"
        )
    for size, before, after in zip(reversed(input.shape), pad[::2], pad[1::2], strict=False):
        if size + min(0, before) + min(0, after) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    return ops.constant_pad(input, tuple(pad), 0 if value is None else value)


def chunk(input, chunks, dim=0):
    """Return views of input split into `chunks` parts along `dim`; the last is smaller if the size is not divisible."""
    if chunks < 1:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    return split(input, max(1, -(-input.shape[_dim(dim, input.ndim)] // chunks)), dim)


def split(input, split_size, dim=0):
    """Return views of input split along `dim` into parts of `split_size` elements, or of the sizes in a list."""
    dim = _dim(dim, input.ndim)
    if isinstance(split_size, (list, tuple)):
        return _split_with_sizes(input, split_size, dim)
    size = input.shape[dim]
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    if not split_size and size:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    return ops.split(input, split_size or 1, dim)


def _split_with_sizes(input, sizes, dim):
    shown = f"split_sizes={list(sizes)}"
    if any(n < 0 for n in sizes):
        raise RuntimeError(f"split_with_sizes expects split_sizes have only non-negative entries, but got {shown}")
    if sum(sizes) != input.shape[dim]:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {input.shape[dim]} (input tensor's size at "
            f"dimension {dim}), but got {shown}"
        )
    return ops.split_with_sizes(input, tuple(sizes), dim)


def unbind(input, dim=0):
    """Return the views at each index along `dim`."""
    return ops.unbind(input, _dim(dim, input.ndim))


def iterate(input):
    """Return an iterator over the first dimension."""
    if input.ndim == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(input))


def gather(input, dim, index):
    """Return the elements of input that `index` selects along `dim`."""
    dim = _dim(dim, input.ndim)
    box = tuple(slice(None) if i == dim else slice(n) for i, n in enumerate(index.shape))
    whole = all(n == m for i, (n, m) in enumerate(zip(index.shape, input.shape, strict=True)) if i != dim)
    return ops.gather(input if whole else input[box], dim, index._data)


def flip(input, *dims):
    """Return input with the order along `dims` reversed."""
    return ops.flip(input, tuple(_dim(d, input.ndim) for d in _sizes(dims)))


def size(input, dim=None):
    """Return the shape, or the size of dimension `dim`."""
    return Size(input._data.shape) if dim is None else input._data.shape[_dim(dim, input.ndim)]


def stride(input):
    """Return, for each dimension, the distance in memory between neighbors, in elements."""
    return tuple(n // input._data.itemsize for n in input._data.strides)


def outer(input, vec2):
    """Return the products of all pairs of elements of two vectors."""
    return reshape(input, -1, 1) * vec2


def is_tensor(value):
    """Return whether `value` is a Tensor."""
    return isinstance(value, Tensor)


def numel(input):
    """Return the number of elements."""
    return int(np.prod(input.shape, dtype=int))
