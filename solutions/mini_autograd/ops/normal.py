"""Batch and layer normalization.

dim: the dimensions over which statistics are computed. over: the dimensions that weight and bias lack. channel: the
shape in which weight and bias broadcast with the input.
"""

import math

import numpy as np

from ..core.operation import operation
from .elementwise import div, rsqrt
from .reduce import sum_dim
from .shape import reshape


def _normalise(input, weight, bias, dim, over, channel, eps, mean, var):
    """Return (input - mean)/√(var + eps)·weight + bias, mean, 1/√(var + eps); mean and var default to the input's."""
    if mean is None:
        mean = input.mean(dim, keepdims=True)
        centred = input - mean
        var = (centred * centred).mean(dim, keepdims=True)
    else:
        mean, var = mean.reshape(channel), var.reshape(channel)
        centred = input - mean
    inverse = 1 / np.sqrt(var + input.dtype.type(eps))
    out = centred * inverse
    if weight is not None:
        out *= weight.reshape(channel)
    if bias is not None:
        out += bias.reshape(channel)
    return out, mean, inverse


def _normalise_gradients(grad, needs, input, weight, bias_sym_sizes, dim, over, channel, eps, mean, var):
    grad = grad[0]
    fixed = mean is not None
    count = math.prod(input.shape[i] for i in dim)
    if fixed:
        centred, inverse = input - mean.reshape(channel), rsqrt(var.reshape(channel) + eps)
    else:
        centred = input - div(sum_dim(input, dim, True), count)
        inverse = rsqrt(div(sum_dim(centred * centred, dim, True), count) + eps)
    normal = centred * inverse
    to_input = to_weight = to_bias = None
    if needs[0]:
        inner = grad if weight is None else grad * reshape(weight, channel)
        if not fixed:
            inner = inner - div(sum_dim(inner, dim, True) + normal * sum_dim(inner * normal, dim, True), count)
        to_input = inner * inverse
    if needs[1]:
        to_weight = reshape(sum_dim(grad * normal, over, False), tuple(weight.shape))
    if needs[2]:
        to_bias = reshape(sum_dim(grad, over, False), bias_sym_sizes)
    return to_input, to_weight, to_bias


batch_norm = operation(
    "NativeBatchNormBackward0", _normalise, joint=_normalise_gradients, input=None, weight=None, bias=None
)
layer_norm = operation(
    "NativeLayerNormBackward0", _normalise, joint=_normalise_gradients, input=None, weight=None, bias=None
)
