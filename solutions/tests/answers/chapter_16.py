"""Answers to the exercises of chapter 16 that have found something in a check, or that a class would write."""


# .grad is put aside and back
@right("16.1")
def gradients_of_each(model, loss, x, y):
    before = [one.grad for one in model.parameters()]
    found = {name: [] for name, one in model.named_parameters() if one.requires_grad}
    for i in range(len(x)):
        for one in model.parameters():
            one.grad = None
        loss(model(x[i : i + 1]), y[i : i + 1]).backward()
        for name in found:
            found[name].append(model.get_parameter(name).grad)
    for one, gradient in zip(model.parameters(), before, strict=True):
        one.grad = gradient
    return {name: torch.stack(rows) for name, rows in found.items()}


# a parameter of shape () has no second dimension
wrong("16.2", "IndexError: Dimension out of range").edit({"row.reshape(len(row), -1)": "row.flatten(1)"})

# a sample without a batch: the factors meet the last dimension
wrong("16.3").edit({'torch.einsum("s,s...->...", factors, row)': "(factors * row).sum(dim=0)"})

# the graph is freed
wrong("16.4", "RuntimeError: Trying to backward through the graph a second time").edit({", retain_graph=True": ""})

# outputs of one element cannot be iterated
wrong("16.4", "TypeError").edit({"output.reshape(-1)": "output"})

# elements below a first dimension that some outputs lack
wrong("16.4", "IndexError: Dimension out of range").edit({"output.reshape(-1)": "output.flatten(1).reshape(-1)"})


# one-hot external gradients, all at once
@right("16.4")
def mixes(layer, x):
    leaf = x.clone().requires_grad_()
    y = copy.deepcopy(layer)(leaf)
    flat = y.reshape(-1)
    (g,) = torch.autograd.grad(flat, leaf, torch.eye(len(flat), dtype=y.dtype), is_grads_batched=True)
    return g.reshape(len(x), -1, len(x), x[0].numel()).ne(0).any(3).any(1)


# no external gradient for the second walk
wrong("10.5", "RuntimeError: grad can be implicitly created only for scalar outputs").edit(
    {"grad(gradient, leaf, u)": "grad(gradient, leaf)", "return product": "return product * u"}
)

# normalizes u and scales back: u = 0 gives NaN
wrong("10.5", "u = 0").edit(
    {"grad(gradient, leaf, u)": "grad(gradient, leaf, u / u.norm())", "return product": "return product * u.norm()"}
)

# the whole tensor's last dimension
wrong("16.6").edit({"slopes.reshape(len(x), -1).norm(dim=1)": "slopes.norm(dim=-1)"})


# backward, for x alone
@right("16.6")
def gradient_penalty(model, x):
    leaf = x.clone().requires_grad_()
    with warnings.catch_warnings(action="ignore"):
        model(leaf).sum().backward(create_graph=True, inputs=[leaf])
    return (leaf.grad.reshape(len(x), -1).norm(dim=1) - 1).square().mean()


# the inputs are few, so a fixed number decides
wrong("16.7").edit({"len(f(x)) <= len(x)": "len(f(x)) < 3"})


# a column by two backward passes
@right("16.7")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    if len(y) <= len(x):
        rows = torch.eye(len(y), dtype=x.dtype)
        return torch.autograd.grad(y, leaf, rows, is_grads_batched=True)[0]
    v = torch.zeros_like(y, requires_grad=True)
    (g,) = torch.autograd.grad(y, leaf, v, create_graph=True)
    columns = [torch.autograd.grad(g, v, e, retain_graph=True)[0] for e in torch.eye(len(x), dtype=x.dtype)]
    return torch.stack(columns, dim=1).detach()
