"""Run one backward pass and record what happens at each node, in the engine's order."""

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import prod

import numpy as np

from ..words import _
from .graph import LIMIT, is_freed, output_shapes, saved_values, short, walk
from .naming import is_tensor
from .picture import PictureError, not_a_tensor
from .rules import formula


@dataclass(slots=True)
class SentGradient:
    """The gradient that a node returns for one of its inputs."""

    target: int  # index of the node that receives it
    slot: int
    gradient: object  # a tensor, or None
    formula: str = ""


@dataclass(slots=True)
class Visit:
    """One node's step in the backward pass."""

    node: int  # index in the graph
    arrives: list  # the gradient for each output of the operation, None if there is none
    sends: list[SentGradient] = field(default_factory=list)
    saved: list[tuple[str, str]] = field(default_factory=list)  # names and values when the node ran
    freed: list[str] = field(default_factory=list)
    before: object = None  # a leaf's .grad before and after this step
    after: object = None


def record(loss, graph, gradient=None, retain_graph=False):
    """Run `loss.backward(gradient, retain_graph)` and return its visits. It is a real pass: leaves accumulate.

    `graph` is the result of `walk` for `loss`. Temporary prehooks on its nodes record the order and the arriving
    gradients, and hooks record what each node returns. In an engine without hooks, the nodes' `run` is wrapped. An
    engine error becomes a PictureError with the same message, except for a stub's NotImplementedError.
    """
    visits = []
    index = {id(node.fn): i for i, node in enumerate(graph.nodes) if node.fn is not None}
    try:
        with ExitStack() as watched:
            for i, node in enumerate(graph.nodes):
                if node.fn is None:  # a constant, or a frozen parameter
                    continue
                arrival, departure = _arrival(graph, visits, i), _departure(graph, visits, i, index)
                if hasattr(node.fn, "register_prehook"):
                    watched.callback(node.fn.register_prehook(arrival).remove)
                    watched.callback(node.fn.register_hook(departure).remove)
                else:
                    watched.enter_context(_watched_run(node.fn, arrival, departure))
            loss.backward(gradient, retain_graph=retain_graph)
    except NotImplementedError:  # an engine in the making
        raise
    except RuntimeError as error:
        raise PictureError(_("backward raised: {error}", error=error)) from None
    _note_freed(graph, visits)
    return visits


@contextmanager
def _watched_run(fn, arrival, departure):
    """Report each `fn.run(gradient)`, which runs a node in an engine without hooks; it returns one value per edge."""
    run = fn.run

    def watched(gradient, *more):
        arrival((gradient,))
        produced = run(gradient, *more)
        departure([_summed(*pair) for pair in zip(produced or (), fn.next_functions, strict=False)], (gradient,))
        return produced

    fn.run = watched
    try:
        yield
    finally:
        del fn.run


def _summed(gradient, edge):
    """Return the gradient as it arrives at the node of `edge`: summed to that input's shape if it was broadcast."""
    node, number = edge
    shapes = output_shapes(node) if node is not None else []
    if gradient is None or not shapes or tuple(gradient.shape) == shapes[number]:
        return gradient
    extra = len(gradient.shape) - len(shapes[number])
    over = [extra + i for i, n in enumerate(shapes[number]) if n == 1]
    return gradient.sum((*range(extra), *over)).reshape(shapes[number])


def graph_to_step(loss, gradient, name):
    """Return the graph of `loss`; raise PictureError if it cannot be stepped through, with what to do."""
    if not is_tensor(loss):
        raise not_a_tensor("step", loss)
    if loss.grad_fn is None:
        raise PictureError(_("{name} has no graph: its grad_fn is None because no operation was recorded.", name=name))
    parts = {"name": name, "shape": tuple(loss.shape)}
    if gradient is None and prod(loss.shape) != 1:
        raise PictureError(_("{name} has several elements: pass gradient=…, a tensor of its shape {shape}.", **parts))
    if gradient is not None and (not is_tensor(gradient) or tuple(gradient.shape) != parts["shape"]):
        given = tuple(gradient.shape) if is_tensor(gradient) else type(gradient).__name__
        raise PictureError(_("gradient must be a tensor of {name}'s shape {shape}, not {given}.", **parts, given=given))
    graph = walk([loss.grad_fn])
    if len(graph.nodes) > LIMIT:
        parts = {"name": name, "count": len(graph.nodes), "limit": LIMIT}
        raise PictureError(_("The graph of {name} has {count:,} nodes; the stepper shows up to {limit}.", **parts))
    if is_freed(graph):
        freed = _("This graph's saved values were freed by an earlier backward pass.")
        what_to_do = _("Compute {name} again, or call the earlier backward with retain_graph=True.", name=name)
        raise PictureError(f"{freed} {what_to_do}")
    return graph


def _copy(tensor):
    if tensor is None:
        return None
    if hasattr(tensor, "clone"):
        return tensor.detach().clone()
    return np.array(tensor.data if hasattr(tensor, "grad_fn") else tensor)  # an engine without clone


def _arrival(graph, visits, i):
    def prehook(grads):
        _note_freed(graph, visits)
        fn = graph.nodes[i].fn
        visit = Visit(i, [_copy(g) for g in grads])
        if graph.nodes[i].kind == "leaf":
            visit.before = _copy(fn.variable.grad)
        else:
            readable = ((s, t) for s, t in saved_values(fn) if s.state == "saved" and (s.value or t is not None))
            visit.saved = [(s.name, s.value or short(t)) for s, t in readable]
        visits.append(visit)

    return prehook


def _departure(graph, visits, i, index):
    def hook(grad_inputs, grad_outputs):
        fn = graph.nodes[i].fn
        if graph.nodes[i].kind == "leaf":
            visits[-1].after = _copy(fn.variable.grad)
            return
        for slot, ((child, _output), gradient) in enumerate(zip(fn.next_functions, grad_inputs, strict=True)):
            if child is not None:
                visits[-1].sends.append(SentGradient(index[id(child)], slot, _copy(gradient), formula(fn, slot)))

    return hook


def _note_freed(graph, visits):
    """Note the values that the last node freed: the engine frees saved values only after the node's hooks."""
    if visits and not visits[-1].freed:
        fn = graph.nodes[visits[-1].node].fn
        visits[-1].freed = [s.name for s, tensor in saved_values(fn) if s.state == "freed"]
