"""`torch.optim`: what changes parameters by their gradients. Read `optimizer.py` first, then `sgd.py`."""

from .adam import Adam, AdamW  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .sgd import SGD  # noqa: F401


def __getattr__(name):
    from ..nn import left_out

    raise left_out("optim", name)
