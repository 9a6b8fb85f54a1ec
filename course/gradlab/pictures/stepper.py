"""The backward stepper: one backward pass as a picture to step through, play and drag.

Once shown, it needs no kernel: the output contains the SVG and the data of each node, and a script in the page
(static/step.js) moves the marks. If scripts cannot run, it shows the picture of the finished pass.
"""

from collections import Counter

from ..words import _, ngettext
from .drawing import picture
from .graph import describe, short
from .naming import callers_names, is_tensor
from .picture import Picture, script, static
from .recording import graph_to_step, record

NUMBERS = 4  # maximum number of elements shown of a gradient


def step(loss, gradient=None, retain_graph=False, names=None, outstanding=False):
    """Run `loss.backward()` once and show it step by step, in the order in which the engine ran the nodes.

    This is a real pass: leaves accumulate into `.grad`, and saved values are freed unless `retain_graph=True`.
    `gradient` is the external gradient, required if `loss` has several elements. `names` works as in `draw`.
    `outstanding=True` adds to each step how many gradients each node still waits for.

    >>> x = torch.tensor([1., 2.], requires_grad=True)
    >>> step((x * x).sum())
    Backward graph of SumBackward0: 2 operations, 1 leaf. Backward ran in 3 steps.
    1. SumBackward0: 1 arrives; sends g.expand(shape) = [1, 1] to MulBackward0.
    ...
    """
    names = callers_names(names)
    name = (names.of(loss) if is_tensor(loss) else "") or "loss"
    graph = graph_to_step(loss, gradient, name)
    describe(graph, names, values=True)  # before backward frees the values that the picture shows
    visits = record(loss, graph, gradient, retain_graph)
    for node in graph.nodes:
        node.fn = None  # the picture must not keep the graph alive
    return Stepper(graph, visits, name, outstanding)


class Stepper(Picture):
    """A recorded backward pass, which a notebook shows as a stepper. `graph` and `visits` are plain data."""

    def __init__(self, graph, visits, name, outstanding=False):
        self.graph, self.visits, self.name, self.outstanding = graph, visits, name, outstanding
        order = {visit.node: k for k, visit in enumerate(visits, start=1)}

        def extra(i, node):
            if i not in order:
                return []
            return [(_("step {number}: {gradient}", number=order[i], gradient=self._grad(order[i] - 1)), "gl-g")]

        kind = "gl-steps gl-frees" if any(visit.freed for visit in visits) else "gl-steps"
        about = graph, static("steps.css"), kind, extra, set(order)
        base, self._tall = picture(*about, across=True), picture(*about)
        ran = ngettext("Backward ran in {count} step.", "Backward ran in {count} steps.", len(visits))
        alt = f"{base.alt} {ran}"
        lines = [f"{k}. {_sentence(record)}" for k, record in enumerate(self.records(), start=1)]
        super().__init__(base.svg, "\n".join([alt, *lines]), alt)

    def _grad(self, k):
        visit = self.visits[k]
        if self.graph.nodes[visit.node].kind == "leaf":
            return f".grad {_text(visit.after)}"
        return "; ".join(_text(g) for g in visit.arrives)

    def records(self):
        """Return the data that the page shows for each step."""
        records = [_record(self.graph, visit) for visit in self.visits]
        if self.outstanding:
            for record, waits in zip(records, _outstanding(self.graph, self.visits), strict=True):
                record["outstanding"] = waits
        return records

    def html(self):
        data = {"words": self._words(), "steps": self.records(), "tall": self._tall.svg, "css": static("stepper.css")}
        says = _("Run this cell to step through.")
        note = f'<p class="gl-still"><em>{says}</em></p>'  # the script, if it runs, takes it away
        return f'<div class="gl-stepper">{self.image()}{note}{script("step.js", data)}</div>'

    def _words(self):
        """Return the words of static/step.js, which fills in {step}, {steps}, {title}, {number} and {node}."""
        return {
            # Translators: buttons of a stepper through the backward pass
            "start": _("Start"),
            "back": _("‹ Back"),
            "play": _("Play"),
            "pause": _("Pause"),
            "next": _("Next ›"),
            "stepper": _("backward stepper"),
            "slider": _("step of {name}.backward()", name=self.name),
            "at": _("step {step} of {steps}: {title}"),
            "before": _("Before backward"),
            "ran": ngettext(
                "{name}.backward() ran in {count} step. Step through it.",
                "{name}.backward() ran in {count} steps. Step through them.",
                len(self.visits),
                name=self.name,
            ),
            # Translators: labels beside numbers: the gradient that arrives at a node, that a node sends to {node}, …
            "arrives": _("arrives"),
            "output": _("arrives (output {number})"),
            "was": _(".grad was"),
            "is": _(".grad is now"),
            "saved": _("has saved"),
            "to": _("to {node}"),
            "frees": _("then frees"),
            "outstanding": _("outstanding"),
        }


def _text(tensor):
    return _("none") if tensor is None else short(tensor, NUMBERS)


def _title(node):
    if node.kind == "leaf":
        return f"{node.name} (AccumulateGrad)"
    return f"{node.op} ({node.name})" if node.name else node.op


def _record(graph, visit):
    node = graph.nodes[visit.node]
    record = {"node": visit.node, "title": _title(node), "leaf": node.kind == "leaf"}
    record["arrives"] = [_text(g) for g in visit.arrives]
    if node.kind == "leaf":
        record["before"] = "None" if visit.before is None else _text(visit.before)
        record["after"] = "None" if visit.after is None else _text(visit.after)
        return record
    sends = []
    for sent in visit.sends:
        to, formula, value = _title(graph.nodes[sent.target]), _product(visit, sent), _text(sent.gradient)
        sends.append({"to": to, "slot": sent.slot, "formula": formula, "value": value})
    saved = [f"{name} = {value}" for name, value in visit.saved]
    return record | {"saved": saved, "freed": visit.freed, "sends": sends}


def _outstanding(graph, visits):
    """Yield, after each visit, how many gradients each node that is not yet called still waits for."""
    counts = Counter(sent.target for visit in visits for sent in visit.sends)
    order = [visit.node for visit in visits]
    for k, visit in enumerate(visits, start=1):
        counts.subtract(sent.target for sent in visit.sends)
        # Translators: a node waits for 0 more gradients, so it is ready
        waiting = {i: str(counts[i]) if counts[i] else _("0 (ready)") for i in order[k:]}
        yield ", ".join(f"{graph.nodes[i].name or graph.nodes[i].op} {n}" for i, n in waiting.items()) or _("none")


def _product(visit, sent):
    """Return the formula for the gradient that a node sends, and a remark if backward sums over a broadcast."""
    if not sent.formula or sent.gradient is None or "expand" in sent.formula or "shape" in sent.formula:
        return sent.formula
    arrived = visit.arrives[0]
    elementwise = "@" not in sent.formula and ".T" not in sent.formula and "outer" not in sent.formula
    if elementwise and arrived is not None and tuple(arrived.shape) != tuple(sent.gradient.shape):
        return _("{formula}, summed to {shape}", formula=sent.formula, shape=tuple(sent.gradient.shape))
    return sent.formula


def _sentence(record):
    # Translators: these parts of a sentence about a node are joined by "; "
    parts = [_("{gradients} arrives", gradients=", ".join(record["arrives"]))]
    if record["leaf"]:
        parts.append(_(".grad was {before} and is now {after}", before=record["before"], after=record["after"]))
    else:
        sent = (_("{gradient} to {node}", gradient=_gradient(s), node=s["to"]) for s in record["sends"])
        parts.append(_("sends {gradients}", gradients="; ".join(sent)))
        if record["freed"]:
            parts.append(_("frees {values}", values=", ".join(record["freed"])))
    if "outstanding" in record:
        parts.append(_("outstanding: {gradients}", gradients=record["outstanding"]))
    return f"{record['title']}: {'; '.join(parts)}."


def _gradient(sent):
    return f"{sent['formula']} = {sent['value']}" if sent["formula"] else sent["value"]
