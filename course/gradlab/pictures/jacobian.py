"""Sliders for the external gradient v: how v weights the rows of a small function's Jacobian."""

from ..words import _
from .cells import CELL_H, cell_width, largest, table
from .graph import number
from .naming import is_tensor
from .picture import Picture, PictureError, element_names, label, script, static, svg, text_width

MOST = 8  # maximum number of inputs, and of outputs


def vjp(f, x, v=None):
    """Show the Jacobian J of f at x and a slider for each element of v; the row below is vᵀJ, which backward computes.

    `f` maps one tensor to one tensor of up to 8 elements; `x` has up to 8. The sliders start at `v`, a list with one
    number per output; by default, 1 for the first output and 0 for the others. `x` itself is not changed.

    >>> vjp(lambda x: torch.stack([x[0] * x[1], x.sum()]), torch.tensor([2., 3.]), v=[1., 0.5])
    Jacobian of 2 outputs and 2 inputs beside v; below it vᵀJ.
    y[0]: v = 1, row [3, 2]
    y[1]: v = 0.5, row [1, 1]
    vᵀJ = [3.5, 2.5]
    """
    rows, shape_y = jacobian(f, x)
    return Sliders(rows, _start(v, len(rows)), element_names("y", shape_y), element_names("x", x.shape))


def jacobian(f, x):
    """Return the Jacobian as rows of numbers, each from a backward pass with a one-hot v, and the shape of f(x)."""
    if not callable(f) or not is_tensor(x):
        types = {"f": type(f).__name__, "x": type(x).__name__}
        raise PictureError(_("vjp() needs a function and a tensor, but was given a {f} and a {x}.", **types))
    leaf = x.detach().clone().requires_grad_()
    y = f(leaf)
    if not is_tensor(y):
        raise PictureError(_("f(x) is a {type}: f must compute a tensor from x.", type=type(y).__name__))
    if y.grad_fn is None:
        raise PictureError(_("f(x) has no graph: f must compute it from x without detaching it."))
    n, m = leaf.reshape(-1).shape[0], y.reshape(-1).shape[0]
    if n > MOST or m > MOST:
        parts = {"inputs": n, "outputs": m, "most": MOST}
        raise PictureError(_("x has {inputs} elements and f(x) has {outputs}; vjp() shows up to {most} each.", **parts))
    rows = []
    for k in range(m):
        one_hot = y.detach().clone()
        for i in range(m):
            one_hot.reshape(-1)[i] = float(i == k)
        leaf.grad = None
        y.backward(one_hot, retain_graph=True)
        rows.append([0.0] * n if leaf.grad is None else [float(leaf.grad.reshape(-1)[j].item()) for j in range(n)])
    return rows, tuple(y.shape)


def _start(v, m):
    if v is None:
        return [1.0] + [0.0] * (m - 1)
    flat = v.detach().reshape(-1).tolist() if is_tensor(v) else list(v)
    if len(flat) != m:
        raise PictureError(_("v has {given} elements, but f(x) has {count}.", given=len(flat), count=m))
    return [float(value) for value in flat]


def product(v, rows):
    """Return vᵀJ as a list."""
    return [sum(a * row[j] for a, row in zip(v, rows, strict=True)) for j in range(len(rows[0]))]


class Sliders(Picture):
    """The Jacobian `rows`, the external gradient `v` at which sliders start, and the names of outputs and inputs."""

    def __init__(self, rows, v, outputs, inputs):
        self.rows, self.v, self.outputs, self.inputs = rows, v, outputs, inputs
        result = product(v, rows)
        counts = {"outputs": len(rows), "inputs": len(inputs)}
        alt = _("Jacobian of {outputs} outputs and {inputs} inputs beside v; below it vᵀJ.", **counts)
        lines = [alt]
        for name, weight, row in zip(outputs, v, rows, strict=True):
            # Translators: a row of the Jacobian, which belongs to {output}, and its element of v
            lines.append(_("{output}: v = {number}, row {row}", output=name, number=number(weight), row=_list(row)))
        lines.append(f"vᵀJ = {_list(result)}")
        super().__init__(_draw(rows, v, result, outputs, inputs, alt), "\n".join(lines), alt)

    def html(self):
        most = max(largest(self.rows), 1e-12)
        words = {
            "panel": _("external gradient v"),
            "sliders": [_("v for {output}", output=name) for name in self.outputs],
            # Translators: a button that sets v to 1 for {output}, to 0 for the others
            "only": [_("only {output}", output=name) for name in self.outputs],
            # Translators: a button that sets every element of v to 1
            "ones": _("all ones"),
        }
        data = {"rows": self.rows, "v": self.v, "outputs": self.outputs, "most": most, "words": words}
        data["css"] = static("sliders.css")
        return f'<div class="gl-vjp">{self.image()}{script("vjp.js", data)}</div>'


def _list(values):
    return f"[{', '.join(number(value) for value in values)}]"


def _draw(rows, v, result, outputs, inputs, alt):
    """Return an SVG that shows, from left to right, the outputs' names, v and J, and the product below J."""
    reach = [[-2 * len(rows) * largest(rows), -1.25]]  # the largest values the sliders can reach
    w = max(cell_width(rows, [v], [result], reach), *(text_width(name) + 10 for name in inputs))
    most = largest(rows)
    x0 = 10 + max(text_width(name) for name in [*outputs, "vᵀJ"])
    x1, top = x0 + w + 34, 40
    x, bottom = x1 + len(inputs) * w // 2, top + len(rows) * CELL_H + 34
    body = [label(x0 + w // 2, 14, "v", "gl-t gl-note"), label(x, 14, _("Jacobian J"), "gl-t gl-note")]
    body += [label(x1 + j * w + w // 2, 33, name, "gl-note") for j, name in enumerate(inputs)]
    body += [label(x0 - 8, top + i * CELL_H + 16, name, "gl-note", "end") for i, name in enumerate(outputs)]
    body += [
        label(x1 - 8, bottom + 16, "vᵀJ", "gl-t gl-note", "end"),
        label(x0 + w + 17, top + len(rows) * CELL_H // 2 + 4, "×", "gl-t gl-note"),
        table(x0, top, [[a] for a in v], w, 2, "v"),
        table(x1, top, rows, w, most, "J"),
        table(x1, bottom, [result], w, most, "p"),
        f'<path class="gl-sum" d="M{x} {bottom - 27}v18"/><path class="gl-tip" d="M{x} {bottom - 4}l-4 -7h8z"/>',
    ]
    css = static("cells.css") + static("vjp.css")
    return svg(x1 + len(inputs) * w + 6, bottom + CELL_H + 6, "".join(body), alt, css)
