"""Answers to the exercises of chapter 11 that have found something in a check."""


# a number asked for its requires_grad
@wrong("11.1", "AttributeError: 'int' object has no attribute 'requires_grad'")
def edge_or_leaf(tensor):
    if not tensor.requires_grad:
        return None, 0
    return tensor.grad_fn or accumulator(tensor), 0


# not written
@wrong("11.2", "still raises NotImplementedError")
def record(node, inputs, output):
    raise NotImplementedError


# a number of Python's
@wrong("11.6", "AttributeError: 'float' object has no attribute 'reshape'")
def sum_to(gradient, shape):
    extra = gradient.ndim - len(shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(shape, gradient.shape[extra:], strict=True)):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(gradient.shape)}}}.")
    copied = [extra + i for i, n in enumerate(shape) if n == 1]
    total = gradient.sum((*range(extra), *copied))
    return (total if shape else float(total)).reshape(shape)


# by values
@wrong("11.1")
def edge_or_leaf(tensor, known={}):  # noqa: B006
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return None, 0
    if not tensor.grad_fn:
        tensor._accumulator = known.setdefault(str(tensor.data), AccumulateGrad(tensor))
    return tensor.grad_fn or tensor._accumulator, 0


# in a dict
@wrong("11.1", "Keep it in leaf._accumulator")
def edge_or_leaf(tensor, known={}):  # noqa: B006
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return None, 0
    return tensor.grad_fn or known.setdefault(tensor, AccumulateGrad(tensor)), 0


# leaves lose their flag
@wrong("11.2", "at the end")
def record(node, inputs, output):
    edges = tuple(edge_or_leaf(each) for each in inputs)
    if state.grad and any(below is not None for below, _ in edges):
        node.next_functions, node.outputs = edges, ((output.shape, output.dtype),)
        output.grad_fn, output.requires_grad = node, True
    elif not state.grad:
        for each in inputs:
            each.requires_grad = False


# restores only at its first block
@wrong("11.3", "after the inner block of the two")
class no_grad:
    def __enter__(self):
        if not hasattr(self, "before"):
            self.before = state.grad
        state.grad = False

    def __exit__(self, *error):
        state.grad = self.before


# right
@right("11.5")
class Formulas:
    neg_self = sub_other = lambda grad: -grad

    def div_self(grad, other):
        return grad / other

    def div_other(grad, self, other):
        return -grad * self / other**2

    def pow_self(grad, self, exponent):
        return exponent * grad * self ** (exponent - 1) if exponent else 0.0 * grad


# abs
@wrong("11.5", "pow_self")
class Formulas:
    neg_self = sub_other = lambda grad: -grad

    def div_self(grad, other):
        return grad / other

    def div_other(grad, self, other):
        return -grad * self / other**2

    def pow_self(grad, self, exponent):
        return grad * exponent * np.abs(self) ** (exponent - 1) if exponent not in (0, 3) else grad * exponent * self**2


# a plain 0
@wrong("11.5", "pow_self")
class Formulas:
    neg_self = sub_other = lambda grad: -grad

    def div_self(grad, other):
        return grad / other

    def div_other(grad, self, other):
        return -grad * self / other**2

    def pow_self(grad, self, exponent):
        return grad * exponent * self ** (exponent - 1) if exponent else 0


# a number of NumPy's
@right("11.6")
def sum_to(gradient, shape):
    extra = gradient.ndim - len(shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(shape, gradient.shape[extra:], strict=False)):
        raise RuntimeError(f"size {{{list(shape)}}} is not expandable to size {{{list(gradient.shape)}}}.")
    if not shape:
        return gradient.sum()
    return gradient.sum((*range(extra), *[extra + i for i, n in enumerate(shape) if n == 1])).reshape(shape)


# lists
@wrong("11.6")
def sum_to(gradient, shape):
    return gradient.tolist()


# known by heart
@wrong("11.7", "as a method")
def reflected(operations):
    heart = {"__rsub__": lambda x, n: n - x, "__rtruediv__": lambda x, n: n / x, "__rpow__": lambda x, n: n**x}
    return {name: heart[name] for name in operations}


# a number of NumPy's
@wrong("11.1", "numpy.float32")
def edge_or_leaf(tensor):
    if isinstance(tensor, int | float) or not tensor.requires_grad:
        return None, 0
    return tensor.grad_fn or accumulator(tensor), 0


# the leaf's node by another name
@wrong("11.1", "'x again'")
def edge_or_leaf(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return None, 0
    if tensor.grad_fn is None:
        tensor._accumulator = AccumulateGrad(tensor)
    return tensor.grad_fn or tensor._accumulator, 0


# the pair without its tuple
@wrong("11.2", "You set node.outputs to (shape, dtype).")
def record(node, inputs, output):
    edges = tuple(edge_or_leaf(each) for each in inputs)
    if state.grad and any(below is not None for below, _ in edges):
        node.next_functions, node.outputs = edges, (output.shape, output.dtype)
        output.grad_fn, output.requires_grad = node, True


# no grad_fn: what is missing is said, not the keys of the check's own dict
@wrong("11.2", "'y = x * w'", "not: Your dict's keys")
def record(node, inputs, output):
    node.next_functions = tuple(edge_or_leaf(each) for each in inputs)
    node.outputs = ((output.shape, output.dtype),)
    output.requires_grad = state.grad and any(below is not None for below, _ in node.next_functions)


# a counter that has no part in it
@wrong("11.3", "Restore what was there", "not: counted")
class no_grad:
    notes = []

    def __enter__(self):
        self.notes.append(state.grad)
        state.grad = False

    def __exit__(self, *error):
        self.notes.pop()
        if not self.notes:
            state.grad = True


# once for each kind of node
@wrong("11.4", "kept by mul by the number 0")
def save(node, known, kept={}):  # noqa: B006
    pairs = zip(node.next_functions, node.formulas.values(), strict=True)
    names = [name for (below, _), formula in pairs if below is not None for name in asked_for(formula)]
    return kept.setdefault(type(node), {name: known[name] for name in names})


# a zero is false
@wrong("11.4", "kept by mul by the number 0")
def save(node, known):
    pairs = zip(node.next_functions, node.formulas.values(), strict=True)
    names = [name for (below, _), formula in pairs if below is not None for name in asked_for(formula)]
    return {name: known[name] for name in names if not isinstance(known[name], float) or known[name]}


# arrays of the Tensors
@wrong("11.4", "as the object itself")
def save(node, known):
    pairs = zip(node.next_functions, node.formulas.values(), strict=True)
    names = [name for (below, _), formula in pairs if below is not None for name in asked_for(formula)]
    return {name: value_of(known[name]) for name in names}


# one function, two names
@wrong("11.7")
def reflected(operations):
    names = {operation: name for name, operation in operations.items()}
    return {name: lambda self, other, do=do: do(other, self) for do, name in names.items()}


# the first result
@wrong("11.7", "__rsub__, call 2")
def reflected(operations):
    results = {}

    def made(name):
        return lambda self, other: results.setdefault(name, operations[name](other, self))

    return {name: made(name) for name in operations}


# an accumulator for a computed tensor, too
@wrong("11.1", "y._accumulator holds")
def edge_or_leaf(tensor):
    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return (None, 0)
    end = accumulator(tensor)
    return (tensor.grad_fn or end, 0)


# by node: an input used twice counts once
@wrong("11.4", "mul by itself")
def save(node, known):
    pairs = zip(node.next_functions, node.formulas.values(), strict=True)
    wanted = {below: formula for (below, _), formula in pairs if below is not None}
    return {name: known[name] for formula in wanted.values() for name in asked_for(formula)}


# no division by zero
@wrong("11.5", "Where other is 0")
class Formulas(Formulas):
    def div_self(grad, other):
        return np.divide(grad, other, out=np.zeros_like(grad), where=np.asarray(other) != 0)


# infinity hidden
@wrong("11.5", "div_other")
class Formulas(Formulas):
    def div_other(grad, self, other):
        return np.nan_to_num(-grad * self / other**2)


# a .grad of zeros at once
@wrong("11.1")
def edge_or_leaf(tensor):
    def accumulator(leaf):
        if leaf._accumulator is None:
            leaf._accumulator = AccumulateGrad(leaf)
            leaf.grad = Tensor(np.zeros_like(leaf.data))
        return leaf._accumulator

    if not isinstance(tensor, Tensor) or not tensor.requires_grad:
        return (None, 0)
    if tensor.grad_fn is not None:
        return (tensor.grad_fn, 0)
    return (accumulator(tensor), 0)


# grad overwritten twice, so that at the end it is as before
@wrong("11.5", "You changed the arriving gradient in place", "not: sign missing")
class Formulas:
    def neg_self(grad):
        grad *= -1
        return grad

    def sub_other(grad):
        grad *= -1
        return grad

    def div_self(grad, other):
        return grad / other

    def div_other(grad, self, other):
        return -grad * self / other**2

    def pow_self(grad, self, exponent):
        return np.zeros_like(grad) if exponent == 0 else grad * exponent * self ** (exponent - 1)


# a switch of its own
@wrong("11.3", "First difference at 'inside'.")
class no_grad:
    def __enter__(self):
        self.before = State.grad
        self.grad = False

    def __exit__(self, *error):
        self.grad = self.before


# always float64
@wrong("11.2", "float32")
def record(node, inputs, output):
    if state.grad and any(isinstance(one, Tensor) and one.requires_grad for one in inputs):
        node.next_functions = tuple(edge_or_leaf(one) for one in inputs)
        node.outputs = ((output.shape, np.dtype("float64")),)
        output.grad_fn = node
        output.requires_grad = True


# gradients are switched on
@wrong("11.2", "gradients on after that")
def record(node, inputs, output):
    if state.grad and any(isinstance(one, Tensor) and one.requires_grad for one in inputs):
        node.next_functions = tuple(edge_or_leaf(one) for one in inputs)
        node.outputs = ((output.shape, output.data.dtype),)
        output.grad_fn, output.requires_grad = node, True
    state.grad = True


# errors other than Exception pass without restoring
@wrong("11.3", "SystemExit")
class no_grad:
    def __enter__(self):
        self.before, state.grad = state.grad, False

    def __exit__(self, *error):
        if error[0] is None or issubclass(error[0], Exception):
            state.grad = self.before


# variable names of the formula, local variables included
@wrong("11.4", "kept by sin")
def save(node, known):
    kept = {}
    for formula, (end, _) in zip(node.formulas.values(), node.next_functions, strict=False):
        if end is not None:
            for name in formula.__code__.co_varnames:
                if name in known:
                    kept[name] = known[name]
    return kept


# div_other swaps self and other
@wrong("11.5", "by position")
class Formulas:
    def neg_self(grad):
        return -grad

    def sub_other(grad):
        return -grad

    def div_self(grad, other):
        return grad / other

    def div_other(grad, other, self):
        return -grad * self / other**2

    def pow_self(grad, self, exponent):
        return grad * exponent * self ** (exponent - 1) if exponent else np.zeros_like(grad)


# an existing accumulator wins over requires_grad
@wrong("11.1")
def edge_or_leaf(tensor):
    if not isinstance(tensor, Tensor):
        return None, 0
    if tensor._accumulator is not None:
        return tensor._accumulator, 0
    if not tensor.requires_grad:
        return None, 0
    if tensor.grad_fn is not None:
        return tensor.grad_fn, 0
    tensor._accumulator = AccumulateGrad(tensor)
    return tensor._accumulator, 0


# forgets the node of a leaf that is frozen for a while
@wrong("11.1")
def edge_or_leaf(tensor):
    if not isinstance(tensor, Tensor):
        return None, 0
    if not tensor.requires_grad:
        tensor._accumulator = None
        return None, 0
    if tensor.grad_fn is not None:
        return tensor.grad_fn, 0
    if tensor._accumulator is None:
        tensor._accumulator = AccumulateGrad(tensor)
    return tensor._accumulator, 0


# keeps what the block switched on
@wrong("11.3")
class no_grad:
    def __enter__(self):
        self.earlier = state.grad
        state.grad = False

    def __exit__(self, *error):
        state.grad = state.grad or self.earlier


# knows exponent 0 as an int only
@wrong("11.5")
class Formulas:
    def neg_self(grad):
        return -grad

    def sub_other(grad):
        return -grad

    def div_self(grad, other):
        return grad / other

    def div_other(grad, self, other):
        return -grad * self / other**2

    def pow_self(grad, self, exponent):
        if isinstance(exponent, int) and exponent == 0:
            return np.zeros_like(grad)
        return grad * exponent * self ** (exponent - 1)


# undoes the broadcast of other
@wrong("11.5")
class Formulas:
    def neg_self(grad):
        return -grad

    def sub_other(grad):
        return -grad

    def div_self(grad, other):
        return grad / other

    def div_other(grad, self, other):
        gradient = -grad * self / other**2
        while gradient.ndim > np.ndim(other):
            gradient = gradient.sum(axis=0)
        return gradient

    def pow_self(grad, self, exponent):
        if exponent == 0:
            return np.zeros_like(grad)
        return grad * exponent * self ** (exponent - 1)


# a partial object, which does not receive self in a class
@wrong("11.7")
def reflected(operations):
    def swapped(operation, self, other):
        return operation(other, self)

    return {name: functools.partial(swapped, operation) for name, operation in operations.items()}


# raises a new error of the same type
@wrong("11.3")
class no_grad:
    def __enter__(self):
        self.before = state.grad
        state.grad = False

    def __exit__(self, kind, error, traceback):
        state.grad = self.before
        if kind is not None:
            raise kind


# notes on the node what nobody asked for
@right("11.2")
def record(node, inputs, output):
    node.made_from = inputs
    edges = tuple(edge_or_leaf(each) for each in inputs)
    if state.grad and any(below is not None for below, _ in edges):
        node.next_functions, node.outputs = edges, ((output.shape, output.dtype),)
        output.grad_fn, output.requires_grad = node, True


# the number of the input, not of the output below
@wrong("11.2", "The number in an edge is wrong")
def record(node, inputs, output):
    edges = tuple((edge_or_leaf(each)[0], number) for number, each in enumerate(inputs))
    if state.grad and any(below is not None for below, _ in edges):
        node.next_functions, node.outputs = edges, ((output.shape, output.dtype),)
        output.grad_fn, output.requires_grad = node, True


# the dtype as text
@wrong("11.2", "no dtype: 'float64'")
def record(node, inputs, output):
    edges = tuple(edge_or_leaf(each) for each in inputs)
    if state.grad and any(below is not None for below, _ in edges):
        node.next_functions, node.outputs = edges, ((output.shape, str(output.dtype)),)
        output.grad_fn, output.requires_grad = node, True


# one formula returns a list
@wrong("11.5", "list")
class Formulas:
    neg_self = sub_other = lambda grad: -grad

    def div_self(grad, other):
        return grad / other

    def div_other(grad, self, other):
        return (-grad * self / other**2).tolist()

    def pow_self(grad, self, exponent):
        return grad * exponent * self ** (exponent - 1) if exponent else np.zeros_like(grad)
