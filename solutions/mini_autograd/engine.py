"""The backward pass: walk the graph from its roots, bring each gradient to where it belongs.

The engine knows no operation and no tensor. Of a gradient it knows that two can be added and that it has a shape and a
dtype; of a node, what `graph.Node` offers. Gradients are NumPy arrays, or Tensors where the walk is itself recorded
(`create_graph`).
"""

from .modes import set_grad_enabled


class ReadyQueue:
    """The nodes that may run, the latest made first.

    Leaves come before all others (their `sequence_nr` is infinite), several ready leaves in the order in which torch,
    whose queue is C++'s `std::priority_queue`, runs them: the moves below are those of `push_heap` and `pop_heap`.
    """

    def __init__(self):
        self.heap = []

    def push(self, node):
        self.heap.append(node)
        self._rise(len(self.heap) - 1, node)

    def pop(self):
        heap = self.heap
        last = heap.pop()
        if not heap:
            return last
        top, size, hole, child = heap[0], len(heap), 0, 0
        while child < (size - 1) // 2:
            child = 2 * child + 2
            if heap[child].sequence_nr < heap[child - 1].sequence_nr:
                child -= 1
            heap[hole], hole = heap[child], child
        if size % 2 == 0 and child == (size - 2) // 2:
            child = 2 * child + 1
            heap[hole], hole = heap[child], child
        self._rise(hole, last)
        return top

    def _rise(self, hole, node):
        heap = self.heap
        while hole and heap[(hole - 1) // 2].sequence_nr < node.sequence_nr:
            heap[hole] = heap[(hole - 1) // 2]
            hole = (hole - 1) // 2
        heap[hole] = node


def count_dependencies(edges):
    """Return, for each node reached from `edges`, how many edges lead to it (the order is that of a walk by a loop)."""
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


def leading_to(targets, nodes):
    """Return which of `nodes` (closed under `next_functions`) have one of `targets` below them, as a set."""
    found = set()
    # What a node leads to was made before it, so this order settles every node after all those below it.
    for node in sorted(nodes, key=lambda node: node.sequence_nr if node.next_functions else -1):
        if any(below in targets or below in found for below, _ in node.next_functions):
            found.add(node)
    return found


def run(roots, gradients, *, keep_graph, create_graph, captures=None, accumulate=False):
    """Run backward from `roots`, which receive `gradients`.

    roots: edges, that is pairs (node, number of the output); gradients: one for each root.
    keep_graph: keep what the nodes saved. create_graph: record the walk itself.
    captures: None (run everything there is), or a list of edges; then only nodes on the way to them run, and the
    gradient of each is returned, None where nothing arrived. With `accumulate`, captured leaves run too.
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

    def deliver(source, edges, gradients):
        """Hand each gradient to the node at the other end of its edge; a node that has all of its own is ready."""
        for (node, number), gradient in zip(edges, gradients, strict=True):
            if node is None:
                continue
            dependencies[node] = waiting = dependencies[node] - 1
            if node not in wanted and node not in watched:
                continue
            slots = arrived.get(node)
            if slots is None:
                slots = arrived[node] = [None] * len(node.outputs)
            if gradient is not None:
                shape, dtype = node.outputs[number]
                if gradient.shape != shape or gradient.dtype is not dtype:
                    gradient = node.conform(gradient, number, source)
                slots[number] = gradient if slots[number] is None else slots[number] + gradient
            if not waiting:
                ready.push(node)

    with set_grad_enabled(create_graph):
        deliver(None, roots, gradients)
        del gradients
        while ready.heap:
            node = ready.pop()
            received = arrived.pop(node)
            if node.hooked:
                node.call_tensor_hooks(received)
            needs = None  # all of its inputs
            if watched:
                for number, index in watched.get(node, ()):
                    captured[index] = received[number]
                if node not in wanted:
                    continue
                needs = [below in wanted or below in watched for below, _ in node.next_functions]
            produced = node.run_hooked(received, needs) if node.hooked else node.run(received, needs)
            if not keep_graph:
                node.release()
            deliver(node, node.next_functions, produced)
            del produced  # a leaf may keep a gradient that nobody else holds; this name would be a second holder
    return captured
