"""`Tensor`: an array that records how it was computed.

Methods that need other files are added to the class there: `backward` in `backward.py`, `_edge_or_leaf` in `leaf.py`,
`_follow_base` (of views) in `ops/inplace.py`, all arithmetic in `functions/methods.py`.
"""

import copy
import warnings
import weakref

import numpy as np

from ..values import dtypes
from ..values.printing import tensor_repr
from ..values.size import Size
from .hooks import add_hook, new_hooks
from .modes import state

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
DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
    "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() "
    "cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
    "torch/optim/optimizer.py as the solution."
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
        "_version_cell",  # a list of one number, shared by all tensors with this memory; [None] for inference tensors
    )

    _grad = None
    _cut_off = None  # the edge that `detach_` removed
    _accumulator = None  # a leaf's weak reference to its AccumulateGrad
    _hooks = None  # a leaf's hooks; those of other tensors belong to their node
    _post_accumulate = None
    _retains = False
    _retained_by = None  # the edge whose node sets `grad` after `retain_grad`
    # A view knows how it was taken from its base.
    _views = ()
    _view_version = 0
    _view_kind = None

    __array_ufunc__ = None  # so that array * tensor is a Tensor
    __hash__ = object.__hash__

    def __new__(cls, *args):
        raise TypeError("Tensor(…) is left out of the mini engine; use tensor(…) for values and zeros(…) for sizes")

    # Attributes.

    @property
    def data(self):
        """A tensor with the same memory and no history; autograd does not notice changes made through it."""
        alias = make(self._data)
        alias._version_cell = [0]
        return alias

    @data.setter
    def data(self, new):
        if not isinstance(new, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(new).__name__}")
        if self.requires_grad and new._data.dtype.kind != "f":
            raise RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype")
        self._data = new._data

    @property
    def shape(self):
        return Size(self._data.shape)

    @property
    def ndim(self):
        return self._data.ndim

    @property
    def dtype(self):
        return dtypes.of(self._data.dtype)

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
        if wanted and self.is_inference() and not state.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
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
        return self._output_nr

    @property
    def _output_nr(self):
        return self._edge[1] if self._edge else 0

    @property
    def _version(self):
        if self.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        return self._version_cell[0]

    def _bump(self):
        """Count an in-place change."""
        if self._version_cell[0] is not None:
            self._version_cell[0] += 1

    def _is_view(self):
        return self._base is not None

    def is_inference(self):
        """Return whether this tensor was made in `inference_mode`."""
        return self._version_cell[0] is None

    def _type_name(self):
        return self.dtype.type_name

    def _alias(self, edge=None):
        """Return a tensor with the same memory and version, connected to the graph only by `edge`."""
        alias = make(self._data)
        alias._version_cell = self._version_cell
        if edge is not None and edge[0] is not None:
            if edge[0].next_functions:
                alias._edge = edge
            else:
                alias._accumulator = edge[0].variable._accumulator
            alias._requires_grad = True
        return alias

    def detach(self):
        """Return this tensor without its history; memory and version are shared."""
        return self._alias()

    def detach_(self):
        """Detach this tensor from its history, in place."""
        if self._base is not None:
            raise RuntimeError(DETACH_VIEW)
        self._cut_off = self._edge
        self._edge, self._requires_grad = None, False
        return self

    # Gradients.

    @property
    def grad(self):
        """The accumulated gradient, None before the first backward; only leaves and `retain_grad` tensors have one."""
        if self._grad is None and self.requires_grad and not self.is_leaf and not self._retains:
            warnings.warn(NOT_LEAF_GRAD, UserWarning, stacklevel=2)
        return self._grad

    @grad.setter
    def grad(self, new):
        if new is not None:
            self._check_grad(new)
        self._grad = new

    @grad.deleter
    def grad(self):
        self._grad = None

    def _check_grad(self, new):
        if not isinstance(new, Tensor):
            raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(new).__name__}")
        if new is self:
            raise RuntimeError("can't assign Variable as its own grad")
        if new._data.dtype != self._data.dtype:
            was, now = self._type_name().removesuffix("Tensor"), new._type_name().removesuffix("Tensor")
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{now.lower()}' to a tensor with grad_dtype '{was}'. The "
                "gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set the "
                "tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype with "
                "caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that assume "
                "they match."
            )
        if new._data.shape != self._data.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(new.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. "
                "Please ensure that the gradient and the tensor are the same size"
            )

    def _retain(self, gradient):
        gradient = gradient.clone() if isinstance(gradient, Tensor) else make(np.array(gradient))
        self._grad = gradient if self._grad is None else self._grad + gradient

    def retain_grad(self):
        """Let backward set the `grad` of this tensor even though it is not a leaf."""
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if not self.is_leaf and not self._retains:
            self._retains = True
            self._attach_retain()

    def _attach_retain(self):
        """Let only the node that made this tensor last set `grad`, not a node from before an in-place change."""
        if self._retained_by is not None:
            node, number = self._retained_by
            del node.retained[number]
        self._retained_by = node, number = self._edge
        node.retained = {**(node.retained or {}), number: weakref.ref(self)}
        node.hooked = True

    @property
    def retains_grad(self):
        return self._retains

    def register_hook(self, hook):
        """Call `hook(grad)` each time this tensor's gradient is computed; a returned Tensor replaces it.

        The hook must not change its argument in place. Returns a `RemovableHandle`.
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node, number = self._edge_or_leaf()
        hooks = node.hooks_of(number)
        if self.is_leaf:
            self._hooks = hooks  # the leaf's node may be freed and made again
        return add_hook(hooks, hook)

    def register_post_accumulate_grad_hook(self, hook):
        """Call `hook(tensor)` each time a gradient has been accumulated into this leaf's `grad`."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not self.is_leaf:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        if self._post_accumulate is None:
            self._post_accumulate = new_hooks()
        return add_hook(self._post_accumulate, hook)

    # Conversions to Python and NumPy.

    def item(self):
        """Return the value of a one-element tensor as a Python number."""
        if self._data.size != 1:
            raise RuntimeError(f"a Tensor with {self._data.size} elements cannot be converted to Scalar")
        return self._data.item()

    def tolist(self):
        """Return the values as nested lists of Python numbers."""
        return self._data.tolist()

    def numpy(self, *, force=False):
        """Return the array itself, which shares memory; raises RuntimeError if a gradient would be lost silently."""
        if force:
            return self.detach()._data
        if self.requires_grad and state.grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self._data

    def __array__(self, dtype=None, copy=None):
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def _number(self):
        if self._data.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return self._data.item()

    def __float__(self):
        if self._data.size == 1 and self.requires_grad:
            warnings.warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
                "Consider using tensor.detach() first.",
                UserWarning,
                stacklevel=2,
            )
        return float(self._number())

    def __int__(self):
        return int(self._number())

    def __index__(self):
        if self._data.size != 1 or self._data.dtype.kind not in "iub":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._data.item())

    def __bool__(self):
        if self._data.size != 1:
            amount = "no values" if not self._data.size else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {amount} is ambiguous")
        return bool(self._data.item())

    def __format__(self, spec):
        return format(self.item(), spec) if self._data.ndim == 0 else object.__format__(self, spec)

    def __len__(self):
        if self._data.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._data)

    def __repr__(self):
        return tensor_repr(self)

    def __deepcopy__(self, memo):
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils."
                "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
            )
        twin = memo[id(self)] = make(self._data.copy(), type(self))
        twin._requires_grad = self._requires_grad
        twin._grad = copy.deepcopy(self._grad, memo)
        return twin

    def __reduce_ex__(self, protocol):
        return _rebuild, (type(self), self._data, self._requires_grad)


def _rebuild(cls, array, requires_grad):
    tensor = make(array, cls)
    tensor._requires_grad = requires_grad
    return tensor


_new = object.__new__


def make(array, cls=Tensor):
    """Return a Tensor that holds `array` itself and has no history."""
    tensor = _new(cls)
    tensor._data = array
    tensor._version_cell = [None] if state.inference else [0]
    tensor._base = tensor._edge = None
    tensor._requires_grad = False
    return tensor
