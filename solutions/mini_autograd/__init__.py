"""mini_autograd: torch.autograd's behavior in Python and NumPy, written to be read. Start with README.md.

Names are torch's, so code that needs only these runs with `import mini_autograd as torch`.
"""

# ruff: noqa: F401 - the imported names are the package's API

from . import autograd, nn, optim
from .core.modes import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .core.tensor import Tensor
from .ops import methods
from .ops.creation import arange, from_numpy, manual_seed, ones, ones_like, rand, tensor, zeros, zeros_like
from .values.dtypes import bool, dtype, float32, float64, int64
from .values.size import Size

globals().update({name: methods.for_tensors(name, function) for name, function in methods.FUNCTIONS.items()})
