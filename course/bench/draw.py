"""Time the drawing of pictures: `python course/bench/draw.py` prints the median time after the first call."""

import statistics
import time

import torch

from gradlab.pictures.drawing import draw


def steps(n):
    """Return a computation of about n nodes with long edges: each step adds an earlier value."""
    x = torch.ones(2, requires_grad=True)
    values = [x]
    while len(values) < n:
        values.append(torch.tanh(values[-1]) if len(values) % 2 else values[-1] + values[len(values) // 2])
    return values[-1].sum()


def main():
    draw(steps(5))
    for n in (15, 30, 58):
        loss = steps(n)
        times = []
        for _ in range(15):
            start = time.process_time()
            picture = draw(loss)
            times.append(time.process_time() - start)
        boxes, size = picture.svg.count("data-node="), len(picture.html()) / 1024
        print(f"{boxes:3} boxes: {1000 * statistics.median(times):5.1f} ms of processor time, {size:.0f} KiB of HTML")


if __name__ == "__main__":
    main()
