"""The values that nodes save for backward; each is restored unchanged, or an error is raised.

A node keeps a list of pairs (value, version). An input is kept as (Tensor, its version). If the version is None, the
value is either a `Saved`, which restores itself, or a plain value.
"""

from .modes import no_grad


def save(tensor, number=None):
    """Return the pair in which a node keeps `tensor`: one of its inputs, or its output `number`."""
    if hooks_on_saved:  # `with saved_tensors_hooks(…)`, below
        return PackedTensor(tensor, number), None
    version = tensor._version_cell[0]
    if version is None:
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
            "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
            "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    return (tensor, version) if number is None else (SavedOutput(tensor, number), None)


def restore(pair, node, as_tensors, shown=False):
    """Return the value that `node` kept as `pair`: a tensor as its array, or as a Tensor with its edge in the graph.

    shown: the value is only inspected, as by `grad_fn._saved_…`.
    """
    value, version = pair
    if version is not None:
        if value._version_cell[0] != version:
            refuse_changed(value, version, value.grad_fn, value._output_nr)
        if value._cut_off and value._cut_off in node.next_functions and not shown:
            raise RuntimeError(DETACHED)
        return value if as_tensors else value._data
    if isinstance(value, Saved):
        return value.unpack(node) if as_tensors else value.array(node)
    return value


class Saved:
    """A tensor that is not stored directly: `array` and `unpack` restore it for the node that keeps it."""

    __slots__ = ()


class SavedOutput(Saved):
    """An output saved by its own node, without its edge; otherwise node and output would keep each other alive."""

    __slots__ = ("number", "tensor", "version")

    def __init__(self, tensor, number):
        self.number = number
        self.tensor, self.version = tensor._alias(), tensor._version_cell[0]

    def array(self, node):
        if self.tensor._version_cell[0] != self.version:
            refuse_changed(self.tensor, self.version, node, self.number)
        return self.tensor._data

    def unpack(self, node):
        self.array(node)
        return self.tensor._alias((node, self.number))


# You may stop here on first reading.

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)
DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please "
    "use out-of-place `.detach()` instead"
)


def refuse_changed(tensor, version, made_by, number):
    """Raise torch's error for a saved tensor that was changed in place."""
    origin = "" if made_by is None else f", which is output {number} of {made_by.forward_name()},"
    raise RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{tensor._type_name()} {list(tensor._data.shape)}]{origin} is at version "
        f"{tensor._version_cell[0]}; expected version {version} instead. Hint: enable anomaly detection to find the "
        "operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )


# Hooks on saved tensors.

hooks_on_saved = []  # the (pack, unpack) pairs of active `with` statements, the innermost last


class saved_tensors_hooks:
    """Inside `with`, store `pack(tensor)` instead of each saved tensor, and call `unpack` on it when it is needed."""

    def __init__(self, pack_hook, unpack_hook):
        self.hooks = pack_hook, unpack_hook

    def __enter__(self):
        hooks_on_saved.append(self.hooks)

    def __exit__(self, *error):
        hooks_on_saved.pop()


class PackedTensor(Saved):
    """A tensor stored as the result of a user's `pack` hook. The engine does not check its version."""

    __slots__ = ("edge", "number", "packed", "unpack_hook")

    def __init__(self, tensor, number):
        pack, self.unpack_hook = hooks_on_saved[-1]
        self.number, self.edge = number, tensor._edge_or_leaf() if number is None else None
        version = tensor._version_cell[0]
        with no_grad():
            self.packed = pack(tensor)
        if tensor._version_cell[0] != version:
            raise RuntimeError(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook."
            )

    def array(self, node):
        return self.unpack(node)._data

    def unpack(self, node):
        tensor = self.unpack_hook(self.packed)
        if not hasattr(tensor, "_version_cell"):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                + type(tensor).__name__
            )
        return tensor._alias(self.edge if self.number is None else (node, self.number))
