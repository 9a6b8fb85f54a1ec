"""Look at a training step of your own: `look(loss, model)` says where gradients are lost, wrong or surprising."""

import itertools
import math
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import nn

from .pictures.graph import saved_values, walk
from .pictures.hooking import registered
from .words import N_, _

APART = 1e6  # a ratio of weights' largest gradients that is worth a word
_CHANGED = re.compile(
    r"\[torch\.\w+ \[(?P<shape>[\d, ]*)\]\].* is at version (?P<version>\d+); expected version (?P<saved>\d+)"
)
_ITEM = textwrap.TextWrapper(80, initial_indent="  - ", subsequent_indent="    ", break_on_hyphens=False)
WRONG = {  # what to say, by kind
    "no tensor": N_("The loss is of type {type}, not a tensor. Call `.item()` only for printing. (chapter 01)"),
    "no history": N_("The loss has no history. no_grad, detach, item, torch.tensor and argmax cut it. (chapter 01)"),
    "leaf": N_("The loss is a leaf: it was made, not computed, so backward reaches nothing else. (chapter 01)"),
    "not reached": N_(
        "Nothing that the loss was computed from leads to {names}: forward did not use it, or no_grad, detach, item, "
        "torch.tensor or argmax cut the path. (chapter 01)"
    ),
    "not scalar": N_("The loss has {elements} elements. Reduce it, or give backward a gradient for each. (chapter 02)"),
    "earlier history": N_(
        "An earlier backward pass freed part of this history, so this one will fail. Detach what you carry from one "
        "step to the next. (chapter 03)"
    ),
    "no gradient": N_("Backward ran, but now there is no gradient for {names}. Was zero_grad called? (chapter 03)"),
    "all frozen": N_("All parameters of the model are frozen, so the loss needs no gradient. (chapter 05)"),
    "evaluation mode": N_(
        "The model is in evaluation mode, with its dropout and BatchNorm. Call model.train() first. (chapter 05)"
    ),
    "repeated hook": N_("`{place}` has the same {hook} {times} times. Keep the handle, and remove it. (chapter 07)"),
    "loss not finite": N_("The loss has nan or infinite entries. (chapter 09)"),
    "not finite": N_("The gradient of {names} has nan or infinite entries. (chapter 09)"),
    "changed in place": N_(
        "{node} saved version {saved} of a tensor of shape ({shape}), which was then changed in place, as optimizers "
        "do: it is at version {version}. Backward will refuse. (chapter 09)"
    ),
    "apart": N_("Gradients vanish or explode: up to {least:.1e} in `{small}`, {most:.1e} in `{large}`. (chapter 09)"),
    "not registered": N_(
        "`{place}` holds tensors to train that are not among `model.parameters()`, so an optimizer made from those "
        "does not update them. Use nn.Parameter, nn.ParameterList or nn.ModuleList, as page 13 shows. (chapter 15)"
    ),
}
MAYBE = {  # the same for what may be intended
    "stale": N_("There are gradients already; backward adds to them, unless you call zero_grad(). (chapter 03)"),
    "frozen": N_("Frozen, so without a gradient: {names}. (chapter 05)"),
    "partly in evaluation mode": N_("In evaluation mode: {names}. (chapter 05)"),
    "hooks": N_("Hooks are registered: {hooks}. (chapter 07)"),
    "zero": N_(
        "The gradient is 0 everywhere in {names}. A ReLU that is never on does that in every step; a later weight that "
        "starts at 0, as in LoRA, in the first. (chapter 09)"
    ),
}


class Finding(NamedTuple):
    """One thing that `look` saw: its kind, a key of WRONG or MAYBE, and the values in its sentence."""

    kind: str
    values: dict = {}

    def __str__(self) -> str:
        return _((WRONG | MAYBE)[self.kind], **self.values)


def look(loss: Any, model: nn.Module) -> None:
    """Print what is wrong, and what is good to know, in a training step, each with the chapter that explains it.

    Call it where you call `loss.backward()`: before, it sees what backward will meet; after, and before the optimizer's
    step, it also sees the gradients. It changes nothing. It reads what the graph saved, so if activation checkpointing
    or your own hooks pack saved tensors, they are unpacked once.
    """
    findings = examine(loss, model)
    for kinds, title in ((WRONG, _("Wrong, or nearly always wrong:")), (MAYBE, _("Good to know:"))):
        lines = [_ITEM.fill(str(finding)) for finding in findings if finding.kind in kinds]
        if lines:
            print("\n".join([title, *lines]))
    if not any(finding.kind in WRONG for finding in findings):
        print(_("Nothing looks wrong on the way from the loss to the parameters."))


def examine(loss: Any, model: nn.Module) -> list[Finding]:
    """Return what `look` prints."""
    names = {parameter: name for name, parameter in model.named_parameters()}
    findings = [*_not_registered(model, set(names)), *_hooks(model), *_modes(model)]
    if frozen := [name for parameter, name in names.items() if not parameter.requires_grad]:
        findings.append(Finding("frozen", {"names": _listed(frozen, names.values())}))
    if not isinstance(loss, torch.Tensor):
        return [Finding("no tensor", {"type": type(loss).__name__}), *findings]
    if not torch.isfinite(loss.detach()).all():
        findings.append(Finding("loss not finite"))
    if loss.grad_fn is None:
        all_frozen = len(frozen) == len(names)
        return [Finding("leaf" if loss.requires_grad else "all frozen" if all_frozen else "no history"), *findings]
    if loss.numel() != 1:
        findings.append(Finding("not scalar", {"elements": loss.numel()}))
    nodes = [node.fn for node in walk([loss.grad_fn]).nodes]
    reached = {node.variable for node in nodes if hasattr(node, "variable")}
    if cut := [name for parameter, name in names.items() if parameter.requires_grad and parameter not in reached]:
        findings.append(Finding("not reached", {"names": _listed(cut, names.values())}))
    kept = [(node, saved) for node in nodes for saved, value in saved_values(node) if value is not None or saved.error]
    changed = [
        Finding("changed in place", {"node": node.name(), **versions.groupdict()})
        for node, saved in kept
        if (versions := _CHANGED.search(saved.error))
    ]
    freed = {saved.state == "freed" for _node, saved in kept}
    if freed == {True, False}:
        findings.append(Finding("earlier history"))
    gradients = {name: parameter.grad for parameter, name in names.items() if parameter in reached}
    if freed == {True}:
        return findings + list(_gradients(gradients))
    stale = any(gradient is not None for gradient in gradients.values())
    return findings + changed[:3] + [Finding("stale")] * stale


def _gradients(gradients: dict[str, torch.Tensor | None]) -> Iterator[Finding]:
    """Yield what is odd about the gradients, by name, after a backward pass."""
    there = {name: gradient.detach() for name, gradient in gradients.items() if gradient is not None}
    sizes = {name: float(gradient.abs().max()) if gradient.numel() else 1.0 for name, gradient in there.items()}
    for kind, some in (
        ("no gradient", [name for name in gradients if name not in there]),
        ("not finite", [name for name, size in sizes.items() if not math.isfinite(size)]),
        ("zero", [name for name, size in sizes.items() if size == 0]),
    ):
        if some:
            yield Finding(kind, {"names": _listed(some, gradients)})
    weights = {name: size for name, size in sizes.items() if there[name].ndim > 1 and 0 < size < math.inf}
    small, large = (function(weights, key=weights.__getitem__, default="") for function in (min, max))
    if small and weights[large] > APART * weights[small]:
        yield Finding("apart", {"least": weights[small], "small": small, "most": weights[large], "large": large})


def _not_registered(model: nn.Module, known: set[nn.Parameter]) -> Iterator[Finding]:
    """Yield the attributes that hold tensors to train which `model.parameters()` does not give."""
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else [value]
            owned = itertools.chain(*(part.parameters() if isinstance(part, nn.Module) else [part] for part in parts))
            tensors = [part for part in owned if isinstance(part, torch.Tensor) and part.is_leaf and part.requires_grad]
            if not name.startswith("_") and not known.issuperset(tensors):
                yield Finding("not registered", {"place": f"{path}.{name}".lstrip(".")})


def _hooks(model: nn.Module) -> Iterator[Finding]:
    functions = [(hook.place, hook.kind, hook.table[hook.key]) for hook in registered(model)]
    same = Counter((place, kind, getattr(function, "__code__", function)) for place, kind, function in functions)
    others = dict.fromkeys(f"{place} ({_(kind)})" for (place, kind, _code), times in same.items() if times == 1)
    for (place, kind, _code), times in same.items():
        if times > 1:
            yield Finding("repeated hook", {"place": place, "hook": _(kind), "times": times})
    if others:
        yield Finding("hooks", {"hooks": ", ".join([*others][:5]) + ", …" * (len(others) > 5)})


def _modes(model: nn.Module) -> Iterator[Finding]:
    """Yield whether modules that behave differently in training are in evaluation mode."""
    kinds = (nn.modules.batchnorm._BatchNorm, nn.modules.dropout._DropoutNd, nn.MultiheadAttention, nn.RNNBase)
    modes = {name: module.training for name, module in model.named_modules() if isinstance(module, kinds)}
    if modes and not model.training and not any(modes.values()):
        yield Finding("evaluation mode")
    elif off := [name for name, training in modes.items() if not training]:
        yield Finding("partly in evaluation mode", {"names": _listed(off, modes)})


def _listed(some: list[str], names: Iterable[str]) -> str:
    """List the first five of some names; a module, all of whose names are among them, stands for these."""
    missing = set(names) - set(some)
    shown: dict[str, None] = {}
    for name in some:
        modules = itertools.accumulate(name.split(".")[:-1], "{}.{}".format)
        whole = (module for module in modules if not any(other.startswith(f"{module}.") for other in missing))
        shown[next(whole, name)] = None
    first, more = ", ".join(f"`{name}`" for name in [*shown][:5]), len(shown) - 5
    return _("{names} and {count} more", names=first, count=more) if more > 0 else first
