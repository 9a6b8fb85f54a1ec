"""The functions of `torch.nn.functional`, built on the operations in `ops`."""

import math
import warnings

import numpy as np

from ..core.tensor import Tensor, make
from ..functions import creation
from ..functions.arithmetic import log_softmax, softmax  # noqa: F401
from ..functions.left_out import no_attribute
from ..functions.shaping import expand, pad  # noqa: F401
from ..ops import conv, linalg, losses, normal
from ..ops import elementwise as ew
from ..ops.elementwise import sigmoid, tanh  # noqa: F401
from ..ops.shape import embedding as _embedding
from ..ops.shape import unsqueeze
from ..values import dtypes

# ----- checks with torch's messages -----


def _check_tensor(function, argument, position, value):
    if not isinstance(value, Tensor):
        kind = type(value).__name__
        raise TypeError(f"{function}(): argument '{argument}' (position {position}) must be Tensor, not {kind}")


def _check_dtype(expected, found):
    if found is not None and found.dtype is not expected.dtype:
        raise RuntimeError(f"expected scalar type {_dtype(expected)} but found {_dtype(found)}")


def _dtype(tensor):
    return tensor._type_name().removesuffix("Tensor")


def _check_parameters(input, *parameters):
    """Raise RuntimeError unless the parameters of a normalization have the dtype of its input."""
    first, *others = [parameter for parameter in parameters if parameter is not None] or [input]
    if first.dtype is not input.dtype:
        wrong = "all inputs must share same datatype."
        if first.dtype is not dtypes.float32:
            wrong = "expect parameter to have scalar type of Float"
        raise RuntimeError("mixed dtype (CPU): " + wrong)
    for other in others:
        _check_dtype(input, other)


# ----- activations, and the linear layer -----


def linear(input, weight, bias=None):
    """Return `input @ weight.T + bias`. input: (…, in), weight: (out, in), bias: (out,) or None."""
    _check_tensor("linear", "input", 1, input)
    if bias is not None and bias._data.shape not in ((1,), weight._data.shape[:1]):
        expand(bias, (math.prod(input.shape[:-1]), len(weight)))
    return linalg.linear(input, weight, bias)


def relu(input, inplace=False):
    """Return max(input, 0)."""
    _check_tensor("relu", "input", 1, input)
    return input.relu_() if inplace else ew.relu(input)


def leaky_relu(input, negative_slope=0.01):
    """Return input if positive, else negative_slope · input."""
    return ew.leaky_relu(input, negative_slope)


def softplus(input, beta=1.0, threshold=20.0):
    """Return log(1 + exp(beta · input)) / beta."""
    return ew.softplus(input, beta, threshold)


def dropout(input, p=0.5, training=True, inplace=False):
    """Set each element to zero with probability p and divide the rest by 1 - p; do nothing unless training."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    kept = creation.generator().random(input.shape) >= p
    mask = make(kept.astype(input._data.dtype) / max(1 - p, 1e-300) if p < 1 else np.zeros_like(input._data))
    mask._data = mask._data.astype(input._data.dtype, copy=False)
    return input.mul_(mask) if inplace else input * mask


def one_hot(tensor, num_classes=-1):
    """Return, for each class index in `tensor`, a row of zeros with a 1 at that position."""
    count = int(tensor._data.max()) + 1 if num_classes == -1 else num_classes
    return make((tensor._data[..., None] == np.arange(count)).astype(np.int64))


# ----- images -----


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


def _left_out(function, **options):
    for name, (value, usual) in options.items():
        if value != usual:
            raise NotImplementedError(
                f"{function} with {name}={value!r} is left out of the mini engine; use torch.nn.functional.{function}"
            )


def _as_batch(input, function):
    """Return `input` with a batch dimension, and whether it had one."""
    if input.ndim not in (3, 4):
        if function == "max_pool2d":
            raise RuntimeError("non-empty 3D or 4D (batch mode) tensor expected for input")
        raise RuntimeError(
            f"Expected 3D (unbatched) or 4D (batched) input to {function}, but got input of size: {list(input.shape)}"
        )
    return (unsqueeze(input, 0), False) if input.ndim == 3 else (input, True)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Slide a kernel over images. input: (N, C, H, W) or (C, H, W), weight: (O, C, kh, kw), bias: (O,)."""
    _left_out("conv2d", dilation=(_pair(dilation), (1, 1)), groups=(groups, 1))
    if isinstance(padding, str):
        _left_out("conv2d", padding=(padding, "valid"))
        padding = 0
    stride, padding = _pair(stride), _pair(padding)
    picture, batched = _as_batch(input, "conv2d")
    if picture.shape[1] != weight.shape[1]:
        raise RuntimeError(
            f"Given groups=1, weight of size {list(weight.shape)}, expected input{list(input.shape)} to have "
            f"{weight.shape[1]} channels, but got {picture.shape[1]} channels instead"
        )
    _check_convolution(picture, weight, bias, stride, padding)
    padded = [n + 2 * p for n, p in zip(picture.shape[2:], padding, strict=True)]
    if any(k > n for k, n in zip(weight.shape[2:], padded, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({padded[0]} x {padded[1]}). Kernel size: ({weight.shape[2]} x "
            f"{weight.shape[3]}). Kernel size can't be greater than actual input size"
        )
    out = conv.convolution(picture, weight, bias, stride, padding)
    return out if batched else out.squeeze(0)


def _check_convolution(input, weight, bias, stride, padding):
    if min(stride) <= 0:
        raise RuntimeError("non-positive stride is not supported")
    if min(padding) < 0:
        raise RuntimeError("negative padding is not supported")
    if bias is None:
        _check_dtype(input, weight)
        return
    if bias.shape != weight.shape[:1]:
        raise RuntimeError(
            f"Given weight of size {list(weight.shape)}, expected bias to be 1-dimensional with {len(weight)} "
            f"elements, but got bias of size {list(bias.shape)} instead"
        )
    if bias.dtype is not input.dtype:
        names = [{"Long": "long int"}.get(_dtype(tensor), _dtype(tensor).lower()) for tensor in (input, bias)]
        raise RuntimeError(f"Input type ({names[0]}) and bias type ({names[1]}) should be the same")
    _check_dtype(input, weight)


def _pool(operation, function, input, kernel_size, stride, padding):
    kernel_size, padding = _pair(kernel_size), _pair(padding)
    stride = kernel_size if stride is None else _pair(stride)
    if 0 in stride:
        raise RuntimeError("stride should not be zero")
    if any(p * 2 > k for p, k in zip(padding, kernel_size, strict=True)):
        raise RuntimeError(
            "pad should be at most half of effective kernel size, but got "
            f"pad={max(padding)}, kernel_size={kernel_size[0]} and dilation=1"
        )
    picture, batched = _as_batch(input, function)
    size = conv.out_size(picture.shape[2:], kernel_size, stride, padding)
    if min(size) < 1:
        c, h, w = picture.shape[1:]
        raise RuntimeError(
            f"Given input size: ({c}x{h}x{w}). Calculated output size: ({c}x{max(size[0], 0)}x{max(size[1], 0)}). "
            "Output size is too small"
        )
    out = operation(picture, kernel_size, stride, padding)
    out = out[0] if isinstance(out, tuple) else out
    return out if batched else out.squeeze(0)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """Return the largest value in each window."""
    _left_out(
        "max_pool2d",
        dilation=(_pair(dilation), (1, 1)),
        ceil_mode=(ceil_mode, False),
        return_indices=(return_indices, False),
    )
    return _pool(conv.max_pool, "max_pool2d", input, kernel_size, stride, padding)


def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
):
    """Return the mean of each window; padding counts as zeros."""
    _left_out(
        "avg_pool2d",
        ceil_mode=(ceil_mode, False),
        count_include_pad=(count_include_pad, True),
        divisor_override=(divisor_override, None),
    )
    return _pool(conv.avg_pool, "avg_pool2d", input, kernel_size, stride, padding)


# ----- lookup and normalization -----


def embedding(input, weight, padding_idx=None):
    """Return the rows of `weight` selected by `input`, an integer tensor."""
    if input._data.dtype.kind != "i":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"torch.{input._type_name()} instead (while checking arguments for embedding)"
        )
    if input.numel() and not (input._data.min() >= 0 and input._data.max() < len(weight)):
        raise IndexError("index out of range in self")
    if padding_idx is not None:
        padding_idx %= len(weight)
    return _embedding(weight, input._data, padding_idx)


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    """Normalize each channel (dimension 1) over all other dimensions; update the running statistics when training."""
    channel = tuple(n if i == 1 else 1 for i, n in enumerate(input.shape))
    dim = tuple(i for i in range(input.ndim) if i != 1)
    count = math.prod(input.shape[i] for i in dim)
    statistics = {"running_mean": running_mean, "running_var": running_var}
    for name, each in {**statistics, "weight": weight, "bias": bias}.items():
        if each is None and not training and name in statistics:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if each is not None and each.shape != input.shape[1:2]:
            raise RuntimeError(f"{name} should contain {input.shape[1]} elements not {each.numel()}")
    _check_parameters(input, weight, bias, running_mean, running_var)
    if training:
        if count <= 1:
            raise ValueError(f"Expected more than 1 value per channel when training, got input size {input.shape}")
        if running_mean is not None:
            array = input._data
            for running, now in ((running_mean, array.mean(dim)), (running_var, array.var(dim, ddof=1))):
                running._data += momentum * (now - running._data)
                running._bump()
        mean = var = None
    else:
        mean, var = running_mean._data, running_var._data
    return normal.batch_norm(input, weight, bias, dim, dim, channel, eps, mean, var)[0]


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
    """Normalize over the last dimensions, whose sizes are `normalized_shape`."""
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    outer = input.ndim - len(shape)
    if input.shape[outer:] != shape:
        raise RuntimeError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*, {', '.join(map(str, shape))}], "
            f"but got input of size{list(input.shape)}"
        )
    _check_parameters(input, weight, bias)
    dim, over = tuple(range(outer, input.ndim)), tuple(range(outer))
    return normal.layer_norm(input, weight, bias, dim, over, (1,) * outer + shape, eps, None, None)[0]


# ----- losses -----


def _check_reduction(reduction):
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def mse_loss(input, target, reduction="mean"):
    """Return the mean of (input - target)²."""
    _check_reduction(reduction)
    if target.size() != input.size():
        warnings.warn(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}). This will "
            "likely lead to incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=2,
        )
    return losses.mse_loss(input, target, reduction)


def l1_loss(input, target, reduction="mean"):
    """Return the mean of |input - target|."""
    _check_reduction(reduction)
    difference = abs(input - target)
    return difference.mean() if reduction == "mean" else difference.sum() if reduction == "sum" else difference


def nll_loss(input, target, weight=None, ignore_index=-100, reduction="mean"):
    """Return the mean of -input[target], weighted by the target's class. input: (C,), (N, C) or (N, C, …)."""
    _check_reduction(reduction)
    dim, shape = 0 if input.ndim == 1 else 1, input._data.shape
    if dim and shape[0] != target._data.shape[0]:
        raise ValueError(f"Expected input batch_size ({shape[0]}) to match target batch_size ({target.shape[0]}).")
    if target.dtype is not dtypes.int64:
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {_dtype(target)}")
    chosen, factor = _targets(input, target), None
    low, high = (chosen.min(), chosen.max()) if chosen.size else (0, 0)
    if weight is not None:
        _check_dtype(input, weight)
        if weight.shape != (shape[dim],):
            raise RuntimeError(
                f"weight tensor should be defined either for all {shape[dim]} classes or no classes but got "
                f"weight tensor of shape: {list(weight.shape)}"
            )
    if weight is not None or low <= ignore_index <= high or low < 0 or high >= shape[dim]:
        used = chosen != ignore_index
        wrong = chosen[used & ((chosen < 0) | (chosen >= shape[dim]))]
        if wrong.size:
            raise IndexError(f"Target {wrong[0]} is out of bounds.")
        chosen = np.where(used, chosen, 0)
        factor = used.astype(input._data.dtype)
        if weight is not None:
            factor *= weight._data[chosen]
    return losses.nll_loss(input, chosen, dim, factor, reduction)


def _targets(input, target):
    """Return the array of class indices; its shape must be input's shape without the class dimension."""
    array, expected = target._data, input.shape[:1] + input.shape[2:]
    if input.ndim == 1:
        return array.reshape(())
    if input.ndim == 2 and array.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if array.shape != expected:
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(array.shape)}")
    return array


def cross_entropy(input, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    """Return the negative log-likelihood of softmax(input) at the class indices `target`; `input` holds logits."""
    for position, (name, value) in enumerate((("input", input), ("target", target)), 1):
        _check_tensor("cross_entropy_loss", name, position, value)
    _left_out("cross_entropy", label_smoothing=(label_smoothing, 0.0))
    if target._data.dtype.kind == "f" and target.shape == input.shape:
        raise NotImplementedError(
            "cross_entropy with class probabilities is left out of the mini engine, which takes class indices; "
            "use torch.nn.functional.cross_entropy"
        )
    return nll_loss(log_softmax(input, 0 if input.ndim == 1 else 1), target, weight, ignore_index, reduction)


def binary_cross_entropy_with_logits(input, target, weight=None, reduction="mean", pos_weight=None):
    """Return the mean cross entropy between sigmoid(input) and target."""
    _check_reduction(reduction)
    if target.shape != input.shape:
        raise ValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    arrays = [each if each is None else each._data for each in (weight, pos_weight)]
    return losses.binary_cross_entropy_with_logits(input, target, *arrays, reduction)


def __getattr__(name):
    raise no_attribute("nn.functional", name)
