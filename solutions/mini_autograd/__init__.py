"""mini_autograd: torch.autograd's behavior in Python and NumPy, written to be read. Start with README.md.

Names are torch's, so most lesson code runs with `import mini_autograd as torch`.
"""

# ruff: noqa: F401 - the imported names are the package's API

from math import e, inf, nan, pi

from . import autograd, nn, optim
from .core import hooks
from .core.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .core.tensor import Tensor
from .functions import methods
from .functions.creation import (
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
    randint,
    randn,
    randperm,
    tensor,
    zeros,
    zeros_like,
)
from .functions.left_out import no_attribute
from .values.dtypes import (
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
from .values.size import Size

globals().update({name: methods.for_tensors(name, function) for name, function in methods.PUBLIC.items()})


def __getattr__(name):
    """Raise AttributeError with a note that the mini engine may leave this name out."""
    raise no_attribute("", name)
