"""Answers to the exercises of chapter 03 that have found something in a check."""


@wrong("03.3", "The weights did not move: step is missing")
def step_in_pieces(loss_of, optimizer, inputs, targets, size):
    optimizer.zero_grad()
    mean = 0.0
    for piece, target in zip(inputs.split(size), targets.split(size), strict=True):
        loss = loss_of(piece, target) * (len(piece) / len(inputs))
        loss.backward()
        mean += loss.item()
    optimizer.zero_grad()
    return mean


@wrong("03.5a", "the loss or one of its inputs was detached or made under no_grad")
def follow_a_stream(cell, optimizer, state, chunks):
    losses = []
    for inputs, target in chunks:
        state = cell(inputs, state.detach())
        with torch.no_grad():
            loss = ((state - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@wrong("03.1", "TypeError: unsupported operand type(s) for +: 'NoneType' and 'Tensor'")
def ledger(x, events):
    grad, entries = None, []
    for kind, value in events:
        if kind == "walk":
            grad = grad + value * 3 * x**2
        else:
            grad = None if value else torch.zeros_like(x)
        entries.append(grad)
    return entries


@wrong("03.3", "Likely slip: all graphs at once.")
def step_in_pieces(loss_of, optimizer, inputs, targets, size):
    optimizer.zero_grad()
    total = 0.0
    for piece, target in zip(inputs.split(size), targets.split(size), strict=True):
        loss = loss_of(piece, target) * len(piece) / len(inputs)
        loss.backward(retain_graph=True)
        total += loss
    optimizer.step()
    return total.item()


@wrong("03.3", "Likely slip: more than one graph at a time.", "not: the walks retained")
def step_in_pieces(loss_of, optimizer, inputs, targets, size):
    optimizer.zero_grad()
    total, waiting = 0.0, None
    for piece, target in zip(inputs.split(size), targets.split(size), strict=True):
        loss = loss_of(piece, target) * len(piece) / len(inputs)
        if waiting is not None:
            waiting.backward()
        waiting = loss
        total += loss.item()
    if waiting is not None:
        waiting.backward()
    optimizer.step()
    return total


@wrong("03.4", "not: cleared between", "W.grad holds only the second one")
def two_pulls(trunk, loss_a, loss_b, W, x):
    h = trunk(x)
    a, b = loss_a(h), loss_b(h)
    (first,) = torch.autograd.grad(a, W, retain_graph=True)
    (a + b).backward()
    W.grad -= first
    return first, W.grad


@wrong("03.6b", "Likely slip: graphs of earlier batches kept.")
def fit_and_report(model, optimizer, batches):
    total, means = 0.0, []
    for number, (inputs, target) in enumerate(batches, start=1):
        loss = ((model(inputs) - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total = total + loss
        means.append(total.item() / number)
    return means


@wrong("03.6b", "Likely slip: weighted by the rows.")
def fit_and_report(model, optimizer, batches):
    total, rows, means = 0.0, 0, []
    for inputs, target in batches:
        loss = ((model(inputs) - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(inputs)
        rows += len(inputs)
        means.append(total / rows)
    return means


# micro-batches of nearly equal size
@wrong("03.3", "sizes of the micro-batches in step 1")
def step_in_pieces(loss_of, optimizer, inputs, targets, size):
    optimizer.zero_grad()
    total, count = 0.0, -(-len(inputs) // size)
    for piece, target in zip(inputs.tensor_split(count), targets.tensor_split(count), strict=True):
        loss = loss_of(piece, target) * len(piece) / len(inputs)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


# the short micro-batch first
@right("03.3")
def step_in_pieces(loss_of, optimizer, inputs, targets, size):
    optimizer.zero_grad()
    total, end = 0.0, len(inputs) % size or size
    start = 0
    while start < len(inputs):
        loss = loss_of(inputs[start:end], targets[start:end]) * (min(end, len(inputs)) - start) / len(inputs)
        loss.backward()
        total += loss.item()
        start, end = end, end + size
    optimizer.step()
    return total


# the step before the backward pass
@wrong("03.5a", "No weight moved", "not: zero_grad comes between")
def follow_a_stream(cell, optimizer, state, chunks):
    losses = []
    for inputs, target in chunks:
        state = cell(inputs, state.detach())
        loss = ((state - target) ** 2).mean()
        optimizer.zero_grad()
        optimizer.step()
        loss.backward()
        losses.append(loss.item())
    return losses


# the error is caught
@wrong("03.6a", "log_scale learns from the first batch only.", "not: have no graph")
def fit_positive_scale(w, log_scale, optimizer, batches):
    scale = log_scale.exp()
    losses = []
    for inputs, target in batches:
        loss = ((scale * (inputs @ w) - target) ** 2).mean()
        optimizer.zero_grad()
        try:
            loss.backward()
        except RuntimeError as error:
            print(error)
        optimizer.step()
        losses.append(loss.item())
    return losses


# outputs kept outside the function, not in the log
@wrong("03.6b", "graphs of earlier batches stay alive", "not: the log keeps")
def fit_and_report(model, optimizer, batches):
    total, means = 0.0, []
    fit_and_report.kept = []
    for number, (inputs, target) in enumerate(batches, start=1):
        outputs = model(inputs)
        fit_and_report.kept.append(outputs)
        loss = ((outputs - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
        means.append(total / number)
    return means


# the second gradient is W.grad itself, which grows afterwards
@wrong("03.4", "Your second gradient is the sum of both gradients.")
def two_pulls(trunk, loss_a, loss_b, W, x):
    h = trunk(x)
    loss_a(h).backward(retain_graph=True)
    from_a, W.grad = W.grad, None
    loss_b(h).backward()
    from_b = W.grad
    W.grad += from_a
    return from_a, from_b


# the elements of the targets counted, not the rows
@wrong("03.3", "two targets in each row", "not: Likely slip")
def step_in_pieces(loss_of, optimizer, inputs, targets, size):
    optimizer.zero_grad()
    mean = 0.0
    for part, target in zip(inputs.split(size), targets.split(size), strict=True):
        loss = loss_of(part, target) * (target.numel() / len(inputs))
        loss.backward()
        mean += loss.item()
    optimizer.step()
    return mean


# the trunk's other weights keep what they saved
@wrong("03.4", "your last call computed only W's gradient")
def two_pulls(trunk, loss_a, loss_b, W, x):
    h = trunk(x)
    a, b = loss_a(h), loss_b(h)
    (a + b).backward(retain_graph=True)
    (from_a,) = torch.autograd.grad(a, W, retain_graph=True)
    (from_b,) = torch.autograd.grad(b, W)
    return from_a, from_b


# the scale keeps the graphs of all earlier batches
@wrong("03.5b", "graphs kept behind the scale")
def fit_with_a_scale(model, optimizer, batches):
    scale = 1.0
    losses = []
    for inputs, target in batches:
        outputs = model(inputs)
        scale = 0.9 * scale + 0.1 * outputs.abs().mean()
        loss = ((outputs / scale.detach() - target) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# two recorded runs of the model for each batch
@right("03.5b")
def fit_with_a_scale(model, optimizer, batches):
    scale = 1.0
    losses = []
    for inputs, target in batches:
        optimizer.zero_grad()
        measured, outputs = model(inputs), model(inputs)
        scale = 0.9 * scale + 0.1 * measured.abs().mean().detach()
        loss = (outputs / scale - target).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


# two recorded runs of the model for each batch
@right("03.6b")
def fit_and_report(model, optimizer, batches):
    total, means = 0.0, []
    for inputs, target in batches:
        total += ((model(inputs) - target) ** 2).mean().item()
        optimizer.zero_grad()
        loss = ((model(inputs) - target) ** 2).mean()
        loss.backward()
        optimizer.step()
        means.append(total / (len(means) + 1))
    return means


# sets zeros before it knows whether the call is refused
@wrong("03.2")
class Chain:
    def __init__(self, x, operations):
        self.grad = None
        self.nodes = []
        for name, c in operations:
            y = OPERATIONS[name]["forward"](x, c)
            self.nodes.append({"name": name, "saved": OPERATIONS[name]["saves"](x, c, y)})
            x = y

    def backward(self, v, retain_graph=False):
        if self.grad is None:
            self.grad = torch.zeros_like(v)

        for node in reversed(self.nodes):
            saved = node["saved"]
            if saved is FREED:
                raise RuntimeError(SECOND_TIME)
            v = OPERATIONS[node["name"]]["back"](v, saved)
            if not retain_graph and saved is not NOTHING:
                node["saved"] = FREED
        self.grad = self.grad + v
