"""Answers to the exercises of chapter 02 that have found something in a check."""


@wrong("02.1", "Left behind: gradients are switched off.")
def pull_back(x, v):
    leaf = x.clone().requires_grad_()
    (leaf**3).backward(v)
    torch.set_grad_enabled(False)
    return leaf.grad


@wrong("02.4", "Each row is the sum of all rows")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    y.backward(torch.ones_like(y))
    return leaf.grad.expand(len(y), len(x)).clone()


@wrong("02.1", "RuntimeError: grad can be implicitly created only for scalar outputs")
def pull_back(x, v):
    leaf = x.clone().requires_grad_()
    (leaf**3).backward()
    return leaf.grad * v


@wrong("02.1")
def pull_back(x, v):
    leaf = x.clone().requires_grad_()
    square = leaf.dim() == 2 and leaf.shape[0] == leaf.shape[1]
    y = leaf @ leaf @ leaf if square else leaf**3
    y.backward(v)
    return leaf.grad


@wrong("02.2", "AttributeError: 'NoneType' object has no attribute 'shape'")
def starting_gradient(output, gradient=None):
    if gradient.shape != output.shape:
        raise RuntimeError(MISMATCH.format(gradient.shape, output.shape))
    if gradient is None and output.numel() != 1:
        raise RuntimeError(ONLY_SCALARS)
    return torch.ones_like(output) if gradient is None else gradient


@wrong("02.4", "RuntimeError: Trying to backward through the graph a second time")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    rows = torch.eye(len(y), dtype=y.dtype)
    return torch.stack([torch.autograd.grad(y, leaf, row)[0] for row in rows])


@wrong("02.4", "is never exact")
def jacobian(f, x):
    columns = []
    for i in range(len(x)):
        nudge = torch.zeros_like(x)
        nudge[i] = 1e-6
        columns.append((f(x + nudge) - f(x - nudge)) / 2e-6)
    return torch.stack(columns, dim=1)


@wrong("02.4", "Likely slip: a row of zeros left out.")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    rows = [torch.autograd.grad(y[i], leaf, retain_graph=True)[0] for i in range(len(y))]
    return torch.stack([row for row in rows if row.any()])


@wrong("02.6", "IndexError: Dimension out of range")
def undo_broadcast(grad, shape):
    for dim in range(grad.dim() - len(shape)):
        grad = grad.sum(dim)
    for dim, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(dim, keepdim=True)
    return grad


@wrong("02.6", "Likely slip: mean instead of sum.")
def undo_broadcast(grad, shape):
    while grad.dim() > len(shape):
        grad = grad.mean(0)
    for dim, size in enumerate(shape):
        if size == 1:
            grad = grad.mean(dim, keepdim=True)
    return grad


@wrong("02.6", "Likely slip: only the first copy.")
def undo_broadcast(grad, shape):
    while grad.dim() > len(shape):
        grad = grad[0]
    for dim, size in enumerate(shape):
        if size == 1:
            grad = grad.select(dim, 0).unsqueeze(dim)
    return grad


# one 1 more for each row
@wrong("02.4", "holds more than one 1")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    ones = torch.tril(torch.ones(len(y), len(y), dtype=y.dtype))
    return torch.stack([torch.autograd.grad(y, leaf, row, retain_graph=True)[0] for row in ones])


# a gradient of 0 taken for none
@wrong("02.2")
def starting_gradient(output, gradient=None):
    if gradient is None or (gradient.numel() == 1 and not gradient):
        if output.numel() != 1:
            raise RuntimeError(ONLY_SCALARS)
        return torch.ones_like(output)
    if gradient.shape != output.shape:
        raise RuntimeError(MISMATCH.format(gradient.shape, output.shape))
    return gradient


@wrong("02.3", "Likely slip: sign reversed. Every sign is reversed.", "not: You took target minus output")
def loss_weights(outputs, target, importance):
    return -2 * importance * (outputs - target) / outputs.numel()


@wrong("02.4", "Likely slip: every row the sum of all.")
def jacobian(f, x):
    rows = []
    for _ in range(len(f(x))):
        leaf = x.clone().requires_grad_()
        f(leaf).sum().backward()
        rows.append(leaf.grad)
    return torch.stack(rows)


# the sizes of the first and the last dimension multiplied
@wrong("02.3")
def loss_weights(outputs, target, importance):
    n = outputs.numel() if outputs.dim() < 2 else outputs.shape[0] * outputs.shape[-1]
    return 2 * importance * (outputs - target) / n


# the gradient of the call before stays in the leaf
@wrong("02.5", "'returned'")
def hand_over(front, back, x):
    h = front(x)
    leaf = h.detach().requires_grad_()
    before = getattr(hand_over, "leaf", None)
    if before is not None and before.shape == leaf.shape:
        leaf.grad = before.grad
    hand_over.leaf = leaf
    back(leaf).backward()
    h.backward(leaf.grad)
    return leaf.grad.clone()


# ones by division, where the output is 0
@wrong("02.2", "an output of 0", "nan")
def starting_gradient(output, gradient=None):
    if gradient is None:
        if output.numel() != 1:
            raise RuntimeError(ONLY_SCALARS)
        return output / output
    if gradient.shape != output.shape:
        raise RuntimeError(MISMATCH.format(gradient.shape, output.shape))
    return gradient


# only the outputs that count
@wrong("02.3", "an importance of 0", "not: Likely slip")
def loss_weights(outputs, target, importance):
    return 2 * importance * (outputs - target) / (importance != 0).sum()


# the loss divided by the difference, where that is 0
@wrong("02.3", "an output equal to its target", "nan")
def loss_weights(outputs, target, importance):
    return 2 * importance * (outputs - target) ** 2 / (outputs - target) / outputs.numel()


# a size of 0 where the shape has a 1
@wrong("02.6", "from (0, 2, 0) back to (2, 1)", "not: Likely slip")
def undo_broadcast(grad, shape):
    while grad.dim() > len(shape):
        grad = grad.sum(0)
    for dim, size in enumerate(shape):
        if size == 1 and grad.shape[dim] > 1:
            grad = grad.sum(dim, keepdim=True)
    return grad


# the result of a 0-size is None
@wrong("02.1", "shape (0, 2)")
def pull_back(x, v):
    if x.numel() == 0:
        return None
    leaf = x.clone().requires_grad_()
    (leaf**3).backward(v)
    return leaf.grad


# only the first dimension by a loop
@wrong("02.1", "shape (0, 2)")
def pull_back(x, v):
    out = []
    for a, b in zip(x.reshape(-1), v.reshape(-1), strict=True):
        leaf = a.clone().requires_grad_()
        (leaf**3).backward(b)
        out.append(leaf.grad)
    return torch.stack(out).reshape(x.shape)


# empty outputs: (0, 3) and (3, 0) are taken for the same
@wrong("02.2", "(3, 0)")
def starting_gradient(output, gradient=None):
    if gradient is None:
        if output.numel() != 1:
            raise RuntimeError(ONLY_SCALARS)
        return torch.ones_like(output)
    if output.numel() == gradient.numel() == 0:
        return gradient.reshape(output.shape)
    if gradient.shape != output.shape:
        raise RuntimeError(MISMATCH.format(gradient.shape, output.shape))
    return gradient


# the Huber idea: large errors are clipped
@wrong("02.3", "far from")
def loss_weights(outputs, target, importance):
    return 2 * importance * (outputs - target).clamp(-10, 10) / outputs.numel()


# nansum drops a NaN that arrives
@wrong("02.6", "a nan arrives")
def undo_broadcast(grad, shape):
    while grad.dim() > len(shape):
        grad = grad.nansum(0)
    for i, size in enumerate(shape):
        if size == 1:
            grad = grad.nansum(i, keepdim=True)
    return grad


# entry by entry without retain_graph: the second entry raises
@wrong("02.5", "Trying to backward through the graph a second time", "not: Likely slip")
def hand_over(front, back, x):
    h = front(x)
    cut = h.detach().requires_grad_()
    back(cut).backward()
    for value, gradient in zip(h, cut.grad, strict=True):
        value.backward(gradient)
    return cut.grad


# 0 * output + 1 is NaN for an output of inf or NaN
@wrong("02.2", "an infinite output")
def starting_gradient(output, gradient=None):
    if gradient is None:
        if output.numel() != 1:
            raise RuntimeError(ONLY_SCALARS)
        return 0 * output.detach() + 1
    if gradient.shape != output.shape:
        raise RuntimeError(MISMATCH.format(gradient.shape, output.shape))
    return gradient


# slopes of nan are replaced by 0
@wrong("02.4", "whose last output is NaN")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    rows = [torch.autograd.grad(y, leaf, v, retain_graph=True)[0] for v in torch.eye(len(y), dtype=y.dtype)]
    return torch.nan_to_num(torch.stack(rows))


# skips the left half if the gradient is small
@wrong("02.5", "a tiny gradient")
def hand_over(front, back, x):
    h = front(x)
    cut = h.detach().requires_grad_()
    back(cut).backward()
    if not torch.allclose(cut.grad, torch.zeros_like(cut), atol=1e-6):
        h.backward(cut.grad)
    return cut.grad


# one one-hot vector, changed in place, and for x + 1 torch passes on that very tensor as the row
@wrong("02.4")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    one_hot = torch.zeros_like(y)
    rows = []
    for i in range(len(y)):
        one_hot[i] = 1
        rows.append(torch.autograd.grad(y, leaf, one_hot, retain_graph=True)[0])
        one_hot[i] = 0
    return torch.stack(rows)


# the error of a missing gradient, of a product that is not summed
@wrong("02.5", "grad can be implicitly created only for scalar outputs", "not: Likely slip")
def hand_over(front, back, x):
    h = front(x)
    cut = h.detach().requires_grad_()
    back(cut).backward()
    (h * cut.grad).backward()
    return cut.grad


@wrong("02.5", "Likely slip: back given h itself.")
def hand_over(front, back, x):
    h = front(x)
    cut = h.detach().requires_grad_()
    back(h).backward()
    h.backward(cut.grad)
    return cut.grad


@wrong("02.5", "Likely slip: passed on before it arrived.")
def hand_over(front, back, x):
    h = front(x)
    cut = h.detach().requires_grad_()
    torch.autograd.backward((back(cut), h), (None, cut.grad))
    return cut.grad


@wrong("02.5", "Likely slip: nothing stored in the back half.", "backward(inputs=…)")
def hand_over(front, back, x):
    h = front(x)
    cut = h.detach().requires_grad_()
    back(cut).backward(inputs=[cut])
    h.backward(cut.grad)
    return cut.grad


@wrong("02.5", "Likely slip: h itself cut.")
def hand_over(front, back, x):
    h = front(x)
    h.detach_().requires_grad_()
    back(h).backward()
    h.backward(h.grad)
    return h.grad
