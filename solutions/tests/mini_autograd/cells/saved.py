"""Tensors detached after saving, leaves that changed, nodes given new shapes, and what is freed."""


# %%
def accumulator():
    """Return a leaf and its node."""
    x = leaf()
    return x, (x * 2).grad_fn.next_functions[0][0]


def written(x, index):
    """Return a tensor with `x` written to the rows after `index`."""
    y = torch.zeros(3, 2)
    y[index + 1] = x
    return y


def of_constants():
    """Yield (result, input) of operations whose only saved tensors are indices, masks and targets."""
    index, mask = T([1, 0]), T([True, False])
    for operation in (
        lambda x: x[index],
        lambda x: x[mask],
        lambda x: written(x, index),
        lambda x: x.masked_fill(mask, 7.0),
        lambda x: torch.where(mask, x, 0.0),
        lambda x: x.gather(1, index[:, None]),
        lambda x: F.embedding(index, x),
        lambda x: F.nll_loss(x, index),
    ):
        x = leaf([1.0, 2.0], [3.0, 4.0])
        yield operation(x), x


# %% a saved input that was detached in place is refused -> RuntimeError
y = x * 2
z = y.sin()
y.detach_()
z.sum().backward()

# %% a saved factor that was detached in place is refused, even in a recorded pass -> RuntimeError
y = x * 2
z = y * y
y.detach_()
A.grad(z.sum(), x, create_graph=True)

# %% a detached tensor whose value was not saved does not matter
y = x * 2
z = y + 1
y.detach_()
z.sum().backward()
x.grad

# %% a saved output may be detached in place
y = x.exp()
z = y * 3
y.detach_()
z.sum().backward()
x.grad

# %% a tensor that was saved after it was detached is a constant
y = leaf() * 2
y.detach_()
(y * x).sum().backward()
x.grad

# %% a saved tensor that was detached in place can still be inspected
y = x * 2
z = y * y
y.detach_()
z.grad_fn._saved_self

# %% a leaf that no longer requires a gradient receives none
y = x * 2
x.requires_grad_(False)
y.sum().backward()
x.grad

# %% a leaf that was detached in place receives none
y = x * x
x.detach_()
y.sum().backward()
x.grad, x.requires_grad

# %% a leaf that has become the result of an operation is refused -> RuntimeError
y = x * 2
x.requires_grad_(False)
x.mul_(leaf())
y.sum().backward()

# %% a leaf's node called by hand broadcasts one number over the leaf
x, node = accumulator()
node(torch.ones(1)), x.grad

# %% a leaf's node called by hand refuses more elements than the leaf has -> RuntimeError
accumulator()[1](torch.ones(3))

# %% a leaf's node called by hand refuses more dimensions than the leaf has -> RuntimeError
accumulator()[1](torch.ones(2, 2))

# %% a leaf that already has a gradient refuses a different shape too -> RuntimeError
x, node = accumulator()
x.grad = torch.ones(2)
node(torch.ones(3))

# %% a leaf's node called by hand accepts a different dtype, and None
x, node = accumulator()
node(None), node(torch.ones(2).double()), x.grad

# %% a node called by hand computes with the shape and dtype that it receives
node = (x * T([3.0, 4.0])).grad_fn
node(torch.ones(2, 2)), node(torch.ones(2).double())

# %% a node called by hand reports that sizes differ -> RuntimeError
(x * leaf()).grad_fn(torch.ones(3))

# %% a matrix product's node reports that shapes do not match -> RuntimeError
product = torch.ones(2, 3, requires_grad=True) @ torch.ones(3, 2)
product.grad_fn(torch.ones(3, 3))

# %% pack receives each tensor with its edge in the graph
seen = []
with A.graph.saved_tensors_hooks(lambda value: seen.append(value) or value.detach(), lambda value: value):
    y = (x * 2).exp() * x
    y.max(0)
seen

# %% integers converted from floats are constants
x.long(), x.int(), x.bool(), x.to(torch.int64), (x * 2).long()

# %% a post-accumulate hook may return its argument
x.register_post_accumulate_grad_hook(lambda tensor: tensor)
x.sum().backward()
x, x.grad

# %% gradcheck warns about single precision
A.gradcheck(lambda x, y: x * y, (torch.zeros(2, requires_grad=True), torch.ones(1)), eps=0.5)

# %% a second backward runs if nothing was saved
y = x.view(2, 1).expand(2, 3).sum(0) + 1
y.backward(torch.ones_like(y))
y.backward(torch.ones_like(y))
x.grad

# %% a second backward runs through a view whose base was changed
y = x + 0
view = y[:1]
y.add_(1)
view.sum().backward()
view.sum().backward()
x.grad

# %% a second backward is refused even if only constants were saved
for y, _ in of_constants():
    y.backward(torch.ones_like(y))
    tried(y.backward, torch.ones_like(y))

# %% a second backward runs if the graph was retained
for y, x in of_constants():
    y.backward(torch.ones_like(y), retain_graph=True)
    y.backward(torch.ones_like(y))
    show(y, x.grad)
