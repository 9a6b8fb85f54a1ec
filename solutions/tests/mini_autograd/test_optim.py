"""Optimizers: steps and states match torch's. Options and errors are in `cells/optim.py`."""

import numpy as np
import pytest
import torch as real_torch
from both import assert_same

import mini_autograd as mini


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


def test_an_optimizer_without_a_rule_has_no_step():
    params = parameters(mini)
    set_gradients(mini, params, 0)
    with pytest.raises(NotImplementedError):
        mini.optim.Optimizer(params, {"maximize": False}).step()
