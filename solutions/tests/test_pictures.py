"""The pictures treat mini_autograd like torch: same graph, order, gradients and text."""

import numpy as np
import pytest
import torch

import gradlab
import mini_autograd


def diamond(m, t):
    x = t(1.0, 2.0)
    a, b = x * 3, x.exp()
    return (a * b / 2).sum(), {"x": x, "a": a, "b": b}


def a_frozen_tensor(m, t):
    x, f = t(1.0, 2.0), t(3.0, 4.0, grad=False)
    return (x * f + f).sum(), {"x": x, "f": f}


def shared_weights(m, t):
    w, x = t([1.0, 0.5], [-0.5, 2.0]), t([1.0], [2.0], grad=False)
    return m.tanh(w @ m.tanh(w @ x)).sum(), {"w": w, "x": x}


def two_layers(m, t):
    w, v, x = t([0.15, 0.2], [0.25, 0.3]), t([0.4, 0.45], [0.5, 0.55]), t([0.05, 0.1], grad=False)
    hidden = (x @ w.T + t(0.35)).sigmoid()
    return (((hidden @ v.T + t(0.6)).sigmoid() - t(0.01, 0.99, grad=False)) ** 2).mean(), {"w": w, "v": v}


def views(m, t):
    x = t([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])
    return (x.T.reshape(2, 3) * x).sum(), {"x": x}


COMPUTATIONS = [diamond, a_frozen_tensor, shared_weights, two_layers, views]


def made(compute, module):
    def tensor(*numbers, grad=True):
        return module.tensor(list(numbers), requires_grad=grad)

    loss, names = compute(module, tensor)
    return loss, {"loss": loss, **names}


@pytest.mark.parametrize("compute", COMPUTATIONS)
def test_the_same_computation_gives_the_same_picture(compute):
    """Names, shapes and what is saved, kept or freed are read from both engines alike."""
    (ours, names), (torchs, torch_names) = made(compute, mini_autograd), made(compute, torch)
    drawn, wanted = gradlab.draw(ours, names=names), gradlab.draw(torchs, names=torch_names)
    assert "loss" in drawn.text
    assert drawn.text == wanted.text
    assert drawn.svg == wanted.svg
    ours.backward()
    torchs.backward()
    assert gradlab.draw(ours, names=names).text == gradlab.draw(torchs, names=torch_names).text


@pytest.mark.parametrize("compute", COMPUTATIONS)
def test_backward_goes_the_same_way(compute):
    """The stepper tells the same story, in the same order; every gradient agrees to float precision."""
    (ours, names), (torchs, torch_names) = made(compute, mini_autograd), made(compute, torch)
    stepped, wanted = gradlab.step(ours, names=names), gradlab.step(torchs, names=torch_names)
    assert [told(r) for r in stepped.records()] == [told(r) for r in wanted.records()]
    assert len(stepped.visits) > 1
    for visit, other in zip(stepped.visits, wanted.visits, strict=True):
        assert_close([*visit.arrives, visit.after], [*other.arrives, other.after])
        assert_close([s.gradient for s in visit.sends], [s.gradient for s in other.sends])


def told(record):
    """What is told of a step, without numbers: the last digit may differ."""
    saved = [text.partition(" =")[0] for text in record.get("saved", ())]
    sent = [(s["to"], s["slot"], s["formula"]) for s in record.get("sends", ())]
    return record["title"], saved, record.get("freed"), sent


def assert_close(ours, torchs):
    for got, expected in zip(ours, torchs, strict=True):
        assert (got is None) == (expected is None)
        if got is not None:
            np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5, atol=1e-7)


def test_a_freed_graph_is_refused_in_the_same_words():
    x = mini_autograd.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    loss.backward()
    with pytest.raises(ValueError, match="were freed by an earlier backward"):
        gradlab.step(loss)
