"""The backward pass: traverse the graph from its roots and pass each gradient to its node.

The engine knows nothing about operations or tensors. It only adds gradients, reads their shape and dtype, and uses what
`node.Node` offers. Gradients are NumPy arrays, or Tensors if the pass itself is recorded (`create_graph`).
"""

from collections import deque
from heapq import heappop, heappush

from .modes import set_grad_enabled
from .paths import Paths


def count_dependencies(edges):
    """Return, for each node reachable from `edges`, how many edges lead to it."""
    dependencies = {}
    stack = [edges]
    while stack:
        for node, _ in stack.pop():
            if node is None:
                continue
            if node in dependencies:
                dependencies[node] += 1
            else:
                dependencies[node] = 1
                if node.next_functions:
                    stack.append(node.next_functions)
    return dependencies


def run(roots, gradients, *, keep_graph, create_graph, requested=None, accumulate=False):
    """Run backward from `roots`, which receive `gradients`.

    roots: edges, that is, pairs (node, output index); gradients: one per root. keep_graph: keep what the nodes saved.
    create_graph: record the pass itself. requested: None to run every node, or a list of edges; then only nodes on
    paths to these edges run, and the result lists the gradient at each edge, or None where none arrived. accumulate:
    requested leaves run too.
    """
    dependencies = count_dependencies(roots)
    only = None if requested is None else Paths(requested, dependencies, accumulate)
    arrived = {}  # node → the sum of its gradients so far, one per output
    leaves, others = deque(), []  # nodes with all their gradients; `others` is a heap
    source, edges, produced = None, roots, gradients
    del gradients
    with set_grad_enabled(create_graph):
        while True:
            # Pass each gradient to the node at the other end of its edge; a node with all its gradients is ready.
            for index, gradient in enumerate(produced):
                node, number = edges[index]
                if node is None or (only is not None and node not in only):
                    continue
                if gradient is not None:
                    shape, dtype = node.outputs[number]
                    if gradient.shape != shape or gradient.dtype is not dtype:
                        gradient = node.conform(gradient, number, source)
                sums = arrived.get(node)
                if sums is None:
                    sums = arrived[node] = [None] * len(node.outputs)
                    sums[number] = gradient
                elif gradient is not None:
                    sums[number] = gradient if sums[number] is None else sums[number] + gradient
                waiting = dependencies[node] - 1
                if waiting:
                    dependencies[node] = waiting
                elif node.next_functions:
                    heappush(others, node)
                else:
                    leaves.append(node)
            # Choose the next node: a leaf, or else the node made last.
            del produced
            gradient = sums = None  # a leaf keeps its gradient without a copy if no other name refers to it
            if leaves:
                node = leaves.popleft()
            elif others:
                node = heappop(others)
            else:
                return only and only.captured
            source, edges, received = node, node.next_functions, arrived.pop(node)
            needs = None  # the gradients of all inputs
            if only is not None:
                needs = only.visit(node, received)
                if needs is None:
                    produced = ()
                    continue
            # Run it.
            produced = node.run_hooked(received, needs) if node.hooked else node.run(received, needs)
            if not keep_graph:
                node.release()
