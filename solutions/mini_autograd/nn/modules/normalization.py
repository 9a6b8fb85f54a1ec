"""The normalization layers: `BatchNorm1d`, `BatchNorm2d`, `LayerNorm`."""

from ...functions import creation
from ...values import dtypes
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module


class _Norm(Module):
    """A layer with a weight, initially ones, and a bias, initially zeros."""

    def _make(self, shape, affine, bias, **options):
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(creation.empty(shape, **options)) if wanted else None)

    def reset_parameters(self):
        """Set the weight to ones and the bias to zeros."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class _BatchNorm(_Norm):
    """A layer that normalizes each channel: with the batch's mean and variance in training, else with running averages.

    The running statistics are buffers: every forward pass in training updates them, even if the parameters are frozen.
    momentum: the weight of the new batch in these statistics; None computes the plain mean over all batches.
    """

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        options = {"device": device, "dtype": dtype}
        self._make(num_features, affine, bias, **options)
        track = track_running_stats
        self.register_buffer("running_mean", creation.zeros(num_features, **options) if track else None)
        self.register_buffer("running_var", creation.ones(num_features, **options) if track else None)
        self.register_buffer("num_batches_tracked", creation.tensor(0, dtype=dtypes.int64) if track else None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Reset the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        """Reset the running statistics, and set the weight to ones and the bias to zeros."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input):
        if input.dim() not in self.dims:
            expected = " or ".join(f"{dim}D" for dim in self.dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def forward(self, input):
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                factor = 1.0 / self.num_batches_tracked.item()
        keeps = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if keeps else None,
            self.running_var if keeps else None,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            factor,
            self.eps,
        )

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalization of (N, C) or (N, C, L)."""

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalization of (N, C, H, W)."""

    dims = (4,)


class LayerNorm(_Norm):
    """A layer that normalizes each sample over its last dimensions, whose sizes are `normalized_shape`."""

    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True, device=None, dtype=None):
        super().__init__()
        shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape, self.eps, self.elementwise_affine = shape, eps, elementwise_affine
        self._make(shape, elementwise_affine, bias, device=device, dtype=dtype)
        self.reset_parameters()

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )
