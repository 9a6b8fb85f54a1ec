"""Print tensors in torch's layout, with its default of four digits and 1000 elements."""

import numpy as np

from . import dtypes

LINE = 80


def tensor_repr(tensor):
    """Return the text of `repr(tensor)`."""
    prefix, array, suffixes = "tensor(", tensor._data, []
    if not array.size and array.ndim != 1:
        suffixes.append(f"size={tuple(array.shape)}")
    usual = [dtypes.DEFAULT] if not array.size else [dtypes.DEFAULT, dtypes.int64, dtypes.bool]
    if tensor.dtype not in usual:
        suffixes.append(f"dtype={tensor.dtype}")
    try:
        made_by = tensor.grad_fn and type(tensor.grad_fn).__name__
    except RuntimeError:  # a view whose base was changed illegally
        made_by = "Invalid"
    if made_by:
        suffixes.append(f"grad_fn=<{made_by}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return _add_suffixes(prefix + (_text(array, prefix) if array.size else "[]"), suffixes, len(prefix))


def _text(array, prefix):
    options = {"separator": ", ", "threshold": 1000, "edgeitems": 3, "max_line_width": LINE + 1}
    edges = array
    if array.size > options["threshold"]:
        for dim, size in enumerate(array.shape):
            if size > 6:
                edges = np.concatenate([edges.take(range(3), dim), edges.take(range(size - 3, size), dim)], dim)
    show = _formatter(edges.reshape(-1))
    text = np.array2string(array, prefix=prefix, formatter={"all": show}, **options)
    return text.replace(", ..., ", ",  ..., ").replace("...,\n", "...,\n")


def _formatter(values):
    """Return a function that formats a number, for all of `values` to one width."""
    if values.dtype.kind != "f":
        width = max(len(str(value)) for value in values.tolist())
        return lambda value: str(value).rjust(width)
    finite = values[np.isfinite(values) & (values != 0)].astype(np.float64)
    sizes = np.abs(finite)
    style = "{:.4f}"
    if sizes.size and (sizes.max() / sizes.min() > 1000 or sizes.max() > 1e8 or sizes.min() < 1e-4):
        style = "{:.4e}"
    elif np.all(sizes == np.ceil(sizes)):
        style = "{:.0f}."

    def plain(value):
        return style.format(value) if np.isfinite(value) else f"{value:f}"

    width = max((len(plain(value)) for value in finite), default=1)
    return lambda value: plain(value).rjust(width)


def _add_suffixes(text, suffixes, indent):
    parts = [text]
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > LINE:
            parts.append(",\n" + " " * indent + suffix)
            length = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            length += len(suffix) + 2
    return "".join(parts) + ")"
