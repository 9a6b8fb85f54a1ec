"""Optimizers: steps, states, options and errors match torch's."""

import numpy as np
import pytest
import torch as real_torch
from both import Scenarios, assert_same, each

import mini_autograd as mini

scenario = SCENARIOS = Scenarios()


@pytest.mark.parametrize("name", SCENARIOS)
def test_same_as_torch(name):
    assert_same(*SCENARIOS[name])


def parameters(torch, count=3, dtype=np.float64):
    draw = np.random.default_rng(0)
    return [torch.nn.Parameter(torch.tensor(draw.normal(size=(2, 3)).astype(dtype))) for _ in range(count)]


def set_gradients(torch, params, seed):
    draw = np.random.default_rng(seed)
    for param in params:
        param.grad = torch.tensor(draw.normal(size=tuple(param.shape))).to(param.dtype)


OPTIMIZERS = [
    "SGD(p)",
    "SGD(p, lr=0.1)",
    "SGD(p, 0.1, momentum=0.9)",
    "SGD(p, 0.1, 0.9, dampening=0.3, weight_decay=0.2)",
    "SGD(p, 0.1, 0.9, nesterov=True, weight_decay=0.2)",
    "SGD(p, 0.1, maximize=True, weight_decay=0.2)",
    "SGD(p, 0.1, foreach=True)",
    "Adam(p)",
    "Adam(p, lr=0.1, betas=(0.8, 0.7), eps=1e-2, weight_decay=0.3)",
    "Adam(p, lr=0.1, amsgrad=True)",
    "Adam(p, lr=0.1, maximize=True, weight_decay=0.3)",
    "Adam(p, lr=0.1, weight_decay=0.3, decoupled_weight_decay=True)",
    "AdamW(p)",
    "AdamW(p, lr=0.1, betas=(0.8, 0.7), weight_decay=0.3)",
    "AdamW(p, lr=0.1, amsgrad=True, maximize=True)",
]


def make(torch, code, params):
    return eval(code, {**{name: getattr(torch.optim, name) for name in ("SGD", "Adam", "AdamW")}, "p": params})


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("code", OPTIMIZERS)
def test_steps(code, dtype):
    """Parameters, gradients and versions after each step, the state at the end; one parameter never has a gradient."""

    def run(torch):
        params = parameters(torch, dtype=dtype)
        optimizer = make(torch, code, params)
        seen = []
        for seed in range(5):
            set_gradients(torch, params[: 1 + (seed != 2)], seed)
            seen.append((optimizer.step(), [p.detach().clone() for p in params], [p.grad for p in params]))
            seen.append([p._version for p in params] if "foreach" not in code else None)
            optimizer.zero_grad()
        state = optimizer.state_dict()
        return seen, sorted(state["state"].items()), state["param_groups"], repr(optimizer)

    if dtype is np.float64:
        assert_same(run)
    else:
        found, expected = run(mini), run(real_torch)
        for a, b in zip(found[0][-2][1], expected[0][-2][1], strict=True):
            assert str(a.dtype) == "torch.float32"
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("code", OPTIMIZERS)
def test_a_loaded_state_goes_on_where_it_was(code):
    """A state saved after two steps and loaded into a new optimizer gives the third step as if nothing had been."""

    def run(torch):
        params = parameters(torch)
        optimizer = make(torch, code, params)
        for seed in range(2):
            set_gradients(torch, params, seed)
            optimizer.step()
        other = [torch.nn.Parameter(p.detach().clone()) for p in params]
        fresh = make(torch, code.replace("lr=0.1", "lr=0.5"), other)
        fresh.load_state_dict(optimizer.state_dict())
        set_gradients(torch, other, 9)
        fresh.step()
        return [p.detach() for p in other], fresh.state_dict()["param_groups"], len(fresh.state)

    assert_same(run)


@pytest.mark.parametrize("code", ["SGD(p, 0.1, 0.9)", "Adam(p, 0.1)", "AdamW(p, 0.1, amsgrad=True)"])
def test_states_go_to_torch_and_back(code):
    """What torch has remembered goes on here, and what is remembered here goes on in torch."""

    def convert(state, to):
        memory = {n: {k: to(v.numpy().copy()) for k, v in each.items()} for n, each in state["state"].items()}
        return {"state": memory, "param_groups": state["param_groups"]}

    for first, second, to in ((real_torch, mini, mini.tensor), (mini, real_torch, real_torch.tensor)):
        ours, theirs = parameters(first), parameters(second)
        a, b = make(first, code, ours), make(second, code, theirs)
        set_gradients(first, ours, 1)
        a.step()
        b.load_state_dict(convert(a.state_dict(), to))
        with second.no_grad():
            for p, q in zip(theirs, ours, strict=True):
                p.copy_(to(q.detach().numpy()))
        for lib, optimizer, params in ((first, a, ours), (second, b, theirs)):
            set_gradients(lib, params, 2)
            optimizer.step()
        for p, q in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(p.detach().numpy(), q.detach().numpy(), rtol=0, atol=1e-12)


@scenario
def groups_with_options_of_their_own(torch):
    params = parameters(torch)
    optimizer = torch.optim.SGD([{"params": params[:1]}, {"params": params[1], "lr": 1.0}], lr=0.1, momentum=0.5)
    optimizer.add_param_group({"params": (params[2],), "momentum": 0.0})
    for seed in range(2):
        set_gradients(torch, params, seed)
        optimizer.step()
    return [p.detach() for p in params], optimizer.state_dict(), repr(optimizer)


@scenario
def a_changed_learning_rate(torch):
    params = parameters(torch)
    optimizer = torch.optim.SGD(params, lr=0.1)
    optimizer.param_groups[0]["lr"] = 2.0
    set_gradients(torch, params, 0)
    optimizer.step()
    return [p.detach() for p in params], optimizer.defaults


@scenario
def a_closure(torch):
    (w,) = parameters(torch, 1)
    optimizer = torch.optim.Adam([w], lr=0.1)
    seen = []

    def closure():
        optimizer.zero_grad()
        loss = (w**2).sum()
        loss.backward()
        seen.append(torch.is_grad_enabled())
        return loss.item()

    with torch.no_grad():
        return optimizer.step(closure), optimizer.step(closure), w.detach(), seen


@scenario
def gradients_reset(torch):
    params = parameters(torch)
    optimizer = torch.optim.SGD(params)
    set_gradients(torch, params[:2], 0)
    kept = params[0].grad
    optimizer.zero_grad(set_to_none=False)
    seen = [params[0].grad is kept, [p.grad for p in params]]
    optimizer.zero_grad()
    return seen, [p.grad for p in params]


@scenario
def weight_decay_moves_zeros_but_not_none(torch):
    params = parameters(torch, 2)
    optimizer = torch.optim.SGD(params, lr=0.1, weight_decay=0.5)
    params[0].grad = torch.zeros(2, 3, dtype=torch.float64)
    before = [p.detach().clone() for p in params]
    optimizer.step()
    return [p.detach() - b for p, b in zip(params, before, strict=True)]


@scenario(raises=RuntimeError)
def a_step_changes_what_a_graph_needs(torch):
    (w,) = parameters(torch, 1)
    loss = (w**2).sum()
    w.grad = torch.ones(2, 3, dtype=torch.float64)
    torch.optim.SGD([w]).step()
    loss.backward()


@scenario
def an_optimizer_of_ones_own(torch):
    class Halve(torch.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"factor": 0.5})

        @torch.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self.state[p]["seen"] = self.state[p].get("seen", 0) + 1
                        p.mul_(group["factor"])

    params = parameters(torch)
    optimizer = Halve(params)
    set_gradients(torch, params[:1], 0)
    optimizer.step()
    return [p.detach() for p in params], optimizer.state_dict(), repr(optimizer)


ERRORS = [
    ("SGD(p, lr=-1)", ValueError),
    ("SGD(p, momentum=-0.5)", ValueError),
    ("SGD(p, weight_decay=-0.5)", ValueError),
    ("SGD(p, nesterov=True)", ValueError),
    ("SGD(p, momentum=0.5, dampening=0.1, nesterov=True)", ValueError),
    ("Adam(p, lr=-1.0)", ValueError),
    ("Adam(p, eps=-1.0)", ValueError),
    ("Adam(p, betas=(1.0, 0.5))", ValueError),
    ("Adam(p, betas=(0.5, -0.5))", ValueError),
    ("Adam(p, weight_decay=-1)", ValueError),
    ("AdamW(p, lr=-1.0)", ValueError),
    ("SGD([])", ValueError),
    ("SGD(p[0])", TypeError),
    ("SGD(3)", TypeError),
    ("SGD([3])", TypeError),
    ("SGD([[1.0]])", TypeError),
    "SGD({p[0]})",
    ("SGD([{'params': {p[0]}}])", TypeError),
    ("SGD([p[0] * 2])", ValueError),
    "SGD([p[0], p[0]])",
    ("SGD([{'params': p}, {'params': p[:1]}])", ValueError),
    ("SGD([{'params': p}, 3])", TypeError),
    "SGD([('a', p[0]), ('b', p[1])]).param_groups[0]['param_names']",
    ("SGD([('a', p[0]), p[1]])", ValueError),
    ("SGD([{'params': [('a', p[0])]}, {'params': p[1:]}])", ValueError),
    ("SGD([{'params': p[1:]}, {'params': [('a', p[0])]}])", ValueError),
    ("SGD(p).add_param_group({'params': p})", ValueError),
    ("SGD(p).add_param_group(p)", TypeError),
    ("SGD(p).load_state_dict(SGD([{'params': p[:1]}, {'params': p[1:]}]).state_dict())", ValueError),
    ("SGD(p).load_state_dict(SGD(p[1:]).state_dict())", ValueError),
    "SGD([('a', p[0])]).load_state_dict(SGD(p[1:2], lr=5.0).state_dict())",
    "SGD(iter(p)).step()",
    "Optimizer(p, {'lr': 1.0}).param_groups[0]['lr']",
]


@each(*ERRORS)
def test_errors(line, raises):
    def run(torch):
        names = {name: getattr(torch.optim, name) for name in ("SGD", "Adam", "AdamW", "Optimizer")}
        value = eval(line, {**names, "p": parameters(torch)})
        return value if isinstance(value, (list, float)) or value is None else type(value).__name__

    assert_same(run, raises)


def test_an_optimizer_without_a_rule_has_no_step():
    params = parameters(mini)
    set_gradients(mini, params, 0)
    with pytest.raises(NotImplementedError):
        mini.optim.Optimizer(params, {"maximize": False}).step()
