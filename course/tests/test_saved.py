"""The memory that graphs save for backward is counted exactly: each storage once, for as long as it is held."""

import torch

from gradlab.saved import Saved


def test_a_view_counts_with_all_that_it_keeps():
    x = torch.zeros(4, requires_grad=True)
    saved = Saved()
    with saved.watch():
        f = x.exp()[:2]
        y = f * f
    assert y.shape == (2,)
    assert saved.bytes() == 16
