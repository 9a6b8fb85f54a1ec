"""Checks, predictions, pictures and payoffs for a hands-on course on torch.autograd.

`gradlab.predict` is a separate package: `from gradlab import predict`, then `predict.numbers(…)`.
"""

from importlib import import_module

# Each public name and the module that defines it, which is imported on first use.
_HOMES = {
    "check": "checks.check",
    "CheckFailed": "checks.missing",
    "summary": "checks.summary",
    "notes": "evidence",
    "track": "bar",
    "payoff": "payoffs",
    "own_engine": "engine",
    "take_home": "my_engine",
    "share": "my_engine",
    "draw": "pictures.drawing",
    "step": "pictures.stepper",
    "hooks": "pictures.timeline",
    "vjp": "pictures.jacobian",
    "heat": "pictures.heatmap",
    "plot": "pictures.plot",
    "plane": "pictures.plane",
    "image_file": "own_image",
    "small_image": "own_image",
    "drawing": "own_drawing",
    "small_drawing": "own_drawing",
}

__all__ = list(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(_HOMES)}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__():
    return __all__
