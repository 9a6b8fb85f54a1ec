"""The graph behind a number of chapter 00, as plain data: its nodes have `data`, `edges` and `grad`."""

from .graph import Edge, Graph, Node, number


def graph_of_values(root, names):
    """Return the `Graph` of all nodes behind `root`; an edge says its local derivative. names: nodes by name."""
    named = {id(node): name for name, node in names.items()}
    index, nodes, edges, stack = {}, [], [], [(root, None)]
    while stack:
        node, came = stack.pop()
        if id(node) not in index:
            index[id(node)] = len(nodes)
            nodes.append(_box(node, named.get(id(node), "")))
            source = index[id(node)]
            stack += [(child, (source, slot, slope)) for slot, (child, slope) in reversed([*enumerate(node.edges)])]
        if came:
            edges.append(Edge(came[0], index[id(node)], came[1], says=f"× {number(came[2])}"))
    edges.sort(key=lambda edge: (edge.source, edge.slot))
    return Graph(nodes, edges, [0])


def _box(node, name):
    grad = "" if node.grad == 0 else number(node.grad)
    if not node.edges:
        return Node("leaf", "", name or "a number", value=number(node.data), grad=grad, fn=node)
    return Node("op", name or number(node.data), value=number(node.data) if name else "", grad=grad, fn=node)
