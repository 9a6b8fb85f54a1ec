"""Modules that contain a sequence of modules: `Sequential`, `ModuleList`."""

import operator
from collections import OrderedDict
from collections.abc import Iterable

from .module import Module, indent


class _Row(Module):
    """A container of modules that can also be accessed by index."""

    def _key(self, index):
        """Return the name of the module at `index`."""
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        """Delete one module or a slice; the remaining modules are renumbered."""
        names = list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]
        for name in names:
            delattr(self, name)
        self._modules = OrderedDict((str(i), module) for i, module in enumerate(self))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def append(self, module):
        """Append a module and return this container."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Insert a module at `index` and shift later ones."""
        for i in range(len(self), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]
        self._modules[str(index)] = module

    def extend(self, modules):
        """Append modules and return this container."""
        for module in modules:
            self.append(module)
        return self

    def pop(self, key):
        """Remove a module, or a slice of modules, and return it."""
        taken = self[key]
        del self[key]
        return taken


class Sequential(_Row):
    """A module that calls its submodules in turn. Pass them as arguments, or as one OrderedDict with their names."""

    def __init__(self, *args):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, input):
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def insert(self, index, module):
        """Insert a module at `index`, shift later ones, and return this container."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        super().insert(index + len(self) if index < 0 else index, module)
        return self

    def __add__(self, other):
        self._check(other)
        return Sequential(*self, *other)

    def __iadd__(self, other):
        self._check(other)
        return self.extend(other)

    @staticmethod
    def _check(other):
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")


class ModuleList(_Row):
    """A list whose modules are registered as submodules."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return self._modules[self._key(index)]

    def extend(self, modules):
        """Append modules and return this list."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        return super().extend(modules)

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList(list(self) + list(other))

    def __repr__(self):
        """Return text in which consecutive modules with the same text appear once, with their count."""
        runs = []
        for index, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][0] == text:
                runs[-1][2] = index
            else:
                runs.append([text, index, index])
        lines = [
            f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            for text, first, last in runs
        ]
        body = "".join("\n  " + indent(line) for line in lines)
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"
