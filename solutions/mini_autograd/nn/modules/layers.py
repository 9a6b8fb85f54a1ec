"""The layers: each stores its parameters and options, and calls the function of the same name."""

import math

from ...core.modes import no_grad
from ...functions import creation
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module


def refuse(module, **options):
    """Raise NotImplementedError if one of `options`, each (value, usual value), has an unusual value."""
    name = type(module).__name__
    for option, (value, usual) in options.items():
        if value != usual:
            raise NotImplementedError(
                f"{name} with {option}={value!r} is left out of the mini engine; use torch.nn.{name}"
            )


class _Weighted(Module):
    """A layer with a weight, and a bias with one element per row of the weight."""

    def _make(self, shape, bias, **options):
        self.weight = Parameter(creation.empty(shape, **options))
        if bias:
            self.bias = Parameter(creation.empty(shape[0], **options))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw weight and bias uniformly from ±1/√fan_in, as torch does."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)


class Linear(_Weighted):
    """The layer `input @ weight.T + bias`. input: (…, in_features); weight: (out_features, in_features)."""

    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self._make((out_features, in_features), bias, device=device, dtype=dtype)

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


def _pair(value):
    return (value, value) if isinstance(value, int) else tuple(value)


class Conv2d(_Weighted):
    """A kernel that slides over images. input: (N, in_channels, H, W); weight: (out_channels, in_channels, kh, kw)."""

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__()
        refuse(self, dilation=(_pair(dilation), (1, 1)), groups=(groups, 1), padding_mode=(padding_mode, "zeros"))
        if isinstance(padding, str):
            refuse(self, padding=(padding, "valid"))
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = _pair(kernel_size), _pair(stride)
        self.padding = padding if isinstance(padding, str) else _pair(padding)
        self._make((out_channels, in_channels, *self.kernel_size), bias, device=device, dtype=dtype)

    def forward(self, input):
        return F.conv2d(input, self.weight, self.bias, self.stride, self.padding)

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding not in ((0, 0), "valid"):
            text += f", padding={self.padding}"
        if self.padding == "valid":
            text += ", padding=valid"
        return text + (", bias=False" if self.bias is None else "")


class MaxPool2d(Module):
    """A layer that returns the largest value in each window."""

    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        super().__init__()
        refuse(
            self,
            dilation=(_pair(dilation), (1, 1)),
            return_indices=(return_indices, False),
            ceil_mode=(ceil_mode, False),
        )
        self.kernel_size, self.padding, self.dilation = kernel_size, padding, dilation
        self.stride = kernel_size if stride is None else stride
        self.ceil_mode = ceil_mode

    def forward(self, input):
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding)

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class AvgPool2d(Module):
    """A layer that returns the mean of each window."""

    def __init__(
        self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        super().__init__()
        refuse(
            self,
            ceil_mode=(ceil_mode, False),
            count_include_pad=(count_include_pad, True),
            divisor_override=(divisor_override, None),
        )
        self.kernel_size, self.padding = kernel_size, padding
        self.stride = kernel_size if stride is None else stride

    def forward(self, input):
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding)

    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class Identity(Module):
    """A layer that returns its input unchanged; constructor arguments are ignored."""

    def __init__(self, *args, **kwargs):
        super().__init__()

    def forward(self, input):
        return input


class Sigmoid(Module):
    """The function 1 / (1 + exp(-input)) as a layer."""

    def forward(self, input):
        return F.sigmoid(input)


class Tanh(Module):
    """The hyperbolic tangent as a layer."""

    def forward(self, input):
        return F.tanh(input)


class ReLU(Module):
    """The function max(input, 0) as a layer, in place if requested."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace

    def forward(self, input):
        return F.relu(input, self.inplace)

    def extra_repr(self):
        return "inplace=True" if self.inplace else ""


class Softmax(Module):
    """The function exp(input) / Σ exp(input) along `dim` as a layer."""

    function = staticmethod(F.softmax)

    def __init__(self, dim=None):
        super().__init__()
        if dim is None:
            refuse(self, dim=(None, "a dimension"))
        self.dim = dim

    def forward(self, input):
        return self.function(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class LogSoftmax(Softmax):
    """The logarithm of softmax along `dim` as a layer."""

    function = staticmethod(F.log_softmax)


class Flatten(Module):
    """A layer that merges the dimensions from start_dim to end_dim into one."""

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Dropout(Module):
    """A layer that, in training, sets each element to zero with probability p and divides the rest by 1 - p."""

    def __init__(self, p=0.5, inplace=False):
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Embedding(Module):
    """A table of vectors; integer inputs select its rows. weight: (num_embeddings, embedding_dim)."""

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        refuse(
            self,
            max_norm=(max_norm, None),
            norm_type=(norm_type, 2.0),
            scale_grad_by_freq=(scale_grad_by_freq, False),
            sparse=(sparse, False),
        )
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError("Padding_idx must be within num_embeddings")
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        if _weight is None:
            empty = creation.empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(empty, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self):
        """Draw the table from the normal distribution, with zeros for the padding row."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)

    @classmethod
    def from_pretrained(cls, embeddings, freeze=True, padding_idx=None):
        """Return an Embedding with the weight `embeddings`, frozen unless freeze is False."""
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        return cls(*embeddings.shape, padding_idx=padding_idx, _weight=embeddings, _freeze=freeze)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self):
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{self.num_embeddings}, {self.embedding_dim}{padding}"
