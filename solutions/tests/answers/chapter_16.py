"""Answers to the exercises of chapter 16 that have found something in a check, or that a class would write."""

# vmap goes through the parameters too
wrong("16.1", "vmap").edit({"in_dims=(None, 0, 0)": "in_dims=0"})

# one loss for all models
wrong("16.1").edit({"return loss(": "return F.cross_entropy("})

# the gradient with respect to the sample
wrong("16.1").edit({"grad(loss_of_one)": "grad(loss_of_one, argnums=1)"})


# gradients accumulate from sample to sample, on top of what was there
@wrong("16.1", "The values differ.", name="accumulated")
def gradients_of_each(model, loss, x, y):
    named = {name: one for name, one in model.named_parameters() if one.requires_grad}
    found = {name: [] for name in named}
    for i in range(len(x)):
        loss(model(x[i : i + 1]), y[i : i + 1]).backward()
        for name, one in named.items():
            found[name].append(one.grad.clone())
    return {name: torch.stack(rows) for name, rows in found.items()}


# cleared in place, and one tensor is kept for all samples
wrong("16.1", of="accumulated").edit(
    {
        "        loss(model": "        model.zero_grad(set_to_none=False)\n        loss(model",
        "one.grad.clone()": "one.grad",
    }
)

# a name for the whole tensor of a sample instead of its batch
wrong("16.1", of="accumulated").edit({"y[i : i + 1]": "y[i]"})

# the sum instead of each
wrong("16.1").edit(
    """
-    return vmap(grad(loss_of_one), in_dims=(None, 0, 0))(parameters, x, y)
+    found = vmap(grad(loss_of_one), in_dims=(None, 0, 0))(parameters, x, y)
+    return {name: rows.sum(dim=0) for name, rows in found.items()}
"""
)


@right("16.1")
def gradients_of_each(model, loss, x, y):
    named = {name: one for name, one in model.named_parameters() if one.requires_grad}
    rows = []
    for sample, target in zip(x.unsqueeze(1), y.unsqueeze(1), strict=True):
        rows.append(torch.autograd.grad(loss(model(sample), target), list(named.values())))
    return {name: torch.stack([row[i] for row in rows]) for i, name in enumerate(named)}


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


# all backward passes in one batch
@right("16.1")
def gradients_of_each(model, loss, x, y):
    named = {name: one for name, one in model.named_parameters() if one.requires_grad}
    losses = torch.stack([loss(model(x[i : i + 1]), y[i : i + 1]) for i in range(len(x))])
    rows = torch.autograd.grad(losses, list(named.values()), torch.eye(len(x)).to(losses), is_grads_batched=True)
    return dict(zip(named, rows, strict=True))


@right("16.1")
def gradients_of_each(model, loss, x, y):
    trained = {k: v.detach() for k, v in model.named_parameters() if v.requires_grad}
    frozen = {k: v.detach() for k, v in model.named_parameters() if not v.requires_grad}

    def one(parameters, inputs, target):
        return loss(functional_call(model, {**parameters, **frozen}, inputs.unsqueeze(0)), target.unsqueeze(0))

    return {k: g.clone() for k, g in vmap(grad(one), (None, 0, 0))(trained, x, y).items()}


# a parameter of shape () has no second dimension
wrong("16.2", "IndexError: Dimension out of range").edit({"row.reshape(len(row), -1)": "row.flatten(1)"})

# a cosine for each column
wrong("16.2").edit({"F.cosine_similarity(vectors, others, dim=1)": "F.cosine_similarity(vectors, others, dim=0)"})

# one matrix product too many
wrong("16.2").edit({"F.cosine_similarity(vectors, others, dim=1)": "vectors @ others.T"})

# joined along the samples
wrong("16.2").edit({"rows.values()], dim=1)": "rows.values()], dim=0)"})

# one norm too few
wrong("16.2", "in 'returned'").edit(
    {"F.cosine_similarity(vectors, others, dim=1)": "(vectors * others).sum(dim=1) / others.norm(dim=1)"}
)

# the others include earlier ones only
wrong("16.2").edit({"(vectors.sum(dim=0) - vectors)": "(vectors.cumsum(dim=0) - vectors + 1e-9)"})


# cosines for each parameter, averaged
@wrong("16.2", "one cosine for each parameter")
def agreement(rows):
    found = []
    for row in rows.values():
        row = row.reshape(len(row), -1)
        found.append(F.cosine_similarity(row, row.sum(dim=0) - row, dim=1))
    return sum(found) / len(found)


# rows are divided in place
@wrong("16.2", "rows")
def agreement(rows):
    for row in rows.values():
        row /= 2
    vectors = torch.cat([row.reshape(len(row), -1) for row in rows.values()], dim=1)
    return F.cosine_similarity(vectors, vectors.sum(dim=0) - vectors, dim=1)


# a list of floats
wrong("16.2").edit(
    {
        "return F.cosine_similarity(vectors, others, dim=1)": "return F.cosine_similarity(vectors, others, dim=1).tolist()"
    }
)


# the sum of the others instead of the mean
right("16.2").edit({" / (len(vectors) - 1)": ""})


@right("16.2")
def agreement(rows):
    n = len(next(iter(rows.values())))
    result = torch.zeros(n, dtype=torch.float64)
    for i in range(n):
        mine = torch.cat([r[i].reshape(-1) for r in rows.values()])
        rest = torch.cat([r[torch.arange(n) != i].mean(dim=0).reshape(-1) for r in rows.values()])
        result[i] = torch.dot(mine, rest) / mine.norm() / rest.norm()
    return result


# by a matrix of all products
@right("16.2")
def agreement(rows):
    v = torch.hstack([r.view(len(r), -1) for r in rows.values()])
    keep = 1 - torch.eye(len(v), dtype=v.dtype)
    others = keep @ v / (len(v) - 1)
    return torch.einsum("ij,ij->i", F.normalize(v, dim=1), F.normalize(others, dim=1))


@right("16.2")
def agreement(rows):
    def one(i):
        mine = torch.cat([row[i].flatten() for row in rows.values()])
        others = torch.cat([(row.sum(0) - row[i]).flatten() for row in rows.values()])
        return F.cosine_similarity(mine, others, dim=0)

    return torch.stack([one(i) for i in range(len(next(iter(rows.values()))))])


# a sample without a batch: the factors meet the last dimension
wrong("16.3").edit({'torch.einsum("s,s...->...", factors, row)': "(factors * row).sum(dim=0)"})

# the factor squared
wrong("16.3").edit({"(limit / norms).clamp(max=1)": "(limit / norms).clamp(max=1) ** 2"})

# the L1 norm
wrong("16.3").edit({".norm(dim=1)": ".norm(p=1, dim=1)"})

# the largest value
wrong("16.3").edit({".norm(dim=1)": ".abs().amax(dim=1)"})


@right("16.3")
def clipped_mean(rows, limit):
    squares = sum((row**2).sum(dim=tuple(range(1, row.ndim))) if row.ndim > 1 else row**2 for row in rows.values())
    factors = torch.minimum(torch.ones_like(squares), limit / squares.sqrt())
    return {name: torch.tensordot(factors, row, dims=1) / len(row) for name, row in rows.items()}


@right("16.3")
def clipped_mean(rows, limit):
    n = len(next(iter(rows.values())))
    clipped = []
    for i in range(n):
        sample = {name: row[i].clone() for name, row in rows.items()}
        norm = torch.cat([g.flatten() for g in sample.values()]).norm().item()
        if norm > limit:
            sample = {name: g * limit / norm for name, g in sample.items()}
        clipped.append(sample)
    return {name: sum(one[name] for one in clipped) / n for name in rows}


# torch's own clipping, of parameters that are made for it
@right("16.3")
def clipped_mean(rows, limit):
    total = {}
    for i in range(len(next(iter(rows.values())))):
        leaves = {name: torch.zeros_like(row[i]).requires_grad_() for name, row in rows.items()}
        for name, leaf in leaves.items():
            leaf.grad = rows[name][i].clone()
        norm = torch.nn.utils.get_total_norm([leaf.grad for leaf in leaves.values()])
        for name, leaf in leaves.items():
            total.setdefault(name, []).append(leaf.grad * torch.clamp(limit / norm, max=1.0))
    return {name: torch.stack(grads).mean(0) for name, grads in total.items()}


# the graph is freed
wrong("16.4", "RuntimeError: Trying to backward through the graph a second time").edit({", retain_graph=True": ""})

# outputs of one element cannot be iterated
wrong("16.4", "TypeError").edit({"output.reshape(-1)": "output"})

# elements below a first dimension that some outputs lack
wrong("16.4", "IndexError: Dimension out of range").edit({"output.reshape(-1)": "output.flatten(1).reshape(-1)"})


# by nudging one sample: finds no gradient where the outputs round
@wrong("16.4")
def mixes(layer, x):
    layer = copy.deepcopy(layer)
    before = layer(x).reshape(len(x), -1)
    depends = torch.zeros(len(x), len(x), dtype=torch.bool)
    for j in range(len(x)):
        moved = x.clone()
        moved[j] += 1e-3
        depends[:, j] = ((layer(moved).reshape(len(x), -1) - before).abs() > 1e-12).any(dim=1)
    return depends


@right("16.4")
def mixes(layer, x):
    layer = copy.deepcopy(layer)
    J = torch.autograd.functional.jacobian(lambda x: layer(x).reshape(len(x), -1), x)
    return (J.reshape(len(x), -1, len(x), x[0].numel()) != 0).any(dim=-1).any(dim=1)


# buffers are put back
@right("16.4")
def mixes(layer, x):
    state = {name: value.clone() for name, value in layer.state_dict().items()}
    leaf = x.detach().clone().requires_grad_(True)
    y = layer(leaf).flatten(1) if layer(leaf).dim() > 1 else layer(leaf)[:, None]
    rows = []
    for i in range(len(x)):
        found = torch.zeros(len(x)).bool()
        for k in range(y.shape[1]):
            g = torch.autograd.grad(y[i, k], leaf, retain_graph=True)[0]
            found = found | torch.stack([(g[j] != 0).any() for j in range(len(x))])
        rows.append(found)
    layer.load_state_dict(state)
    return torch.stack(rows)


# one-hot external gradients, all at once
@right("16.4")
def mixes(layer, x):
    leaf = x.clone().requires_grad_()
    y = copy.deepcopy(layer)(leaf)
    flat = y.reshape(-1)
    (g,) = torch.autograd.grad(flat, leaf, torch.eye(len(flat), dtype=y.dtype), is_grads_batched=True)
    return g.reshape(len(x), -1, len(x), x[0].numel()).ne(0).any(3).any(1)


# differences of 1e-3
@wrong("10.5", name="differences")
def hvp(function, x, u):
    h = 1e-3

    def gradient(at):
        leaf = at.clone().requires_grad_()
        return torch.autograd.grad(function(leaf), leaf)[0]

    return (gradient(x + h * u) - gradient(x - h * u)) / (2 * h)


# differences of 1e-4
wrong("10.5", of="differences").edit({"h = 1e-3": "h = 1e-4"})

# differences of 1e-5
wrong("10.5", of="differences").edit({"h = 1e-3": "h = 1e-5"})

# differences of 1e-6
wrong("10.5", of="differences").edit({"h = 1e-3": "h = 1e-6"})

# no external gradient for the second walk
wrong("10.5", "RuntimeError: grad can be implicitly created only for scalar outputs").edit(
    {"grad(gradient, leaf, u)": "grad(gradient, leaf)", "return product": "return product * u"}
)


# normalizes u and scales back: u = 0 gives NaN
wrong("10.5", "u = 0").edit(
    {"grad(gradient, leaf, u)": "grad(gradient, leaf, u / u.norm())", "return product": "return product * u.norm()"}
)

# no graph
wrong("16.6", "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn").edit(
    {", create_graph=True": ""}
)

# the whole tensor's last dimension
wrong("16.6").edit({"slopes.reshape(len(x), -1).norm(dim=1)": "slopes.norm(dim=-1)"})


@right("16.6")
def gradient_penalty(model, x):
    x = x.detach().clone().requires_grad_(True)
    out = model(x)
    (g,) = torch.autograd.grad(out, x, grad_outputs=torch.ones_like(out), create_graph=True, retain_graph=True)
    return torch.mean((torch.linalg.vector_norm(g.flatten(1), dim=1) - 1) ** 2)


@right("16.6")
def gradient_penalty(model, x):
    total = 0
    for one in x:
        leaf = one[None].clone().requires_grad_()
        g = torch.autograd.grad(model(leaf).squeeze(), leaf, create_graph=True)[0]
        total = total + (g.norm() - 1).pow(2)
    return total / len(x)


@right("16.6")
def gradient_penalty(model, x):
    slopes = vmap(grad(lambda one: model(one[None]).reshape(())))(x)
    return F.mse_loss(slopes.flatten(1).norm(dim=1), torch.ones(len(x), dtype=x.dtype))


# backward, for x alone
@right("16.6")
def gradient_penalty(model, x):
    leaf = x.clone().requires_grad_()
    with warnings.catch_warnings(action="ignore"):
        model(leaf).sum().backward(create_graph=True, inputs=[leaf])
    return (leaf.grad.reshape(len(x), -1).norm(dim=1) - 1).square().mean()


# x and f called by the wrong name
wrong("16.7").edit({"jacfwd)(f)(x)": "jacfwd)(f(x))"})

# whole matrices of ones
wrong("16.7").edit({"jacfwd)(f)(x)": "jacfwd)(lambda x: f(x).sum(dim=0, keepdim=True))(x)"})


# rows in a loop
@wrong("16.7", "Likely slip: always by rows.")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    return torch.stack([torch.autograd.grad(one, leaf, retain_graph=True)[0] for one in y])


# the inputs are few, so a fixed number decides
wrong("16.7").edit({"len(f(x)) <= len(x)": "len(f(x)) < 3"})

# a fixed number of inputs decides
wrong("16.7", "computed more than").edit({"len(f(x)) <= len(x)": "len(x) > 10"})


@right("16.7")
def jacobian(f, x):
    with torch.no_grad():
        m = f(x).numel()
    if m < x.numel():
        return jacrev(f)(x).detach()
    return jacfwd(f)(x).detach()


@right("16.7")
def jacobian(f, x):
    leaf = x.clone().requires_grad_()
    y = f(leaf)
    if len(y) <= len(x):
        return torch.stack([torch.autograd.grad(one, leaf, retain_graph=True)[0] for one in y])
    return torch.stack([torch.func.jvp(f, (x,), (e,))[1] for e in torch.eye(len(x), dtype=x.dtype)], dim=1).detach()


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


@right("16.7")
def jacobian(f, x):
    if f(x).shape[0] > x.shape[0]:
        J = torch.autograd.functional.jacobian(f, x, strategy="forward-mode", vectorize=True)
    else:
        J = torch.autograd.functional.jacobian(f, x)
    return J.detach()
