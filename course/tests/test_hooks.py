"""The timeline of hooks lists every call in torch's order, and leaves no hook behind."""

import xml.etree.ElementTree as ET

import pytest
import torch
from torch import nn

import gradlab
from gradlab.pictures.hooking import registered
from gradlab.pictures.picture import PictureError, text_width


def two_layers():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


def keep(module, arguments, output):
    pass


def test_hooks_are_listed_in_the_order_in_which_they_fire():
    """Each entry is written when the hook runs: the hook's own record and the timeline agree."""
    model, own = two_layers(), []

    def note(name):
        def hook(*_):
            own.append(name)

        hook.__qualname__ = name
        return hook

    model[0].register_forward_pre_hook(note("pre"))
    model[0].register_forward_hook(note("post"))
    model[2].register_full_backward_pre_hook(note("back_pre"))
    model[2].register_full_backward_hook(note("back"))
    model[0].weight.register_hook(note("tensor"))
    model[0].weight.register_post_accumulate_grad_hook(note("accumulated"))
    x = torch.ones(4, 2, requires_grad=True)
    x.register_hook(note("at the input"))
    fired = gradlab.hooks(model, x).fired
    assert [event.name for event in fired] == own
    assert set(own) == {"pre", "post", "back_pre", "back", "tensor", "accumulated", "at the input"}
    assert [e.phase for e in fired] == ["forward"] * 2 + ["backward"] * 5


def test_shapes_are_what_the_hook_was_given():
    model = two_layers()
    model[0].register_forward_hook(keep)
    model[0].register_full_backward_hook(lambda m, grad_input, grad_output: None)
    model[2].weight.register_hook(lambda g: g)
    text = gradlab.hooks(model, torch.ones(4, 2, requires_grad=True), loss=lambda y: y.mean()).text
    assert text.splitlines() == [
        "3 calls of hooks in one forward and one backward pass:",
        "  1. forward 0 forward hook keep input ((4, 2),), output (4, 3)",
        "  2. backward 2.weight tensor hook lambda grad (1, 3)",
        "  3. backward 0 full backward hook lambda grad_input ((4, 2),), grad_output ((4, 3),)",
        "3 hooks are registered now:",
        "  - 0: forward hook keep, full backward hook lambda",
        "  - 2.weight: tensor hook lambda",
    ]


def test_hooks_keep_their_effect_and_their_place():
    """A hook that replaces a value replaces it; afterwards torch's tables hold the very same functions."""
    model = two_layers()

    def double(grad):
        return grad * 2

    x = torch.ones(1, 2)
    model(x).backward()
    once = model[0].weight.grad.clone()
    handle = model[0].weight.register_hook(double)
    model.zero_grad()
    gradlab.hooks(model, x)
    torch.testing.assert_close(model[0].weight.grad, 2 * once, rtol=0, atol=0)
    assert list(model[0].weight._backward_hooks.values()) == [double]
    handle.remove()
    assert gradlab.hooks(model).text == "No hook is registered now."


def test_a_failing_model_leaves_the_hooks_as_they_were():
    model = two_layers()
    model[0].register_forward_hook(keep)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        gradlab.hooks(model, torch.ones(1, 5), watch=True)
    assert [h.name for h in registered(model)] == ["keep"]
    assert list(model[0]._forward_hooks.values()) == [keep]


def test_the_picture_holds_all_its_text():
    """Columns do not run into each other, nor out of the picture; the same call gives the same bytes."""
    model = two_layers()
    model[0].register_forward_hook(keep)
    picture = gradlab.hooks(model, torch.ones(1, 2), watch=True)
    assert picture.svg == gradlab.hooks(model, torch.ones(1, 2), watch=True).svg
    root = ET.fromstring(picture.svg)
    rows = {}
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        if text.text not in ("forward", "backward"):  # written vertically, in a separate column
            rows.setdefault(text.get("y"), []).append((float(text.get("x")), text_width(text.text)))
    assert len(rows) > 12, "a line for each of twelve calls"
    for texts in rows.values():
        texts.sort()
        ends = [x + width for x, width in texts]
        assert all(end + 8 <= x for end, (x, _) in zip(ends, texts[1:], strict=False))
        assert ends[-1] <= float(root.get("width"))


def test_bad_input_gets_one_clear_sentence():
    with pytest.raises(PictureError, match="hooks\\(\\) needs a model, then its inputs, not a Tensor"):
        gradlab.hooks(torch.ones(2))
    with pytest.raises(PictureError, match=r"Nothing to run backward from: pass loss="):
        gradlab.hooks(nn.LSTM(2, 3), torch.ones(1, 1, 2))
    assert "No hook fired: none is registered" in gradlab.hooks(two_layers(), torch.ones(1, 2)).text
