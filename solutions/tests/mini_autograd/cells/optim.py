"""Optimizers: groups, closures, states, and what is refused."""

# %%
SGD, Adam, AdamW, Optimizer = (getattr(torch.optim, name) for name in ("SGD", "Adam", "AdamW", "Optimizer"))
draw = np.random.default_rng(0)
params = p = [nn.Parameter(T(draw.normal(size=(2, 3)))) for _ in range(3)]


def set_gradients(params, seed):
    draw = np.random.default_rng(seed)
    for param in params:
        param.grad = T(draw.normal(size=(2, 3)))


# %% groups with their own options
optimizer = SGD([{"params": params[:1]}, {"params": params[1], "lr": 1.0}], lr=0.1, momentum=0.5)
optimizer.add_param_group({"params": (params[2],), "momentum": 0.0})
for seed in range(2):
    set_gradients(params, seed)
    optimizer.step()
[p.detach() for p in params], optimizer.state_dict(), repr(optimizer)

# %% a changed learning rate
optimizer = SGD(params, lr=0.1)
optimizer.param_groups[0]["lr"] = 2.0
set_gradients(params, 0)
optimizer.step()
[p.detach() for p in params], optimizer.defaults

# %% a closure
w = params[0]
optimizer = Adam([w], lr=0.1)


def closure():
    optimizer.zero_grad()
    loss = (w**2).sum()
    loss.backward()
    show(torch.is_grad_enabled())
    return loss.item()


with torch.no_grad():
    show(optimizer.step(closure), optimizer.step(closure), w.detach())

# %% gradients are reset
optimizer = SGD(params)
set_gradients(params[:2], 0)
kept = params[0].grad
optimizer.zero_grad(set_to_none=False)
seen = [params[0].grad is kept, [p.grad for p in params]]
optimizer.zero_grad()
seen, [p.grad for p in params]

# %% weight decay moves parameters whose gradient is zero, but not if it is None
optimizer = SGD(params, lr=0.1, weight_decay=0.5)
params[0].grad = torch.zeros(2, 3, dtype=torch.float64)
before = [p.detach().clone() for p in params]
optimizer.step()
[p.detach() - b for p, b in zip(params, before, strict=True)]

# %% a step changes a value that a graph needs -> RuntimeError
w = params[0]
loss = (w**2).sum()
w.grad = torch.ones(2, 3, dtype=torch.float64)
SGD([w]).step()
loss.backward()


# %% a custom optimizer
class Halve(Optimizer):
    def __init__(self, params):
        super().__init__(params, {"factor": 0.5})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    self.state[p]["seen"] = self.state[p].get("seen", 0) + 1
                    p.mul_(group["factor"])


optimizer = Halve(params)
set_gradients(params[:1], 0)
optimizer.step()
[p.detach() for p in params], optimizer.state_dict(), repr(optimizer)

# %% each -> ValueError
SGD(p, lr=-1)
SGD(p, momentum=-0.5)
SGD(p, weight_decay=-0.5)
SGD(p, nesterov=True)
SGD(p, momentum=0.5, dampening=0.1, nesterov=True)
Adam(p, lr=-1.0)
Adam(p, eps=-1.0)
Adam(p, betas=(1.0, 0.5))
Adam(p, betas=(0.5, -0.5))
Adam(p, weight_decay=-1)
AdamW(p, lr=-1.0)
SGD([])
SGD([p[0] * 2])
SGD([{"params": p}, {"params": p[:1]}])
SGD([("a", p[0]), p[1]])
SGD([{"params": [("a", p[0])]}, {"params": p[1:]}])
SGD([{"params": p[1:]}, {"params": [("a", p[0])]}])
SGD(p).add_param_group({"params": p})
SGD(p).load_state_dict(SGD([{"params": p[:1]}, {"params": p[1:]}]).state_dict())
SGD(p).load_state_dict(SGD(p[1:]).state_dict())

# %% each -> TypeError
SGD(p[0])
SGD(3)
SGD([3])
SGD([[1.0]])
SGD([{"params": {p[0]}}])
SGD([{"params": p}, 3])
SGD(p).add_param_group(p)

# %% each
repr(SGD([p[0], p[0]]))
SGD([("a", p[0]), ("b", p[1])]).param_groups[0]["param_names"]
SGD([("a", p[0])]).load_state_dict(SGD(p[1:2], lr=5.0).state_dict())
SGD(iter(p)).step()
Optimizer(p, {"lr": 1.0}).param_groups[0]["lr"]

# %% parameters in a set are refused or not, as in torch
type(SGD({p[0]})).__name__
