"""Draw the computational graph behind tensors."""

from collections import Counter

from ..words import N_, _, ngettext
from .graph import LIMIT, Node, describe, graph_of_values, kind_outside, nearest, short, walk
from .layout import layout, turned
from .naming import callers_names, is_tensor
from .picture import TEXT, TITLE, Picture, PictureError, label, not_a_tensor, shorten, static, svg, text_width, wrapped
from .texts import HELD, as_text, noted, summary

MARGIN = 6
WIDE = 1100  # maximum px of a graph drawn from left to right
_NOT_RECORDED = N_("{name} has no graph: its grad_fn is None because no operation was recorded.")
_NOT_COMPUTED = N_("{name} has no graph: its grad_fn is None because it was not computed by a recorded operation.")
_SAME_AS, _VIEW_OF = N_("{name} is {tensor}"), N_("{name} is a view of {tensor}")  # what a saved value is


def draw(*tensors, names=None, values=False, limit=LIMIT, notes=None, wrong=()):
    """Draw the graph behind `tensors`: operations, leaves, tensors that need no gradient, and saved values.

    Roots are at the top, leaves at the bottom; arrows point in the direction of the gradients. Tensors are named after
    the caller's variables; `names` (a dict of tensors, or a module) takes precedence. `values=True` adds numbers that
    the graph or the caller still has. `notes`, a dict with tensors or nodes as keys, adds a line to a box, and `wrong`
    marks boxes. The graph is only read: nothing is run, freed or kept alive. A value of chapter 00 is drawn with its
    local derivatives. Of more than `limit` nodes, those nearest the roots are drawn.

    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> draw((x * 3).sum())
    Backward graph of SumBackward0: 2 operations, 1 leaf, 1 constant.
    SumBackward0 ()
    MulBackward0 (2,)  saved: other 3
    ├─ x (2,) leaf
    └─ 3 constant
    """
    if tensors and hasattr(tensors[0], "edges"):
        graph, tensors = graph_of_values(tensors[0], names or {}), ()
    else:
        graph = graph_of(tensors, callers_names(names), values, limit)
    _add_notes(graph, tensors, notes or {}, wrong)
    return picture(graph)


def graph_of(tensors, names, values=False, limit=LIMIT):
    """Return the described graph behind tensors; cut at `limit` nodes; raises PictureError without tensors."""
    if not tensors:
        raise PictureError(_("draw() needs the tensor whose history you want to see, such as draw(loss)."))
    for tensor in tensors:
        if not is_tensor(tensor):
            raise not_a_tensor("draw", tensor)
    roots = [tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None]
    graph = describe(nearest(walk(roots), limit), names, values)
    for tensor in tensors:
        if tensor.grad_fn is None:
            _add_lone(graph, tensor, names, values)
    return graph


def _add_lone(graph, tensor, names, values):
    """Add a box for a tensor without a graph, unless the graph already has it as a leaf."""
    if any(getattr(node.fn, "variable", None) is tensor for node in graph.nodes):
        return
    kind = "leaf" if tensor.requires_grad else kind_outside(tensor)
    node = Node(kind, "", names.of(tensor) or _("tensor"), tuple(tensor.shape), value=short(tensor) if values else "")
    graph.roots.append(len(graph.nodes))
    graph.nodes.append(node)
    graph.note = graph.note or _(_NOT_COMPUTED if tensor.requires_grad else _NOT_RECORDED, name=node.name)


def _add_notes(graph, tensors, notes, wrong):
    """Add the caller's lines and marks to the boxes of tensors and nodes."""
    boxes = {id(node.fn): node for node in graph.nodes if node.fn is not None}
    boxes |= {id(node.fn.variable): node for node in graph.nodes if hasattr(node.fn, "variable")}
    alone = [tensor for tensor in tensors if tensor.grad_fn is None and id(tensor) not in boxes]
    boxes |= zip(map(id, alone), graph.nodes[len(graph.nodes) - len(alone) :], strict=True)

    def box(of):
        return boxes.get(id(of)) or boxes.get(id(getattr(of, "grad_fn", None)))

    for of, note in notes.items():
        if node := box(of):
            node.note = note
    for node in filter(None, map(box, wrong)):
        node.wrong = True


def picture(graph, css="", kind="gl-graph", extra=lambda i, node: [], done=(), across=False):
    """Turn a described graph into a Picture. `extra` returns more lines for node i's box; `done` lists marked nodes.

    across: arrows point left, so that a computation reads from left to right, unless that is too wide.
    """
    boxes = [box_lines(node) + extra(i, node) for i, node in enumerate(graph.nodes)]
    notes = wrapped(graph.note) if graph.note else []
    leaving, entering = Counter(e.source for e in graph.edges), Counter(e.target for e in graph.edges)
    sizes = [_size(lines, max(leaving[i], entering[i]), across) for i, lines in enumerate(boxes)]
    ends = [(e.source, e.target) for e in graph.edges]
    plan = turned(layout([size[::-1] for size in sizes], ends)) if across else layout(sizes, ends)
    if across and plan.width > WIDE:
        return picture(graph, css, kind, extra, done)
    beside = max((text_width(edge.says) for edge in graph.edges), default=0)
    width = max(plan.width + 2 * beside, *(text_width(line) for line in notes), 0) + 2 * MARGIN
    top = MARGIN + 16 * len(notes)
    left = MARGIN + (width - 2 * MARGIN - plan.width) // 2
    body = [label(MARGIN, MARGIN + 10 + 16 * k, line, "gl-note", "start") for k, line in enumerate(notes)]
    body.append(f'<g transform="translate({left} {top})">')
    first = {}  # where the leftmost of the edges that leave a node begins
    drawn = [*zip(graph.edges, plan.routes, strict=True)]
    for edge, route in drawn:
        first[edge.source] = min(first.get(edge.source, route[0]), route[0])
    for edge, route in drawn:
        leftmost = leaving[edge.source] > 1 and route[0] == first[edge.source]
        body.append(_edge(edge, route, edge.source in done, leftmost, across))
    body += [_box(i, graph, plan.boxes[i], lines, i in done) for i, lines in enumerate(boxes)]
    body.append("</g>")
    alt = summary(graph)
    css += static("notes.css") if any(node.note or node.wrong for node in graph.nodes) else ""
    image = svg(width, plan.height + top + MARGIN, "".join(body), alt, static("graph.css") + css, kind)
    return Picture(image, as_text(graph), alt)


def box_lines(node):
    """Return a box's lines as (text, CSS class): the title first, then shape, value and saved values."""
    shape = "" if node.shape is None else str(node.shape)
    if node.kind == "op":
        lines = [(node.op, "gl-t")]
        about = f"{node.name}  {shape}" if node.name else shape
    else:
        lines = [(shorten(node.name, 40), "gl-t")]
        about = f"{_(node.kind)}  {shape}" if shape else ""
    if about:
        lines.append((shorten(about, 48), "gl-v" if node.kind == "op" and node.name else ""))
    if node.value:
        lines.append((f"= {node.value}", "gl-v"))
    if node.grad:
        lines.append((f".grad {node.grad}", "gl-v"))
    if node.note or node.wrong:
        lines.append((shorten(noted(node), 60), "gl-own"))
    return lines + _saved_lines(node.saved)


def _saved_lines(saved):
    if len(saved) > 4:
        states = {s.state for s in saved}
        state = "freed" if states == {"freed"} else "changed" if "changed" in states else "saved"
        values = ngettext("{count} value", "{count} values", len(saved))
        return [(_(HELD[state], values=values), f"gl-s gl-{state}")]
    lines = []
    for s in saved:
        name, what = s.name, f"= {s.value}" if s.value else "" if s.shape is None else str(s.shape)
        if s.holds and s.holds != s.name:
            name = _(_VIEW_OF if s.view else _SAME_AS, name=s.name, tensor=s.holds)
        lines.append((shorten(_(HELD[s.state], values=f"{name} {what}".rstrip()), 48), f"gl-s gl-{s.state}"))
    return lines


def _size(lines, ports, across):
    """Return a box's width and height in px for its lines and edges; an even width makes the center a whole pixel."""
    widest = max(text_width(text, TITLE if css == "gl-t" else TEXT, css == "gl-t") for text, css in lines)
    width, height, side = (widest + 26 + 1) // 2 * 2, 12 + 15 * len(lines), 12 * ports + 16
    return (max(44, width), max(height, side)) if across else (max(44, width, side), height)


def _box(i, graph, box, lines, done):
    node = graph.nodes[i]
    radius = min(17, box.h // 2) if node.kind in ("leaf", "frozen", "constant") else 4
    css = f"gl-n gl-{node.kind}" + (" gl-root" if i in graph.roots else "") + (" gl-done" if done else "")
    css += " gl-wrong" if node.wrong else ""
    size = f'x="{box.x}" y="{box.y}" width="{box.w}" height="{box.h}"'
    parts = [f'<g class="{css}" data-node="{i}"><rect {size} rx="{radius}"/>']
    for k, (text, kind) in enumerate(lines):
        parts.append(label(box.x + box.w // 2, box.y + 17 + 15 * k, text, kind))
    return "".join(parts) + "</g>"


def _edge(edge, route, done, leftmost, across):
    """Return the SVG of an edge: a line, and an arrowhead at the end that receives the gradient.

    The line has vertical ends, or horizontal ones if `across`.
    """
    (x, y), *rest = route
    end = 0 if edge.frozen else 6
    path = [f"M{x} {y}"]
    for k, (x1, y1) in enumerate(rest):
        gap = end if k == len(rest) - 1 else 0
        if across:
            stop, bend = x1 + gap, (x + x1 + gap) // 2
            path.append(f"H{stop}" if y1 == y else f"C{bend} {y} {bend} {y1} {stop} {y1}")
        else:
            stop, bend = y1 - gap, (y + y1 - gap) // 2
            path.append(f"V{stop}" if x1 == x else f"C{x} {bend} {x1} {bend} {x1} {stop}")
        x, y = x1, y1
    css = "gl-e gl-cold" if edge.frozen else "gl-e gl-done" if done else "gl-e"
    line = f'<path d="{"".join(path)}"/>'
    head = "" if edge.frozen else f'<path class="gl-h" d="M{x} {y}l{"7 -4v8" if across else "-4 -7h8"}z"/>'
    return (
        f'<g class="{css}" data-from="{edge.source}" data-to="{edge.target}" data-slot="{edge.slot}">'
        f"{line}{head}{_beside(edge, route, leftmost)}</g>"
    )


def _beside(edge, route, leftmost):
    """Return the SVG of what an edge says, beside its middle: on the left if the edge is `leftmost` of several."""
    if not edge.says:
        return ""
    middle = len(route) // 2
    (x, y), (x1, y1) = route[middle - 1], route[middle]
    x = x1 if len(route) > 2 else (x + x1) // 2
    side, anchor = (-5, "end") if leftmost else (5, "start")
    return label(x + side, (y + y1) // 2 + 3, edge.says, "gl-v", anchor)
