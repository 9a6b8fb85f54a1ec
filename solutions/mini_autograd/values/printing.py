"""Print tensors in torch's layout, with its default of four digits and 1000 elements."""

import math

import numpy as np

from . import dtypes

PRECISION, THRESHOLD, EDGE, LINE = 4, 1000, 3, 80


def tensor_repr(tensor):
    """Return the text of `repr(tensor)`."""
    prefix, array = "tensor(", tensor._data
    suffixes = []
    default = dtypes.get_default_dtype()
    if array.size == 0:
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        if tensor.dtype is not default:
            suffixes.append(f"dtype={tensor.dtype}")
        text = "[]"
    else:
        if tensor.dtype not in (default, dtypes.int64, dtypes.bool):
            suffixes.append(f"dtype={tensor.dtype}")
        summarize = array.size > THRESHOLD
        shown = _edges(array) if summarize else array
        text = _text(array, len(prefix), summarize, *_formatter(shown))
    try:
        node = tensor.grad_fn
        made_by = None if node is None else type(node).__name__
    except RuntimeError:  # a view whose base was changed illegally
        made_by = "Invalid"
    if made_by:
        suffixes.append(f"grad_fn=<{made_by}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return _add_suffixes(prefix + text, suffixes, len(prefix))


def _edges(array):
    for dim, size in enumerate(array.shape):
        if size > 2 * EDGE:
            array = np.concatenate([array.take(range(EDGE), dim), array.take(range(size - EDGE, size), dim)], dim)
    return array


def _formatter(array):
    """Return a function that formats a number, and the width of the widest number."""
    values = array.reshape(-1)
    if values.dtype.kind != "f":
        width = max(len(str(value)) for value in values.tolist())
        return (lambda value: str(value).rjust(width)), width
    sizes = np.abs(values[np.isfinite(values) & (values != 0)].astype(np.float64))
    whole = bool(np.all(sizes == np.ceil(sizes)))
    scientific = False
    if sizes.size:
        low, high = sizes.min(), sizes.max()
        scientific = high / low > 1000 or high > 1e8 or low < 1e-4
    if scientific:
        style = f"{{:.{PRECISION}e}}"
    elif whole:
        style = "{:.0f}"
    else:
        style = f"{{:.{PRECISION}f}}"

    def plain(value):
        text = style.format(value)
        return text + "." if whole and not scientific and math.isfinite(value) else text

    finite = values[np.isfinite(values) & (values != 0)].tolist()
    width = max((len(plain(value)) for value in finite), default=1)
    return (lambda value: plain(value).rjust(width)), width


def _text(array, indent, summarize, show, width):
    if array.ndim == 0:
        return show(array.item())
    if array.ndim == 1:
        per_line = max(1, (LINE - indent) // (width + 2))
        if summarize and len(array) > 2 * EDGE:
            items = [*map(show, array[:EDGE].tolist()), " ...", *map(show, array[-EDGE:].tolist())]
        else:
            items = [show(value) for value in array.tolist()]
        lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    if summarize and len(array) > 2 * EDGE:
        parts = [_text(part, indent + 1, summarize, show, width) for part in array[:EDGE]]
        parts.append("...")
        parts += [_text(part, indent + 1, summarize, show, width) for part in array[-EDGE:]]
    else:
        parts = [_text(part, indent + 1, summarize, show, width) for part in array]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


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
