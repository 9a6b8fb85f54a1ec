"""What graphs hold for their way back: the tensors that operations have saved, and their bytes, each storage once."""

import weakref

from torch.autograd.graph import saved_tensors_hooks


class Saved:
    """Count the tensors that operations save inside `watch()`, for as long as graphs hold them.

    Bytes are those of storages, the memory under tensors: each is counted once, however many tensors look into it,
    and whole, for a view keeps all of it. `without` are tensors whose storages do not count, such as weights and data,
    which are there with a graph and without.

    >>> x = torch.ones(3, requires_grad=True)
    >>> saved = Saved()
    >>> with saved.watch():
    ...     y = x.exp().sin()
    >>> saved.bytes()
    12
    """

    def __init__(self, without=()):
        self.most = self.most_bytes = 0  # tensors, and bytes, held at any one time
        self._held = weakref.WeakSet()  # what no graph holds any more drops out by itself
        self._used = weakref.WeakSet()  # what a walk has looked into
        self._without = {tensor.untyped_storage().data_ptr() for tensor in without}

    def watch(self):
        """Return a context manager; what operations save inside it is counted."""
        return saved_tensors_hooks(self._pack, self._unpack)

    def tensors(self):
        """Return how many saved tensors graphs hold now."""
        return len(self._held)

    def bytes(self):
        """Return how many bytes of memory graphs hold now."""
        storages = (box.tensor.untyped_storage() for box in self._held)
        sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
        return sum(size for place, size in sizes.items() if place not in self._without)

    def kept(self):
        """Return how many of the tensors that graphs hold were used by a walk, which did not free them."""
        return len(self._used)

    def _pack(self, tensor):
        box = _Box(tensor.detach())
        self._held.add(box)
        self.most = max(self.most, self.tensors())
        self.most_bytes = max(self.most_bytes, self.bytes())
        return box

    def _unpack(self, box):
        self._used.add(box)
        return box.tensor


class _Box:
    """What a graph holds in the place of a tensor; without it, nobody could see when the graph lets go."""

    def __init__(self, tensor):
        self.tensor = tensor
