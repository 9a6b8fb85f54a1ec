"""Names for tensors: those of the caller's variables, or those passed by keyword."""

import sys

MOST_ITEMS = 64  # longer lists of tensors are ignored
IPYTHON = {"In", "Out"}  # its history also contains tensors


class Names:
    """Names of tensors, found by identity.

    `of(tensor)` is its name or "". `outputs(node)` names the tensors whose `grad_fn` is the node.
    """

    def __init__(self):
        self._tensors, self._outputs = {}, {}
        self._keep = []  # an id is valid only while its object exists

    def of(self, tensor):
        return self._tensors.get(id(tensor), "")

    def outputs(self, node):
        return ", ".join(name for _, (name, _) in sorted(self._outputs.get(id(node), {}).items()))

    def output(self, node):
        """Return the named tensor whose `grad_fn` is the node, or None."""
        return self._outputs.get(id(node), {}).get(0, (None, None))[1]

    def add(self, name, tensor):
        """Name a tensor, unless it has a name already."""
        if id(tensor) not in self._tensors:
            self._keep.append(tensor)
            self._tensors[id(tensor)] = name
            node = tensor.grad_fn
            if node is not None:
                self._keep.append(node)
                self._outputs.setdefault(id(node), {}).setdefault(getattr(tensor, "output_nr", 0), (name, tensor))


def is_tensor(value):
    """Return whether a value looks like a tensor of torch or of an engine with torch's names."""
    kind = type(value)
    if isinstance(value, type):
        return False
    return (hasattr(kind, "backward") and hasattr(kind, "detach")) or (
        hasattr(kind, "is_leaf") and hasattr(kind, "shape") and hasattr(value, "grad_fn")
    )


def is_module(value):
    return hasattr(type(value), "named_parameters") and not isinstance(value, type)


def names_from(variables, model=None):
    """Collect names from a dict of variables: tensors, short lists and dicts of tensors, parameters of modules.

    A tensor's own variable takes precedence over a list that contains it, and a list over a module. Parameters of
    `model` are called `fc.weight`, those of a variable `net.fc.weight`. Variables that begin with an underscore are
    ignored. If an object has several names, the first one counts.
    """
    names, public = Names(), {k: v for k, v in variables.items() if isinstance(k, str) and not k.startswith("_")}
    for name, value in public.items():
        if is_tensor(value):
            names.add(name, value)
    for name, value in public.items():
        if isinstance(value, list | tuple | dict) and len(value) <= MOST_ITEMS:
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, item in items:
                if is_tensor(item):
                    names.add(f"{name}[{key!r}]", item)
    modules = [("", model), *((f"{name}.", value) for name, value in public.items())]
    listed = [(prefix, dict(module.named_parameters())) for prefix, module in modules if is_module(module)]
    listed.sort(key=lambda pair: (bool(pair[0]), -len(pair[1])))  # a module before its parts
    for prefix, parameters in listed:
        for path, parameter in parameters.items():
            names.add(prefix + path, parameter)
    return names


def callers_names(given=None, depth=2):
    """Return names from `given`, then from the variables of the frame `depth` calls up, locals before globals."""
    frame = sys._getframe(depth)
    model = given if is_module(given) else None
    variables = {} if model is not None else dict(given or {})
    for scope in (frame.f_locals, frame.f_globals):
        for name, value in scope.items():
            if name not in IPYTHON:
                variables.setdefault(name, value)
    return names_from(variables, model)
