"""A timeline of hooks: which hooks fired when, with what shapes, in one forward and one backward pass."""

from collections import Counter
from contextlib import nullcontext
from itertools import groupby

from ..words import N_, _, ngettext
from .hooking import TENSOR_HOOKS, listening, registered, watching
from .naming import is_module, is_tensor
from .picture import PAGE, TEXT, TITLE, Picture, PictureError, label, static, svg, text_width, wrapped

ROW = 22  # px
LINE = 15  # extra px for a hook's second argument
LANE = 16  # px between the lines of two places
PHASE = 22  # px for the name of the phase, written vertically
HEADS = (N_("where"), N_("kind"), N_("hook"), N_("is given"))  # of the columns: a hook's place, kind, name, arguments


def hooks(model, *inputs, loss=None, watch=False):
    """Show which hooks of a model fire in one pass, in order, and which are registered.

    `hooks(model)` only lists the registered hooks: call it to check that none is left. With `inputs`, it runs
    `model(*inputs)` and a backward pass from `loss(output)`, by default from the output's sum. It is a real pass:
    gradients accumulate and running statistics change. `watch=True` adds a hook of each of the four kinds to every
    innermost module, for this pass only.

    >>> hooks(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), torch.ones(1, 2), watch=True)
    8 calls of hooks in one forward and one backward pass:
      1. forward 0 forward pre-hook watch input ((1, 2),)
    ...
    """
    if not is_module(model):
        raise PictureError(_("hooks() needs a model, then its inputs, not a {type}.", type=type(model).__name__))
    fired = run(model, inputs, loss, watch) if inputs else None
    return Timeline(fired, registered(model, inputs))


def run(model, inputs, loss=None, watch=False):
    """Run one pass and return the hooks' calls in order."""
    fired, phase = [], N_("forward")
    with watching(model) if watch else nullcontext(), listening(registered(model, inputs), fired, lambda: phase):
        output = model(*inputs)
        value = loss(output) if loss is not None else output
        if not is_tensor(value) or value.grad_fn is None:
            raise PictureError(_("Nothing to run backward from: pass loss=, a function of the model's output."))
        phase = N_("backward")
        value.sum().backward()
    return fired


class Timeline(Picture):
    """`fired` lists the calls in order (None if nothing was run), `registered` the hooks that remain."""

    def __init__(self, fired, left):
        self.fired, self.registered = fired, left
        lines = self.fired_lines() + self.registered_lines()
        alt = " ".join(self.fired_lines()[:1] + self.registered_lines()[:1])
        super().__init__(_draw(fired or [], self, alt), "\n".join(lines), alt)

    def fired_lines(self):
        if self.fired is None:
            return []
        if not self.fired:
            return [
                _("No hook fired: none is registered. Register some, or pass watch=True to see where they would fire.")
            ]
        head = ngettext(
            "{count} call of hooks in one forward and one backward pass:",
            "{count} calls of hooks in one forward and one backward pass:",
            len(self.fired),
        )
        return [head, *(f"{k:3}. {' '.join(_cells(e))}" for k, e in enumerate(self.fired, start=1))]

    def registered_lines(self):
        if not self.registered:
            return [_("No hook is registered now.")]
        at_places: dict[str, Counter[str]] = {}
        for hook in self.registered:
            at_places.setdefault(hook.place, Counter())[f"{_(hook.kind)} {hook.name}"] += 1
        count = len(self.registered)
        head = ngettext("{count} hook is registered now:", "{count} hooks are registered now:", count)
        lines = (f"  - {at}: {', '.join(map(_times, hooks, hooks.values()))}" for at, hooks in at_places.items())
        return [head, *lines]


def _times(text, count):
    return _("{hook} ({count} times)", hook=text, count=count) if count > 1 else text


def _cells(event):
    return [_(event.phase), event.place, _(event.kind), event.name, ", ".join(_given(event))]


def _given(event):
    return [f"{word} {shape}" for word, shape in event.shapes]


def _draw(fired, timeline, alt):
    """Return an SVG of the calls: time runs downward, each place has a column, and a path connects the calls.

    Each argument of a hook has a line, so that the picture fits into a small window.
    """
    lanes = list(dict.fromkeys(e.place for e in fired))
    column = PHASE + LANE * len(lanes) + 8
    rows = [([e.place], [_(e.kind)], [e.name], _given(e)) for e in fired]
    titles = [_(title) for title in HEADS]
    widths = [
        max([text_width(t, TITLE, bold=True), *(text_width(line) for row in rows for line in row[k])]) + 16
        for k, t in enumerate(titles)
    ]
    starts = [column + sum(widths[:k]) for k in range(4)]
    heights = [ROW + LINE * (len(row[-1]) - 1) for row in rows]
    tops = [30 + sum(heights[:k]) for k in range(len(rows) + 1)]
    body = []
    for phase, run in groupby(range(len(fired)), lambda k: fired[k].phase):
        calls = [*run]
        y, h = tops[calls[0]], tops[calls[-1] + 1] - tops[calls[0]]
        body.append(f'<rect class="gl-{phase}" x="0" y="{y}" width="{sum(widths) + column}" height="{h}"/>')
        if h > text_width(_(phase)):
            upwards = label(0, 0, _(phase), "gl-note")
            body.append(f'<g transform="translate(14 {y + h // 2}) rotate(-90)">{upwards}</g>')
    x = {place: PHASE + LANE * k + LANE // 2 for k, place in enumerate(lanes)}
    body += [f'<path class="gl-lane" d="M{x[p]} {tops[0]}V{tops[-1]}"/>' for p in lanes]
    points = [(x[e.place], top + height // 2) for e, top, height in zip(fired, tops, heights, strict=False)]
    if points:
        body.append(f'<path class="gl-way" d="M{"L".join(f"{a} {b}" for a, b in points)}"/>')
    for (a, b), event, row in zip(points, fired, rows, strict=True):
        css = "gl-pre" if "pre-hook" in event.kind else "gl-ten" if event.kind in TENSOR_HOOKS.values() else ""
        body.append(f'<g class="gl-event {css}"><circle cx="{a}" cy="{b}" r="5"/>')
        for k, (start, lines) in enumerate(zip(starts, row, strict=True)):
            above = LINE * (len(lines) - 1) // 2
            css, y = "gl-v" if k == 2 else "", b + 4 - above
            body += [label(start, y + LINE * n, line, css, "start") for n, line in enumerate(lines)]
        body.append("</g>")
    heads = [label(s, 18, t, "gl-t gl-note", "start") for s, t in zip(starts, titles, strict=True)]
    lines = [*([] if fired else timeline.fired_lines()), *timeline.registered_lines()]
    notes = [part for line in lines for part in wrapped(line.strip())]
    first = tops[-1] + 22 if fired else 18
    body += [label(4, first + 18 * k, line, "gl-v", "start") for k, line in enumerate(notes)]
    width = max([sum(widths) + column if fired else 0, *(text_width(n) + 12 for n in notes)])
    height = first + 18 * len(notes) - 6
    drawn = "".join([*(heads if fired else []), *body])
    return svg(width, height, drawn, alt, static("timeline.css"), "gl-timeline", beside=PAGE if fired else TEXT)
