"""`Tensor`: an array that records how it was computed.

Methods that need other files are added to the class there: hooks in `hooks.py`, `_edge_or_leaf` in `leaf.py`,
`backward` in `backward.py`, `_follow_base` (of views) in `ops/inplace.py`, and all arithmetic in `ops/methods.py`.
"""

import warnings

from ..values import dtypes
from ..values.size import Size

NOT_LEAF_GRAD = (
    "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
    "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
    "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
    "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information."
)
CHANGE_LEAF = (
    "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph "
    "that doesn't require differentiation use var_no_grad = var.detach()."
)
GRAD_DTYPE = (
    "attempting to assign a gradient with dtype '{now}' to a tensor with grad_dtype '{was}'. The gradient must match "
    "the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
    "specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and its "
    "gradient may break downstream systems that assume they match."
)


class Tensor:
    """An array, plus what autograd needs to know about it.

    Rare attributes have their usual value on the class; a tensor itself holds only those that differ.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_base",  # the tensor whose memory this view shares
        "_data",  # the array
        "_edge",  # (node, output index) that made this tensor; None for a leaf
        "_requires_grad",
        "_version_cell",  # a list of one number, shared by all tensors with this memory
    )

    _grad = None
    _accumulator = None  # a leaf's weak reference to its AccumulateGrad
    _hooks = None  # a leaf's hooks; those of other tensors belong to their node
    _post_accumulate = None
    retains_grad = False
    _retained_by = None  # the edge whose node sets `grad` after `retain_grad`
    # A view knows how it was taken from its base.
    _views = ()
    _view_version = 0
    _view_kind = None

    __array_ufunc__ = None  # so that array * tensor is a Tensor

    def __new__(cls, *args):
        raise TypeError("Tensor(…) is left out of the mini engine; use tensor(…) for values and zeros(…) for sizes")

    @property
    def shape(self):
        return Size(self._data.shape)

    @property
    def dtype(self):
        return dtypes.of(self._data.dtype)

    def _type_name(self):
        return self.dtype.type_name

    # The graph.

    @property
    def requires_grad(self):
        """Whether this tensor needs a gradient; can be set only on leaves."""
        return self._requires_grad or (self._base is not None and self._base._requires_grad)

    @requires_grad.setter
    def requires_grad(self, wanted):
        if not isinstance(wanted, bool):
            raise RuntimeError("requires_grad must be a bool")
        if self.grad_fn is not None and not wanted:
            raise RuntimeError(CHANGE_LEAF)
        if wanted and self._data.dtype.kind != "f":
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        self._requires_grad = wanted

    def requires_grad_(self, requires_grad=True):
        """Set `requires_grad` and return this tensor."""
        self.requires_grad = requires_grad
        return self

    @property
    def grad_fn(self):
        """The node that made this tensor, or None for a leaf."""
        if self._base is not None:
            self._follow_base()
        return self._edge and self._edge[0]

    @property
    def is_leaf(self):
        return self.grad_fn is None

    @property
    def output_nr(self):
        return self._edge[1] if self._edge else 0

    # Memory.

    @property
    def data(self):
        """A tensor with the same memory and no history; autograd does not notice changes made through it."""
        return make(self._data)

    @data.setter
    def data(self, new):
        if not isinstance(new, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(new).__name__}")
        if self.requires_grad and new._data.dtype.kind != "f":
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        self._data = new._data

    def detach(self):
        """Return this tensor without its history; memory and version are shared."""
        return self._alias()

    def _alias(self, edge=None):
        """Return a tensor with the same memory and version, connected to the graph only by `edge`."""
        alias = make(self._data)
        alias._version_cell = self._version_cell
        if edge is not None:
            alias._edge, alias._requires_grad = edge, True
        return alias

    @property
    def _version(self):
        return self._version_cell[0]

    def _bump(self):
        """Count an in-place change."""
        self._version_cell[0] += 1

    def _is_view(self):
        return self._base is not None

    def __reduce_ex__(self, protocol):
        raise TypeError("copying and pickling tensors is left out of the mini engine; use x.detach().clone()")

    # Gradients.

    @property
    def grad(self):
        """The accumulated gradient, None before the first backward; only leaves and `retain_grad` tensors have one."""
        if self._grad is None and self.requires_grad and not self.is_leaf and not self.retains_grad:
            warnings.warn(NOT_LEAF_GRAD, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, new):
        if new is not None:
            self._check_grad(new)
        self._grad = new

    def _check_grad(self, new):
        if not isinstance(new, Tensor):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(new).__name__}")
        if new is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if new._data.dtype != self._data.dtype:
            now, was = (each._type_name().removesuffix("Tensor") for each in (new, self))
            raise RuntimeError(GRAD_DTYPE.format(now=now.lower(), was=was))
        if new._data.shape != self._data.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(new.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )


_new = object.__new__


def make(array, cls=Tensor):
    """Return a Tensor that holds `array` itself and has no history."""
    tensor = _new(cls)
    tensor._data = array
    tensor._version_cell = [0]
    tensor._base = tensor._edge = None
    tensor._requires_grad = False
    return tensor
