"""The sliders' product is the gradient that backward computes."""

import pytest
import torch

import gradlab
from gradlab.pictures.jacobian import jacobian, product
from gradlab.pictures.picture import PictureError

FUNCTIONS = {
    "mixed": (lambda x: torch.stack([x[0] * x[1], x.sum()]), torch.tensor([2.0, 3.0])),
    "scalar": (lambda x: (x * x).sum(), torch.tensor([2.0, 3.0])),
    "matrix": (lambda x: x @ x.T, torch.tensor([[1.0, 2.0], [3.0, 4.0]])),
    "one number": (torch.sin, torch.tensor(0.3)),
    "an input without effect": (lambda x: x[:2] + x[0], torch.tensor([1.0, 2.0, 3.0])),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_product_is_what_backward_computes(name):
    f, x = FUNCTIONS[name]
    x = x.double()
    rows, shape = jacobian(f, x)
    assert shape == tuple(f(x).shape)
    v = torch.arange(1.0, len(rows) + 1).double() / 3
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    y.backward(v.reshape(y.shape))
    got = torch.tensor(product(v.tolist(), rows)).double()
    torch.testing.assert_close(got, leaf.grad.reshape(-1), rtol=1e-6, atol=1e-9)
    assert x.grad is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, torch.ones(2)), r"needs a function and a tensor, but was given a int and a Tensor"),
        ((torch.sin, [1.0]), r"needs a function and a tensor, but was given a \S+ and a list"),
        ((torch.sin, torch.ones(9)), r"x has 9 elements and f\(x\) has 9; vjp\(\) shows up to 8"),
        ((lambda x: x.detach(), torch.ones(2)), r"without detaching it"),
        ((lambda x: 1.0, torch.ones(2)), r"f\(x\) is a float"),
        ((torch.sin, torch.ones(2), [1.0]), r"v has 1 elements, but f\(x\) has 2"),
    ],
)
def test_bad_input_gets_one_clear_sentence(arguments, message):
    with pytest.raises(PictureError, match=message):
        gradlab.vjp(*arguments)
