"""Save a module's state as a flat dict of tensors, and load it."""

from collections import OrderedDict, namedtuple
from collections.abc import Mapping

from ...core.hooks import add_hook, new_hooks
from ...core.modes import no_grad
from ...core.tensor import Tensor
from ..parameter import Parameter

RETURNS_NOTHING = (
    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new values, if "
    "incompatible_keys need to be modified, it should be done inplace."
)


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ["missing_keys", "unexpected_keys"])):
    """The result of `load_state_dict`: the missing names and the unexpected ones."""

    __slots__ = ()

    def __repr__(self):
        return super().__repr__() if self.missing_keys or self.unexpected_keys else "<All keys matched successfully>"

    __str__ = __repr__


class Stateful:
    """The part of `Module` that saves and loads its parameters and persistent buffers."""

    _version = 1  # the version of the format in which a module class saves its state

    def _init_state_hooks(self):
        for when in ("state_dict_pre", "state_dict", "load_state_dict_pre", "load_state_dict_post"):
            self.__dict__[f"_{when}_hooks"] = new_hooks()

    def register_state_dict_pre_hook(self, hook):
        """Call `hook(module, prefix, keep_vars)` before this module's state is saved to a state dict."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook):
        """Call `hook(module, state_dict, prefix, local_metadata)` after saving; it may change state_dict in place."""
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook):
        """Call `hook` before this module's state is loaded; it may change its arguments in place.

        Its arguments are `(module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs)`.
        """
        return add_hook(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook):
        """Call `hook(module, incompatible_keys)` after loading this module's state; `hook` may clear its lists."""
        return add_hook(self._load_state_dict_post_hooks, hook)

    def state_dict(self, *, destination=None, prefix="", keep_vars=False):
        """Return parameters and buffers by name ("0.weight"), detached but not copied: later steps change them too.

        keep_vars: return the tensors themselves instead. To convert to torch, and likewise back:
        `{name: torch.from_numpy(t.numpy()) for name, t in module.state_dict().items()}`.
        """
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook in self._state_dict_hooks.values():
            if hook(self, destination, prefix, local_metadata) is not None:
                raise RuntimeError("state_dict post-hook must return None")
        return destination

    def _own_state(self):
        """Return this module's own parameters and persistent buffers by name."""
        persistent = {k: v for k, v in self._buffers.items() if k not in self._non_persistent_buffers_set}
        return {name: tensor for name, tensor in {**self._parameters, **persistent}.items() if tensor is not None}

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Add this module's own state to `destination`; subclasses can override this."""
        for name, tensor in self._own_state().items():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Copy the tensors of `state_dict` into the parameters and buffers of the same names.

        strict: missing and unexpected names are errors. assign: use the tensors themselves instead of copying. Raises
        RuntimeError that lists everything that does not fit. Returns the missing and the unexpected names.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        missing, unexpected, errors = [], [], []
        metadata = getattr(state_dict, "_metadata", None) or {}

        def load(module, state_dict, prefix):
            local_metadata = dict(metadata.get(prefix[:-1], {}))
            if assign:
                local_metadata["assign_to_params_buffers"] = True
            module._load_from_state_dict(state_dict, prefix, local_metadata, True, missing, unexpected, errors)
            for name, child in module._modules.items():
                if child is not None:
                    start = f"{prefix}{name}."
                    load(child, {k: v for k, v in state_dict.items() if k.startswith(start)}, start)
            for hook in module._load_state_dict_post_hooks.values():
                if hook(module, _IncompatibleKeys(missing, unexpected)) is not None:
                    raise AssertionError(RETURNS_NOTHING)

        load(self, OrderedDict(state_dict), "")
        if strict:
            for kind, names in (("Unexpected", unexpected), ("Missing", missing)):
                if names:
                    quoted = ", ".join(f'"{name}"' for name in names)
                    errors.insert(0, f"{kind} key(s) in state_dict: {quoted}. ")
        if errors:
            listed = "\n\t".join(errors)
            raise RuntimeError(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{listed}")
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        """Load this module's own state; subclasses can override this."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        own = self._own_state()
        for name, tensor in own.items():
            key = prefix + name
            if key in state_dict:
                self._load(name, tensor, key, state_dict[key], local_metadata, error_msgs)
            elif strict:
                missing_keys.append(key)
        for key in state_dict if strict else ():
            if key.startswith(prefix):
                name, _, rest = key[len(prefix) :].partition(".")
                if name not in (self._modules if rest else own):
                    unexpected_keys.append(key)

    def _load(self, name, tensor, key, new, metadata, errors):
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
        if metadata.get("assign_to_params_buffers"):
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
