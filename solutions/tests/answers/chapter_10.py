"""Answers to the exercises of chapter 10 that have found something in a check."""


# right
@right("10.4")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.round(x / step) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, _, ctx.limit = inputs
        Levels.limit = ctx.limit
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, v):
        return v * (ctx.saved_tensors[0].abs() <= ctx.limit), None, None


# the limit kept on the class
@wrong("10.4", "limit kept on the class")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.round(x / step) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, _, ctx.limit = inputs
        Levels.limit = ctx.limit
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, v):
        return v * (ctx.saved_tensors[0].abs() <= Levels.limit), None, None


# halves rounded up
@wrong("10.4", "halves rounded up")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.floor(x / step + 0.5) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, _, ctx.limit = inputs
        Levels.limit = ctx.limit
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, v):
        return v * (ctx.saved_tensors[0].abs() <= ctx.limit), None, None


# differences of 1e-3
@wrong("10.5")
def hvp(function, x, u):
    def gradient(at):
        leaf = at.clone().requires_grad_()
        return torch.autograd.grad(function(leaf), leaf)[0]

    return (gradient(x + 1e-3 * u) - gradient(x - 1e-3 * u)) / (2 * 1e-3)


# differences of 1e-4
@wrong("10.5")
def hvp(function, x, u):
    def gradient(at):
        leaf = at.clone().requires_grad_()
        return torch.autograd.grad(function(leaf), leaf)[0]

    return (gradient(x + 1e-4 * u) - gradient(x - 1e-4 * u)) / (2 * 1e-4)


# differences of 1e-5
@wrong("10.5")
def hvp(function, x, u):
    def gradient(at):
        leaf = at.clone().requires_grad_()
        return torch.autograd.grad(function(leaf), leaf)[0]

    return (gradient(x + 1e-5 * u) - gradient(x - 1e-5 * u)) / (2 * 1e-5)


# differences of 1e-6
@wrong("10.5")
def hvp(function, x, u):
    def gradient(at):
        leaf = at.clone().requires_grad_()
        return torch.autograd.grad(function(leaf), leaf)[0]

    return (gradient(x + 1e-6 * u) - gradient(x - 1e-6 * u)) / (2 * 1e-6)


# hooks left on
@wrong("10.6", "saved-tensor hooks left registered")
def saved_bytes(model, x):
    sizes = {}
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = []

    def pack(t):
        kept.append(t)
        if t.untyped_storage().data_ptr() not in parameters:
            sizes[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t).__enter__()
    model(x)
    return sum(sizes.values())


# saved, but without y's counter
@wrong("10.1", "a change of y unnoticed")
class CubeRoot(Function):
    @staticmethod
    def forward(x):
        return numpy_cbrt(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output.data)

    @staticmethod
    def backward(ctx, v):
        (y,) = ctx.saved_tensors
        return v / (3 * y**2)


# what is rounded into the limits counts as inside
@wrong("10.4", "not: kept on the class")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.round(x / step) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, step, limit = inputs
        ctx.widened = limit + step / 2
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, v):
        return v * (ctx.saved_tensors[0].abs() <= ctx.widened), None, None


# all or nothing
@wrong("10.4", "not: true gradient")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.round(x / step) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, _, ctx.limit = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, v):
        return v * bool((ctx.saved_tensors[0].abs() <= ctx.limit).all()), None, None


# a copy of x, which may lie in a smaller storage
@wrong("10.6")
def saved_bytes(model, x):
    sizes = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = model(x.clone())
    parameters = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    return sum(size for address, size in sizes.items() if address not in parameters)


# the tuple is not unpacked
@wrong("10.1", "TypeError: unsupported operand type(s) for ** or pow(): 'tuple' and 'int'")
class CubeRoot(Function):
    @staticmethod
    def forward(x):
        return numpy_cbrt(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, v):
        y = ctx.saved_tensors
        return v / (3 * y**2)


# one value for three arguments
@wrong(
    "10.4",
    "RuntimeError: function LevelsBackward returned an incorrect number of gradients (expected 3, got 1)",
)
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.round(x / step) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, _, ctx.limit = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, v):
        (x,) = ctx.saved_tensors
        return v * (x.abs() <= ctx.limit)


# None is subtracted from
@wrong("10.3", "TypeError: unsupported operand type(s) for -: 'NoneType' and 'Tensor'")
def differences(function, inputs, v, h=1e-6):
    leaves = [x.clone().requires_grad_() for x in inputs]
    gradients = torch.autograd.grad(function(*leaves), leaves, v, allow_unused=True)
    found = []
    for number, x in enumerate(inputs):
        slope = torch.zeros_like(x)
        for i in range(x.numel()):
            above = (v * function(*stepped(inputs, number, i, h))).sum()
            below = (v * function(*stepped(inputs, number, i, -h))).sum()
            slope.view(-1)[i] = (above - below) / (2 * h)
        found.append(gradients[number] - slope)
    return found


# no external gradient for the second walk
@wrong("10.5", "RuntimeError: grad can be implicitly created only for scalar outputs")
def hvp(function, x, u):
    leaf = x.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function(leaf), leaf, create_graph=True)
    return torch.autograd.grad(gradient, leaf)[0] * u


# an input that is not used
@wrong("10.3", "RuntimeError: The differentiated Tensor at index 1 appears to not have been used in the graph")
def differences(function, inputs, v, h=1e-6):
    leaves = [x.clone().requires_grad_() for x in inputs]
    gradients = torch.autograd.grad(function(*leaves), leaves, v)
    found = []
    for number, x in enumerate(inputs):
        slope = torch.zeros_like(x)
        for i in range(x.numel()):
            above = (v * function(*stepped(inputs, number, i, h))).sum()
            below = (v * function(*stepped(inputs, number, i, -h))).sum()
            slope.view(-1)[i] = (above - below) / (2 * h)
        found.append(gradients[number] - slope)
    return found


# two values for three arguments
@wrong("10.2", "The number of items differs from the expected one.")
class Linear(Function):
    @staticmethod
    def forward(x, weight, scale):
        return scale * x @ weight.T

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, ctx.scale = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx, v):
        x, weight = ctx.saved_tensors
        for_x = ctx.scale * v @ weight if ctx.needs_input_grad[0] else None
        for_weight = ctx.scale * v.T @ x if ctx.needs_input_grad[1] else None
        return for_x, for_weight


# the saved result, which belongs to the caller, is overwritten
@wrong("10.1", "y at the end")
class CubeRoot(Function):
    @staticmethod
    def forward(x):
        return numpy_cbrt(x)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, v):
        (y,) = ctx.saved_tensors
        return v / y.detach().square_().mul_(3)


# the scale is kept on ctx, and the tensors on the class
@wrong("10.2", "'what backward returns'")
class Linear(Function):
    @staticmethod
    def forward(x, weight, scale):
        return scale * x @ weight.T

    @staticmethod
    def setup_context(ctx, inputs, output):
        *Linear.kept, ctx.scale = inputs

    @staticmethod
    def backward(ctx, v):
        x, weight = Linear.kept
        for_x = ctx.scale * v @ weight if ctx.needs_input_grad[0] else None
        for_weight = ctx.scale * v.T @ x if ctx.needs_input_grad[1] else None
        return for_x, for_weight, None


@wrong("10.4", "First difference at index [6]")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.round(x / step) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, _, ctx.limit = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, v):
        (x,) = ctx.saved_tensors
        return v * (x.abs() <= ctx.limit + 1e-3), None, None


# the result has a limit, too, so it lies within the limits everywhere
@wrong("10.4", "Likely slip: passed through outside.")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.round(x / step) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.limit = inputs[2]
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, v):
        (y,) = ctx.saved_tensors
        return v * (y.abs() <= ctx.limit), None, None


# forward mode over a gradient: the parameter requires one, so the result does too
@wrong("10.5", "Likely slip: a result with a graph.")
def hvp(function, x, u):
    return torch.func.jvp(torch.func.grad(lambda t: function(t).sum()), (x,), (u,))[1]


# gradients that were there before are cleared, and one is left in x
@wrong("10.6")
def saved_bytes(model, x):
    kept = []

    def pack(tensor):
        kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = model(x)
    if y.requires_grad:
        y.sum().backward()
        model.zero_grad()
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    for p in model.parameters():
        sizes.pop(p.untyped_storage().data_ptr(), None)
    return sum(sizes.values())


# a loop that needs a batch
@wrong("10.2")
class Linear(Function):
    @staticmethod
    def forward(x, weight, scale):
        return scale * x @ weight.T

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, scale = inputs
        ctx.save_for_backward(x, weight)
        ctx.scale = scale

    @staticmethod
    def backward(ctx, v):
        x, weight = ctx.saved_tensors
        for_x = for_weight = None
        if ctx.needs_input_grad[0]:
            for_x = ctx.scale * v @ weight
        if ctx.needs_input_grad[1]:
            for_weight = ctx.scale * torch.stack([torch.outer(a, b) for a, b in zip(v, x, strict=True)]).sum(0)
        return for_x, for_weight, None


# the sign of x decides, and 0 has none
@wrong("10.4", "gradient of x")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.round(x / step) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, _, ctx.limit = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, v):
        (x,) = ctx.saved_tensors
        return v * x.sign().abs() * (x.abs() <= ctx.limit), None, None


# with a scale of 0, nothing is returned
@wrong("10.2", "what backward returns")
class Linear(Function):
    @staticmethod
    def forward(x, weight, scale):
        return scale * x @ weight.T

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, ctx.scale = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx, v):
        x, weight = ctx.saved_tensors
        for_x = for_weight = None
        if ctx.scale and ctx.needs_input_grad[0]:
            for_x = ctx.scale * v @ weight
        if ctx.scale and ctx.needs_input_grad[1]:
            for_weight = ctx.scale * v.T @ x
        return for_x, for_weight, None


# a scale of 0 is taken for none
@wrong("10.2", "in 'y'")
class Linear(Function):
    @staticmethod
    def forward(x, weight, scale):
        return (scale or 1.0) * x @ weight.T

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, ctx.scale = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx, v):
        x, weight = ctx.saved_tensors
        for_x = ctx.scale * v @ weight if ctx.needs_input_grad[0] else None
        for_weight = ctx.scale * v.T @ x if ctx.needs_input_grad[1] else None
        return for_x, for_weight, None


# tensors are attributes of ctx
@right("10.2")
class Linear(Function):
    @staticmethod
    def forward(ctx, x, weight, scale):
        ctx.x, ctx.weight, ctx.scale = x, weight, scale
        return scale * x @ weight.T

    @staticmethod
    def backward(ctx, v):
        for_x, for_weight, _ = ctx.needs_input_grad
        return ctx.scale * v @ ctx.weight if for_x else None, ctx.scale * v.T @ ctx.x if for_weight else None, None


# a very small tolerance about the limit
@wrong("10.4", "a little outside counted as inside")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        return (torch.round(x / step) * step).clamp(-limit, limit)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, _, ctx.limit = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, v):
        (x,) = ctx.saved_tensors
        return v * (x.abs() <= ctx.limit + 1e-9), None, None


# conditions are not counted
@wrong("10.6", "only floating point")
def saved_bytes(model, x):
    kept = []

    def pack(tensor):
        if tensor.dtype != torch.bool:
            kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        model(x)
    sizes = {tensor.untyped_storage().data_ptr(): tensor.untyped_storage().nbytes() for tensor in kept}
    parameters = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    return sum(size for address, size in sizes.items() if address not in parameters)


# a limit of 0 counts as no limit
@wrong("10.4", "limit 0.0")
class Levels(Function):
    @staticmethod
    def forward(x, step, limit):
        y = torch.round(x / step) * step
        return y.clamp(-limit, limit) if limit else y

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, _step, limit = inputs
        ctx.inside = x.abs() <= (limit or math.inf)

    @staticmethod
    def backward(ctx, v):
        return torch.where(ctx.inside, v, 0.0), None, None


# normalizes u and scales back: u = 0 gives NaN
@wrong("10.5", "u = 0")
def hvp(function, x, u):
    leaf = x.clone().requires_grad_()
    (g,) = torch.autograd.grad(function(leaf), leaf, create_graph=True)
    length = u.norm()
    return torch.autograd.grad(g, leaf, u / length)[0] * length


# leaves the hooks behind if the model raises an error
@wrong("10.6", "a model that raises an error")
def saved_bytes(model, x):
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}

    def pack(t):
        s = t.untyped_storage()
        if s.data_ptr() not in parameters:
            sizes[s.data_ptr()] = s.nbytes()
        return t

    hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t)
    hooks.__enter__()
    y = model(x)
    hooks.__exit__(None, None, None)
    return sum(sizes.values())


# pack keeps the size and returns nothing, so a model that differentiates inside fails
@wrong("10.6")
def saved_bytes(model, x):
    saved = []

    def pack(tensor):
        saved.append(tensor)

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = model(x)
    parameters = {p.untyped_storage().data_ptr() for p in model.parameters()}
    sizes = {}
    for tensor in saved:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in parameters:
            sizes[storage.data_ptr()] = storage.nbytes()
    return sum(sizes.values())


@wrong("10.2", "Likely slip: forward with ctx too.", "TypeError: missing a required argument: 'scale'")
class Linear(Function):
    @staticmethod
    def forward(ctx, x, weight, scale):
        return scale * x @ weight.T

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, ctx.scale = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx, v):
        x, weight = ctx.saved_tensors
        return ctx.scale * v @ weight, ctx.scale * v.T @ x, None


# a different default step
@wrong("10.3", "without h")
def differences(function, inputs, v, h=1e-3):
    leaves = [x.clone().requires_grad_() for x in inputs]
    gradients = torch.autograd.grad(function(*leaves), leaves, v, allow_unused=True, materialize_grads=True)
    found = []
    for number, x in enumerate(inputs):
        slope = torch.zeros_like(x)
        for i in range(x.numel()):
            above, below = (function(*stepped(inputs, number, i, step)) for step in (h, -h))
            slope.view(-1)[i] = (v * (above - below)).sum().item() / (2 * h)
        found.append(gradients[number] - slope)
    return found
