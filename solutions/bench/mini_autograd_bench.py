"""Compare the time that mini_autograd takes with torch's: one run, one thread, processor time.

    python solutions/bench/mini_autograd_bench.py

(a) A chain of 1,000 elementwise operations on 2 numbers, forward and backward. (b) One training step of a network
784-256-128-10 on 64 images, with cross entropy and SGD.
"""

import itertools
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import torch

import mini_autograd

torch.set_num_threads(1)


def chain(lib, length=1000):
    """Return a function that builds a chain of `length` operations on 2 numbers and runs backward through it."""
    x = lib.tensor([1.0, 2.0], requires_grad=True)
    c = lib.tensor([0.999, 1.001])
    weights = lib.tensor([0.5, -2.0])

    def step():
        y = x
        for _ in range(length // 4):
            y = y * c
            y = y + c
            y = y - c
            y = y * c
        y.backward(weights)

    return step


def network(lib, functional):
    """Return a function that does one SGD step of a three-layer network."""
    draw = np.random.default_rng(0)
    parameters = []
    for n_in, n_out in itertools.pairwise([784, 256, 128, 10]):
        for shape in ((n_out, n_in), (n_out,)):
            drawn = (draw.uniform(-1, 1, shape) / n_in**0.5).astype(np.float32)
            parameters.append(lib.tensor(drawn, requires_grad=True))
    pictures = lib.tensor(draw.normal(size=(64, 784)).astype(np.float32))
    labels = lib.tensor(draw.integers(0, 10, 64))

    def step():
        x = pictures
        for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
            x = functional.linear(x, weight, bias)
            if weight is not parameters[-2]:
                x = lib.relu(x)
        functional.cross_entropy(x, labels).backward()
        with lib.no_grad():
            for parameter in parameters:
                parameter -= 0.01 * parameter.grad
                parameter.grad = None

    return step


def compare(name, rounds=40, repeats=5, **functions):
    """Run the functions in turn; print each median processor time, and the first function's time relative to it."""
    for function in functions.values():
        function(), function()
    times = []
    for _ in range(rounds):
        times.append([])
        for function in functions.values():
            begin = time.process_time()
            for _ in range(repeats):
                function()
            times[-1].append((time.process_time() - begin) / repeats * 1e3)
    times = np.array(times)
    print(name)
    for label, own in zip(functions, times.T, strict=True):
        print(f"    {label:14} {np.median(own):7.3f} ms, mini_autograd takes {np.median(times[:, 0] / own):.2f} × that")


if __name__ == "__main__":
    compare("(a) chain of 1,000 operations", mini_autograd=chain(mini_autograd), torch=chain(torch))
    compare(
        "(b) step of a network 784-256-128-10",
        mini_autograd=network(mini_autograd, mini_autograd.nn.functional),
        torch=network(torch, torch.nn.functional),
    )
