"""Reduce a large graph: draw each module as one box, and leave out nodes that still do not fit."""

from .graph import Edge, Graph, Node


def fit(graph, names, depth=None, limit=60):
    """Return the graph itself if it has at most `limit` nodes, else one with a box for each module.

    It uses the deepest level of modules that fits, or `depth`. Parameter names reveal the modules. An operation without
    parameters belongs to the module that feeds it; operations after the last module have their own boxes. If the boxes
    still do not fit, those farthest from the roots are cut off. `note` describes what was done.
    """
    total = len(graph.nodes)
    if depth is None and total <= limit:
        return graph
    owner, still = _owners(graph, names)
    deepest = max((len(path.split(".")) for path in owner if path), default=0)
    for level in [depth] if depth is not None else range(deepest, 0, -1):
        small = _by_module(graph, owner, still, level)
        if len(small.nodes) <= limit:
            small.note = f"{total:,} nodes: drawn with one box for each module."
            return small
    if deepest:
        graph = small
        how = "even with one box for each module"
    else:
        how = "and no module to group them by (pass names=model if they belong to a model)"
    return _cut(graph, limit, f"{total:,} nodes, {how}: only the {limit - 1} nearest the root are drawn.")


def _inputs(graph):
    inputs = [[] for _ in graph.nodes]
    for edge in graph.edges:
        inputs[edge.source].append(edge.target)
    return inputs


def _from_leaves(graph, inputs):
    """Return the node indices, each after all of its inputs, and for each node the nodes that use it."""
    waiting = [len(below) for below in inputs]
    users = [[] for _ in graph.nodes]
    for edge in graph.edges:
        users[edge.target].append(edge.source)
    order = [i for i, k in enumerate(waiting) if not k]
    for i in order:
        for user in users[i]:
            waiting[user] -= 1
            if not waiting[user]:
                order.append(user)
    return order, users


def _owners(graph, names):
    """Return each node's module path ("" if it has none), and whether the node is a parameter or a view of one."""
    inputs = _inputs(graph)
    order, users = _from_leaves(graph, inputs)
    rank = {i: k for k, i in enumerate(order)}
    owner = [""] * len(graph.nodes)
    still = [False] * len(graph.nodes)  # a parameter, or a view of one, such as a transposed weight
    own = [False] * len(graph.nodes)
    for i in order:
        if graph.nodes[i].kind == "leaf":
            owner[i] = names.module(graph.nodes[i].fn.variable)
            still[i] = True
            continue
        still[i] = len(inputs[i]) == 1 and still[inputs[i][0]]
        latest = sorted((j for j in inputs[i] if owner[j]), key=lambda j: (still[j], rank[j]))
        own[i] = any(still[j] for j in latest)
        owner[i] = owner[latest[-1]] if latest else ""
    needed = [False] * len(graph.nodes)  # a later operation belongs to a module
    for i in reversed(order):
        needed[i] = own[i] or any(needed[u] for u in users[i])
        if not needed[i]:
            owner[i] = ""
    return owner, still


def _by_module(graph, owner, still, level):
    """Return the graph with a box for each run of a module's operations.

    Re-entering a module starts a new box, which prevents cycles.
    """
    inputs = _inputs(graph)
    order, _ = _from_leaves(graph, inputs)
    path = [".".join(o.split(".")[:level]) for o in owner]
    step = [0] * len(graph.nodes)
    for i in order:
        for j in inputs[i]:
            if not still[j]:
                step[i] = max(step[i], step[j] + (path[i] != path[j] or not path[i]))
    key = [(path[i], step[i]) if path[i] and not still[i] else None for i in range(len(graph.nodes))]
    users = {}
    for edge in graph.edges:
        users.setdefault(edge.target, set()).add(edge.source)
    for i in reversed(order):
        if still[i] and path[i]:  # a parameter goes into the box of its users, if that is one box
            boxes = {key[u] for u in users.get(i, ())}
            key[i] = boxes.pop() if len(boxes) == 1 else None
    index, nodes, members = {}, [], {}
    for i, node in enumerate(graph.nodes):
        k = key[i] or i
        if k not in index:
            index[k] = len(nodes)
            nodes.append(Node("group", "", key[i][0]) if key[i] else node)
        members.setdefault(index[k], []).append(node)
    for p, inside in members.items():
        if nodes[p].kind == "group":
            ops = sum(node.kind == "op" for node in inside)
            leaves = len(inside) - ops
            nodes[p].op = f"{ops} operation{'s' * (ops != 1)}, {leaves} parameter{'s' * (leaves != 1)}"
    edges = {}
    for edge in graph.edges:
        source, target = index[key[edge.source] or edge.source], index[key[edge.target] or edge.target]
        if source != target:
            edges.setdefault((source, target), Edge(source, target, edge.slot, edge.output))
    return Graph(nodes, list(edges.values()), list(dict.fromkeys(index[key[r] or r] for r in graph.roots)))


def _cut(graph, limit, note):
    """Return the graph with only the nodes nearest the roots, and one box that represents the rest."""
    inputs = _inputs(graph)
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
    nodes.append(Node("rest", "left out", name=f"… {len(graph.nodes) - len(kept):,} more nodes"))
    edges = {}
    for edge in graph.edges:
        if edge.source in index:
            target = index.get(edge.target, len(kept))
            key = (index[edge.source], target, edge.slot if target < len(kept) else 0)
            edges.setdefault(key, Edge(key[0], target, edge.slot, edge.output))
    return Graph(nodes, list(edges.values()), [index[r] for r in graph.roots if r in index], note)
