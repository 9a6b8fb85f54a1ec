"""`torch.nn`: modules, their functions, first values. Read `modules/module.py` first, then `modules/hooks.py`."""


def left_out(place, name):
    """Return the AttributeError for a name that torch's `place` may have and this package has not."""
    message = f"module 'mini_autograd.{place}' has no attribute '{name}'"
    if not name.startswith("_"):
        message += f" (if torch.{place}.{name} exists, the mini engine leaves it out; see README.md)"
    return AttributeError(message)


from . import functional, init, modules, utils  # noqa: E402, F401
from .modules import (  # noqa: E402, F401
    AvgPool2d,
    BatchNorm1d,
    BatchNorm2d,
    BCEWithLogitsLoss,
    Conv2d,
    CrossEntropyLoss,
    Dropout,
    Embedding,
    Flatten,
    Identity,
    L1Loss,
    LayerNorm,
    Linear,
    LogSoftmax,
    MaxPool2d,
    Module,
    ModuleList,
    MSELoss,
    NLLLoss,
    ReLU,
    Sequential,
    Sigmoid,
    Softmax,
    Tanh,
)
from .parameter import Parameter  # noqa: E402, F401


def __getattr__(name):
    raise left_out("nn", name)
