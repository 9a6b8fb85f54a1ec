"""Arrays as tables of colored cells: blue above zero, orange below; a larger magnitude has a stronger color."""

from math import isfinite

from .graph import number
from .picture import text_width

CELL_H = 24  # height in px of a cell with a number in it
TILE = 9  # side in px of a cell without one


def strength(value, most):
    """Return the opacity of a cell's color, from 0 to 0.75."""
    if not isfinite(value):
        return 0.75
    return round(0.75 * min(1, abs(value) / most), 3) if most else 0


def largest(rows):
    """Return the largest finite magnitude in rows of numbers."""
    return max((abs(v) for row in rows for v in row if isfinite(v)), default=0)


def cell_width(*tables):
    """Return the width in px that fits every number in the tables and keeps neighbors apart even in a wider font."""
    return max([40, *(round(1.15 * text_width(number(v))) + 14 for rows in tables for row in rows for v in row)])


def table(x, y, rows, w, most, key="", marked=lambda i, j: False, shown=number):
    """Return the SVG of a table at (x, y); `key` marks its cells for a script; `shown` formats a number."""
    parts = [_ground(x, y, len(max(rows, key=len, default=[])) * w, len(rows) * CELL_H)]
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            left, top = x + j * w, y + i * CELL_H
            size = f'x="{left}" y="{top}" width="{w}" height="{CELL_H}"'
            css = "gl-cell gl-marked" if marked(i, j) else "gl-cell"
            data = f' data-key="{key}{i},{j}"' if key else ""
            parts.append(
                f'<g class="{css}"{data}><rect class="{_sign(value)}" {size} fill-opacity="{strength(value, most)}"/>'
                f'<text x="{left + w // 2}" y="{top + CELL_H // 2 + 4}" text-anchor="middle">{shown(value)}</text></g>'
            )
    return "".join(parts)


def mosaic(x, y, rows, most, marked=lambda i, j: False):
    """Return the SVG of a table too large for numbers: colors only, in twelve steps, with one path per color."""
    paths = {}
    for i, row in enumerate(rows):
        for j, value in enumerate(row):
            at = f"M{x + j * TILE} {y + i * TILE}h{TILE}v{TILE}h-{TILE}z"
            level = round(12 * strength(value, most)) / 12
            if level:
                paths.setdefault(f'class="{_sign(value)}" fill-opacity="{level:.3g}"', []).append(at)
            if marked(i, j):
                paths.setdefault('class="gl-outline"', []).append(at)
    ground = _ground(x, y, len(max(rows, key=len, default=[])) * TILE, len(rows) * TILE)
    order = sorted(paths, key=lambda css: "outline" in css)
    return ground + "".join(f'<path {css} d="{"".join(paths[css])}"/>' for css in order)


def _ground(x, y, w, h):
    return f'<rect class="gl-ground" x="{x}" y="{y}" width="{w}" height="{h}"/>'


def _sign(value):
    return "gl-nan" if not isfinite(value) else "gl-neg" if value < 0 else "gl-pos"
