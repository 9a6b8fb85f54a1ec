"""Networks trained like torch's from the same start, states exchanged between the libraries, and memory."""

import math

import numpy as np
import pytest
import torch
from memory import growth

import mini_autograd as mini

STEPS = 100


def two_layers(lib):
    nn = lib.nn
    return nn.Sequential(nn.Linear(6, 16), nn.Sigmoid(), nn.Linear(16, 3))


def conv_net(lib):
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 3),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(6, 10),
        nn.BatchNorm1d(10),
        nn.Linear(10, 3),
    )


def attention(lib):
    nn, F = lib.nn, lib.nn.functional

    class Block(nn.Module):
        def __init__(self, width=8, heads=2):
            super().__init__()
            self.embed = nn.Embedding(11, width)
            self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
            self.qkv = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width)
            self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
            self.head = nn.Linear(width, 3)
            self.heads = heads
            self.register_buffer("mask", lib.arange(5)[:, None] < lib.arange(5))

        def forward(self, tokens):
            x = self.embed(tokens)
            n, length, width = x.shape
            parts = self.qkv(self.norms[0](x)).chunk(3, dim=-1)
            q, k, v = (p.reshape(n, length, self.heads, width // self.heads).transpose(1, 2) for p in parts)
            scores = (q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)).masked_fill(self.mask, float("-inf"))
            mixed = (F.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(n, length, width)
            x = x + self.out(mixed)
            x = x + self.feed(self.norms[1](x))
            return self.head(x.mean(1))

    return Block()


def batch(kind):
    draw = np.random.default_rng(3)
    labels = draw.integers(0, 3, 8)
    if kind is two_layers:
        return draw.normal(size=(8, 6)), labels
    if kind is conv_net:
        return draw.normal(size=(8, 1, 10, 10)), labels
    return draw.integers(0, 11, (8, 5)), labels


def to_torch(state):
    return {name: torch.from_numpy(tensor.numpy().copy()) for name, tensor in state.items()}


def to_mini(state):
    return {name: mini.from_numpy(tensor.numpy().copy()) for name, tensor in state.items()}


OPTIMIZERS = {
    "sgd": lambda optim, params: optim.SGD(params, lr=0.1),
    "momentum": lambda optim, params: optim.SGD(params, lr=0.05, momentum=0.9, weight_decay=0.01, nesterov=True),
    "adam": lambda optim, params: optim.Adam(params, lr=0.01, weight_decay=0.01),
    "adamw": lambda optim, params: optim.AdamW(params, lr=0.01, amsgrad=True),
}


def train(lib, network, optimizer, inputs, labels, clip=None):
    """Return the losses of the steps."""
    inputs, labels = lib.tensor(inputs), lib.tensor(labels)
    losses = []
    loss_of = lib.nn.CrossEntropyLoss()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(network(inputs), labels)
        loss.backward()
        if clip is not None:
            lib.nn.utils.clip_grad_norm_(network.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("kind", [two_layers, conv_net, attention])
def test_training_keeps_beside_torch(kind, optimizer):
    """A hundred steps from the same start give the same losses, and so the same parameters and buffers.

    Adam divides by the size of the gradient, so last digits grow where it is small: to 2e-8 on some processors.
    """
    torch.manual_seed(0)
    theirs, ours = kind(torch).double(), kind(mini).double()
    assert str(ours.load_state_dict(to_mini(theirs.state_dict()))) == "<All keys matched successfully>"
    inputs, labels = batch(kind)
    make = OPTIMIZERS[optimizer]
    clip = 0.5 if optimizer == "momentum" else None
    expected = train(torch, theirs, make(torch.optim, theirs.parameters()), inputs, labels, clip)
    found = train(mini, ours, make(mini.optim, ours.parameters()), inputs, labels, clip)
    assert expected[-1] < expected[0] - 0.3
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)
    back = kind(torch).double()
    back.load_state_dict(to_torch(ours.state_dict()))
    for (name, a), b in zip(theirs.state_dict().items(), back.state_dict().values(), strict=True):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=0, atol=1e-6, err_msg=name)
    theirs.eval(), ours.eval()
    a, b = theirs(torch.tensor(inputs)), ours(mini.tensor(inputs))
    np.testing.assert_allclose(b.detach().numpy(), a.detach().numpy(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", [two_layers, conv_net, attention])
def test_memory_does_not_grow(kind):
    """What a step leaves behind it, the next step does not add to; and the collector has nothing to find."""
    network = kind(mini)
    optimizer = mini.optim.Adam(network.parameters())
    inputs, labels = batch(kind)
    inputs, labels = mini.tensor(inputs), mini.tensor(labels)
    inputs = inputs.float() if inputs.dtype is mini.float64 else inputs
    loss_of = mini.nn.CrossEntropyLoss()
    hooked = next(network.children()).register_full_backward_hook(lambda module, grad_input, grad_output: None)

    def step():
        optimizer.zero_grad()
        loss_of(network(inputs), labels).backward()
        optimizer.step()

    with pytest.warns(UserWarning, match="no inputs require gradients"):
        step()
    hooked.remove()
    for _ in range(5):
        step()
    assert growth(step, warm_up=10, repeats=20) < 500


def test_sigmoid_network_of_chapter_07():
    """The 2-layer network worked through by hand: outputs, loss, and the gradients that its hooks report."""
    nn = mini.nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc1, self.fc2 = nn.Linear(2, 2), nn.Linear(2, 2)
            self.s1, self.s2 = nn.Sigmoid(), nn.Sigmoid()
            self.fc1.weight = nn.Parameter(mini.tensor([[0.15, 0.2], [0.25, 0.3]]))
            self.fc1.bias = nn.Parameter(mini.tensor([0.35]))
            self.fc2.weight = nn.Parameter(mini.tensor([[0.4, 0.45], [0.5, 0.55]]))
            self.fc2.bias = nn.Parameter(mini.tensor([0.6]))

        def forward(self, x):
            return self.s2(self.fc2(self.s1(self.fc1(x))))

    network, seen = Network(), {}
    for name, module in network.named_children():
        module.register_full_backward_hook(lambda m, grad_input, g, name=name: seen.update({name: grad_input[0]}))
        module.register_forward_hook(lambda m, args, output, name=name: seen.update({name + " out": output.detach()}))
    output = network(mini.tensor([0.05, 0.1], requires_grad=True))
    loss = nn.MSELoss()(output, mini.tensor([0.01, 0.99]))
    assert round(loss.item(), 4) == 0.2984
    output.backward(mini.tensor([1.0, 1.0]))
    expected = {
        "s1 out": [0.5933, 0.5969],
        "s2 out": [0.7514, 0.7729],
        "s2": [0.1868, 0.1755],
        "fc2": [0.1625, 0.1806],
        "s1": [0.0392, 0.0435],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(seen[name].numpy(), values, rtol=0, atol=5e-5, err_msg=name)
    assert round(network.fc2.bias.grad.item(), 4) == 0.3623
    assert round(network.fc1.bias.grad.item(), 4) == 0.0827
