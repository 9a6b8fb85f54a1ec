"""Operations whose only use is in place: the result has nothing of the old value but its shape and dtype."""

import numpy as np

from ..operation import operation
from .elementwise import zeros_like


def _copy(self, src):
    try:
        return np.array(np.broadcast_to(src, self.shape), self.dtype)
    except ValueError:
        target, source = self.shape, np.shape(src)
        raise RuntimeError(_mismatch(target, source)) from None


def _mismatch(target, source):
    if len(source) > len(target):
        return (
            f"expand(torch.FloatTensor{{{list(source)}}}, size={list(target)}): the number of sizes provided "
            f"({len(target)}) must be greater or equal to the number of dimensions in the tensor ({len(source)})"
        )
    offset = len(target) - len(source)
    dim = max(i for i, n in enumerate(source) if n not in (1, target[i + offset]))
    return (
        f"The expanded size of the tensor ({target[dim + offset]}) must match the existing size ({source[dim]}) at "
        f"non-singleton dimension {dim + offset}.  Target sizes: {list(target)}.  Tensor sizes: {list(source)}"
    )


copy = operation("CopyBackwards", _copy, self=zeros_like, src=lambda grad: grad)
fill = operation("FillBackward2", lambda self, value: np.full(self.shape, value, self.dtype), self=zeros_like)
fill_tensor = operation(
    "FillBackward3",
    lambda self, value: np.full(self.shape, value, self.dtype),
    self=zeros_like,
    value=lambda grad: grad,
)
zero = operation("ZeroBackward0", np.zeros_like, names=("self",), self=zeros_like)
