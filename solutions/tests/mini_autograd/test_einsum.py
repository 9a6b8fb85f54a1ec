"""`einsum` against torch: every form of the equation, with its derivatives, its nodes and its errors."""

import numpy as np
import pytest
from both import assert_same, each
from derivatives import compare, inputs

import mini_autograd as mini

EQUATIONS = [
    ("i->", (3,)),
    ("i", (3,)),
    ("ij->ji", (2, 3)),
    ("ba", (2, 3)),
    ("ij->j", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->ij", (2, 2, 3)),
    ("iji->j", (2, 3, 2)),
    ("ijij->ji", (2, 3, 2, 3)),
    ("iii", (3, 3, 3)),
    ("i,i", (3,), (3,)),
    ("i,j", (3,), (2,)),
    ("i,i->i", (3,), (3,)),
    ("ij,j", (2, 3), (3,)),
    ("ij,jk", (2, 3), (3, 4)),
    (" ij , jk -> ki ", (2, 3), (3, 4)),
    ("Ab,bC->CA", (2, 3), (3, 4)),
    ("ij,kj->k", (2, 3), (4, 3)),
    ("ij,kl->", (2, 3), (4, 2)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
    ("bij,bjk->ik", (2, 3, 4), (2, 4, 2)),
    ("ii,i->i", (3, 3), (3,)),
    ("ij,ij,ij->i", (2, 3), (2, 3), (2, 3)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("bn,anm,bm->ba", (2, 5), (3, 5, 4), (2, 4)),
    ("i,j,k->kij", (2,), (3,), (4,)),
    ("...", (2, 3)),
    ("...->...", (2, 3)),
    ("i...->...", (2, 3, 4)),
    ("...ij->...ji", (2, 3, 4)),
    ("...ii->...i", (2, 3, 3)),
    ("...ij,...jk->...ik", (2, 3, 4), (2, 4, 2)),
    ("...ij,...jk", (5, 2, 3, 4), (2, 4, 2)),
    ("...i,...i->", (2, 3), (4, 2, 3)),
    ("...,...->...", (2, 1), (3,)),
    ("i...,j...->ij...", (2, 4), (3, 1)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("ij,ij->ij", (2, 1), (1, 3)),
    ("ij,jk->ik", (2, 0), (0, 4)),
    (",ij->ij", (), (2, 3)),
    ("->", ()),
]


@pytest.mark.parametrize("case", EQUATIONS, ids=[" with ".join(map(str, case)) for case in EQUATIONS])
def test_einsum(case):
    equation, *shapes = case
    compare(lambda t, *args: t.einsum(equation, *[arg * 1 for arg in args]), inputs(shapes))


def test_einsum_of_memory_in_another_order():
    compare(lambda t, a, b: t.einsum("bij,bkj->ibk", a, b), inputs([(2, 3, 4), (2, 5, 4)], layout="transposed"))


def test_einsum_with_numbers_instead_of_letters():
    compare(lambda t, a, b: t.einsum(a, [0, 1], b, [1, 30], [30, 0]), inputs([(2, 3), (3, 4)]))
    compare(lambda t, a, b: t.einsum(a, [..., 1], b, [1, 2]), inputs([(5, 2, 3), (3, 4)]))
    compare(lambda t, a: t.einsum(a, [0, 0], []), inputs([(3, 3)]))


def test_einsum_of_a_list():
    compare(lambda t, a, b: t.einsum("ij,jk", [a, b]), inputs([(2, 3), (3, 4)]))


def test_the_diagonal_that_einsum_shows_is_a_view():
    def scenario(t):
        x = t.zeros(3, 3)
        t.einsum("ii->i", x).fill_(1.0)
        return x

    assert_same(scenario)


def test_one_operand_that_is_used_twice_receives_both_gradients():
    def scenario(t):
        x = t.arange(6.0).reshape(2, 3).requires_grad_()
        t.einsum("ij,kj->ik", x, x).backward(t.tensor([[1.0, 2.0], [3.0, 5.0]]))
        return x.grad

    assert_same(scenario)


@each(
    ('t.einsum("i,j", v)', RuntimeError),
    ('t.einsum("i", v, v)', RuntimeError),
    ('t.einsum("ij", v)', RuntimeError),
    ('t.einsum("...ij", v)', RuntimeError),
    ('t.einsum("i->j", v)', RuntimeError),
    ('t.einsum("i->ii", v)', RuntimeError),
    ('t.einsum("i->i...i", v)', RuntimeError),
    ('t.einsum("1", v)', RuntimeError),
    ('t.einsum("i,i+", v, v)', RuntimeError),
    ('t.einsum("i->2", v)', RuntimeError),
    ('t.einsum("..i", v)', RuntimeError),
    ('t.einsum("......", v)', RuntimeError),
    ('t.einsum("i->..", v)', RuntimeError),
    ('t.einsum("...->......", v)', RuntimeError),
    ('t.einsum("i,i", v, t.ones(2))', RuntimeError),
    ('t.einsum("ij,jk,kl", t.ones(2, 3), t.ones(1, 4), t.ones(2, 2))', RuntimeError),
    ('t.einsum("ii", t.ones(2, 3))', RuntimeError),
    ('t.einsum("...,...", t.ones(2, 3), t.ones(2, 2))', RuntimeError),
    ('t.einsum("ij,jk", t.ones(2, 3), t.ones(3, 2).double())', RuntimeError),
    ('t.einsum("i")', ValueError),
    ("t.einsum(v, [52])", ValueError),
    ("t.einsum(v, [-1])", ValueError),
    ('t.einsum("i", 3.0)', TypeError),
    ('t.einsum("i,i", v, None)', TypeError),
)
def test_what_einsum_refuses(line, raises):
    assert_same(lambda t: eval(line, {"t": t, "v": t.ones(3)}), raises)


def test_einsum_is_that_of_numpy():
    a, b, c = inputs([(2, 3, 4), (4, 5), (3, 5)])
    found = mini.einsum("aij,jk,ik->ka", *map(mini.from_numpy, (a, b, c)))
    np.testing.assert_allclose(found.numpy(), np.einsum("aij,jk,ik->ka", a, b, c), rtol=1e-12)
