"""Measure the memory that a repeated step retains, and only that step: other threads allocate too."""

import gc
import tracemalloc

FRAMES = 40  # stack frames, from a test to an engine operation and the functions it calls


def growth(step, warm_up: int, repeats: int) -> int:
    """Return how many bytes `repeats` calls of `step` leave behind, after `warm_up` calls, with the collector off.

    Raise AssertionError where the collector finds something to do. Count what was allocated by calls that come
    through this file: a test runner's own threads allocate while a test runs.
    """

    def run(times: int) -> None:
        for _ in range(times):
            step()

    through_run = tracemalloc.Filter(True, __file__, lineno=run.__code__.co_firstlineno + 2, all_frames=True)
    gc.collect()
    enabled = gc.isenabled()
    gc.disable()
    tracemalloc.start(FRAMES)
    try:
        held = []
        for times in (warm_up, repeats):
            run(times)
            assert gc.collect() == 0  # this also empties Python's free lists of tuples
            kept = tracemalloc.take_snapshot().filter_traces([through_run])
            held.append(sum(trace.size for trace in kept.traces))
        return held[1] - held[0]
    finally:
        tracemalloc.stop()
        if enabled:
            gc.enable()
