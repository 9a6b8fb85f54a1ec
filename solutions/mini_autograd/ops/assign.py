"""Operations that are used only in place: the result keeps only the old value's shape and dtype."""

import numpy as np

from ..core.operation import check_broadcast, operation
from .elementwise import zeros_like


def _copy(self, src):
    check_broadcast([self, src])
    return np.array(np.broadcast_to(src, np.broadcast_shapes(self.shape, src.shape)), self.dtype)


copy = operation("CopyBackwards", _copy, self=zeros_like, src=lambda grad: grad)
fill = operation("FillBackward2", lambda self, value: np.full(self.shape, value, self.dtype), self=zeros_like)
fill_tensor = operation(
    "FillBackward3",
    lambda self, value: np.full(self.shape, value, self.dtype),
    self=zeros_like,
    value=lambda grad: grad,
)
zero = operation("ZeroBackward0", np.zeros_like, names=("self",), self=zeros_like)
