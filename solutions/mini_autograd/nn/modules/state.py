"""Save a module's state as a flat dict of tensors, and load it."""

from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from ...core.modes import no_grad
from ...core.tensor import Tensor
from ..parameter import Parameter


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The result of `load_state_dict`: the missing names and the unexpected ones."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class Stateful:
    """The part of `Module` that saves and loads its parameters and persistent buffers."""

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        """Return parameters and buffers by name ("0.weight"), detached but not copied: later steps change them too.

        keep_vars: return the tensors themselves instead. To convert to torch, and likewise back:
        `{name: torch.from_numpy(t.numpy()) for name, t in module.state_dict().items()}`.
        """
        destination = OrderedDict() if destination is None else destination
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        return destination

    def _own_state(self):
        """Return this module's own parameters and persistent buffers by name."""
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        return {name: tensor for name, tensor in {**self._parameters, **persistent}.items() if tensor is not None}

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy the tensors of `state_dict` into the parameters and buffers of the same names.

        strict: missing and unexpected names are errors. assign: use the tensors themselves instead of copying. Raises a
        RuntimeError that lists everything that does not fit. Returns the missing and the unexpected names.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []

        def load(module, prefix):
            own = module._own_state()
            for name, tensor in own.items():
                key = prefix + name
                if key in state_dict:
                    module._load(name, tensor, key, state_dict[key], assign, errors)
                else:
                    missing.append(key)
            for key in state_dict:
                name, _, rest = key.removeprefix(prefix).partition(".")
                if key.startswith(prefix) and name not in (module._modules if rest else own):
                    unexpected.append(key)
            for name, child in module._modules.items():
                if child is not None:
                    load(child, f"{prefix}{name}.")

        load(self, "")
        if strict:
            for kind, names in (("Unexpected", unexpected), ("Missing", missing)):
                if names:
                    quoted = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{kind} key(s) in state_dict: {quoted}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing, unexpected)

    def _load(self, name, tensor, key, new, assign, errors):
        if not isinstance(new, Tensor):
            errors.append(
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(new)}"
            )
            return
        if tensor.ndim == 0 and new.shape == (1,):
            new = new[0]
        if new.shape != tensor.shape:
            errors.append(
                f"size mismatch for {key}: copying a param with shape {new.shape} from checkpoint, "
                f"the shape in current model is {tensor.shape}."
            )
            return
        if assign:
            is_parameter = isinstance(tensor, Parameter)
            setattr(self, name, Parameter(new, tensor.requires_grad) if is_parameter else new)
            return
        try:
            with no_grad():
                tensor.copy_(new)
        except Exception as error:
            errors.append(
                f'While copying the parameter named "{key}", whose dimensions in the model are {tensor.shape} and '
                f"whose dimensions in the checkpoint are {new.shape}, an exception occurred : {error.args}."
            )
