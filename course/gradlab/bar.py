"""A progress bar for long computations."""

import sys

from .words import _


def track(items, words=""):
    """Iterate over `items` with a progress bar, which appears after a second and is cleared at the end.

    It is seen at once, even where output is captured, as in a payoff. The bar is tqdm's; the environment variable
    TQDM_DISABLE=1 switches it off, as in tests that compare notebooks.
    """
    from tqdm import tqdm  # the text bar: tqdm's widget shows an error in a notebook opened without a kernel

    seen = getattr(sys.stdout, "before", sys.stdout)
    return tqdm(items, desc=words or _("working"), delay=1, leave=False, ncols=72, file=seen)
