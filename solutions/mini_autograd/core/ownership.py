"""Find out whether a gradient's memory belongs to nobody else, so that a leaf may keep it without a copy.

torch checks a gradient's reference count in the same way before a leaf takes it over.
"""

import sys

import numpy as np


def owned(gradients):
    """Return whether only the list `gradients` holds the array `gradients[0]`."""
    array = gradients[0]
    if type(array) is not np.ndarray or sys.getrefcount(array) != ALONE:
        return False
    memory = array.base
    # A view of a whole array to which only this view refers, such as a weight's gradient transposed back.
    return memory is None or (
        type(memory) is np.ndarray
        and memory.size == array.size
        and array.flags.c_contiguous
        and memory.flags.owndata
        and sys.getrefcount(memory) == ALONE
    )


def _count_holders(gradients):
    array = gradients[0]
    return sys.getrefcount(array)


ALONE = _count_holders([np.empty(0)])  # one holder, plus the references that a name and a call add in this Python
