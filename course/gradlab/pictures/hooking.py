"""List the hooks registered on a model, and record their calls, as plain data for timeline.py to draw."""

import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from ..words import N_, _

MODULE_HOOKS = {
    "_forward_pre_hooks": N_("forward pre-hook"),
    "_forward_hooks": N_("forward hook"),
    "_backward_pre_hooks": N_("full backward pre-hook"),
    "_backward_hooks": N_("full backward hook"),
}
TENSOR, POST = N_("tensor hook"), N_("post-accumulate hook")
TENSOR_HOOKS = {
    "_backward_hooks": TENSOR,
    "_hooks": TENSOR,  # mini_autograd's name
    "_post_accumulate_grad_hooks": POST,
    "_post_accumulate": POST,  # mini_autograd's name
}


@dataclass(slots=True)
class Hook:
    """A registered hook: its place, its kind, and the function's name."""

    place: str
    kind: str
    name: str
    table: dict | None = field(repr=False, default=None)  # torch's dict of hooks, and this hook's key in it
    key: object = field(repr=False, default=None)


@dataclass(slots=True)
class Fired:
    """One call of a hook."""

    phase: str  # "forward" or "backward"
    place: str
    kind: str
    name: str
    shapes: list[tuple[str, str]]  # the hook's arguments, such as ("grad_output", "((2, 3),)")


def registered(model, inputs=()):
    """Return the hooks on a model's modules and parameters, and on the given input tensors."""
    hooks = []
    for path, module in model.named_modules():
        for name, kind in MODULE_HOOKS.items():
            hooks += _hooks(module, name, path or type(module).__name__, kind)
    named = [(_("input {number}", number=k), tensor) for k, tensor in enumerate(inputs)]
    for path, tensor in [*model.named_parameters(), *named]:
        for name, kind in TENSOR_HOOKS.items():
            hooks += _hooks(tensor, name, path, kind)
    return hooks


def _hooks(owner, attribute, place, kind):
    table = getattr(owner, attribute, None)
    if not isinstance(table, dict):
        return []
    return [Hook(place, kind, _name(hook), table, key) for key, hook in table.items()]


def _name(hook):
    name = getattr(hook, "__qualname__", None) or getattr(getattr(hook, "func", None), "__qualname__", None)
    return (name or type(hook).__name__).replace("<locals>.", "").rpartition(".")[2].replace("<lambda>", "lambda")


@contextmanager
def listening(hooks, fired, phase):
    """Inside the block, append each call of one of `hooks` to the list `fired` before the hook runs.

    `phase` returns "forward" or "backward", whichever is running. The hooks are restored on exit, even after an error.
    """
    originals = []
    try:
        for hook in hooks:
            original = hook.table[hook.key]
            originals.append((hook, original))
            hook.table[hook.key] = _wrapped(hook, original, fired, phase)
        yield
    finally:
        for hook, original in originals:
            if hook.key in hook.table:  # a hook may have removed itself
                hook.table[hook.key] = original


def _wrapped(hook, original, fired, phase):
    def call(*arguments, **keywords):
        if hook.kind == TENSOR:
            shapes = [("grad", shape_of(arguments[0]))]
        elif hook.kind == POST:
            shapes = [("parameter", shape_of(arguments[0]))]
        else:
            shapes = list(zip(_words(hook.kind), map(shape_of, (arguments[1], arguments[-1])), strict=False))
        fired.append(Fired(phase(), hook.place, hook.kind, hook.name, shapes))
        return original(*arguments, **keywords)

    return call


def _words(kind):
    if "forward" in kind:
        return ("input",) if "pre" in kind else ("input", "output")
    return ("grad_output",) if "pre" in kind else ("grad_input", "grad_output")


def shape_of(value):
    """Format the shapes in a hook's argument, with tuples as tuples: `((1, 10), None)`."""
    if isinstance(value, tuple | list):
        inside = ", ".join(shape_of(v) for v in value)
        return f"({inside}{',' if len(value) == 1 else ''})"
    if hasattr(value, "shape"):
        return str(tuple(value.shape))
    return "None" if value is None else type(value).__name__


@contextmanager
def watching(model):
    """Register a hook of each kind on every innermost module, and remove them on exit."""

    def watch(*arguments):
        return None

    with warnings.catch_warnings(), ExitStack() as handles:
        # torch warns about full backward hooks if the model's input needs no gradient; for our hooks this is harmless.
        warnings.filterwarnings("ignore", "Full backward hook is firing")
        for _path, module in list(model.named_modules()):
            if len(list(module.named_modules())) == 1:
                for kind in ("forward_pre", "forward", "full_backward_pre", "full_backward"):
                    handles.callback(getattr(module, f"register_{kind}_hook")(watch).remove)
        yield
