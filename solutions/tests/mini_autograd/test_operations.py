"""Every operation against torch in float64: value, first and second derivatives, for many shapes."""

import numpy as np
import pytest
import torch
from derivatives import compare, inputs

import mini_autograd as mini

SHAPES = [(), (1,), (3,), (0,), (2, 3), (0, 3), (2, 1, 3)]
UNARY = {
    "neg": lambda t, x: -x,
    "exp": lambda t, x: t.exp(x),
    "sin": lambda t, x: x.sin(),
    "cos": lambda t, x: t.cos(x),
    "tanh": lambda t, x: x.tanh(),
    "sigmoid": lambda t, x: t.sigmoid(x),
    "relu": lambda t, x: x.relu(),
    "abs": lambda t, x: abs(x),
    "square": lambda t, x: x.square(),
    "cube": lambda t, x: x**3,
    "power 0": lambda t, x: x**0,
    "power -2": lambda t, x: x**-2,
    "number power": lambda t, x: 2**x,
    "reciprocal": lambda t, x: 1 / x,
    "rsub": lambda t, x: 3 - x,
    "add alpha": lambda t, x: t.add(x, x, alpha=3),
    "sub alpha": lambda t, x: t.sub(x, x.sin(), alpha=0.5),
    "clamp": lambda t, x: x.clamp(-1, 1.2),
    "clamp min": lambda t, x: x.clamp(min=0.3),
    "clamp max": lambda t, x: t.clamp(x, max=0.3),
    "clone": lambda t, x: x.clone(),
    "floor": lambda t, x: x.floor(),
    "sign": lambda t, x: x.sign() * x,
    "leaky relu": lambda t, x: t.nn.functional.leaky_relu(x, 0.2),
    "softplus": lambda t, x: t.nn.functional.softplus(x),
    "masked_fill": lambda t, x: x.masked_fill(x > 0.5, 7.0),
    "sum": lambda t, x: x.sum(),
    "mean": lambda t, x: x.mean(),
    "flatten": lambda t, x: x.flatten() * 2,
    "reshape": lambda t, x: x.reshape(-1, 1) if x.numel() else x.reshape(0),
    "unsqueeze": lambda t, x: x.unsqueeze(0),
    "squeeze": lambda t, x: x.squeeze(),
    "expand": lambda t, x: x.expand(2, *x.shape),
    "T": lambda t, x: x.reshape(1, -1).T if x.numel() else x.sum(),
    "stack": lambda t, x: t.stack([x, x.sin()]),
    "to float32 and back": lambda t, x: x.double() * 2,
    "index none": lambda t, x: x[None],
    "ellipsis": lambda t, x: x[...],
    "mask": lambda t, x: x[x > 0],
    "repeat": lambda t, x: x.repeat(2, *(1,) * x.ndim),
}
POSITIVE = {
    "log": lambda t, x: x.log(),
    "log1p": lambda t, x: t.log1p(x),
    "sqrt": lambda t, x: x.sqrt(),
    "rsqrt": lambda t, x: x.rsqrt(),
    "power half": lambda t, x: x**0.5,
    "power itself": lambda t, x: x**x,
    "norm": lambda t, x: x.norm() if x.numel() else x.sum(),
}


@pytest.mark.filterwarnings("ignore:.*number of dimensions other than 2")
@pytest.mark.parametrize("layout", ["plain", "transposed"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", [*UNARY, *POSITIVE])
def test_function_of_one_tensor(name, shape, layout):
    positive = name in POSITIVE
    arrays = inputs([shape], 0.2 if positive else -2, 2, layout=layout)
    compare((POSITIVE if positive else UNARY)[name], arrays, names=name not in ("norm", "reshape", "T"))


BINARY = {
    "add": lambda t, x, y: x + y,
    "sub": lambda t, x, y: x - y,
    "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / y,
    "maximum": lambda t, x, y: t.maximum(x, y),
    "minimum": lambda t, x, y: t.minimum(x, y),
    "where": lambda t, x, y: t.where(x > y, x, y * 2),
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


def test_power_of_two_tensors_broadcasts():
    x, y = inputs([(2, 1), (3,)], 0.2, 2)
    compare(lambda t, x, y: x**y, [x, y])


@pytest.mark.parametrize("name", ["maximum", "minimum", "max", "amax", "min", "amin"])
def test_equal_extremes_share_as_in_torch(name):
    x, y = np.array([1.0, 2.0, 2.0]), np.array([1.0, 3.0, 2.0])
    if name in ("maximum", "minimum"):
        compare(lambda t, x, y: getattr(t, name)(x, y), [x, y])
    else:
        compare(lambda t, x: getattr(x, name)(), [x])


REDUCTIONS = {
    "sum": lambda t, x, dim, keep: x.sum(dim, keepdim=keep),
    "mean": lambda t, x, dim, keep: x.mean(dim, keepdim=keep),
    "var": lambda t, x, dim, keep: x.var(dim, keepdim=keep),
    "var 0": lambda t, x, dim, keep: x.var(dim, correction=0, keepdim=keep),
    "std": lambda t, x, dim, keep: x.std(dim, keepdim=keep),
    "norm": lambda t, x, dim, keep: x.norm(dim=dim, keepdim=keep),
    "amax": lambda t, x, dim, keep: x.amax(dim, keepdim=keep),
    "amin": lambda t, x, dim, keep: x.amin(dim, keepdim=keep),
    "logsumexp": lambda t, x, dim, keep: x.logsumexp(dim, keepdim=keep),
    "max": lambda t, x, dim, keep: x.max(dim if isinstance(dim, int) else dim[0], keepdim=keep)[0],
    "min": lambda t, x, dim, keep: x.min(dim if isinstance(dim, int) else dim[0], keepdim=keep).values,
}


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize(
    ("shape", "dim"), [((3,), 0), ((2, 3), 1), ((2, 3), -2), ((2, 3), (0, 1)), ((2, 3, 2), (0, -1))]
)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction(name, shape, dim, keep):
    compare(lambda t, x: REDUCTIONS[name](t, x, dim, keep), inputs([shape], seed=1, layout="transposed"), names=False)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize(("shape", "dim"), [((3,), 0), ((2, 3), 1), ((2, 3), 0), ((2, 3, 2), -2), ((0, 3), 1)])
def test_softmax(name, shape, dim):
    compare(lambda t, x: getattr(t, name)(x, dim), inputs([shape], seed=2))


PRODUCTS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((2, 3), (5, 3, 2)),
    ((4, 1, 2, 3), (5, 3, 2)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
]


@pytest.mark.parametrize("layout", ["plain", "transposed"])
@pytest.mark.parametrize("shapes", PRODUCTS, ids=str)
def test_matmul(shapes, layout):
    compare(lambda t, x, y: x @ y, inputs(shapes, layout=layout), names=False)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 2, 3), (0, 3)])
def test_linear(shape, bias):
    shapes = [shape, (4, 3), (4,)][: 3 if bias else 2]
    compare(lambda t, *args: t.nn.functional.linear(*args), inputs(shapes), names=False)


SHAPING = {
    "view": lambda t, x: x.contiguous().view(3, 8),
    "view -1": lambda t, x: x.contiguous().view(-1, 2),
    "reshape of a permuted": lambda t, x: x.permute(2, 0, 1).reshape(8, 3),
    "transpose": lambda t, x: x.transpose(0, -1),
    "permute": lambda t, x: x.permute(1, 2, 0),
    "mT": lambda t, x: x.mT,
    "squeeze": lambda t, x: x.unsqueeze(1).squeeze(1),
    "squeeze of a size that stays": lambda t, x: x.squeeze(0) * 1,
    "select": lambda t, x: x.select(1, -1),
    "narrow": lambda t, x: x.narrow(1, 1, 2),
    "chunk": lambda t, x: x.chunk(2, 1),
    "one chunk only": lambda t, x: x.chunk(2, 1)[1],
    "split": lambda t, x: x.split(3, 2),
    "unbind": lambda t, x: x.unbind(1)[::2],
    "cat": lambda t, x: t.cat([x, x[:, :1], x.exp()], 1),
    "flip": lambda t, x: x.flip(0, 2),
    "outer": lambda t, x: x[0, 0].outer(x[:, 0, 0]),
    "index number": lambda t, x: x[1],
    "index numbers": lambda t, x: x[1, -1, 2],
    "slice": lambda t, x: x[:, 1:, ::2],
    "slice and number": lambda t, x: x[..., 1:, 0],
    "repeated": lambda t, x: x[:, [0, 0, 1]],
    "two arrays": lambda t, x: x[[0, 1, 0], [2, 0, 2]],
    "array beside a slice": lambda t, x: x[1:, t.tensor([[0, 1], [2, 2]])],
    "mask of two dimensions": lambda t, x: x[x[..., 0] > 0],
    "gather": lambda t, x: x.gather(2, t.tensor([[[0, 3, 0], [1, 1, 2], [0, 0, 0]]] * 2)),
    "expand": lambda t, x: x[:, :1].expand(-1, 5, -1),
    "iterate": lambda t, x: [row * 2 for row in x][1],
    "flatten some": lambda t, x: x.flatten(1),
    "split into sizes": lambda t, x: x.split([1, 0, 3], 2),
    "repeat more": lambda t, x: x.repeat(2, 1, 3, 2),
    "repeat never": lambda t, x: x.repeat(1, 0, 1) * 2,
    "pad": lambda t, x: t.nn.functional.pad(x, (1, 2, 0, 1), value=3.0),
    "pad and cut": lambda t, x: t.nn.functional.pad(x, (-1, 2, 1, -2)),
}  # fmt: skip


@pytest.mark.parametrize("layout", ["plain", "transposed"])
@pytest.mark.parametrize("name", SHAPING)
def test_shape_and_index(name, layout):
    compare(lambda t, x: SHAPING[name](t, x * 2), inputs([(2, 3, 4)], layout=layout), names=layout == "plain")


@pytest.mark.parametrize(
    ("size", "weight", "options"),
    [
        ((2, 3, 5, 6), (4, 3, 3, 2), {}),
        ((1, 2, 6, 6), (3, 2, 3, 3), {"padding": 1}),
        ((2, 1, 7, 5), (2, 1, 3, 2), {"stride": 2, "padding": (1, 0)}),
        ((2, 5, 4), (3, 2, 2, 2), {"stride": (1, 2)}),
    ],
)
@pytest.mark.parametrize("bias", [True, False])
def test_conv2d(size, weight, options, bias):
    shapes = [size, weight, (weight[0],)][: 3 if bias else 2]
    compare(lambda t, *args: t.nn.functional.conv2d(*args, **options), inputs(shapes), names=len(size) == 4)


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d"])
@pytest.mark.parametrize(
    "options", [{}, {"stride": 1}, {"stride": 2, "padding": 1}, {"kernel_size": (3, 2), "stride": (2, 1)}]
)
def test_pooling(name, options):
    options = {"kernel_size": 2, **options}
    compare(lambda t, x: getattr(t.nn.functional, name)(x, **options), inputs([(2, 3, 5, 6)], 0.1, 2))


@pytest.mark.parametrize("padding_idx", [None, 1, -1])
def test_embedding_adds_up_repeated_rows(padding_idx):
    def look_up(t, weight):
        return t.nn.functional.embedding(t.tensor([[0, 1, 1], [3, 0, 1]]), weight, padding_idx=padding_idx)

    compare(look_up, inputs([(4, 3)]))


@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 4), (2, 3, 2, 2)])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm(shape, affine, training):
    def normalise(t, *args):
        running = [t.tensor([0.1, 0.2, 0.3]).double(), t.tensor([1.0, 2.0, 0.5]).double()]
        out = t.nn.functional.batch_norm(args[0], *running, *args[1:], training=training)
        return out * (running[0].sum() + running[1].sum())

    compare(normalise, inputs([shape, (3,), (3,)][: 3 if affine else 1]))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 3)])
@pytest.mark.parametrize("affine", [True, False])
def test_layer_norm(shape, affine):
    compare(
        lambda t, *args: t.nn.functional.layer_norm(args[0], (3,), *args[1:]),
        inputs([shape, (3,), (3,)][: 3 if affine else 1]),
    )


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_losses(reduction):
    x, y = inputs([(4, 3), (4, 3)])
    compare(lambda t, x, y: t.nn.functional.mse_loss(x, y, reduction=reduction), [x, y])
    compare(lambda t, x, y: t.nn.functional.l1_loss(x, y, reduction=reduction), [x, y])
    compare(lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([2, 0, 1, 1]), reduction=reduction), [x])
    compare(
        lambda t, x: t.nn.functional.cross_entropy(
            x, t.tensor([2, 0, -100, 1]), weight=t.tensor([0.5, 1.0, 2.0]).double(), reduction=reduction
        ),
        [x],
    )
    compare(lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(x, y, reduction=reduction), [x, y])
    compare(
        lambda t, x, y: t.nn.functional.binary_cross_entropy_with_logits(
            x,
            y,
            weight=t.tensor([0.5, 1.0, 2.0]).double(),
            pos_weight=t.tensor([2.0, 1.0, 3.0]).double(),
            reduction=reduction,
        ),
        [x, y],
    )


@pytest.mark.parametrize("shape", [(3,), (2, 3, 2)])
def test_nll_of_one_sample_and_of_maps(shape):
    target = 1 if len(shape) == 1 else [[0, 2], [1, 1]]
    compare(
        lambda t, x: t.nn.functional.nll_loss(x.log_softmax(0 if x.ndim == 1 else 1), t.tensor(target)),
        inputs([shape]),
        names=False,
    )


def test_the_table_would_notice_a_gradient_that_is_wrong_by_half_a_permille():
    class Wrong(mini.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2.001

    with pytest.raises(AssertionError):
        compare(lambda t, x: x * 2 if t is torch else Wrong.apply(x), inputs([(3,)]), names=False)
