"""Checks, predictions, pictures and payoffs for a hands-on course on torch.autograd.

`gradlab.predict` is a package of its own: `from gradlab import predict`, then `predict.numbers(…)`.
"""

from importlib import import_module

# What the course offers, and the module it is in: imported when it is first used.
_HOMES = {
    "check": "checks.check",
    "CheckFailed": "checks.check",
    "summary": "checks.check",
    "progress": "overview",
    "track": "bar",
    "payoff": "payoffs",
    "own_engine": "engine",
    "take_home": "my_engine",
    "draw": "pictures.drawing",
    "step": "pictures.stepper",
    "hooks": "pictures.timeline",
    "vjp": "pictures.jacobian",
    "heat": "pictures.heatmap",
}

__all__ = list(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it offers {', '.join(_HOMES)}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__():
    return __all__
