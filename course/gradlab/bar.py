"""A bar for long work."""

import sys


def track(items, words="working"):
    """Go through `items` with a bar that says how far it is; it shows after a second and leaves nothing behind.

    The bar is tqdm's. The environment variable TQDM_DISABLE=1 switches it off, as where notebooks are compared.
    """
    from tqdm import tqdm  # the bar in text: tqdm's widget leaves an error in a notebook that is opened without kernel

    return tqdm(items, desc=words, delay=1, leave=False, ncols=72, file=sys.stdout)
