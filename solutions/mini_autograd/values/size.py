"""The shape of a tensor."""

import numpy as np


class Size(tuple):
    """The shape of a tensor: a tuple that prints like torch's."""

    def __repr__(self):
        return f"torch.Size({list(self)})"

    def __add__(self, other):
        return Size(tuple(self) + tuple(other))

    def __getitem__(self, index):
        part = tuple.__getitem__(self, index)
        return Size(part) if isinstance(index, slice) else part

    def numel(self):
        """Return the number of elements of a tensor of this shape."""
        return int(np.prod(self, dtype=int))
