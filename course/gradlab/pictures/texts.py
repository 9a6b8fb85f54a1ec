"""The backward graph in words and as plain text, for terminals and screen readers."""

from ..words import N_, _, ngettext

COUNTED = {
    "op": lambda n: ngettext("{count} operation", "{count} operations", n),
    "leaf": lambda n: ngettext("{count} leaf", "{count} leaves", n),
    "frozen": lambda n: ngettext("{count} frozen parameter", "{count} frozen parameters", n),
    "constant": lambda n: ngettext("{count} constant", "{count} constants", n),
}
HELD = {  # by a saved value's state
    "saved": N_("saved: {values}"),
    "freed": N_("freed: {values}"),
    "changed": N_("changed in place: {values}"),
}


def summary(graph):
    """Return one sentence on what the picture shows."""
    counts = ", ".join(counted(graph.count(kind)) for kind, counted in COUNTED.items() if graph.count(kind))
    of = ", ".join(graph.nodes[r].name or graph.nodes[r].op for r in graph.roots)
    # Translators: {counts} is "2 operations, 1 leaf" or the like
    text = _("Backward graph of {tensors}: {counts}.", tensors=of, counts=counts)
    return f"{text} {graph.note}".rstrip()


def as_text(graph):
    """Draw the graph with characters: an operation's inputs are below it, indented if there are several."""
    inputs = [[] for _ in graph.nodes]
    for edge in graph.edges:
        inputs[edge.source].append(edge)
    lines, seen = [summary(graph)], set()
    stack = [(root, "", "") for root in reversed(graph.roots)]
    while stack:
        i, first, rest = stack.pop()
        again = i in seen and inputs[i]
        lines.append(first + one_line(graph.nodes[i]) + ("  " + _("(see above)") if again else ""))
        if again:
            continue
        seen.add(i)
        if len(inputs[i]) == 1:
            (edge,) = inputs[i]
            stack.append((edge.target, rest + _beside(edge), rest))
            continue
        for k, edge in reversed(list(enumerate(inputs[i]))):
            last = k == len(inputs[i]) - 1
            branch = ("└─ " if last else "├─ ") + _beside(edge)
            stack.append((edge.target, rest + branch, rest + ("   " if last else "│  ")))
    return "\n".join(lines)


def _beside(edge):
    return f"{edge.says} → " if edge.says else ""


def one_line(node):
    """Return a node in one line, such as `y = MulBackward0 (2,)  saved: other ()`."""
    shape = "" if node.shape is None else f" {node.shape}"
    if node.kind == "op":
        line = f"{node.name} = {node.op}{shape}" if node.name else f"{node.op}{shape}"
    else:
        kind = _(node.kind)
        line = f"{node.name}{shape} {kind if node.name != kind else ''}".rstrip()
    if node.value:
        line += f" = {node.value}"
    if node.grad:
        line += f", .grad {node.grad}"
    if node.note or node.wrong:
        line += f"  {'' if node.wrong else '· '}{noted(node)}"
    for state, message in HELD.items():
        if values := ", ".join(_held(s) for s in node.saved if s.state == state):
            line += f"  {_(message, values=values)}"
    return line


def noted(node):
    """Return the caller's line on a node; a mark at its start replaces the color of the node's box."""
    return f"{'✗ ' if node.wrong else ''}{node.note}".rstrip()


def _held(saved):
    if saved.value:
        return f"{saved.name} {saved.value}"
    return saved.name if saved.shape is None else f"{saved.name} {saved.shape}"
