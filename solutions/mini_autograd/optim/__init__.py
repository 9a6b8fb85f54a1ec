"""`torch.optim`: update parameters from their gradients. Read `optimizer.py` first, then `sgd.py`."""

from ..functions.left_out import no_attribute
from .adam import Adam, AdamW  # noqa: F401
from .optimizer import Optimizer  # noqa: F401
from .sgd import SGD  # noqa: F401


def __getattr__(name):
    raise no_attribute("optim", name)
