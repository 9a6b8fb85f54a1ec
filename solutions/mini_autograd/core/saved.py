"""The values that nodes save for backward; each is restored unchanged, or an error is raised.

A node keeps a list of pairs (value, version). A tensor is kept as (Tensor, its version), and a node's own output as
(`SavedOutput`, its version). For any other value, the version is None.
"""

from .tensor import make

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


class SavedOutput:
    """An output saved by its own node, without its edge; otherwise node and output would keep each other alive."""

    __slots__ = ("_data", "_version_cell", "number")

    def __init__(self, tensor, number):
        self._data, self._version_cell, self.number = tensor._data, tensor._version_cell, number

    def connected(self, node):
        """Return the output again, as a Tensor with its edge to `node`."""
        tensor = make(self._data)
        tensor._version_cell = self._version_cell
        tensor._edge, tensor._requires_grad = (node, self.number), True
        return tensor


def save(tensor, number=None):
    """Return the pair in which a node keeps `tensor`: one of its inputs, or its output `number`."""
    return tensor if number is None else SavedOutput(tensor, number), tensor._version_cell[0]


def restore(pair, node, as_tensors):
    """Return the value that `node` kept as `pair`: a tensor as its array, or as a Tensor with its edge in the graph."""
    value, version = pair
    if version is None:
        return value
    if value._version_cell[0] != version:
        refuse_changed(value, version, node)
    if not as_tensors:
        return value._data
    return value.connected(node) if type(value) is SavedOutput else value


def refuse_changed(value, version, node):
    """Raise torch's error for a tensor that was changed in place after `node` saved it."""
    tensor = value.connected(node) if type(value) is SavedOutput else value
    origin = ""
    if tensor.grad_fn is not None:
        name = tensor.grad_fn.name()
        origin = f", which is output {tensor.output_nr} of {name.rpartition('Backward')[0] or name},"
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{tensor._type_name()} {list(tensor.shape)}]{origin} is at version "
        f"{tensor._version}; expected version {version} instead. Hint: enable anomaly detection to find the "
        "operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
