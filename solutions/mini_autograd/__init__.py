"""mini_autograd: how torch.autograd behaves, in Python and NumPy, made to be read. Start with README.md.

Names are torch's, so lesson code runs with `import mini_autograd as torch`.
"""

# ruff: noqa: F401 - the names imported here are what the package offers

from . import autograd, hooks, methods
from .creation import (
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    linspace,
    manual_seed,
    ones,
    ones_like,
    rand,
    rand_like,
    randint,
    randn,
    randn_like,
    randperm,
    tensor,
    zeros,
    zeros_like,
)
from .dtypes import (
    bool,
    double,
    dtype,
    float,
    float32,
    float64,
    get_default_dtype,
    int,
    int32,
    int64,
    long,
    set_default_dtype,
)
from .modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .size import Size
from .tensor import Tensor

globals().update({name: methods.for_tensors(name, function) for name, function in methods.PUBLIC.items()})

from . import nn, optim  # noqa: E402


def __getattr__(name):
    """Say of a name that this package has not that it is left out."""
    message = f"module 'mini_autograd' has no attribute '{name}'"
    if not name.startswith("_"):
        message += f" (if torch.{name} exists, the mini engine leaves it out; see README.md)"
    raise AttributeError(message)
