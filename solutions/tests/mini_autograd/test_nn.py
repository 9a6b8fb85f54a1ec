"""Layers, losses and initialization on torch and on mini_autograd. More about modules is in `cells/modules.py`."""

import numpy as np
import pytest
import torch as real_torch
from both import assert_same

import mini_autograd as mini


def test_states_go_to_torch_and_back():
    def net(lib):
        return lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3))

    ours, theirs = net(mini), net(real_torch)
    with mini.no_grad():
        for parameter in ours.parameters():
            parameter.mul_(2)
    theirs.load_state_dict({k: real_torch.from_numpy(v.numpy()) for k, v in ours.state_dict().items()})
    again = net(mini)
    again.load_state_dict({k: mini.from_numpy(v.numpy()) for k, v in theirs.state_dict().items()})
    for (name, a), (_, b) in zip(ours.state_dict().items(), again.state_dict().items(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy(), err_msg=name)


# ----- layers -----

LAYERS = {
    "Linear": ("nn.Linear(3, 2)", (4, 3)),
    "Linear 1-D": ("nn.Linear(3, 2)", (3,)),
    "Linear 3-D without bias": ("nn.Linear(3, 2, bias=False)", (2, 4, 3)),
    "Conv2d": ("nn.Conv2d(2, 3, 3)", (2, 2, 5, 6)),
    "Conv2d stride padding": ("nn.Conv2d(2, 3, (3, 2), stride=2, padding=(1, 0), bias=False)", (2, 2, 5, 6)),
    "Conv2d valid, one picture": ("nn.Conv2d(2, 3, 3, padding='valid')", (2, 5, 6)),
    "MaxPool2d": ("nn.MaxPool2d(2)", (2, 2, 5, 6)),
    "MaxPool2d overlapping": ("nn.MaxPool2d(3, stride=1, padding=1)", (2, 2, 5, 6)),
    "MaxPool2d with gaps": ("nn.MaxPool2d((2, 1), stride=(3, 2))", (2, 2, 6, 6)),
    "AvgPool2d": ("nn.AvgPool2d(2)", (2, 2, 5, 6)),
    "AvgPool2d overlapping": ("nn.AvgPool2d((3, 2), stride=1, padding=1)", (2, 2, 5, 6)),
    "Identity": ("nn.Identity()", (2, 3)),
    "Sigmoid": ("nn.Sigmoid()", (2, 3)),
    "Tanh": ("nn.Tanh()", (2, 3)),
    "ReLU": ("nn.ReLU()", (2, 3)),
    "ReLU in place": ("nn.Sequential(nn.Linear(3, 2), nn.ReLU(inplace=True))", (2, 3)),
    "Softmax": ("nn.Softmax(dim=1)", (2, 3)),
    "LogSoftmax": ("nn.LogSoftmax(dim=0)", (2, 3)),
    "Flatten": ("nn.Flatten()", (2, 3, 4)),
    "Flatten some": ("nn.Flatten(0, 1)", (2, 3, 4)),
    "Dropout off": ("nn.Dropout(0.0)", (2, 3)),
    "BatchNorm1d": ("nn.BatchNorm1d(3)", (5, 3)),
    "BatchNorm1d 3-D": ("nn.BatchNorm1d(3, momentum=None, eps=1e-2)", (5, 3, 2)),
    "BatchNorm2d": ("nn.BatchNorm2d(3, momentum=0.3)", (2, 3, 2, 2)),
    "BatchNorm2d plain": ("nn.BatchNorm2d(3, affine=False, track_running_stats=False)", (2, 3, 2, 2)),
    "BatchNorm1d without bias": ("nn.BatchNorm1d(3, bias=False)", (5, 3)),
    "LayerNorm": ("nn.LayerNorm(3)", (2, 4, 3)),
    "LayerNorm 2-D": ("nn.LayerNorm([4, 3], eps=1e-2, bias=False)", (2, 4, 3)),
    "LayerNorm plain": ("nn.LayerNorm((3,), elementwise_affine=False)", (2, 3)),
}


@pytest.mark.parametrize("layer", LAYERS)
def test_layers(layer):
    """Outputs and gradients in training and in use, and the buffers afterwards, for float64."""
    code, shape = LAYERS[layer]

    def run(torch):
        module = eval(code, {"nn": torch.nn}).double()
        seen = []
        with torch.no_grad():
            for i, parameter in enumerate(module.parameters()):
                values = np.linspace(-1.0, 1.5 + i, parameter.numel()).reshape(parameter.shape)
                parameter.copy_(torch.tensor(values))
        for mode in (True, True, False):
            draw = np.random.default_rng(5 + len(seen))
            module.train(mode)
            x = torch.tensor(draw.normal(size=shape), requires_grad=True)
            out = module(x)
            out.backward(torch.tensor(draw.normal(size=tuple(out.shape))))
            seen.append((out.detach(), x.grad, [p.grad for p in module.parameters()], list(module.buffers())))
        return seen

    assert_same(run)


LOSSES = [
    ("nn.MSELoss({})", "float"),
    ("nn.L1Loss({})", "float"),
    ("nn.BCEWithLogitsLoss({})", "float"),
    ("nn.BCEWithLogitsLoss(weight=T([1.0, 2.0, 0.5]), pos_weight=T([3.0, 1.0, 2.0]), {})", "float"),
    ("nn.CrossEntropyLoss({})", "class"),
    ("nn.CrossEntropyLoss(weight=T([1.0, 2.0, 0.5]), ignore_index=1, {})", "class"),
    ("nn.NLLLoss({})", "class"),
    ("nn.NLLLoss(T([1.0, 2.0, 0.5]), ignore_index=2, {})", "class"),
]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize(("code", "kind"), LOSSES)
def test_losses(code, kind, reduction):
    def run(torch):
        loss = eval(code.format(f"reduction={reduction!r}"), {"nn": torch.nn, "T": torch.tensor}).double()
        draw = np.random.default_rng(1)
        x = torch.tensor(draw.normal(size=(4, 3)), requires_grad=True)
        target = torch.tensor(draw.uniform(size=(4, 3)) if kind == "float" else np.array([0, 2, 1, 1]))
        out = loss(x, target)
        out.backward(torch.tensor(draw.normal(size=tuple(out.shape))))
        return out.detach(), x.grad, list(loss.state_dict())

    assert_same(run)


def test_dropout():
    """In training a share p of the elements is zero and the rest grows by 1/(1-p); the gradient has the same mask."""
    mini.manual_seed(1)
    dropout = mini.nn.Dropout(0.25)
    x = mini.ones(10_000, requires_grad=True)
    out = dropout(x)
    out.backward(mini.full((10_000,), 3.0))
    kept = out.detach().numpy() != 0
    assert abs(kept.mean() - 0.75) < 0.02
    np.testing.assert_allclose(out.detach().numpy(), kept / 0.75, rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), 3 * kept / 0.75, rtol=1e-6)
    assert dropout.eval()(x) is x
    y = mini.ones(100)
    assert mini.nn.Dropout(0.5, inplace=True)(y) is y
    assert (mini.nn.Dropout(1.0)(mini.ones(5)) == 0).all()


# ----- first values -----


RANDOM = [
    "nn.Linear(200, 300).weight",
    "nn.Conv2d(20, 30, 10).weight",
    "nn.Embedding(300, 200).weight",
    "init.uniform_(w, -2.0, 3.0)",
    "init.normal_(w, 1.0, 2.0)",
    "init.xavier_uniform_(w, gain=2.0)",
    "init.xavier_normal_(w)",
    "init.kaiming_uniform_(w, a=0.5)",
    "init.kaiming_uniform_(w, mode='fan_out', nonlinearity='relu')",
    "init.kaiming_normal_(w, nonlinearity='tanh')",
]


@pytest.mark.parametrize("code", RANDOM)
def test_random_values_have_torchs_distribution(code):
    def moments(torch):
        torch.manual_seed(2)
        values = eval(code, {"init": torch.nn.init, "nn": torch.nn, "w": torch.zeros(200, 300)}).detach().numpy()
        return np.array([values.mean(), values.std(), values.min(), values.max()])

    ours, theirs = moments(mini), moments(real_torch)
    edge = 1.0 if "ormal" in code or "Embedding" in code else 0.01  # the extremes of normal numbers vary
    np.testing.assert_allclose(ours[:2], theirs[:2], rtol=0.02, atol=0.02 * theirs[1])
    np.testing.assert_allclose(ours[2:], theirs[2:], rtol=0, atol=edge * theirs[1])


# ----- what is left out -----

LEFT_OUT = {
    "mini.nn.LSTM(2, 3)": (AttributeError, "torch.nn.LSTM"),
    "mini.nn.functional.gelu": (AttributeError, "torch.nn.functional.gelu"),
    "mini.nn.init.orthogonal_": (AttributeError, "torch.nn.init.orthogonal_"),
    "mini.nn.utils.clip_grad_value_": (AttributeError, "torch.nn.utils.clip_grad_value_"),
    "mini.optim.RMSprop": (AttributeError, "torch.optim.RMSprop"),
    "mini.nn.ReLU().cuda": (AttributeError, "torch.nn.Module.cuda"),
    "mini.nn.ReLU().half()": (AttributeError, "torch.nn.Module.half"),
    "mini.nn.Conv2d(2, 2, 1, groups=2)": (NotImplementedError, "torch.nn.Conv2d"),
    "mini.nn.Conv2d(2, 2, 1, dilation=2)": (NotImplementedError, "torch.nn.Conv2d"),
    "mini.nn.Conv2d(2, 2, 1, padding_mode='circular')": (NotImplementedError, "torch.nn.Conv2d"),
    "mini.nn.Conv2d(2, 2, 1, padding='same')": (NotImplementedError, "torch.nn.Conv2d"),
    "mini.nn.MaxPool2d(2, ceil_mode=True)": (NotImplementedError, "torch.nn.MaxPool2d"),
    "mini.nn.AvgPool2d(2, count_include_pad=False)": (NotImplementedError, "torch.nn.AvgPool2d"),
    "mini.nn.Softmax()": (NotImplementedError, "torch.nn.Softmax"),
    "mini.nn.Embedding(2, 2, max_norm=1.0)": (NotImplementedError, "torch.nn.Embedding"),
    "mini.nn.CrossEntropyLoss(label_smoothing=0.1)": (NotImplementedError, "torch.nn.CrossEntropyLoss"),
    "mini.nn.MSELoss(reduce=True)": (NotImplementedError, "torch.nn.MSELoss"),
    "mini.optim.SGD([mini.zeros(1)], differentiable=True)": (NotImplementedError, "torch.optim.SGD"),
}


@pytest.mark.parametrize("code", LEFT_OUT)
def test_what_is_left_out_names_itself_and_torchs(code):
    kind, theirs = LEFT_OUT[code]
    with pytest.raises(kind) as caught:
        eval(code, {"mini": mini})
    assert "mini engine" in str(caught.value)
    assert theirs in str(caught.value)


@pytest.mark.parametrize("package", ["nn", "nn.init", "nn.utils", "optim"])
def test_private_names_are_not_advertised(package):
    place = mini
    for part in package.split("."):
        place = getattr(place, part)
    with pytest.raises(AttributeError) as caught:
        place.__no_such_name__  # noqa: B018
    assert "mini engine" not in str(caught.value)
