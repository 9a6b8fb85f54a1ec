"""Place boxes in layers and route the edges between them. Input and output are plain numbers.

The four classical steps of Sugiyama, Tagawa and Toda (1981): layers by longest path, long edges cut by dummies,
crossings reduced by barycenters, x-coordinates by Brandes and Köpf (2001). Their method aligns each node with a median
neighbor in four ways and averages the two middle results, which keeps long edges straight and boxes apart.
"""

from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise
from math import ceil, floor

GAP_X = 26  # px between two boxes in a layer
GAP_Y = 34  # px between two layers, more if an edge goes far sideways
LANE = 10  # px reserved for an edge that passes through a layer
PORT = 18  # px between two edges that leave or enter one box


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
    centre = _coordinates(rows, up, down, width, n, _side_edges(edges, chains))
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
        _swap_neighbours(rows, position, up, down)
        crossings = _crossings(rows, position, down)
        if crossings < fewest:
            best, fewest = [row[:] for row in rows], crossings
    return best


def _swap_neighbours(rows, position, up, down):
    """Exchange two neighbors wherever that alone removes crossings."""
    for row in rows:
        for k in range(len(row) - 1):
            a, b = row[k], row[k + 1]
            now = after = 0
            for near in (up, down):
                for x in near[a]:
                    for y in near[b]:
                        now += position[x] > position[y]
                        after += position[y] > position[x]
            if after < now:
                row[k], row[k + 1] = b, a
                position[a], position[b] = k + 1, k


def _conflicts(rows, up, n):
    """Return the edges that cross the inner part of a long edge: they may bend so that the long edge stays straight."""
    bad = set()
    for above, row in pairwise(rows):
        position = {v: k for k, v in enumerate(above)}
        left, start = 0, 0
        for k, v in enumerate(row):
            inner = next((w for w in up[v] if w >= n), None) if v >= n else None
            if inner is None and k < len(row) - 1:
                continue
            right = position[inner] if inner is not None else len(above)
            for w in row[start : k + 1]:
                bad.update((u, w) for u in up[w] if not left <= position[u] <= right and not (u >= n and w >= n))
            start, left = k + 1, right
    return bad


def _side_edges(edges, chains):
    """Return the first segment of each edge to a node without successors, unless its source has only such edges."""
    goes_on = {u for u, _ in edges}
    through = {u for u, v in edges if v in goes_on}
    return {(c[0], c[1]) for (u, v), c in zip(edges, chains, strict=True) if v not in goes_on and u in through}


def _coordinates(rows, up, down, width, n, side):
    """Return the x-coordinate of each node's center, by the method of Brandes and Köpf."""
    bad = _conflicts(rows, up, n)
    up = {v: [w for w in ws if (w, v) not in side] for v, ws in up.items()}
    down = {v: [w for w in ws if (v, w) not in side] for v, ws in down.items()}
    answers = []
    for near, vertical in ((up, rows), (down, rows[::-1])):
        for mirrored in (False, True):
            turned = [row[::-1] if mirrored else row for row in vertical]
            x = _compact(turned, _align(turned, near, bad), width)
            answers.append({v: -c for v, c in x.items()} if mirrored else x)

    def left(x):
        return min(c - width[v] / 2 for v, c in x.items())

    def right(x):
        return max(c + width[v] / 2 for v, c in x.items())

    narrow = min(answers, key=lambda x: right(x) - left(x))
    for k, x in enumerate(answers):
        shift = right(narrow) - right(x) if k % 2 else left(narrow) - left(x)
        answers[k] = {v: c + shift for v, c in x.items()}
    middle = {v: sum(sorted(x[v] for x in answers)[1:3]) / 2 for v in width}
    origin = left(middle)
    return {v: round(c - origin) for v, c in middle.items()}


def _align(rows, near, bad):
    """Chain each node to its median neighbor in the row before; return, for each node, the first node of its chain.

    All nodes of a chain get the same x coordinate.
    """
    root = {v: v for row in rows for v in row}
    tied = dict(root)
    position = {v: k for row in rows for k, v in enumerate(row)}
    for row in rows:
        last = -1
        for v in row:
            ws = sorted(near[v], key=position.__getitem__)
            middle = (len(ws) - 1) / 2
            for w in ws[floor(middle) : ceil(middle) + 1] if ws else ():
                if tied[v] == v and last < position[w] and (v, w) not in bad and (w, v) not in bad:
                    tied[w] = v
                    tied[v] = root[v] = root[w]
                    last = position[w]
    return root


def _compact(rows, root, width):
    """Return an x for each node: chains move left as far as the boxes allow, then back right if that shortens edges."""
    before, after = {}, {}
    for row in rows:
        for a, b in pairwise(row):
            apart = (width[a] + width[b]) / 2 + GAP_X
            key = root[a], root[b]
            before.setdefault(key[1], {})[key[0]] = max(apart, before.get(key[1], {}).get(key[0], 0))
            after.setdefault(key[0], {})[key[1]] = before[key[1]][key[0]]
    order, x = [*TopologicalSorter({v: before.get(v, ()) for v in root.values()}).static_order()], {}
    for v in order:
        x[v] = max((x[w] + apart for w, apart in before.get(v, {}).items()), default=0)
    for v in reversed(order):
        if after.get(v):
            x[v] = max(x[v], min(x[w] - apart for w, apart in after[v].items()))
    return {v: x[r] for v, r in root.items()}


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
    """Return where each edge leaves its source and enters its target: evenly spread, then moved to straighten edges."""
    leaving, entering = {}, {}
    for k, chain in enumerate(chains):
        leaving.setdefault(chain[0], []).append(k)
        entering.setdefault(chain[-1], []).append(k)
    leave = _spread(sizes, centre, leaving, [chain[1] for chain in chains])
    enter = _spread(sizes, centre, entering, [chain[-2] for chain in chains])

    def move(at, v, ks, k, x):
        i = ks.index(k)
        low = at[ks[i - 1]] + 2 * PORT // 3 if i else centre[v] - sizes[v][0] // 2 + 12
        high = at[ks[i + 1]] - 2 * PORT // 3 if i + 1 < len(ks) else centre[v] + sizes[v][0] // 2 - 12
        if low <= x <= high:
            at[k] = x
        return at[k] == x

    for k, chain in enumerate(chains):
        u, v = chain[0], chain[-1]
        if len(chain) > 2:
            lane = centre[chain[-2]]
            if not move(enter, v, entering[v], k, lane) and abs(enter[k] - lane) <= LANE:
                centre.update((d, enter[k]) for d in chain[1:-1] if centre[d] == lane)  # there is room beside a lane
            move(leave, u, leaving[u], k, centre[chain[1]])
        elif not move(leave, u, leaving[u], k, enter[k]):
            move(enter, v, entering[v], k, leave[k])
    return leave, enter


def _spread(sizes, centre, groups, neighbour):
    at = {}
    for v, ks in groups.items():
        ks.sort(key=lambda k: (centre[neighbour[k]], k))
        step = min(PORT, (sizes[v][0] - 16) / len(ks))
        for i, k in enumerate(ks):
            at[k] = round(centre[v] + (i - (len(ks) - 1) / 2) * step)
    return at
