"""`torch.nn`: modules, functions, initialization. Read `modules/module.py` first, then `modules/hooks.py`."""

# ruff: noqa: F401 - the imported names are the package's API

from ..functions.left_out import no_attribute
from . import functional, init, modules, utils
from .modules import (
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
from .parameter import Parameter


def __getattr__(name):
    raise no_attribute("nn", name)
