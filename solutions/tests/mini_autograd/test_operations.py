"""Every operation against torch in float64: value, first and second derivatives, for many shapes."""

import itertools

import pytest
from both import assert_same
from derivatives import compare, inputs

SHAPES = [(), (1,), (3,), (0,), (2, 3), (0, 3), (2, 1, 3)]
UNARY = {
    "neg": lambda t, x: -x,
    "exp": lambda t, x: t.exp(x),
    "sin": lambda t, x: x.sin(),
    "cos": lambda t, x: t.cos(x),
    "tanh": lambda t, x: x.tanh(),
    "sigmoid": lambda t, x: t.sigmoid(x),
    "relu": lambda t, x: x.relu(),
    "cube": lambda t, x: x**3,
    "power 0": lambda t, x: x**0,
    "power -2": lambda t, x: x**-2,
    "reciprocal": lambda t, x: 1 / x,
    "rsub": lambda t, x: 3 - x,
    "clone": lambda t, x: x.clone(),
    "sum": lambda t, x: x.sum(),
    "mean": lambda t, x: x.mean(),
    "reshape": lambda t, x: x.reshape(-1, 1) if x.numel() else x.reshape(0),
    "unsqueeze": lambda t, x: x.unsqueeze(0),
    "expand": lambda t, x: x.expand(2, *x.shape),
    "T": lambda t, x: x.reshape(1, -1).T if x.numel() else x.sum(),
    "to float32 and back": lambda t, x: x.float().double() * 2,
    "index none": lambda t, x: x[None],
    "ellipsis": lambda t, x: x[...],
}
POSITIVE = {
    "log": lambda t, x: x.log(),
    "power half": lambda t, x: x**0.5,
}


@pytest.mark.parametrize("layout", ["plain", "transposed"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", [*UNARY, *POSITIVE])
def test_function_of_one_tensor(name, shape, layout):
    positive = name in POSITIVE
    arrays = inputs([shape], 0.2 if positive else -2, 2, layout=layout)
    compare((POSITIVE if positive else UNARY)[name], arrays, names=name not in ("reshape", "T"))


BINARY = {
    "add": lambda t, x, y: x + y,
    "sub": lambda t, x, y: x - y,
    "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / y,
    "shared": lambda t, x, y: (x * y) * (x + y) + x,
}
PAIRS = [
    ((), ()),
    ((3,), ()),
    ((), (2, 3)),
    ((2, 3), (3,)),
    ((2, 1), (1, 3)),
    ((2, 3), (2, 3)),
    ((0, 3), (3,)),
    ((1,), (2, 1, 2)),
]


@pytest.mark.parametrize("layout", ["plain", "transposed"])
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_function_of_two_tensors_broadcasts_both_ways(name, shapes, layout):
    compare(BINARY[name], inputs(shapes, seed=3, layout=layout))


REDUCTIONS = [((3,), 0), ((2, 3), 1), ((2, 3), -2), ((2, 3), (0, 1)), ((2, 3, 2), (0, -1)), ((2, 3), ()), ((2, 3), [])]


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(("shape", "dim"), REDUCTIONS, ids=str)
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_reduction(name, shape, dim, keep):
    compare(lambda t, x: getattr(x, name)(dim, keepdim=keep), inputs([shape], seed=1, layout="transposed"))


@pytest.mark.parametrize(("shape", "dim"), [((3,), 0), ((2, 3), 1), ((2, 3), 0), ((2, 3, 2), -2), ((0, 3), 1)])
def test_log_softmax(shape, dim):
    compare(lambda t, x: t.log_softmax(x, dim), inputs([shape], seed=2))


PRODUCTS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((0, 3), (3, 2)), ((2, 0), (0, 3))]


@pytest.mark.parametrize("layout", ["plain", "transposed"])
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_matmul(shapes, layout):
    compare(lambda t, x, y: x @ y, inputs(shapes, layout=layout))


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (0, 3)])
def test_linear(shape, bias):
    shapes = [shape, (4, 3), (4,)][: 3 if bias else 2]
    compare(lambda t, *args: t.nn.functional.linear(*args), inputs(shapes))


SHAPING = {
    "view -1": lambda t, x: x.reshape(24).view(-1, 2),
    "t": lambda t, x: x.reshape(6, 4).t(),
    "transpose": lambda t, x: x.transpose(0, -1),
    "reshape of a transposed": lambda t, x: x.transpose(2, 0).reshape(8, 3),
    "index numbers": lambda t, x: x[1, -1, 2],
    "slice": lambda t, x: x[:, 1:, ::2],
    "slice and number": lambda t, x: x[..., 1:, 0],
    "None, number and ellipsis": lambda t, x: x[None, 0, ..., None],
    "expand": lambda t, x: x[:, :1].expand(-1, 5, -1),
    "iterate": lambda t, x: [row * 2 for row in x][1],
}


@pytest.mark.parametrize("layout", ["plain", "transposed"])
@pytest.mark.parametrize("name", SHAPING)
def test_shape_and_index(name, layout):
    compare(lambda t, x: SHAPING[name](t, x * 2), inputs([(2, 3, 4)], layout=layout), names=layout == "plain")


def test_losses():
    compare(lambda t, x, y: t.nn.functional.mse_loss(x, y), inputs([(4, 3), (4, 3)]))
    compare(lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([2, 0, 1, 1])), inputs([(4, 3)]))


NUMBERS = [0.0, 1.0, -2.0, float("inf"), float("-inf"), float("nan"), 1e300]
ARITHMETIC = [*BINARY.values(), lambda t, x, y: x @ y]


@pytest.mark.parametrize("operation", [*ARITHMETIC, *UNARY.values(), *POSITIVE.values()])
def test_infinite_numbers_and_nan_cause_no_warning(operation):
    """All pairs of special numbers, forward, backward and in place: what comes out is torch's."""

    def special(lib):
        pairs = [lib.tensor(each, dtype=lib.float64, requires_grad=True) for each in zip(*SPECIAL, strict=True)]
        count = 2 if operation in ARITHMETIC else 1
        y = operation(lib, *pairs[:count])
        y.sum().backward()
        other = y.detach().clone()
        for change in (other.add_, other.sub_, other.mul_, other.div_):
            change(other)
        return y.detach(), [x.grad for x in pairs[:count]], other

    assert_same(special)


SPECIAL = list(itertools.product(NUMBERS, repeat=2))
