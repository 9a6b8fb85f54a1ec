"""A small plot of lines, in plain Python and SVG: chapter 00 also runs where there is no matplotlib."""

import math

from .graph import number
from .picture import TEXT, Picture, label, svg, text_width

WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 340, 210, 46, 26, 34  # px of the frame's inside, and of the space around it
CSS = (
    ".gl-frame{fill:var(--gl-paper);stroke:var(--gl-line);stroke-width:1}"
    ".gl-plot polyline{fill:none;stroke:var(--gl-done);stroke-width:2}"
    ".gl-plot polyline+polyline{stroke:var(--gl-now)}.gl-plot circle{fill:var(--gl-now)}"
    ".gl-plot .gl-zero{stroke:var(--gl-line);stroke-dasharray:4 3}"
)


def plot(*lines, title="", xlabel="", dots=(), ylim=None):
    """Draw lines, each a list of points (x, y), and dots in one frame. `ylim` is (lowest, highest) y."""
    points = [point for line in lines for point in line] + [*dots]
    xs, ys = zip(*points, strict=True)
    low, high = ylim or (min(ys), max(ys))
    left, right = min(xs), max(xs)

    def place(point):
        x, y = ((v - a) / ((b - a) or 1) for v, a, b in zip(point, (left, low), (right, high), strict=True))
        return LEFT + WIDTH * x, TOP + HEIGHT * (1 - y)

    body = [f'<rect class="gl-frame" x="{LEFT}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}"/>']
    if low < 0 < high:
        zero = round(place((left, 0))[1], 1)
        body.append(f'<line class="gl-zero" x1="{LEFT}" x2="{LEFT + WIDTH}" y1="{zero}" y2="{zero}"/>')
    for line in lines:
        for run in _inside(line, low, high):
            body.append(f'<polyline points="{" ".join("{:.1f},{:.1f}".format(*place(point)) for point in run)}"/>')
    body += ['<circle cx="{:.1f}" cy="{:.1f}" r="4"/>'.format(*place(dot)) for dot in dots]
    for y, value in ((TOP + 8, high), (TOP + HEIGHT, low)):
        body.append(label(LEFT - 6, y, number(value), "gl-note", "end"))
    for x, value in ((LEFT, left), (LEFT + WIDTH, right)):
        body.append(label(x, TOP + HEIGHT + 16, number(value), "gl-note"))
    body += [label(LEFT + WIDTH // 2, TOP + HEIGHT + 16, xlabel, "gl-note"), label(LEFT, 16, title, "gl-t", "start")]
    width = max(LEFT + WIDTH + 20, LEFT + text_width(title, TEXT + 1, True) + 6)
    image = svg(width, TOP + HEIGHT + BOTTOM, "".join(body), title, CSS, "gl-plot")
    return Picture(image, title, title)


def _inside(line, low, high):
    """Return the pieces of a line whose points lie within the frame."""
    pieces = [[]]
    for point in line:
        if math.isfinite(point[1]) and low <= point[1] <= high:
            pieces[-1].append(point)
        elif pieces[-1]:
            pieces.append([])
    return [piece for piece in pieces if len(piece) > 1]
