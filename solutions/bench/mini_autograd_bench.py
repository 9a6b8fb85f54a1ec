"""Time and memory of mini_autograd beside torch, in one run, single thread, processor time.

    python solutions/bench/mini_autograd_bench.py

(a) a chain of 1,000 elementwise operations on 2 numbers, forward and backward; (b) one training step of a network
784-256-128-10 on 64 pictures, with cross entropy and SGD; and a chain of 100,000 operations: bytes for each
operation, and whether reference counts alone free it.
"""

import gc
import itertools
import os
import time
import tracemalloc

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
    sizes = [784, 256, 128, 10]
    parameters = []
    for n_in, n_out in itertools.pairwise(sizes):
        for shape in ((n_out, n_in), (n_out,)):
            values = draw.uniform(-1, 1, shape) / n_in**0.5
            parameters.append(lib.tensor(values.astype(np.float32), requires_grad=True))
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
                parameter.sub_(parameter.grad, alpha=0.01)
                parameter.grad = None

    return step


def compare(name, first, second, rounds=30, repeats=5):
    """Print the processor time of two functions, measured in turns, and the median of their ratios."""
    first(), second(), first(), second()
    times = []
    for _ in range(rounds):
        pair = []
        for function in (first, second):
            start = time.process_time()
            for _ in range(repeats):
                function()
            pair.append((time.process_time() - start) / repeats)
        times.append(pair)
    ours, theirs = np.median(times, axis=0)
    ratio = np.median([a / b for a, b in times])
    print(f"{name}: mini_autograd {ours * 1e3:.3f} ms, torch {theirs * 1e3:.3f} ms, ratio {ratio:.2f}")


def long_chain(length=100_000):
    """Print what a chain of `length` operations costs in memory, and what is left of it without the collector."""
    x = mini_autograd.tensor([1.0, 2.0], requires_grad=True)
    c = mini_autograd.tensor([0.999999, 1.000001])
    gc.collect()
    gc.disable()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    y = x
    for _ in range(length):
        y = y * c
    built = tracemalloc.get_traced_memory()[0] - before
    y.backward(mini_autograd.tensor([1.0, 3.0]))
    peak = tracemalloc.get_traced_memory()[1] - before
    del y
    x.grad = None
    left = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    gc.enable()
    print(f"{length} operations: {built / length:.0f} bytes each, {peak / length:.0f} at the peak, {left} bytes left")


if __name__ == "__main__":
    compare("(a) chain of 1,000", chain(mini_autograd), chain(torch))
    functional = mini_autograd.nn.functional
    compare("(b) network 784-256-128-10", network(mini_autograd, functional), network(torch, torch.nn.functional))
    long_chain()
