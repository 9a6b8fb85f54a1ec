"""Count the tensors that graphs save for the backward pass, and the bytes of their storages."""

import weakref

from torch.autograd.graph import saved_tensors_hooks


class Saved:
    """Count the tensors that operations save inside `watch()`, for as long as graphs hold them.

    A storage is the memory behind tensors. Each storage counts once and in full, however many tensors share it, because
    even a view keeps its whole storage. `without` lists tensors whose storages do not count, such as weights and data,
    which exist without a graph too.

    >>> x = torch.ones(3, requires_grad=True)
    >>> saved = Saved()
    >>> with saved.watch():
    ...     y = x.exp().sin()
    >>> saved.bytes()
    12
    """

    def __init__(self, without=()):
        self.most = self.most_bytes = 0  # the most tensors and the most bytes held at one time
        self._held = weakref.WeakSet()  # tensors that no graph holds anymore disappear from it
        self._without = {tensor.untyped_storage().data_ptr() for tensor in without}

    def watch(self):
        """Return a context manager; everything that operations save inside it is counted."""
        return saved_tensors_hooks(self._pack, self._unpack)

    def tensors(self):
        """Return how many saved tensors graphs hold now."""
        return len(self._held)

    def bytes(self):
        """Return how many bytes of memory graphs hold now."""
        storages = (box.tensor.untyped_storage() for box in self._held)
        sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
        return sum(size for pointer, size in sizes.items() if pointer not in self._without)

    def _pack(self, tensor):
        box = _Box(tensor.detach())
        self._held.add(box)
        self.most = max(self.most, self.tensors())
        self.most_bytes = max(self.most_bytes, self.bytes())
        return box

    def _unpack(self, box):
        return box.tensor


class _Box:
    """A box that a graph holds instead of a saved tensor; it disappears when the graph is freed."""

    def __init__(self, tensor):
        self.tensor = tensor
