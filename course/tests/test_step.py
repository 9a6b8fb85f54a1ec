"""The stepper reports what the engine did: its order, and the gradients that torch computes."""

import json
import re

import pytest
import torch
from graphs import GRAPHS, all_nodes
from torch.autograd.graph import GradientEdge

import gradlab
from gradlab.pictures.graph import walk
from gradlab.pictures.picture import PictureError
from gradlab.pictures.recording import record as record_visits
from gradlab.pictures.rules import RULES, formula
from gradlab.pictures.stepper import step

ONE_ROOT = [name for name in GRAPHS if name != "two_losses"]


def record(root, gradient, **options):
    """The walked graph of a root, and the visits of its backward."""
    graph = walk([root.grad_fn])
    return graph, record_visits(root, graph, gradient, **options)


def external(root):
    """An external gradient that is not all ones."""
    return torch.arange(1.0, root.numel() + 1, dtype=root.dtype).reshape(root.shape) / 2


def node_gradients(root, fn):
    """What torch.autograd.grad finds at each output of a node, None where nothing arrives."""
    outputs = len(fn._input_metadata)
    edges = [GradientEdge(fn, k) for k in range(outputs)]
    return torch.autograd.grad(root, edges, external(root), retain_graph=True, allow_unused=True)


@pytest.mark.parametrize("name", ONE_ROOT)
def test_gradients_are_torchs(name):
    """At every node, what arrives equals torch.autograd.grad there; leaves accumulate exactly that."""
    (root,), _ = GRAPHS[name]()
    leaves = [fn for fn in all_nodes(root) if hasattr(fn, "variable")]
    assert leaves
    expected = {fn: node_gradients(root, fn) for fn in all_nodes(root)}
    graph, visits = record(root, external(root))
    assert sorted(v.node for v in visits) == list(range(len(graph.nodes))), "every node has one turn"
    for visit in visits:
        fn = graph.nodes[visit.node].fn
        for got, wanted in zip(visit.arrives, expected[fn], strict=True):
            if wanted is None:
                assert got is None or not got.any()
            else:
                torch.testing.assert_close(got, wanted, rtol=0, atol=0)
        if fn in leaves:
            assert visit.before is None
            torch.testing.assert_close(visit.after, expected[fn][0], rtol=0, atol=0)
            assert fn.variable.grad is not None


def evaluate(rule, fn, g, saved, target):
    shape, numel = tuple(target.shape), g.expand(target.shape).numel() if "expand" in rule else target.numel()
    given = {"g": g, "shape": shape, "numel": numel, "dim": getattr(fn, "_saved_dim", None), **saved}
    if given["dim"] is not None and given["dim"] > 2**32:
        given["dim"] -= 2**64
    functions = {n: getattr(torch, n) for n in ("cos", "sin", "sign", "exp", "outer")}
    return eval(rule, functions, given)


def test_formulas_give_what_is_sent():
    """Each formula of the table, evaluated with what the node has saved, is what the engine sent."""
    torch.manual_seed(1)
    a = torch.rand(3, 2, dtype=torch.float64).add(0.5).requires_grad_()
    b = torch.rand(3, 2, dtype=torch.float64).add(0.5).requires_grad_()
    v, w = (torch.rand(2, dtype=torch.float64).add(0.5).requires_grad_() for _ in range(2))
    results = [
        *(a + b, a - b, 1.5 - a, -a, a * b, a / b, a**3, a.exp(), a.log(), a.sqrt(), a.sin(), a.cos(), a.abs()),
        *(a.tanh(), a.sigmoid(), (a - 1).relu(), a.log_softmax(1), a.softmax(-1), a.sum(), a.mean(), v @ w, a @ v),
        *(a @ b.T, torch.nn.functional.linear(a, b, torch.ones(3).double().requires_grad_()), a.clone()),
        *(a.reshape(2, 3), a.T.reshape(6), a.unsqueeze(0).squeeze(0), a * v, a / w, a - v),
        torch.ones(2, 2, 3).double() @ a,
    ]
    tried = set()
    for result in results:
        kept = {fn: dict(named_saved(fn)) for fn in all_nodes(result)}
        graph, visits = record(result, external(result), retain_graph=True)
        for visit in visits:
            fn = graph.nodes[visit.node].fn
            for sent in visit.sends:
                assert sent.formula == formula(fn, sent.slot)
                if sent.formula:
                    value = evaluate(sent.formula, fn, visit.arrives[0], kept[fn], sent.gradient)
                    extra = value.dim() - sent.gradient.dim()
                    value = value.sum(tuple(range(extra))) if extra else value
                    torch.testing.assert_close(value, sent.gradient, rtol=1e-12, atol=1e-12)
                    tried.add(fn.name())
    assert tried == set(RULES), "every formula is tried"


def named_saved(fn):
    for attribute in dir(fn):
        if attribute.startswith("_saved_"):
            yield attribute.removeprefix("_saved_"), getattr(fn, attribute)


def test_backward_really_runs():
    """Leaves accumulate, saved values are freed when their node has run, and not if the graph is retained."""
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    x.grad = torch.tensor([10.0, 10.0])
    loss = (x * x).sum()
    kept = step(loss, retain_graph=True)
    assert x.grad.tolist() == [14.0, 16.0]
    assert [r.get("freed") for r in kept.records()] == [[], [], None]
    freed = step(loss)
    assert x.grad.tolist() == [18.0, 22.0]
    assert [r.get("freed") for r in freed.records()] == [[], ["other", "self"], None]
    leaf = freed.records()[-1]
    assert (leaf["before"], leaf["after"]) == ("[14, 16]", "[18, 22]")
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_no_hook_stays_behind():
    """After stepping, nothing of ours is called by the next backward; an error of the engine is told as such."""
    x = torch.tensor([2.0], requires_grad=True)
    y = x.exp()
    loss = y.sum()
    stepper = step(loss, retain_graph=True)
    before = len(stepper.visits)
    loss.backward(retain_graph=True)
    assert len(stepper.visits) == before
    y.add_(1)
    with pytest.raises(PictureError, match="backward raised: one of the variables needed for gradient computation"):
        step(loss)


class Unfinished(torch.autograd.Function):
    """Its backward is still a stub."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise NotImplementedError("fill in")


def test_a_stub_keeps_its_own_error():
    """An unfinished backward is not told as a freed graph, nor as an error of the engine."""
    with pytest.raises(NotImplementedError, match="fill in"):
        step(Unfinished.apply(torch.tensor(1.0, requires_grad=True)))


def test_the_output_holds_all_it_needs():
    """The data in the page is what was recorded, the same on each run; a learner's text cannot break out of it."""

    def shown():
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        return gradlab.step((x * x).sum(), names={"</script><b>x": x})

    stepper = shown()
    html = stepper._repr_mimebundle_()["text/html"]
    assert html == shown()._repr_mimebundle_()["text/html"]
    data = json.loads(re.search(r"\(document\.currentScript, (\{.*\})\);</script></div>$", html, re.DOTALL)[1])
    assert data["steps"] == stepper.records()
    assert html.count("</script>") == 1
    assert "widget" not in html, "nothing refers to a kernel's model"


def bad_inputs():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    used = (x * x).sum()
    used.backward()
    deep = x.sum()
    for _ in range(100):
        deep = deep * 1.0
    yield "not a tensor", ([1, 2],), r"step\(\) needs a tensor, but was given \[1, 2\] of type list"
    yield "no graph", (torch.ones(()),), r"has no graph: .* is None because no operation was recorded"
    yield "several elements", (x * 3,), r"several elements: pass gradient=…, a tensor of its shape \(2,\)"
    wrong = r"gradient must be a tensor of \S+'s shape \(2,\), not \(3,\)"
    yield "wrong shape", (x * 3, torch.ones(3)), wrong
    yield "gradient no tensor", (x * 3, [1.0, 2.0]), r"shape \(2,\), not list"
    yield "freed", (used,), r"were freed by an earlier backward.*retain_graph=True"
    yield "huge", (deep,), r"102 nodes; the stepper shows up to 60"


@pytest.mark.parametrize(("arguments", "message"), [pytest.param(a, m, id=i) for i, a, m in bad_inputs()])
def test_bad_input_gets_one_clear_sentence(arguments, message):
    with pytest.raises(PictureError, match=message) as caught:
        gradlab.step(*arguments)
    assert caught.value._render_traceback_() == [f"PictureError: {caught.value}"]
