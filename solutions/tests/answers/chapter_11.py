"""Answers to the exercises of chapter 11 that have found something in a check."""


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
@wrong("11.3", "after the inner of the two")
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
@wrong("11.7", "other functions")
def reflected(operations):
    heart = {"__rsub__": lambda x, n: n - x, "__rtruediv__": lambda x, n: n / x, "__rpow__": lambda x, n: n**x}
    return {name: heart[name] for name in operations}
