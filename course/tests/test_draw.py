"""Drawn graphs show the right contents and are readable: separate boxes, edges that meet them, text inside."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
import torch
from graphs import GRAPHS, all_nodes
from torch import nn

import gradlab
from gradlab.pictures.drawing import draw
from gradlab.pictures.picture import TEXT, TITLE, PictureError, text_width

SVG = "{http://www.w3.org/2000/svg}"


def drawn(name, **options):
    roots, names = GRAPHS[name]()
    return draw(*roots, names=names, **options)


def parts(picture):
    """The boxes as {node: (x, y, w, h, [(text, x, y, width)])}, and the edges as (from, to, [points])."""
    boxes, edges = {}, []
    for g in ET.fromstring(picture.svg).iter(f"{SVG}g"):
        if "data-node" in g.attrib:
            rect = g.find(f"{SVG}rect")
            texts = [
                (t.text, *(float(t.get(a)) for a in ("x", "y", "textLength")), t.get("class"))
                for t in g.findall(f"{SVG}text")
            ]
            boxes[int(g.get("data-node"))] = (*(float(rect.get(a)) for a in ("x", "y", "width", "height")), texts)
        elif "data-from" in g.attrib:
            line, *head = g.findall(f"{SVG}path")
            points = path_points(line.get("d"))
            if head:
                tip = re.match(r"M(-?\d+) (-?\d+)", head[0].get("d"))
                points.append((float(tip[1]), float(tip[2])))
            edges.append((int(g.get("data-from")), int(g.get("data-to")), points))
    return boxes, edges


def path_points(d):
    """The ends of the pieces of a path of M, V and C commands; each piece stays in the rectangle between its ends."""
    points = []
    for command, text in re.findall(r"([MVC])([^MVC]*)", d):
        *_, y = numbers = [float(n) for n in text.split()]
        points.append((points[-1][0] if command == "V" else numbers[-2], y))
    return points


def assert_readable(picture):
    boxes, edges = parts(picture)
    assert boxes
    places = list(boxes.items())
    for i, (a, (ax, ay, aw, ah, texts)) in enumerate(places):
        for b, (bx, by, bw, bh, _) in places[i + 1 :]:
            assert ax + aw <= bx or bx + bw <= ax or ay + ah <= by or by + bh <= ay, f"boxes {a} and {b} overlap"
        for text, x, y, width, css in texts:
            assert width >= text_width(text, TITLE if css == "gl-t" else TEXT) * 0.99, f"{text!r} is squeezed"
            assert ax + 4 <= x - width / 2, f"{text!r} sticks out of its box"
            assert x + width / 2 <= ax + aw - 4, f"{text!r} sticks out of its box"
            assert ay + 10 <= y <= ay + ah - 4, f"{text!r} sticks out of its box"
        rows = [y for _, _, y, _, _ in texts]
        assert all(later - y >= 14 for y, later in pairwise(rows)), "two lines of text overlap"
    for node in boxes:
        for ends in ([p[0][0] for s, _, p in edges if s == node], [p[-1][0] for _, t, p in edges if t == node]):
            assert all(b - a >= 8 for a, b in pairwise(sorted(ends))), "two edges meet at one point of a box"
    for source, target, points in edges:
        (sx, sy, sw, sh, _), (tx, ty, tw, _, _) = boxes[source], boxes[target]
        assert points[0][1] == sy + sh, "the edge starts at its box's lower side"
        assert sx < points[0][0] < sx + sw
        assert points[-1][1] == ty, "the edge ends at its box's upper side"
        assert tx < points[-1][0] < tx + tw
        heights = [y for _, y in points]
        assert heights == sorted(heights), "the edge only goes down"
        for node, (x, y, w, h, _) in boxes.items():
            if node not in (source, target):
                for (ax, ay), (bx, by) in pairwise(points):
                    beside = max(ax, bx) <= x or min(ax, bx) >= x + w or by <= y or ay >= y + h
                    assert beside, f"the edge {source} -> {target} runs through box {node}"


@pytest.mark.parametrize("name", GRAPHS)
def test_boxes_edges_and_text_stay_apart(name):
    """No two boxes overlap, no text leaves its box, every edge runs from its box to its box and through no other."""
    assert_readable(drawn(name))
    assert_readable(drawn(name, values=True))


@pytest.mark.parametrize("name", GRAPHS)
def test_the_picture_shows_torchs_graph(name):
    """Every node and edge of torch's graph is drawn once, and nothing else but frozen tensors."""
    roots, names = GRAPHS[name]()
    boxes, edges = parts(draw(*roots, names=names))
    nodes = all_nodes(*roots)
    links = sum(child is not None for fn in nodes for child, _ in fn.next_functions)
    called = [fn.name().split("::")[-1] for fn in nodes]
    svg = ET.fromstring(draw(*roots, names=names).svg)
    kinds = [g.get("class") for g in svg.iter(f"{SVG}g")]
    titles = [texts[0][0] for *_, texts in boxes.values()]
    operations = [n for n in called if n != "AccumulateGrad"]
    assert sorted(t for t in titles if t in operations) == sorted(operations)
    assert sum("gl-leaf" in (k or "") for k in kinds) == called.count("AccumulateGrad")
    assert sum(k == "gl-e" for k in kinds) == links
    assert len(edges) == sum((k or "").startswith("gl-e") for k in kinds)


def test_variables_of_the_caller_name_the_boxes():
    """Local variables, items of lists and parameters of models are found without being passed."""
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    biases = [torch.tensor(0.5, requires_grad=True)]
    layer = nn.Linear(2, 1)
    hidden = weight * 2 + biases[0]
    text = draw(layer(hidden).sum()).text
    for name in ("weight (2,) leaf", "biases[0] () leaf", "hidden = AddBackward0 (2,)", "layer.bias (1,) leaf"):
        assert name in text


def test_names_can_be_given():
    """Given names win over the caller's, and a module names its parameters."""
    x = torch.tensor(2.0, requires_grad=True)
    assert "price () leaf" in draw(x * 3, names={"price": x}).text
    layer = nn.Linear(2, 1)
    assert "weight (1, 2) leaf" in gradlab.draw(layer(torch.ones(1, 2)), names=layer).text


def test_constants_are_shown_where_the_graph_knows_them():
    text = drawn("frozen_parts").text
    assert "f (2,) constant" in text
    assert "no grad constant" in text, "a sum does not save what it adds: only the empty slot is known"
    svg = drawn("frozen_parts").svg
    assert svg.count("gl-n gl-constant") == text.count(" constant\n") + text.endswith(" constant")
    assert "gl-e gl-cold" in svg


def test_every_kind_of_tensor_can_be_shown():
    """Complex numbers, integers, nan, nothing at all, and tensors whose numbers cannot be had."""
    z = torch.tensor([1 + 2j], requires_grad=True)
    assert "[1+2j]" in draw((z * z).abs().sum(), values=True).text
    assert "[nan, −inf]" in draw(torch.tensor([float("nan"), -float("inf")]), values=True).text
    assert "(0,) constant = []" in draw(torch.zeros(0), values=True).text
    assert "[1, 0]" in draw(torch.tensor([True, False]), values=True).text
    assert "= …" in draw(torch.zeros(2, device="meta", requires_grad=True) * 2, values=True).text


def test_saved_values_and_their_fate():
    """What a node has saved is listed; after backward it is called freed, after an in-place change it says so."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.exp()
    loss = y.sum()
    assert "saved: result (2,)" in draw(loss).text
    loss.backward()
    assert "freed: result" in draw(loss).text
    z = x.exp()
    total = z.sum()
    z.add_(1)
    assert "changed in place: result" in draw(total).text
    roots, names = GRAPHS["custom_function"]()
    assert "saved: saved_tensors[0] (2,)" in draw(*roots, names=names).text
    roots[0].backward()
    assert "freed: saved_tensors" in draw(*roots, names=names).text
    assert "exponent 3" in drawn("one_number").text


def test_drawing_changes_nothing():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = (x**2).sum()
    draw(loss, values=True)
    assert x.grad is None
    loss.backward()
    assert x.grad.tolist() == [2.0, 4.0]


def test_a_tensor_without_graph_says_why():
    plain = torch.tensor([1.0, 2.0])
    leaf = torch.tensor([1.0, 2.0], requires_grad=True)
    detached = (leaf * 2).detach()
    assert "plain has no graph: its grad_fn is None because no operation was recorded." in draw(plain).text
    assert "leaf has no graph: its grad_fn is None because it was not computed" in draw(leaf).text
    assert "detached has no graph" in draw(detached).svg
    for picture in (draw(plain), draw(leaf), draw(leaf * 2, plain), draw(leaf, torch.ones(2, requires_grad=True))):
        assert_readable(picture)


def test_bad_input_gets_one_clear_sentence():
    with pytest.raises(PictureError, match=r"needs a tensor, but was given \[1, 2\] of type list"):
        draw([1, 2])
    with pytest.raises(PictureError, match=r"such as draw\(loss\)"):
        draw()
    try:
        draw("loss")
    except PictureError as error:
        shown = error._render_traceback_()
    assert len(shown) == 1
    assert shown[0].startswith("PictureError: draw() needs a tensor, but was given 'loss' of type str.")


def test_a_huge_graph_is_cut_with_a_message():
    """A chain of 20,000 operations is drawn without recursion; the picture says what was left out."""
    x = torch.tensor(1.0, requires_grad=True)
    y = x
    for _ in range(20_000):
        y = y * 1.0
    picture = draw(y)
    assert_readable(picture)
    assert "20,001 nodes: only the 59 nearest the root are drawn." in picture.text
    assert picture.text.endswith("\n… 19,942 nodes omitted")
    assert draw(y, limit=1).text.startswith("Backward graph of y")


def test_a_saved_view_is_not_called_by_the_name_of_the_whole():
    cut = torch.tensor([1.0, 2.0], requires_grad=True)
    text = gradlab.draw(cut[0] * cut[1], names={"cut": cut}).svg
    assert "self is a view of cut ()" in text
    assert "self is cut" not in text


def test_chapter_00_draws_where_there_is_neither_torch_nor_numpy():
    code = (
        "import sys; sys.modules['torch'] = sys.modules['numpy'] = None\n"
        "import types\n"
        "package = types.ModuleType('gradlab'); package.__path__ = [sys.argv[1]]; sys.modules['gradlab'] = package\n"
        "from gradlab.pictures import drawing, plane, plot\n"
    )
    subprocess.run([sys.executable, "-c", code, gradlab.__path__[0]], check=True)


def test_the_callers_notes_and_marks_stand_in_the_boxes():
    """Keys are tensors or nodes; a marked box has a sign in its text, not only a colour; lone tensors can be marked."""
    x, z = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    y = x * 3
    out = y + x
    nodes = [out.grad_fn, y.grad_fn]
    picture = draw(out, z, notes={node: f"call {k}" for k, node in enumerate(nodes, 1)} | {x: "lost"}, wrong=[x, z])
    assert_readable(picture)
    assert picture.text.splitlines()[1:] == [
        "out = AddBackward0 (2,)  · call 1",
        "├─ y = MulBackward0 (2,)  · call 2  saved: other 3",
        "│  ├─ x (2,) leaf  ✗ lost",
        "│  └─ 3 constant",
        "└─ x (2,) leaf  ✗ lost",
        "z (2,) leaf  ✗",
    ]
    assert picture.svg.count("gl-wrong") >= 2
    assert "✗ lost" in picture.svg
