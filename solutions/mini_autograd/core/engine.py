"""The backward pass: traverse the graph from its roots and pass each gradient to its node.

The engine knows nothing about operations or tensors. It only adds gradients, reads their shape and dtype, and uses what
`node.Node` offers. Gradients are NumPy arrays, or Tensors if the pass itself is recorded (`create_graph`).
"""

from .modes import set_grad_enabled


def count_dependencies(edges):
    """Return, for each node reachable from `edges`, how many edges lead to it, in the order of the traversal."""
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


def run(roots, gradients, *, keep_graph, create_graph, captures=None, accumulate=False):
    """Run backward from `roots`, which receive `gradients`.

    roots: edges, that is, pairs (node, output index); gradients: one per root. keep_graph: keep what the nodes saved.
    create_graph: record the pass itself.
    captures: None to run every node, or a list of edges; then only nodes on paths to these edges run, and the result
    lists the gradient at each edge, or None where none arrived. With `accumulate`, captured leaves run too.
    """
    dependencies = count_dependencies(roots)
    wanted = dependencies
    watched = {}
    if captures is not None:
        for index, (node, number) in enumerate(captures):
            watched.setdefault(node, []).append((number, index))
        wanted = leading_to(watched, dependencies)
        if accumulate:
            wanted.update(node for node in watched if not node.next_functions)
    captured = [None] * len(captures or ())
    arrived = {}
    ready = ReadyQueue()
    source, edges, produced = None, roots, gradients
    del gradients
    with set_grad_enabled(create_graph):
        while True:
            # Pass each gradient to the node at the other end of its edge; a node with all its gradients is ready.
            for index, gradient in enumerate(produced):
                node, number = edges[index]
                if node is None:
                    continue
                if captures is not None and node not in wanted and node not in watched:
                    continue  # not on a path to a requested gradient
                if gradient is not None:
                    shape, dtype = node.outputs[number]
                    if gradient.shape != shape or gradient.dtype is not dtype:
                        gradient = node.conform(gradient, number, source)
                waiting = dependencies[node] - 1
                slots = arrived.get(node)
                if slots is None:
                    if len(node.outputs) == 1:
                        slots = arrived[node] = [gradient]
                    else:
                        slots = arrived[node] = [None] * len(node.outputs)
                        slots[number] = gradient
                elif gradient is not None:
                    slots[number] = gradient if slots[number] is None else slots[number] + gradient
                if waiting:
                    dependencies[node] = waiting
                elif ready:
                    ready.put(node)
                else:
                    ready.append(node)
            # A leaf may keep a gradient that has no other references; these names would be such references.
            del produced
            gradient = slots = None
            if not ready:
                return captured
            source = node = ready.pop() if len(ready) == 1 else ready.take()
            edges = node.next_functions
            received = arrived.pop(node)
            needs = None  # all of the node's inputs
            runs = node in wanted
            if node.hooked and not runs:
                node.call_tensor_hooks(received)  # may replace the gradients it received
            if captures is not None:
                for number, index in watched.get(node, ()):
                    captured[index] = received[number]  # if the node runs, from before its hooks, as in torch
                needs = [below in wanted or below in watched for below, _ in edges]
            if not runs:
                produced = ()
                continue
            if node.hooked:
                node.call_tensor_hooks(received)
            produced = node.run_hooked(received, needs) if node.hooked else node.run(received, needs)
            if not keep_graph:
                node.release()


# Skip this on first reading: which nodes run if only some gradients are requested, and the order in which torch runs
# several ready leaves.


def leading_to(targets, nodes):
    """Return the set of those `nodes` (closed under `next_functions`) that have one of `targets` below them."""
    found = set()
    # A node's successors were made before it, so this order visits every node after all nodes below it.
    for node in sorted(nodes, key=lambda node: node.sequence_nr if node.next_functions else -1):
        if any(below in targets or below in found for below, _ in node.next_functions):
            found.add(node)
    return found


class ReadyQueue(list):
    """The ready nodes; the most recently made comes first.

    Leaves precede all other nodes (their `sequence_nr` is infinite). If several leaves are ready, they come in
    torch's order: its queue is C++'s `std::priority_queue`, whose `push_heap` and `pop_heap` the code below imitates.
    """

    def put(self, node):
        self.append(node)
        self._rise(len(self) - 1, node)

    def take(self):
        last = self.pop()
        top, size, hole, child = self[0], len(self), 0, 0
        while child < (size - 1) // 2:
            child = 2 * child + 2
            if self[child].sequence_nr < self[child - 1].sequence_nr:
                child -= 1
            self[hole], hole = self[child], child
        if size % 2 == 0 and child == (size - 2) // 2:
            child = 2 * child + 1
            self[hole], hole = self[child], child
        self._rise(hole, last)
        return top

    def _rise(self, hole, node):
        while hole and self[(hole - 1) // 2].sequence_nr < node.sequence_nr:
            self[hole] = self[(hole - 1) // 2]
            hole = (hole - 1) // 2
        self[hole] = node
