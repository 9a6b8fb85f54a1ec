"""Train a network on handwritten digits with my engine, and read digits that it has not seen."""

from pathlib import Path

import numpy as np
from my_engine import SGD, Linear, Tensor, cross_entropy, no_grad, relu

digits = np.load(Path(__file__).with_name("digits.npz"))
pictures, labels = digits["pictures"].reshape(-1, 64) / 16, digits["labels"].astype(int)
rng = np.random.default_rng(0)
first, second = Linear(rng.normal(0, 0.2, (32, 64)), np.zeros(32)), Linear(rng.normal(0, 0.2, (10, 32)), np.zeros(10))
optimizer = SGD([*first.parameters(), *second.parameters()], lr=0.1, momentum=0.9)

for epoch in range(1, 21):
    for rows in rng.permutation(1500).reshape(-1, 50):
        optimizer.zero_grad()
        scores = second(relu(first(Tensor(pictures[rows]))))
        loss = cross_entropy(scores, Tensor(labels[rows]))
        loss.backward()
        optimizer.step()
    with no_grad():
        right = second(relu(first(Tensor(pictures[1500:])))).data.argmax(1) == labels[1500:]
    print(f"epoch {epoch:2}: loss {loss.data:.3f}, reads {right.mean():.0%} of {right.size} new digits")
