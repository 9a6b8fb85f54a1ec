"""`pad`: its modes, and torch's checks of their arguments."""

import math

from ..ops.padding import constant_pad, pad_by

NOT_SUPPORTED = """\
Padding size {size} is not supported for {ndim}D input tensor.
Supported combinations for non-constant padding:
  - 2D or 3D input: padding size = 2 (pads last dimension)
  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)
  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"""


def pad(input, pad, mode="constant", value=None):
    """Pad the last dimensions of input; a negative number crops.

    pad: two numbers, before and after, for the last dimension, then two for the one before it, and so on.
    mode: "constant" pads with `value`, by default 0; "reflect" with the elements mirrored at the edge, "replicate" with
    the edge's element, "circular" with elements from the opposite end.
    """
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        return _pad_with(input, pad, 0 if value is None else value)
    ndim = len(pad) // 2
    if (mode, 1) not in pad_by:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if (mode, ndim) not in pad_by or input.ndim not in (ndim + 1, ndim + 2):
        raise NotImplementedError(NOT_SUPPORTED.format(size=len(pad), ndim=input.ndim))
    _check(input, pad, mode, ndim)
    return pad_by[mode, ndim](input, tuple(pad))


def _pad_with(input, pad, value):
    for size, before, after in zip(reversed(input.shape), pad[::2], pad[1::2], strict=False):
        if size + min(0, before) + min(0, after) < 0:
            raise RuntimeError("narrow(): length must be non-negative.")
    return constant_pad(input, tuple(pad), value)


def _check(input, pad, mode, ndim):
    """Raise torch's error if the tensor has too few elements for this padding."""
    sizes = input.shape[-ndim:]
    pairs = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    padded = [size + before + after for size, (before, after) in zip(sizes, pairs, strict=True)]
    if mode == "circular":
        for size, pair in zip(sizes, pairs, strict=True):
            if max(pair) > size:
                raise RuntimeError("Padding value causes wrapping around more than once.")
        if min(padded) < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        return
    if not math.prod(input.shape[-ndim - 1 :]):
        raise RuntimeError(
            f"Expected {ndim + 1}D or {ndim + 2}D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    if mode == "reflect":
        for back in range(1, ndim + 1):
            before, after = pairs[-back]
            if max(before, after) >= sizes[-back]:
                raise RuntimeError(
                    f"Argument #{2 + 2 * back}: Padding size should be less than the corresponding input dimension, "
                    f"but got: padding ({before}, {after}) at dimension {input.ndim - back} of input "
                    f"{list(input.shape)}"
                )
    if max(padded) < 1:
        given, made = (
            " ".join(f"{name}: {size}" for name, size in zip("DHW"[-ndim:], each, strict=True))
            for each in (sizes, padded)
        )
        given = given.replace(" W:", ", W:")  # torch's comma
        raise RuntimeError(f"input ({given}) is too small. Calculated output {made}")
    if min(padded) < 0:
        shape = [*input.shape[:-ndim], *padded]
        raise RuntimeError(f"Trying to create tensor with negative dimension {min(padded)}: {shape}")
