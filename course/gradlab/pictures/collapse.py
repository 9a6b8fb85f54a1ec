"""Reduce a large graph to the nodes nearest its roots."""

from ..words import _
from .graph import Edge, Graph, Node


def fit(graph, limit):
    """Return the graph itself if it has at most `limit` nodes, else its nearest nodes and a box for the rest."""
    total = len(graph.nodes)
    if total <= limit:
        return graph
    inputs = [[] for _ in graph.nodes]
    for edge in graph.edges:
        inputs[edge.source].append(edge.target)
    near = list(graph.roots)
    seen = set(near)
    for i in near:
        for j in inputs[i]:
            if j not in seen:
                seen.add(j)
                near.append(j)
    kept = sorted(near[: limit - 1])
    index = {i: k for k, i in enumerate(kept)}
    nodes = [graph.nodes[i] for i in kept]
    nodes.append(Node("rest", _("left out"), name=_("… {count:,} more nodes", count=total - len(kept))))
    edges = {}
    for edge in graph.edges:
        if edge.source in index:
            target = index.get(edge.target, len(kept))
            key = (index[edge.source], target, edge.slot if target < len(kept) else 0)
            edges.setdefault(key, Edge(key[0], target, edge.slot, edge.output))
    counts = {"total": total, "shown": limit - 1}
    note = _("{total:,} nodes: only the {shown} nearest the root are drawn. For more, set limit.", **counts)
    return Graph(nodes, list(edges.values()), [index[r] for r in graph.roots if r in index], note)
