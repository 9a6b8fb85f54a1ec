"""Arguments that the functions of `nn.functional` refuse, such as every mixture of dtypes, the most frequent slip."""

# %%
f = torch.ones


def d(*shape):
    return torch.ones(*shape, dtype=torch.float64)


def i(*shape):
    return torch.ones(*shape, dtype=torch.int64)


# %% each -> RuntimeError
F.linear(d(3), f(2, 3), f(2))
F.linear(d(4, 3), f(2, 3), f(2))
F.linear(d(2, 4, 3), f(2, 3), f(2))
F.linear(d(4, 3), f(2, 3))
F.linear(i(4, 3), f(2, 3))
F.linear(f(4, 3), f(2, 3), d(2))
F.linear(f(4, 3), f(2, 3), f(3))
F.linear(f(2), f(2, 3), f(2))
d(2, 3) @ f(3, 2)
d(2, 3) @ f(3)
d(3) @ f(3)
d(2, 2, 3) @ f(2, 3, 2)
F.conv2d(d(1, 1, 3, 3), f(1, 1, 2, 2))
F.conv2d(d(1, 1, 3, 3), f(1, 1, 2, 2), f(1))
F.conv2d(i(1, 1, 3, 3), f(1, 1, 2, 2), f(1))
F.conv2d(f(1, 1, 3, 3), f(1, 1, 2, 2), d(1))
F.conv2d(f(1, 1, 3, 3), f(1, 1, 2, 2), f(2))
F.conv2d(f(1, 1, 3, 3), f(1, 1, 2, 2), stride=0)
F.conv2d(f(1, 1, 3, 3), f(1, 1, 2, 2), padding=-1)
F.max_pool2d(f(1, 1, 3, 3), 2, 0)
F.layer_norm(d(2, 3), (3,), f(3), f(3))
F.layer_norm(f(2, 3), (3,), d(3), d(3))
F.layer_norm(f(2, 3), (3,), f(3), d(3))
F.batch_norm(d(2, 3), f(3), f(3), f(3), f(3), True)
F.batch_norm(f(2, 3), d(3), d(3), f(3), f(3), True)
F.batch_norm(f(2, 4), f(3), f(3), f(3), f(3), True)
F.batch_norm(f(2, 4), None, None, f(3), f(3), True)
F.batch_norm(f(2, 3), None, None, f(3), f(3), False)
F.cross_entropy(f(2, 3), i(2), d(3))
F.cross_entropy(f(2, 3), i(2), f(2))
F.cross_entropy(f(2, 3), f(2))
F.cross_entropy(f(2, 3), i(2).to(torch.int32))
F.cross_entropy(f(2, 3), i(2, 1))
F.cross_entropy(f(2, 3, 4), i(2, 3))

# %% each
F.linear(f(4, 3), f(2, 3), f(1))
F.cross_entropy(f(3), i(1))
F.cross_entropy(f(3), T(1))
F.mse_loss(f(2), d(2))

# %% each -> TypeError
F.linear([1.0], f(2, 3))
F.relu([1.0])
F.cross_entropy(f(2, 3), None)
F.cross_entropy([1.0], i(2))

# %% each -> ValueError
F.cross_entropy(f(2, 3), i(3))

# %% each -> NotImplementedError
F.cross_entropy(i(2, 3), i(2))
F.softmax(i(2, 3), 0)

# %% each -> AttributeError
F.mse_loss(f(2), [1.0, 2.0])
