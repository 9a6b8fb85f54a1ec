"""The backward graph as plain data. One traversal serves torch and every engine whose nodes have `next_functions`.

A node needs `next_functions`, a sequence of (node or None, index), and `name()`. A node with a `variable` is a leaf's
AccumulateGrad. torch's other attributes (`_saved_…`, `saved_tensors`, `_input_metadata`) are used if present, and a
dict `saved` that a node reads by `restore(name)`, as in part two.
"""

from dataclasses import dataclass, field
from types import SimpleNamespace

from ..words import N_, _

SHOWN = 6  # maximum number of elements written out
LIMIT = 60  # maximum number of nodes in a readable picture
SMALL = 24  # maximum number of nodes if what no node saved gets boxes, too


@dataclass(slots=True)
class Saved:
    """A value that a node keeps for its backward step."""

    name: str  # torch's attribute without `_saved_`, or the key in `saved`
    shape: tuple | None  # None for a number
    state: str = "saved"  # or "freed", or "changed" by an in-place operation
    value: str = ""  # written out if it is one number
    holds: object = None  # the caller's name for the tensor, or for the base of a view, if known
    view: bool = False  # whether it is a view of that tensor, not the tensor itself
    error: str = ""  # torch's, if it was freed or changed


@dataclass(slots=True)
class Node:
    """One box of the picture."""

    kind: str  # "op", "leaf", "frozen" (a parameter), "constant" or "omitted" (nodes left out)
    op: str  # torch's name of the node, such as MulBackward0
    name: str = ""  # the caller's name for the tensor
    shape: tuple | None = None
    saved: list[Saved] = field(default_factory=list)
    value: str = ""
    grad: str = ""
    note: str = ""  # a line added by the caller
    wrong: bool = False  # marked by the caller
    fn: object = None  # the node itself; keeps it alive


@dataclass(slots=True)
class Edge:
    """An edge from an operation to one of its inputs, in the direction of the gradient."""

    source: int
    target: int
    slot: int  # which input of the operation
    output: float = 0  # which output of the target; to a number of chapter 00, the local derivative
    frozen: bool = False  # no gradient flows here
    says: str = ""  # written beside the edge


@dataclass(slots=True)
class Graph:
    """A graph as plain data: nodes in depth-first order from the roots, edges, and the indices of the roots."""

    nodes: list[Node]
    edges: list[Edge]
    roots: list[int]
    note: str = ""

    def count(self, kind):
        return sum(node.kind == kind for node in self.nodes)


def box_of(fn):
    """Return a node's box, without a description."""
    return Node("op" if getattr(fn, "variable", None) is None else N_("leaf"), fn.name().rpartition("::")[2], fn=fn)


def walk(roots, box=box_of, inputs=lambda fn: fn.next_functions):
    """Return a `Graph` of all nodes reachable from `roots`, depth-first, with kinds and edges but no descriptions."""
    index, nodes, edges = {}, [], []
    stack = [(fn, None) for fn in reversed(roots)]
    while stack:
        fn, came = stack.pop()
        if id(fn) not in index:
            index[id(fn)] = len(nodes)
            nodes.append(box(fn))
            source = len(nodes) - 1
            for slot, (child, output) in reversed(list(enumerate(inputs(fn)))):
                if child is not None:
                    stack.append((child, (source, slot, output)))
        if came is not None:
            edges.append(Edge(came[0], index[id(fn)], came[1], came[2]))
    edges.sort(key=lambda e: (e.source, e.slot))
    return Graph(nodes, edges, list(dict.fromkeys(index[id(fn)] for fn in roots)))


def nearest(graph, limit):
    """Return a graph of at most `limit` nodes: the graph itself, or the nodes nearest its roots and a box for the rest.

    An edge to a node that is left out leads to that box. With a limit of 1, one node is left beside it.
    """
    total = len(graph.nodes)
    if total <= limit:
        return graph
    inputs = [[] for _ in graph.nodes]
    for edge in graph.edges:
        inputs[edge.source].append(edge.target)
    near = list(graph.roots)
    for i in near:
        if len(near) < limit:
            near += [j for j in dict.fromkeys(inputs[i]) if j not in near]
    kept = sorted(near[: max(limit - 1, 1)])
    index = {i: k for k, i in enumerate(kept)}
    nodes = [graph.nodes[i] for i in kept]
    nodes.append(Node(N_("omitted"), "", _("… {count:,} nodes", count=total - len(kept))))
    edges = {}
    for edge in graph.edges:
        if edge.source in index:
            cut = edge.target not in index
            place = index[edge.source], len(kept) if cut else index[edge.target], 0 if cut else edge.slot
            edges.setdefault(place, Edge(*place, edge.output))
    parts = {"total": total, "shown": len(kept)}
    note = _("{total:,} nodes: only the {shown} nearest the root are drawn. For more, set limit.", **parts)
    return Graph(nodes, list(edges.values()), [index[r] for r in graph.roots if r in index], note)


def graph_of_values(root, names):
    """Return the graph behind a number of chapter 00, whose nodes have `data`, `edges` and `grad`.

    An edge says its local derivative. names: nodes by name.
    """
    named = {id(node): name for name, node in names.items()}

    def box(node):
        name, grad = named.get(id(node), ""), "" if node.grad == 0 else number(node.grad)
        if not node.edges:
            return Node("leaf", "", name or _("a number"), value=number(node.data), grad=grad, fn=node)
        return Node("op", name or number(node.data), value=number(node.data) if name else "", grad=grad, fn=node)

    graph = walk([root], box, lambda node: node.edges)
    for edge in graph.edges:
        edge.says = f"× {number(edge.output)}"
    return graph


def describe(graph, names, values=False):
    """Fill in names, shapes and saved values, and add a box for each visible constant and frozen parameter.

    A tensor that needs no gradient is not in the graph: its slot in `next_functions` is None. It is visible only if a
    node saved it. In a small graph, operations with up to two inputs also get a box for a number or for an input they
    did not save.
    """
    outside, small = {}, len(graph.nodes) <= SMALL
    for i in range(len(graph.nodes)):
        node = graph.nodes[i]
        if node.kind == "leaf":
            _describe_leaf(node, names, values)
        elif node.kind == "op":
            _describe_op(node, names, values)
            _add_outside(graph, i, outside, names, values, small)
    graph.edges.sort(key=lambda e: (e.source, e.slot))
    return graph


def _describe_leaf(node, names, values):
    tensor = node.fn.variable
    node.name, node.shape = names.of(tensor) or _("leaf"), tuple(tensor.shape)
    if values:
        node.value = short(tensor)
        node.grad = "" if tensor.grad is None else short(tensor.grad)


def _describe_op(node, names, values):
    node.name = names.outputs(node.fn)
    shapes = output_shapes(node.fn)
    node.shape = shapes[0] if shapes else None
    node.saved = [saved for saved, tensor in saved_values(node.fn, names)]
    if values:
        output = names.output(node.fn)
        if output is None:
            saved = saved_values(node.fn, names)
            output = next((t for s, t in saved if s.name == "result" and s.state == "saved"), None)
        node.value = "" if output is None else short(output)


def output_shapes(fn):
    """Return the shapes of an operation's outputs, which are the shapes of the gradients it receives."""
    if hasattr(fn, "_input_metadata"):  # torch
        return [tuple(output.shape) for output in fn._input_metadata]
    return [tuple(shape) for shape, dtype in getattr(fn, "outputs", ())]


def kind_outside(tensor):
    """Classify a tensor that requires no gradient: "frozen" for a parameter that could require one, else "constant"."""
    whole = getattr(tensor, "_base", None)  # the base of a view, such as a transposed weight
    return N_("frozen") if "Parameter" in (type(tensor).__name__, type(whole).__name__) else N_("constant")


def _add_outside(graph, i, outside, names, values, small):
    fn = graph.nodes[i].fn
    empty = [slot for slot, (child, _) in enumerate(fn.next_functions) if child is None]
    seen = [(s, t) for s, t in saved_values(fn, names) if t is not None and s.state == "saved" and not t.requires_grad]

    def box(key, slot, tensor=None, **described):
        if key not in outside:
            outside[key] = len(graph.nodes)
            graph.nodes.append(Node(kind_outside(tensor), "", **described))
        graph.edges.append(Edge(i, outside[key], slot, frozen=True))

    for saved, tensor in seen:
        if saved.holds:
            slot = empty.pop(0) if empty else len(fn.next_functions)
            value = short(tensor) if values else ""
            box(saved.holds, slot, tensor, name=saved.holds, shape=saved.shape, value=value)
    if len(fn.next_functions) > 2 or not small:
        return
    inputs = [(s, t) for s, t in seen if not s.holds and not s.name.startswith("result")]
    for slot in empty:
        saved, tensor = inputs.pop(0) if inputs else (None, None)
        if saved is None:
            box((i, slot), slot, name=_("no grad"))
        else:
            number = saved.shape == ()
            value = "" if number or not values else short(tensor)
            name, shape = (short(tensor), None) if number else (_("tensor"), saved.shape)
            box((i, slot), slot, tensor, name=name, shape=shape, value=value)


def saved_values(fn, names=None):
    """Return (Saved, tensor or None) for each value a node keeps: its tensors, and the exponent of a power.

    torch raises if a saved tensor was freed or changed in place; the `Saved` object says so instead.
    """
    values = []
    for attribute in dir(fn):
        if not attribute.startswith("_saved_") or attribute.endswith(("_sizes", "_strides")):
            continue
        _add_saved(values, attribute.removeprefix("_saved_"), lambda a=attribute: getattr(fn, a), names)
    for name in sorted(fn.saved) if hasattr(fn, "restore") else ():  # part two's engine
        _add_saved(values, name, lambda name=name: _restored(fn, name), names)
    if hasattr(type(fn), "saved_tensors"):  # a custom Function
        try:
            tensors = fn.saved_tensors
        except RuntimeError as error:
            values.append((Saved("saved_tensors", None, _why(error), error=str(error)), None))
        else:
            for k, tensor in enumerate(tensors):
                _add_saved(values, f"saved_tensors[{k}]", lambda t=tensor: t, names)
    return values


def _restored(fn, name):
    """Return what a node of part two's engine saved; an array or number that stands for a tensor looks like one."""
    import numpy as np  # chapter 00 must run without it

    value = fn.restore(name)
    if hasattr(value, "requires_grad") or name not in (*fn.formulas, "result"):
        return value
    array = np.asarray(value)
    return SimpleNamespace(data=array, shape=array.shape, requires_grad=False)


def _add_saved(values, name, read, names):
    try:
        value = read()
    except NotImplementedError:  # an engine in the making
        raise
    except RuntimeError as error:
        values.append((Saved(name, None, _why(error), error=str(error)), None))
        return
    if name == "exponent" and isinstance(value, int | float):
        values.append((Saved(name, None, value=number(value)), None))
    elif hasattr(value, "shape") and hasattr(value, "requires_grad"):
        itself = names.of(value) if names is not None else ""
        holds = itself or (names.of(getattr(value, "_base", None)) if names is not None else "")
        constant = not tuple(value.shape) and not value.requires_grad and not holds
        written = short(value) if constant else ""
        values.append((Saved(name, tuple(value.shape), value=written, holds=holds, view=not itself), value))


def _why(error):
    return "changed" if "inplace" in str(error).replace("-", "") else "freed"


def is_freed(graph):
    """Return whether an earlier backward pass freed a node's saved values."""
    return any(s.state == "freed" for node in graph.nodes if node.fn is not None for s, tensor in saved_values(node.fn))


def short(tensor, most=SHOWN):
    """Format a tensor's first elements, like `[1, 0.25, … 10 in all]`, or `3` for a 0-dimensional tensor."""
    flat = tensor.detach() if hasattr(tensor, "detach") else tensor
    flat = flat if hasattr(flat, "reshape") else flat.data  # a plain array of a small engine
    try:
        flat = flat.reshape(-1)
        some = [number(flat[k].item()) for k in range(min(flat.shape[0], most))]
    except RuntimeError:  # sparse, or on a device without memory
        return "…"
    if not tuple(tensor.shape):
        return some[0]
    rest = [_("… {count} in all", count=flat.shape[0])] if flat.shape[0] > most else []
    return f"[{', '.join(some + rest)}]"


def number(x):
    """Format a number with at most 4 digits."""
    x = x if isinstance(x, complex) else float(x)
    return f"{x:.4g}".replace("-", "−")
