"""`Module`: an object with parameters and submodules as attributes, and a `forward`. Its hooks are in `hooks.py`."""

from .hooks import HookedModule
from .parameter import Parameter


class Module(HookedModule):
    """A part of a network. Subclasses assign parameters and modules to attributes and define `forward`.

    Call the module, not `forward`, so that hooks run. `training` says whether the module is in training mode.
    """

    def __init__(self):
        # Bypasses __setattr__, which expects these dicts.
        self.__dict__.update(training=True, _parameters={}, _modules={})
        self._init_hooks()

    def forward(self, *input):
        """Compute the output; every subclass defines this."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    # Attributes: parameters and modules are stored in separate dicts.

    def __setattr__(self, name, value):
        for holder, kind in (("_parameters", Parameter), ("_modules", Module)):
            known = self.__dict__.get(holder)
            if isinstance(value, kind):
                if known is None:
                    words = "parameters" if kind is Parameter else "module"
                    raise AttributeError(f"cannot assign {words} before Module.__init__() call")
                for other in (self.__dict__, self._parameters, self._modules):
                    if other is not known:
                        other.pop(name, None)
                known[name] = value
                return
            if known and name in known:
                if value is not None:
                    raise TypeError(
                        f"cannot assign '{type(value).__name__}' as '{name}', which is a {kind.__name__}; only another "
                        "one or None can replace it"
                    )
                known[name] = None
                return
        super().__setattr__(name, value)

    def __getattr__(self, name):
        for holder in ("_parameters", "_modules"):
            members = self.__dict__.get(holder, {})
            if name in members:
                return members[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __delattr__(self, name):
        for holder in (self._parameters, self._modules):
            if name in holder:
                del holder[name]
                return
        super().__delattr__(name)

    # Contents.

    def named_modules(self, memo=None, prefix=""):
        """Yield this module, named "", and all its submodules, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name)

    def modules(self):
        """Yield this module and all its submodules."""
        return (module for _, module in self.named_modules())

    def named_children(self):
        """Yield the direct submodules with their names, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self):
        """Yield the direct submodules."""
        return (module for _, module in self.named_children())

    def named_parameters(self):
        """Yield the parameters of this module and of its submodules with their names, each once."""
        seen = set()
        for path, module in self.named_modules():
            for name, parameter in module._parameters.items():
                if parameter is not None and parameter not in seen:
                    seen.add(parameter)
                    yield f"{path}.{name}" if path else name, parameter

    def parameters(self):
        """Yield the parameters."""
        return (parameter for _, parameter in self.named_parameters())

    # Operations on the whole module.

    def train(self, mode=True):
        """Set `training` of this module and all its submodules, and return this module."""
        for module in self.modules():
            module.training = mode
        return self

    def eval(self):
        """Switch this module and all its submodules to evaluation mode: `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad=True):
        """Freeze (False) or unfreeze all parameters, and return this module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self):
        """Reset the gradients of all parameters to None."""
        for parameter in self.parameters():
            parameter.grad = None

    def extra_repr(self):
        """Return the text for the parentheses in `repr`; subclasses override this."""
        return ""

    def __repr__(self):
        name, extra = type(self).__name__, self.extra_repr()
        lines = [f"({key}): " + repr(module).replace("\n", "\n  ") for key, module in self._modules.items()]
        if not lines:
            return f"{name}({extra})"
        return f"{name}(" + "".join(f"\n  {line}" for line in ([extra] if extra else []) + lines) + "\n)"
