"""Format plain data as a learner would type it."""

from ..words import _
from .observation import Array, Dict, DType, Float, List, Other, Size, Tensor, Tuple, Value, kind_of, room, shape_of


def show(value: Value, digits: int = 6) -> str:
    """Return plain data as a learner would type it; numbers have `digits` significant digits, long tensors are cut.

    In a float tensor or array, values as small as rounding errors of its largest element are shown as ≈0.
    """
    match value:
        case Tensor() | Array():
            return _show_array(value, digits)
        case Float():
            return value.value
        case DType():
            return f"torch.{value.name}"
        case Other():
            return f"<{value.type}>"
        case Dict():
            return "{" + ", ".join(f"{key!r}: {show(item, digits)}" for key, item in value.items.items()) + "}"
        case List() | Tuple() | Size():
            inner = ", ".join(show(item, digits) for item in value.items)
            if isinstance(value, Tuple):
                return f"({inner}{',' if len(value.items) == 1 else ''})"
            return f"[{inner}]" if isinstance(value, List) else f"torch.Size([{inner}])"
    return show_number(value, digits) if type(value) is float else repr(value)


def show_with_type(value: Value) -> str:
    """Return a value as text, with its type if the text does not show it."""
    if value is None or isinstance(value, Tensor | Array | Size | DType | Other):
        return show(value)
    return f"{kind_of(value)}: {show(value)}"


def shown_apart(number: Value, other: Value) -> tuple[str, str]:
    """Return two different numbers as text, with enough digits to show the difference."""
    for digits in range(6, 18):
        texts = show(number, digits), show(other, digits)
        if texts[0] != texts[1]:
            break
    return texts


def show_number(number: float | str, digits: int = 6) -> str:
    """Return a number with this many significant digits, and never as -0."""
    return f"{number + 0.0:.{digits}g}" if type(number) is float else str(number)


_ROUNDING = {"float64": 1e-14, "float32": 1e-6}  # times the largest value: anything smaller is a rounding error


def _show_array(value: Tensor | Array, digits: int, most: int = 24) -> str:
    kind, shape = kind_of(value), shape_of(value)
    sizes = [abs(n) for n in value.values if type(n) is float]
    rounding = _ROUNDING.get(value.dtype, 0) * max(sizes, default=0)

    def written(number):
        return "≈0" if type(number) is float and 0 < abs(number) < rounding else show_number(number, digits)

    if room(shape) > most:
        first = ", ".join(written(n) for n in value.values[:6])
        # Translators: kind: "tensor" or "ndarray"; dtype: such as "float32"; first: numbers
        long = _("{kind} of shape {shape}, {dtype}, which begins {first}, …")
        long = long if first else _("{kind} of shape {shape}, {dtype}")
        return long.format(kind=kind, shape=shape, dtype=value.dtype, first=first)

    def nested(numbers, shape):
        if not shape:
            return written(numbers[0])
        step = len(numbers) // shape[0] if shape[0] else 0
        return "[" + ", ".join(nested(numbers[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])) + "]"

    size = ""
    if 0 in shape and len(shape) > 1:  # as torch and NumPy print it
        size, shape = f", {'size' if isinstance(value, Tensor) else 'shape'}={shape}", (0,)
    dtype = "" if value.dtype == "float64" else f", dtype={value.dtype}"
    grad = ""
    if isinstance(value, Tensor) and value.requires_grad:
        grad = f", grad_fn=<{value.grad_fn}>" if value.grad_fn else ", requires_grad=True"
    return f"{kind}({nested(value.values, shape)}{size}{dtype}{grad})"
