"""Gradient formulas of common nodes: for each input, what the node returns, in torch's own names.

`g` is the incoming gradient; other names are the node's saved values; `shape` and `numel` belong to the input. If an
input was broadcast, the result is then summed to the input's shape.
"""

RULES = {
    "AddBackward0": ("g", "g"),
    "SubBackward0": ("g", "-g"),
    "RsubBackward1": ("-g",),
    "NegBackward0": ("-g",),
    "MulBackward0": ("g * other", "g * self"),
    "DivBackward0": ("g / other", "-g * self / other**2"),
    "PowBackward0": ("g * exponent * self**(exponent - 1)",),
    "ExpBackward0": ("g * result",),
    "LogBackward0": ("g / self",),
    "SqrtBackward0": ("g / (2 * result)",),
    "SinBackward0": ("g * cos(self)",),
    "CosBackward0": ("-g * sin(self)",),
    "AbsBackward0": ("g * sign(self)",),
    "TanhBackward0": ("g * (1 - result**2)",),
    "SigmoidBackward0": ("g * result * (1 - result)",),
    "ReluBackward0": ("g * (result > 0)",),
    "LogSoftmaxBackward0": ("g - exp(result) * g.sum(dim, keepdim=True)",),
    "SoftmaxBackward0": ("result * (g - (g * result).sum(dim, keepdim=True))",),
    "SumBackward0": ("g.expand(shape)",),
    "MeanBackward0": ("g.expand(shape) / numel",),
    "DotBackward0": ("g * tensor", "g * self"),
    "MvBackward0": ("outer(g, vec)", "self.T @ g"),
    "MmBackward0": ("g @ mat2.T", "self.T @ g"),
    "AddmmBackward0": ("g", "g @ mat2.T", "mat1.T @ g"),
    "TBackward0": ("g.T",),
    "CloneBackward0": ("g",),
    "ViewBackward0": ("g.reshape(shape)",),
    "UnsafeViewBackward0": ("g.reshape(shape)",),
    "SqueezeBackward1": ("g.reshape(shape)",),
    "UnsqueezeBackward0": ("g.reshape(shape)",),
}


def formula(fn, slot):
    """Return the formula of the gradient that node `fn` returns for input `slot`, or "" if the table has none."""
    factors = (getattr(fn, "_saved_alpha", 1), getattr(fn, "_saved_beta", 1))
    rules = RULES.get(fn.name(), ()) if factors == (1, 1) else ()
    return rules[slot] if slot < len(rules) else ""
