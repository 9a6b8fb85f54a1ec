import pytest
import torch
import torch.nn.functional as F
from torch import nn

from gradlab.clinic import WRONG, examine, look


def wrong(loss, model):
    return {finding.kind for finding in examine(loss, model) if finding.kind in WRONG}


def kinds(loss, model):
    return [finding.kind for finding in examine(loss, model)]


class Mlp(nn.Module):
    def __init__(self, fault=""):
        super().__init__()
        self.first, self.last = nn.Linear(4, 8), nn.Linear(8, 3)
        scale = torch.ones(8, requires_grad=True)
        self.scales = [scale] if fault else nn.ParameterList([scale])

    def forward(self, x):
        return self.last(self.first(x).relu() * self.scales[0])


def mlp(fault):
    model = Mlp(fault)
    return F.cross_entropy(model(torch.randn(5, 4)), torch.tensor([0, 1, 2, 0, 1])), model, "not registered"


def convnet(fault):
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(32, 2))
    model.train(not fault)
    return model(torch.randn(3, 1, 6, 6)).square().mean(), model, "evaluation mode"


def recurrent(fault):
    model = nn.ModuleDict({"cell": nn.GRUCell(2, 4), "head": nn.Linear(4, 1)})
    state = model["cell"](torch.randn(1, 2))
    model["head"](state).sum().backward()
    model.zero_grad()
    state = model["cell"](torch.randn(1, 2), state if fault else state.detach())
    return model["head"](state).square().sum(), model, "earlier history"


class Lora(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = nn.Linear(6, 6).requires_grad_(False)
        self.down, self.up = nn.Linear(6, 2, bias=False), nn.Linear(2, 6, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


def lora(fault):
    model = Lora()
    if fault:
        model.requires_grad_(False)
    return model(torch.randn(4, 6)).square().mean(), model, "all frozen"


MODELS = [mlp, convnet, recurrent, lora]


@pytest.mark.parametrize("made", MODELS)
@pytest.mark.parametrize("after", [False, True])
def test_look_finds_nothing_wrong_with_a_healthy_step(made, after):
    loss, model, _ = made("")
    if after:
        model.zero_grad()
        loss.backward()
    assert wrong(loss, model) == set()


@pytest.mark.parametrize("made", MODELS)
def test_look_names_the_planted_fault(made):
    loss, model, kind = made("fault")
    assert wrong(loss, model) == {kind}


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))


def step(model):
    return model(torch.rand(5, 3) + 0.1).square().mean()


def changed(model):
    loss = step(model)
    with torch.no_grad():
        model[2].weight += 1
    return loss


@pytest.mark.parametrize(
    ("kind", "loss_of"),
    [
        ("no tensor", lambda model: step(model).item()),
        ("not scalar", lambda model: model(torch.rand(5, 3))),
        ("loss not finite", lambda model: step(model) / 0 - step(model) / 0),
        ("changed in place", changed),
        ("not reached", lambda model: model[2](torch.rand(2, 4)).sum()),
        ("leaf", lambda model: torch.zeros(1, requires_grad=True)),
    ],
)
def test_look_names_what_backward_would_meet(kind, loss_of):
    model = net()
    assert kind in wrong(loss_of(model), model)


@pytest.mark.parametrize(
    ("kind", "after"),
    [
        ("zero", lambda model: model[0].bias.grad.zero_()),
        ("not finite", lambda model: model[2].weight.grad.fill_(float("nan"))),
        ("apart", lambda model: model[2].weight.grad.mul_(1e9)),
        ("no gradient", lambda model: model.zero_grad()),
    ],
)
def test_look_names_what_is_odd_about_gradients(kind, after):
    model = net()
    loss = step(model)
    loss.backward()
    after(model)
    assert kinds(loss, model) == [kind]


def test_look_tells_repeated_hooks_from_others():
    def report(module, inputs, output):
        pass

    model = net()
    model[0].register_forward_hook(report)
    model[2].weight.register_hook(lambda gradient: None)
    assert kinds(step(model), model) == ["hooks"]
    model[0].register_forward_hook(report)
    assert "repeated hook" in wrong(step(model), model)


def test_look_changes_nothing(capsys):
    model = net()
    model[0].bias.requires_grad_(False)
    calls = []
    model[2].weight.register_hook(calls.append)
    loss = step(model)
    versions, state = [p._version for p in model.parameters()], torch.get_rng_state()
    look(loss, model)
    assert calls == []
    assert all(p.grad is None for p in model.parameters())
    assert [p._version for p in model.parameters()] == versions
    assert torch.equal(torch.get_rng_state(), state)
    loss.backward()
    said = capsys.readouterr().out
    assert "Nothing looks wrong" in said
    assert "Frozen, so without a gradient: `0.bias`." in said


def test_look_names_a_module_for_all_its_parameters():
    model = nn.ModuleDict({"used": nn.Linear(2, 1), "unused": net()})
    (found,) = examine(model["used"](torch.rand(3, 2)).sum(), model)
    assert "leads to `unused`:" in str(found)
