"""Pad a tensor with a constant or with its own elements."""

import numpy as np

from ..core.operation import operation
from .shape import index_add


def _pad(self, pad, value):
    """Pad the last dimensions with `value`, starting from the last one; a negative number crops."""
    pairs = [(0, 0)] * (self.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    cut = tuple(slice(max(0, -a), n + min(0, b)) for n, (a, b) in zip(self.shape, pairs, strict=True))
    return np.pad(self[cut], [(max(0, a), max(0, b)) for a, b in pairs], constant_values=value)


def _pad_gradient(grad, pad):
    return constant_pad(grad, tuple(-n for n in pad), 0)


constant_pad = operation("ConstantPadNdBackward0", _pad, self=_pad_gradient)


def _positions(mode, size, before, after):
    """Return, for each position along a padded dimension, the source position of its element."""
    at = np.arange(-before, size + after)
    if mode == "reflect":
        return size - 1 - abs(size - 1 - abs(at))
    if mode == "replicate":
        return at.clip(0, size - 1)
    left = np.arange(max(0, -before), size - max(0, -after))  # after negative padding, the rest wraps around
    return left[(at - max(0, -before)) % max(1, len(left))]


def _source(mode, shape, padding):
    """Return the index that selects a padded tensor's elements from a tensor of `shape`."""
    sizes = shape[len(shape) - len(padding) // 2 :]
    pairs = list(zip(padding[::2], padding[1::2], strict=True))[::-1]
    return (..., *np.ix_(*[_positions(mode, size, *pair) for size, pair in zip(sizes, pairs, strict=True)]))


def _borrowed(name, mode):
    """Return the operation that pads with the tensor's elements, which also receive the gradients."""
    return operation(
        name,
        lambda self, padding: np.ascontiguousarray(self[_source(mode, self.shape, padding)]),
        self=lambda grad, self_sym_sizes, padding: index_add(
            grad, _source(mode, self_sym_sizes, padding), self_sym_sizes
        ),
    )


# By mode and number of padded dimensions.
pad_by = {
    (mode, ndim): _borrowed(f"{name}{ndim}DBackward0", mode)
    for mode, name in {"reflect": "ReflectionPad", "replicate": "ReplicationPad", "circular": "CircularPad"}.items()
    for ndim in (1, 2, 3)
}
