"""Print tensors: their numbers as NumPy prints them, with four digits, and what torch adds to them."""

import numpy as np

from . import dtypes


def tensor_repr(tensor):
    """Return the text of `repr(tensor)`."""
    prefix, array = "tensor(", tensor._data
    parts = [np.array2string(array, separator=", ", precision=4, prefix=prefix)]
    if tensor.dtype not in (dtypes.DEFAULT, dtypes.int64, dtypes.bool):
        parts.append(f"dtype={tensor.dtype}")
    try:
        made_by = tensor.grad_fn and type(tensor.grad_fn).__name__
    except RuntimeError:  # a view whose base was changed illegally
        made_by = "Invalid"
    if made_by:
        parts.append(f"grad_fn=<{made_by}>")
    elif tensor.requires_grad:
        parts.append("requires_grad=True")
    return prefix + ", ".join(parts) + ")"
