"""The graph behind a number of chapter 00, as plain data: its nodes have `data`, `edges` and `grad`."""

from ..words import _
from .graph import Node, number, walk


def graph_of_values(root, names):
    """Return the `Graph` of all nodes behind `root`; an edge says its local derivative. names: nodes by name."""
    named = {id(node): name for name, node in names.items()}
    graph = walk([root], lambda node: _box(node, named.get(id(node), "")), lambda node: node.edges)
    for edge in graph.edges:
        edge.says, edge.output = f"× {number(edge.output)}", 0
    return graph


def _box(node, name):
    grad = "" if node.grad == 0 else number(node.grad)
    if not node.edges:
        return Node("leaf", "", name or _("a number"), value=number(node.data), grad=grad, fn=node)
    return Node("op", name or number(node.data), value=number(node.data) if name else "", grad=grad, fn=node)
