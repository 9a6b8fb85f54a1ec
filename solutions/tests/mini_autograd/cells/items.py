"""`x[…]` and `x[…] = v`: lists that contain more than numbers, values that can be assigned, and arrays."""

# %%
INDICES = [
    [[0, 2], [2, 1]],
    [T([0, 2]), T([2, 1])],
    [T(1), T(2)],
    [T(0), 1],
    [np.array([0, 1])],
    [slice(None), [1, 2]],
    [..., 1],
    [None, 1],
    (T([1, 0]), [2, 1]),
    ([1, 0], slice(None)),
    [2, 0],
]

# %% a list of at least 32 lists is one index
torch.arange(3.0)[[[0, 2]] * 32].shape

# %% Python numbers and the corresponding NumPy numbers can be assigned
x = torch.zeros(7)
for position, value in enumerate([1, 2.5, True, np.float64(3.5), np.int64(4), np.int32(5), float("inf")]):
    x[position] = value
x

# %% a tensor can be assigned to an array if it requires no gradient, or in no_grad
array, x = np.zeros((2, 2)), T([1.0, 2.0], requires_grad=True)
array[0] = x.detach()
with torch.no_grad():
    array[1] = x
array.tolist()

# %% an element can be assigned to an array, with a warning
array = np.zeros(2)
array[0] = T([1.0, 2.0], requires_grad=True)[1]
array.tolist()

# %% a tensor that requires a gradient cannot be assigned to an array -> RuntimeError
np.zeros(2)[:] = torch.ones(2, requires_grad=True)

# %% an index must not require a gradient -> IndexError
torch.arange(3.0)[[T(1.0, requires_grad=True)]]

# %% lists that torch treats as tuples (with a warning) and tuples of tensors and lists can be read
for index in INDICES:
    x = torch.arange(9.0).reshape(3, 3).requires_grad_()
    y = x[index]
    y.sum().backward()
    show(y, x.grad)

# %% a number or a tensor can be written at the same indices
for index in INDICES:
    x = torch.ones(3, 3, requires_grad=True)
    value = torch.full(x[index].shape, 7.0, requires_grad=True)
    for written in (7, value):
        y = x + 2
        y[index] = written
        y.sum().backward()
        show(y, x.grad, y._version)
    show(value.grad)

# %% what cannot be assigned
for value in ([1.0, 2.0], (1.0, 2.0), np.array([1.0, 2.0]), np.array(1.0), np.float32(1.0), "one", None, {}, [T(1.0)]):
    tried(torch.zeros(2).__setitem__, slice(None), value)

# %% in no_grad, numpy() returns the values
with torch.no_grad():
    show(x.numpy().tolist())
