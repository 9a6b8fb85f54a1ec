"""Place boxes in layers and route the edges between them. Input and output are plain numbers.

The four classical steps of Sugiyama, Tagawa and Toda (1981): layers by longest path, long edges cut by dummies,
crossings reduced by barycenters, and x-coordinates that bring each box near its neighbors and keep boxes apart.
"""

from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import accumulate, pairwise

GAP_X = 26  # px between two boxes in a layer
GAP_Y = 34  # px between two layers, more if an edge goes far sideways
LANE = 10  # px reserved for an edge that passes through a layer
PORT = 18  # px between two edges that leave or enter one box
SWEEPS = 13  # over the rows, down and up by turns; the last goes down


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in px; x and y are its top left corner."""

    x: int
    y: int
    w: int
    h: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes, and for every edge the points on its route; it passes each of them vertically."""

    boxes: list[Box]
    routes: list[list[tuple[int, int]]]
    width: int
    height: int


def layout(sizes, edges):
    """Lay out a directed acyclic graph from top to bottom.

    `sizes` holds (width, height) in px for each node, `edges` pairs of node indices, source above target; parallel
    edges are allowed. The same input gives the same output.
    """
    if not sizes:
        return Layout([], [], 0, 0)
    n = len(sizes)
    layer = _longest_path(n, edges)
    rows, chains, up, down = _with_dummies(n, edges, layer)
    rows = _order(rows, up, down)
    width = {v: sizes[v][0] if v < n else LANE for row in rows for v in row}
    centre = _coordinates(rows, up, down, width)
    return _place(sizes, edges, layer, rows, chains, centre)


def turned(plan):
    """Return a layout from top to bottom, made for boxes with width and height swapped, as one from right to left."""
    boxes = [Box(plan.height - box.y - box.h, box.x, box.h, box.w) for box in plan.boxes]
    routes = [[(plan.height - y, x) for x, y in route] for route in plan.routes]
    return Layout(boxes, routes, plan.height, plan.width)


def _longest_path(n, edges):
    """Return the layer of each node: one below the lowest node that points to it."""
    above, layer = {v: [] for v in range(n)}, [0] * n
    for u, v in edges:
        above[v].append(u)
    for v in TopologicalSorter(above).static_order():
        layer[v] = max((layer[u] + 1 for u in above[v]), default=0)
    return layer


def _with_dummies(n, edges, layer):
    """Return rows of nodes, each edge as a chain of nodes, and each node's neighbors above and below.

    An edge over several layers gets a dummy node (numbered from n) in each layer it crosses.
    """
    rows = [[] for _ in range(max(layer) + 1)]
    for v in range(n):
        rows[layer[v]].append(v)
    chains, extra = [], n
    up, down = {v: [] for v in range(n)}, {v: [] for v in range(n)}
    for u, v in edges:
        chain = [u]
        for r in range(layer[u] + 1, layer[v]):
            rows[r].append(extra)
            up[extra], down[extra] = [], []
            chain.append(extra)
            extra += 1
        chain.append(v)
        chains.append(chain)
        for a, b in pairwise(chain):
            down[a].append(b)
            up[b].append(a)
    return rows, chains, up, down


def _crossings(rows, position, down):
    total = 0
    for row in rows[:-1]:
        ends = [sorted(position[b] for b in down[a]) for a in row]
        seen = []
        for mine in ends:
            total += sum(s > t for s in seen for t in mine)
            seen += mine
    return total


def _order(rows, up, down, sweeps=12):
    """Return the rows with fewer crossings: sort by the mean position of neighbors above, then below; keep the best."""
    rows = [row[:] for row in rows]
    position = {v: k for row in rows for k, v in enumerate(row)}
    best, fewest = [row[:] for row in rows], _crossings(rows, position, down)
    for sweep in range(sweeps):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        near = up if downwards else down
        for row in rows[1:] if downwards else rows[-2::-1]:
            row.sort(key=lambda v: sum(position[w] for w in near[v]) / len(near[v]) if near[v] else position[v])
            position.update((v, k) for k, v in enumerate(row))
        crossings = _crossings(rows, position, down)
        if crossings < fewest:
            best, fewest = [row[:] for row in rows], crossings
    return best


def _coordinates(rows, up, down, width):
    """Return the x-coordinate of each node's center: near its neighbors, by turns those above and those below.

    A node without successors gives way, so that the edge to its neighbor in the row can stay straight.
    """
    goes_on = {v for v, below in down.items() if below}
    through = {v: [w for w in below if w in goes_on] or below for v, below in down.items()}
    x = dict.fromkeys(width, 0.0)
    for sweep in range(SWEEPS):
        near, some = (up, rows) if sweep % 2 == 0 else (through, rows[::-1])
        for row in some:
            wanted = [sum(x[w] for w in near[v]) / len(near[v]) if near[v] else x[v] for v in row]
            gaps = [(width[v] + width[w]) / 2 + GAP_X for v, w in pairwise(row)]
            x.update(zip(row, _apart(wanted, gaps, [1.0 if v in goes_on else 0.01 for v in row]), strict=True))
    origin = min(x[v] - width[v] / 2 for v in width)
    return {v: round(x[v] - origin) for v in width}


def _apart(wanted, gaps, weights=None):
    """Return places as close as possible to the wanted ones, by weighted squares, with at least `gaps` between them.

    Those that want the same place form a block, which stands at their mean place (pool adjacent violators).
    """
    offsets = [*accumulate(gaps, initial=0.0)]
    blocks = []  # (weighted mean, weight, number of boxes)
    for place, offset, weight in zip(wanted, offsets, weights or [1.0] * len(wanted), strict=True):
        block = place - offset, weight, 1
        while blocks and blocks[-1][0] >= block[0]:
            mean, heavy, count = blocks.pop()
            both = heavy + block[1]
            block = (mean * heavy + block[0] * block[1]) / both, both, count + block[2]
        blocks.append(block)
    places = [mean for mean, _weight, count in blocks for _ in range(count)]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


def _place(sizes, edges, layer, rows, chains, centre):
    """Return the layout: centers become boxes, and edges become routes of points."""
    n = len(sizes)
    leave, enter = _ports(sizes, chains, centre)
    height = [max(sizes[v][1] if v < n else 0 for v in row) for row in rows]
    reach = [0] * len(rows)
    for k, chain in enumerate(chains):
        xs = [leave[k], *(centre[v] for v in chain[1:-1]), enter[k]]
        for i, (a, b) in enumerate(pairwise(xs)):
            r = layer[chain[0]] + i
            reach[r] = max(reach[r], abs(a - b))
    top, y = [], 0
    for r in range(len(rows)):
        top.append(y)
        y += height[r] + GAP_Y + min(36, reach[r] // 10)
    boxes = [Box(centre[v] - w // 2, top[layer[v]], w, h) for v, (w, h) in enumerate(sizes)]
    routes = []
    for k, (u, v) in enumerate(edges):
        points = [(leave[k], boxes[u].y + boxes[u].h), (leave[k], top[layer[u]] + height[layer[u]])]
        for i, dummy in enumerate(chains[k][1:-1], start=layer[u] + 1):
            points += [(centre[dummy], top[i]), (centre[dummy], top[i] + height[i])]
        points.append((enter[k], boxes[v].y))
        routes.append([p for i, p in enumerate(points) if not i or p != points[i - 1]])
    right = max((x for route in routes for x, _ in route), default=0)  # an edge may pass to the right of all boxes
    return Layout(boxes, routes, max(right, *(b.x + b.w for b in boxes)), max(b.y + b.h for b in boxes))


def _ports(sizes, chains, centre):
    """Return where each edge leaves its source and enters its target: straight if the edges beside it allow it."""
    sources, targets = [chain[0] for chain in chains], [chain[-1] for chain in chains]
    enter = _spread(sizes, centre, targets, [centre[chain[-2]] for chain in chains])
    for k, chain in enumerate(chains):  # there is room beside a lane
        centre.update((dummy, enter[k]) for dummy in chain[1:-1] if abs(enter[k] - centre[dummy]) <= LANE)
    leave = _spread(sizes, centre, sources, [centre[chain[1]] for chain in chains])
    before = [centre[chain[-2]] if len(chain) > 2 else leave[k] for k, chain in enumerate(chains)]
    return leave, _spread(sizes, centre, targets, before)


def _spread(sizes, centre, boxes, wanted):
    """Return the x of each edge's end at its box, as close as possible to the wanted one."""
    ends, at = {}, {}
    for k, box in enumerate(boxes):
        ends.setdefault(box, []).append(k)
    for box, ks in ends.items():
        ks.sort(key=lambda k: (wanted[k], k))
        room = sizes[box][0] / 2 - 12
        gap = min(PORT, 2 * room / len(ks))
        low, high = centre[box] - room, centre[box] + room - gap * (len(ks) - 1)
        inside = [min(max(wanted[k] - i * gap, low), high) + i * gap for i, k in enumerate(ks)]
        at.update(zip(ks, map(round, _apart(inside, [gap] * (len(ks) - 1))), strict=True))
    return at
