"""Convolution and pooling over images of shape (N, C, H, W).

A convolution is linear in the image and in the kernel, so both of its gradients are convolutions of some form too. The
three functions below are each other's derivatives. For an image x, a kernel w and a map g of the output's shape:

    convolve(x, w) → g        spread_kernel(g, w) → x        correlate(x, g) → w

Internally, images have the layout (C, H, W, N): a window shifted by a pixel is copied in runs of W·N numbers.
"""

import numpy as np

from ..core.operation import operation
from .reduce import sum_dim


def _inner(picture, padding=(0, 0)):
    """Return `picture` converted from layout (N, C, H, W) to layout (C, H, W, N), padded with zeros."""
    if padding == (0, 0):
        return np.ascontiguousarray(picture.transpose(1, 2, 3, 0))
    n, c, h, w = picture.shape
    (up, left), inner = padding, np.zeros((c, h + 2 * padding[0], w + 2 * padding[1], n), picture.dtype)
    inner[:, up : up + h, left : left + w] = picture.transpose(1, 2, 3, 0)
    return inner


def _outer(inner):
    """Return `inner` converted from layout (C, H, W, N) to layout (N, C, H, W), contiguous."""
    return np.ascontiguousarray(inner.transpose(3, 0, 1, 2))


def out_size(size, kernel, stride, padding):
    """Return how many windows fit along each of the two dimensions."""
    return tuple((n + 2 * p - k) // s + 1 for n, k, s, p in zip(size, kernel, stride, padding, strict=True))


def _shifts(kernel, stride, size):
    """Yield, for each pixel (i, j) of the window, the slices of the image that it covers in all windows."""
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            yield (
                (i, j),
                (
                    slice(i, i + stride[0] * (size[0] - 1) + 1, stride[0]),
                    slice(j, j + stride[1] * (size[1] - 1) + 1, stride[1]),
                ),
            )


def _columns(picture, kernel, stride, padding):
    """Return the windows of an image as the columns of a matrix of shape (C·kh·kw, OH·OW·N), and (OH, OW)."""
    inner = _inner(picture, padding)
    size = out_size(picture.shape[2:], kernel, stride, padding)
    columns = np.empty((inner.shape[0], *kernel, *size, inner.shape[3]), picture.dtype)
    for (i, j), (rows, cols) in _shifts(kernel, stride, size):
        columns[:, i, j] = inner[:, rows, cols]
    return columns.reshape(inner.shape[0] * kernel[0] * kernel[1], -1), size


def _convolve(input, weight, bias, stride, padding):
    columns, size = _columns(input, weight.shape[2:], stride, padding)
    out = weight.reshape(len(weight), -1) @ columns
    if bias is not None:
        out += bias[:, None]
    return _outer(out.reshape(len(weight), *size, len(input)))


def _spread_kernel(grad, weight, shape, stride, padding):
    n, c, h, w = shape
    size, kernel = grad.shape[2:], weight.shape[2:]
    columns = weight.reshape(len(weight), -1).T @ _inner(grad).reshape(len(weight), -1)
    columns = columns.reshape(c, *kernel, *size, n)
    up, left = padding
    inner = np.zeros((c, h + 2 * up, w + 2 * left, n), grad.dtype)
    for (i, j), (rows, cols) in _shifts(kernel, stride, size):
        inner[:, rows, cols] += columns[:, i, j]
    return _outer(inner[:, up : up + h, left : left + w])


def _correlate(input, grad, shape, stride, padding):
    columns, _ = _columns(input, shape[2:], stride, padding)
    return (_inner(grad).reshape(shape[0], -1) @ columns.T).reshape(shape)


def _convolution_gradients(grad, needs, input, weight, stride, padding):
    return (
        spread_kernel(grad, weight, tuple(input.shape), stride, padding) if needs[0] else None,
        correlate(input, grad, tuple(weight.shape), stride, padding) if needs[1] else None,
        sum_dim(grad, (0, 2, 3), False) if needs[2] else None,
    )


convolution = operation(
    "ConvolutionBackward0", _convolve, joint=_convolution_gradients, input=None, weight=None, bias=None
)
spread_kernel = operation(
    "ConvolutionBackwardBackward0",
    _spread_kernel,
    grad=lambda grad_, weight, stride, padding: convolution(grad_, weight, None, stride, padding),
    weight=lambda grad_, grad, weight_sym_sizes, stride, padding: correlate(
        grad_, grad, tuple(weight_sym_sizes), stride, padding
    ),
)
correlate = operation(
    "ConvolutionBackwardBackward0",
    _correlate,
    input=lambda grad_, grad, input_sym_sizes, stride, padding: spread_kernel(
        grad, grad_, tuple(input_sym_sizes), stride, padding
    ),
    grad=lambda grad_, input, stride, padding: convolution(input, grad_, None, stride, padding),
)

# ----- pooling -----


def _padded(picture, padding, value):
    if padding == (0, 0):
        return picture
    up, left = padding
    return np.pad(picture, ((0, 0), (0, 0), (up, up), (left, left)), constant_values=value)


def _unpadded(picture, padding):
    up, left = padding
    return picture[:, :, up : picture.shape[2] - up, left : picture.shape[3] - left]


def _max_pool(self, kernel_size, stride, padding):
    """Return each window's maximum, and the index of its pixel in the window (the first if several are equal)."""
    lowest = -np.inf if self.dtype.kind == "f" else np.iinfo(self.dtype).min
    picture = _padded(self, padding, lowest)
    size = out_size(self.shape[2:], kernel_size, stride, padding)
    best = np.full((*self.shape[:2], *size), lowest, self.dtype)
    chosen = np.zeros(best.shape, np.int64 if kernel_size[0] * kernel_size[1] > 127 else np.int8)
    for number, (_, (rows, cols)) in enumerate(_shifts(kernel_size, stride, size)):
        pixel = picture[:, :, rows, cols]
        np.copyto(chosen, number, where=pixel > best)
        np.maximum(best, pixel, out=best)
    return best, chosen


max_pool = operation(
    "MaxPool2DWithIndicesBackward0",
    _max_pool,
    self=lambda grad, self_sym_sizes, kernel_size, stride, padding, result1: unpool(
        grad[0], getattr(result1, "_data", result1), self_sym_sizes, kernel_size, stride, padding
    ),
)


def _unpool(self, chosen, shape, kernel_size, stride, padding):
    picture = _padded(np.zeros(shape, self.dtype), padding, 0)
    for number, (_, (rows, cols)) in enumerate(_shifts(kernel_size, stride, self.shape[2:])):
        picture[:, :, rows, cols] += np.where(chosen == number, self, 0)
    return np.ascontiguousarray(_unpadded(picture, padding))


def _pick_pooled(self, chosen, kernel_size, stride, padding):
    picture, out = _padded(self, padding, 0), np.zeros(chosen.shape, self.dtype)
    for number, (_, (rows, cols)) in enumerate(_shifts(kernel_size, stride, chosen.shape[2:])):
        np.copyto(out, picture[:, :, rows, cols], where=chosen == number)
    return out


unpool = operation(
    "MaxPool2DWithIndicesBackwardBackward0",
    _unpool,
    constants=("chosen",),
    self=lambda grad, chosen, kernel_size, stride, padding: pick_pooled(grad, chosen, kernel_size, stride, padding),
)
pick_pooled = operation(
    "MaxPool2DWithIndicesBackward0",
    _pick_pooled,
    constants=("chosen",),
    self=lambda grad, self_sym_sizes, chosen, kernel_size, stride, padding: unpool(
        grad, chosen, self_sym_sizes, kernel_size, stride, padding
    ),
)


def _avg_pool(self, kernel_size, stride, padding):
    picture = _padded(self, padding, 0)
    size = out_size(self.shape[2:], kernel_size, stride, padding)
    total = np.zeros((*self.shape[:2], *size), self.dtype)
    for _, (rows, cols) in _shifts(kernel_size, stride, size):
        total += picture[:, :, rows, cols]
    mean = total / self.dtype.type(kernel_size[0] * kernel_size[1])
    return mean.astype(self.dtype, copy=False)  # integers are truncated, as in torch


def _avg_unpool(self, shape, kernel_size, stride, padding):
    picture = _padded(np.zeros(shape, self.dtype), padding, 0)
    share = self / self.dtype.type(kernel_size[0] * kernel_size[1])
    for _, (rows, cols) in _shifts(kernel_size, stride, self.shape[2:]):
        picture[:, :, rows, cols] += share
    return np.ascontiguousarray(_unpadded(picture, padding))


avg_pool = operation(
    "AvgPool2DBackward0",
    _avg_pool,
    self=lambda grad, self_sym_sizes, kernel_size, stride, padding: avg_unpool(
        grad, self_sym_sizes, kernel_size, stride, padding
    ),
)
avg_unpool = operation(
    "AvgPool2DBackwardBackward0",
    _avg_unpool,
    self=lambda grad, kernel_size, stride, padding: avg_pool(grad, kernel_size, stride, padding),
)
