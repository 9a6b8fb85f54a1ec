"""The backward pass: walk the graph from its roots, bring each gradient to where it belongs.

The engine knows no operation and no tensor. Of a gradient it knows that two can be added and that it has a shape and a
dtype; of a node, what `node.Node` offers. Gradients are NumPy arrays, or Tensors where the walk is itself recorded
(`create_graph`).
"""

from .modes import set_grad_enabled


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
    source, edges, produced = None, roots, gradients
    del gradients
    with set_grad_enabled(create_graph), Walk(wanted, watched):
        while True:
            # Hand each gradient to the node at the other end of its edge; a node that has all of its own is ready.
            for index, gradient in enumerate(produced):
                node, number = edges[index]
                if node is None:
                    continue
                if captures is not None and node not in wanted and node not in watched:
                    continue  # on the way to nothing that was asked for
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
            # A leaf may keep a gradient that nobody else holds: these names would be a second holder.
            del produced
            gradient = slots = None
            if not ready:
                return captured
            source = node = ready.pop() if len(ready) == 1 else ready.take()
            edges = node.next_functions
            received = arrived.pop(node)
            needs = None  # all of its inputs
            if node.hooked:
                node.call_tensor_hooks(received)  # may replace what it received
            if captures is not None:
                for number, index in watched.get(node, ()):
                    captured[index] = received[number]
                needs = [below in wanted or below in watched for below, _ in edges]
            if node not in wanted:
                produced = ()
                continue
            produced = node.run_hooked(received, needs) if node.hooked else node.run(received, needs)
            if not keep_graph:
                node.release()


# What a first reader may skip: which nodes run when only some gradients are asked for, the order in which torch runs
# several leaves that are ready, and what hooks may ask of a walk.


def leading_to(targets, nodes):
    """Return which of `nodes` (closed under `next_functions`) have one of `targets` below them, as a set."""
    found = set()
    # What a node leads to was made before it, so this order settles every node after all those below it.
    for node in sorted(nodes, key=lambda node: node.sequence_nr if node.next_functions else -1):
        if any(below in targets or below in found for below, _ in node.next_functions):
            found.add(node)
    return found


class ReadyQueue(list):
    """The nodes that may run, the latest made first.

    Leaves come before all others (their `sequence_nr` is infinite), several ready leaves in the order in which torch,
    whose queue is C++'s `std::priority_queue`, runs them: the moves below are those of `push_heap` and `pop_heap`.
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


class Walk:
    """A walk under way, which hooks may ask about: `walks[-1]` is the innermost."""

    def __init__(self, wanted, watched):
        self.wanted, self.watched = wanted, watched

    def __enter__(self):
        walks.append(self)

    def __exit__(self, *error):
        walks.pop()

    def will_reach(self, node):
        """Return whether a gradient is brought to `node`, as far as the walk knows beforehand."""
        return node in self.wanted or node in self.watched


walks = []
