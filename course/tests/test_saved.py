"""The memory that graphs save for backward is counted exactly: each storage once, for as long as it is held."""

import torch

from gradlab.saved import Saved


def test_what_a_backward_pass_frees_no_longer_counts_but_the_most_is_known():
    x = torch.zeros(1000, requires_grad=True)
    saved = Saved()
    with saved.watch():
        y = x.exp().sin().sum()
    y.backward()
    assert (saved.tensors(), saved.bytes()) == (0, 0)
    assert (saved.most, saved.most_bytes) == (2, 4000), "exp saves its result, and sin its input, which is the same"


def test_a_view_counts_with_all_that_it_keeps():
    x = torch.zeros(4, requires_grad=True)
    saved = Saved()
    with saved.watch():
        f = x.exp()[:2]
        y = f * f
    assert y.shape == (2,)
    assert saved.bytes() == 16


def test_what_is_there_anyway_does_not_count():
    data, weight = torch.ones(3, 2), torch.ones(2, requires_grad=True)
    saved = Saved(without=[data, weight])
    with saved.watch():
        y = (data[1:] @ weight).tanh()
    assert y.requires_grad
    assert saved.bytes() == 8, "the result of tanh alone"
