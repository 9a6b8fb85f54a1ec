"""Time one training step and compare it with torch: one run, one thread, processor time.

    python solutions/bench/convnet_bench.py

(b) the network 784-256-128-10, (c) the ConvNet of chapter 07, both on 64 images of 28×28 pixels, with cross entropy
and SGD, written with `nn` and `optim`.
"""

from mini_autograd_bench import compare, np, torch  # imported first: it requests one thread before NumPy is loaded

import mini_autograd


def perceptron(nn):
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)
    )


def conv_net(nn):
    return nn.Sequential(
        nn.Conv2d(1, 10, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(10, 20, 5),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(320, 50),
        nn.ReLU(),
        nn.Linear(50, 10),
    )


def training_step(lib, network, state):
    """Return a function that does one step of training on the same 64 pictures, from the same parameters."""
    draw = np.random.default_rng(0)
    pictures = lib.tensor(draw.normal(size=(64, 1, 28, 28)).astype(np.float32))
    labels = lib.tensor(draw.integers(0, 10, 64))
    network.load_state_dict({name: lib.tensor(values) for name, values in state.items()})
    optimizer = lib.optim.SGD(network.parameters(), lr=0.01)
    loss_of = lib.nn.CrossEntropyLoss()

    def step():
        optimizer.zero_grad()
        loss_of(network(pictures), labels).backward()
        optimizer.step()

    return step


def main():
    for name, kind in (
        ("(b) network 784-256-128-10, nn and optim", perceptron),
        ("(c) ConvNet of chapter 07", conv_net),
    ):
        ours, theirs = kind(mini_autograd.nn), kind(torch.nn)
        state = {key: tensor.numpy().copy() for key, tensor in theirs.state_dict().items()}
        compare(
            name,
            mini_autograd=training_step(mini_autograd, ours, state),
            torch=training_step(torch, theirs, state),
        )


if __name__ == "__main__":
    main()
