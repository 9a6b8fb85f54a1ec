"""A function of two numbers as a map, in plain Python and SVG: chapter 00 also runs where there is no matplotlib."""

import html
import json

from ..words import _
from .cells import TILE, mosaic
from .picture import TEXT, Picture, label, static, svg, text_width

SIDE, TOP, MARGIN = 28, 26, 6  # tiles along a side; px above the map, and around it
CSS = ".gl-plane circle{stroke:var(--gl-ink);stroke-width:2}"


def plane(function, points, title="", reach=1.5):
    """Draw `function` as colors, blue above 0 and orange below, and the points on it, colored by what they should be.

    points: the wanted values by place, {(1, -1): 1}. The map reaches from -reach to reach in both directions. The
    picture contains the numbers, in hundredths, for a page that draws them on a canvas.
    """
    side = SIDE * TILE

    def at(k):
        return reach * ((2 * k + 1) / SIDE - 1)

    rows = [[function(at(column), -at(row)) for column in range(SIDE)] for row in range(SIDE)]
    numbers = {
        "rows": [[round(100 * max(-1, min(1, value))) for value in row] for row in rows],
        "points": [[x / reach, y / reach, wanted] for (x, y), wanted in points.items()],
    }
    body = [f'<g data-plane="{html.escape(json.dumps(numbers, separators=(",", ":")))}"/>']
    body += [label(MARGIN, 16, title, "gl-t", "start"), mosaic(MARGIN, TOP, rows, 1)]
    for (x, y), wanted in points.items():
        center = f'cx="{MARGIN + side * (1 + x / reach) / 2:.1f}" cy="{TOP + side * (1 - y / reach) / 2:.1f}"'
        body.append(f'<circle class="{"gl-pos" if wanted > 0 else "gl-neg"}" {center} r="8"/>')
    width = max(side + 2 * MARGIN, text_width(title, TEXT + 1, True) + 2 * MARGIN)
    right = sum((function(*point) > 0) == (wanted > 0) for point, wanted in points.items())
    words = _("Points on their own color: {right} of {total}.", right=right, total=len(points))
    alt = f"{title}. {words}"
    image = svg(width, TOP + side + MARGIN, "".join(body), alt, static("cells.css") + CSS, "gl-plane")
    return Picture(image, alt, alt)
