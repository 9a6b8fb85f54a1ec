"""`pad` in the modes that use the tensor's own elements, compared with torch."""

import pytest
from both import assert_same, each, functional_of
from derivatives import compare, inputs

SIZES = [
    ((2, 4), (1, 2)),
    ((2, 3, 4), (3, 0)),
    ((2, 3, 4), (-1, 2)),
    ((2, 3, 4), (0, -2)),
    ((3, 4, 3), (1, 2, 3, 0)),
    ((2, 3, 4, 3), (0, 1, -2, 1)),
    ((1, 2, 3, 3), (2, 1, 0, 1, 1, 0)),
    ((1, 2, 2, 3, 3), (-1, 2, 1, 1, 1, 0)),
    ((0, 2, 3), (1, 1)),
    ((2, 3, 4), (1, 1, -1, -2)),
]


@pytest.mark.parametrize(("shape", "padding"), SIZES)
@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_padding(mode, shape, padding):
    """Circular padding is one node here; torch makes it of copies into slices."""
    compare(
        lambda t, x: functional_of(t).pad(x * 1, padding, mode), inputs([shape]), names=mode != "circular" and shape[0]
    )


@pytest.mark.parametrize("mode", ["replicate", "circular"])
def test_padding_with_integers(mode):
    assert_same(lambda t: functional_of(t).pad(t.arange(6).reshape(2, 3), (2, 1), mode))


def test_the_edge_may_be_repeated_more_often_than_it_is_long():
    compare(lambda t, x: functional_of(t).pad(x, (5, 7), mode="replicate"), inputs([(2, 3)]))


def test_a_padded_tensor_can_be_viewed():
    assert_same(lambda t: functional_of(t).pad(t.arange(6.0).reshape(2, 3), (1, 0), "reflect").view(-1))


@each(
    ('pad(x, (1, 1), "mirror")', NotImplementedError),
    ('pad(x[0, 0], (1, 1), "reflect")', NotImplementedError),
    ('pad(x[0], (1, 1, 1, 1), "reflect")', NotImplementedError),
    ('pad(x, (), "reflect")', NotImplementedError),
    ('pad(x, (1,), "replicate")', RuntimeError),
    ('pad(x, (1,) * 8, "replicate")', RuntimeError),
    ('pad(x, (1, 1), "reflect", 3.0)', RuntimeError),
    ('pad(x, (4, 1), "reflect")', RuntimeError),
    ('pad(x, (1, 4), "reflect")', RuntimeError),
    ('pad(x, (1, 1, 1, 3), "reflect")', RuntimeError),
    ('pad(x[None], (1, 1, 1, 1, 5, 1), "reflect")', RuntimeError),
    ('pad(x, (1, 5), "circular")', RuntimeError),
    ('pad(x, (-3, -3), "circular")', RuntimeError),
    ('pad(x, (-2, -2), "replicate")', RuntimeError),
    ('pad(x, (1, 1, -2, -2), "replicate")', RuntimeError),
    ('pad(x[None], (1, 1, -2, -2, 0, 0), "replicate")', RuntimeError),
    ('pad(x, (-2, -3), "reflect")', RuntimeError),
    ('pad(x, (-2, -3, -2, -2), "reflect")', RuntimeError),
    ('pad(x[None], (-2, -3, -2, -2, -2, -2), "replicate")', RuntimeError),
    ('pad(x[:, :, :0], (1, 1), "replicate")', RuntimeError),
    ('pad(x[:, :0], (1, 1), "reflect")', RuntimeError),
)
def test_what_pad_refuses(line, raises):
    assert_same(lambda t: eval(line, {"pad": functional_of(t).pad, "x": t.ones(2, 3, 4)}), raises)
