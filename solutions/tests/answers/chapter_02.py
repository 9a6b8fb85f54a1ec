"""Answers to the exercises of chapter 02 that have found something in a check."""


@wrong("02.1", "By then: gradients are switched off.")
def pull_back(x, v):
    leaf = x.clone().requires_grad_()
    (leaf**3).backward(v)
    torch.set_grad_enabled(False)
    return leaf.grad


@wrong("02.4", "Each row is the sum of all rows.")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    y.backward(torch.ones_like(y))
    return leaf.grad.expand(len(y), len(x)).clone()
