"""`Module`: an object with parameters, buffers and submodules as attributes, and a `forward`.

Hooks and the call itself are in `hooks.py`, saving and loading in `state.py`.
"""

from ...core.modes import no_grad
from ...core.tensor import Tensor
from ...values import dtypes
from ..parameter import Parameter
from .hooks import (  # noqa: F401
    Hooked,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from .state import Stateful

LEFT_OUT = {
    "bfloat16", "compile", "cuda", "get_extra_state", "half", "ipu", "mtia", "register_load_state_dict_post_hook",
    "register_load_state_dict_pre_hook", "register_state_dict_post_hook", "register_state_dict_pre_hook",
    "set_extra_state", "set_submodule", "share_memory", "to_empty", "xpu",
}  # fmt: skip


def typename(value):
    """Return the type name of `value` that torch's errors use."""
    if isinstance(value, Tensor):
        return "torch." + value._type_name()
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


class Module(Hooked, Stateful):
    """A part of a network. Subclasses assign parameters and modules to attributes and define `forward`.

    Call the module, not `forward`, so that hooks run. `training` says whether the module is in training mode.
    """

    def __init__(self, *args, **kwargs):
        if kwargs:
            name = type(self).__name__
            raise TypeError(f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if args:
            count = len(args) + 1
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {count} were given")
        # Bypasses __setattr__, which expects these dicts.
        self.__dict__.update(training=True, _parameters={}, _buffers={}, _modules={}, _non_persistent_buffers_set=set())
        self._init_hooks()

    def forward(self, *input):
        """Compute the output; every subclass defines this."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # Attributes: parameters, buffers and modules are stored in separate dicts.

    def register_parameter(self, name, param):
        """Add `param`, a Parameter or None, under `name`."""
        self._check_name("parameter", "_parameters", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name, tensor, persistent=True):
        """Add `tensor`, part of the state but not learned, under `name`; state_dict includes it if it is persistent."""
        self._check_name("buffer", "_buffers", name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        self._buffers[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name, module):
        """Add `module`, a Module or None, under `name`."""
        if not isinstance(module, Module) and module is not None:
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._check_name("module", "_modules", name)
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, kind, holder, name):
        if holder not in self.__dict__ and kind != "module":
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        taken = hasattr(self, name) and name not in self.__dict__[holder]
        if taken and kind == "module":
            raise KeyError(f"attribute '{name}' already exists")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if taken:
            raise KeyError(f"attribute '{name}' already exists")

    def __getattr__(self, name):
        for holder in ("_parameters", "_buffers", "_modules"):
            found = self.__dict__.get(holder, {})
            if name in found:
                return found[name]
        message = f"'{type(self).__name__}' object has no attribute '{name}'"
        if name in LEFT_OUT:
            message += f" (the mini engine leaves out torch.nn.Module.{name}; see README.md)"
        raise AttributeError(message)

    def __setattr__(self, name, value):
        parameters, modules = self.__dict__.get("_parameters"), self.__dict__.get("_modules")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, keep=parameters)
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            self._check_none(value, "parameter", name, "torch.nn.Parameter or None")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, keep=modules)
            modules[name] = value
        elif modules is not None and name in modules:
            self._check_none(value, "child module", name, "torch.nn.Module or None")
            modules[name] = value
        elif name in self.__dict__.get("_buffers", ()):
            if not isinstance(value, Tensor):
                self._check_none(value, "buffer", name, "torch.nn.Buffer, torch.Tensor or None")
            self.register_buffer(name, value, name not in self._non_persistent_buffers_set)
        else:
            super().__setattr__(name, value)

    @staticmethod
    def _check_none(value, kind, name, expected):
        if value is not None:
            raise TypeError(f"cannot assign '{typename(value)}' as {kind} '{name}' ({expected} expected)")

    def _forget(self, name, keep):
        """Remove `name` from every dict that may hold an attribute, except `keep`."""
        for holder in (self.__dict__, self._parameters, self._buffers, self._modules):
            if holder is not keep:
                holder.pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name):
        for holder in (self._parameters, self._buffers, self._modules):
            if name in holder:
                del holder[name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self):
        names = [*super().__dir__(), *self._parameters, *self._buffers, *self._modules]
        return sorted(name for name in set(names) if not name[0].isdigit())

    # Contents.

    def _named_members(self, holder, prefix, recurse, remove_duplicate):
        """Yield (name, tensor) from the dict `holder` of this module and, if `recurse`, of all its submodules."""
        seen = set()
        here = [(prefix, self)]
        for start, module in self.named_modules(None, prefix, remove_duplicate) if recurse else here:
            for name, tensor in getattr(module, holder).items():
                if tensor is None or id(tensor) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(tensor))
                yield f"{start}.{name}" if start else name, tensor

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        """Yield the parameters with their names."""
        yield from self._named_members("_parameters", prefix, recurse, remove_duplicate)

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        """Yield the buffers with their names."""
        yield from self._named_members("_buffers", prefix, recurse, remove_duplicate)

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        """Yield this module, named "", and all its submodules, each once unless remove_duplicate is False."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def named_children(self):
        """Yield the direct submodules with their names, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def parameters(self, recurse=True):
        """Yield the parameters."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def buffers(self, recurse=True):
        """Yield the buffers."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def modules(self, remove_duplicate=True):
        """Yield this module and all its submodules."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def children(self):
        """Yield the direct submodules."""
        for _, module in self.named_children():
            yield module

    def get_submodule(self, target):
        """Return the module that `named_modules` yields under the name `target`."""
        module = self
        for part in target.split(".") if target else ():
            if not hasattr(module, part):
                raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
            module = getattr(module, part)
            if not isinstance(module, Module):
                raise AttributeError(f"`{part}` is not an nn.Module")
        return module

    def get_parameter(self, target):
        """Return the parameter that `named_parameters` yields under the name `target`."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module._parameters:
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return module._parameters[name]

    def get_buffer(self, target):
        """Return the buffer that `named_buffers` yields under the name `target`."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return module._buffers[name]

    # Operations on the whole module.

    def apply(self, fn):
        """Call `fn(module)` for every submodule and then for this module; return this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode=True):
        """Switch this module and all its submodules to training mode, which matters to Dropout and BatchNorm."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        """Switch this module and all its submodules to evaluation mode: `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Freeze (False) or unfreeze all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        """Reset the gradients of all parameters, to None or to zeros."""
        zero_grads(self.parameters(), set_to_none)

    def _apply(self, fn, recurse=True):
        """Replace the data of all parameters, their gradients and the buffers with the results of `fn`."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        with no_grad():
            for parameter in self._parameters.values():
                if parameter is not None:
                    parameter.data = fn(parameter)
                    if parameter.grad is not None:
                        parameter.grad.data = fn(parameter.grad)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, dtype=None, **options):
        """Convert floating-point parameters and buffers to a dtype, in place; the device is always cpu."""
        for arg in args:
            dtype = arg if isinstance(arg, dtypes.dtype) else arg.dtype if isinstance(arg, Tensor) else dtype
        if dtype is not None and not dtype.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={dtype}"
            )
        return self._apply(lambda t: t.to(dtype) if dtype is not None and t.is_floating_point() else t)

    def float(self):
        """Convert floating-point parameters and buffers to float32."""
        return self.to(dtypes.float32)

    def double(self):
        """Convert floating-point parameters and buffers to float64."""
        return self.to(dtypes.float64)

    def cpu(self):
        """Return this module, which is always on the cpu."""
        return self

    # Printing.

    def _get_name(self):
        return type(self).__name__

    def extra_repr(self):
        """Return the text for the parentheses in `repr`; subclasses override this."""
        return ""

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({name}): " + indent(repr(module)) for name, module in self._modules.items()]
        if len(extra_lines) == 1 and not child_lines:
            return f"{self._get_name()}({extra})"
        body = "".join("\n  " + line for line in extra_lines + child_lines)
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"


def indent(text):
    """Return `text` with all lines after the first indented by two spaces."""
    return "\n".join(("  " + line if i and line.strip() else line) for i, line in enumerate(text.split("\n")))


def zero_grads(parameters, set_to_none):
    """Reset the gradients of `parameters`, to None or to zeros."""
    for parameter in parameters:
        if set_to_none:
            parameter.grad = None
        elif parameter.grad is not None:
            if parameter.grad.grad_fn is not None:
                parameter.grad.detach_()
            else:
                parameter.grad.requires_grad_(False)
            parameter.grad.zero_()
