"""Networks trained like torch's from the same start, first values, and memory."""

import gc
import itertools
import tracemalloc

import numpy as np
import pytest
import torch

import mini_autograd as mini

STEPS = 100


def network(lib):
    nn, options = lib.nn, {"dtype": lib.float64}
    return nn.Sequential(
        nn.Linear(6, 16, **options),
        nn.Sigmoid(),
        nn.Linear(16, 8, **options),
        nn.ReLU(),
        nn.Linear(8, 8, bias=False, **options),
        nn.Tanh(),
        nn.Linear(8, 3, **options),
    )


def batch():
    draw = np.random.default_rng(3)
    return draw.normal(size=(8, 6)), draw.integers(0, 3, 8)


def train(lib, network, inputs, labels, **options):
    """Return the losses of the steps."""
    inputs, labels = lib.tensor(inputs), lib.tensor(labels)
    optimizer = lib.optim.SGD(network.parameters(), **options)
    losses = []
    loss_of = lib.nn.CrossEntropyLoss()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(network(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("options", [{"lr": 0.5}, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}])
def test_training_keeps_beside_torch(options):
    """A hundred steps from the same start give the same losses and the same parameters."""
    torch.manual_seed(0)
    theirs, ours = network(torch), network(mini)
    with mini.no_grad():
        for (name, a), (named, b) in zip(theirs.named_parameters(), ours.named_parameters(), strict=True):
            assert name == named
            b.copy_(mini.from_numpy(a.detach().numpy()))
    inputs, labels = batch()
    expected = train(torch, theirs, inputs, labels, **options)
    found = train(mini, ours, inputs, labels, **options)
    assert expected[-1] < expected[0] - 0.3
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    for a, b in zip(theirs.parameters(), ours.parameters(), strict=True):
        np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=0, atol=1e-6)


def test_memory_does_not_grow(collector_off):
    """What a step leaves behind it, the next step does not add to; and the collector has nothing to find."""
    net = network(mini)
    optimizer = mini.optim.SGD(net.parameters(), momentum=0.9)
    inputs, labels = map(mini.tensor, batch())
    loss_of = mini.nn.CrossEntropyLoss()
    hooked = net[0].register_full_backward_hook(lambda module, grad_input, grad_output: None)

    def step():
        optimizer.zero_grad()
        loss_of(net(inputs), labels).backward()
        optimizer.step()

    with pytest.warns(UserWarning, match="no inputs require gradients"):
        step()
    hooked.remove()
    tracemalloc.start()
    try:
        kept = [steps(step, times) for times in (10, 200, 200, 200)]
    finally:
        tracemalloc.stop()
    grown = [after - before for before, after in itertools.pairwise(kept)]
    assert min(grown) < 200 * 20, "not even a number for each step; threads of the test runner allocate now and then"


def steps(step, times):
    """Take a step several times; return how many bytes are in use then."""
    for _ in range(times):
        step()
    assert gc.collect() == 0
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("code", ["nn.Linear(200, 300).weight", "nn.Linear(200, 30000).bias"])
def test_first_values_have_torchs_distribution(code):
    def moments(lib):
        lib.manual_seed(2)
        values = eval(code, {"nn": lib.nn}).detach().numpy()
        return np.array([values.mean(), values.std(), values.min(), values.max()])

    ours, theirs = moments(mini), moments(torch)
    np.testing.assert_allclose(ours, theirs, rtol=0.02, atol=0.02 * theirs[1])
