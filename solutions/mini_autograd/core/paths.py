"""The part of a graph that runs if only the gradients at some edges are requested, as by `grad` and `inputs=`."""


class Paths:
    """The nodes on paths to the requested edges; `captured` collects the gradients that arrive there."""

    def __init__(self, requested, nodes, accumulate):
        """Find the paths to the edges `requested` among `nodes`, all nodes that lead from the roots.

        accumulate: requested leaves run too, and so accumulate into their `grad`.
        """
        self.captured = [None] * len(requested)
        self.watched = {}  # node → pairs (output index, position in `captured`)
        for index, (node, number) in enumerate(requested):
            self.watched.setdefault(node, []).append((number, index))
        self.run = _leading_to(self.watched, nodes)
        if accumulate:
            self.run.update(node for node in self.watched if not node.next_functions)

    def __contains__(self, node):
        """Return whether a gradient that arrives at `node` is of use."""
        return node in self.run or node in self.watched

    def visit(self, node, gradients):
        """Capture what arrived at `node`; return which of its inputs need a gradient, or None if it must not run.

        As in torch, a node that runs is captured before the hooks of its tensors, and a node that does not after them.
        """
        runs = node in self.run
        if node.hooked and not runs:
            node.call_tensor_hooks(gradients)
        for number, index in self.watched.get(node, ()):
            self.captured[index] = gradients[number]
        return [below in self for below, _ in node.next_functions] if runs else None


def _leading_to(targets, nodes):
    """Return the set of those `nodes` (closed under `next_functions`) that have one of `targets` below them."""
    leading = set()
    # A node's successors were made before it, so this order visits every node after all nodes below it.
    for node in sorted(nodes, key=lambda node: node.sequence_nr if node.next_functions else -1):
        if any(below in targets or below in leading for below, _ in node.next_functions):
            leading.add(node)
    return leading
