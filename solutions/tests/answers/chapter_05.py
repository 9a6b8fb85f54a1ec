"""Answers to the exercises of chapter 05 that have found something in a check."""


@wrong("05.1", "not: backward() itself", "Your function returned None")
def freeze_all_but(model, part):
    model.requires_grad_(False)
    model.get_submodule(part).requires_grad_(True)


@wrong("05.5", "not: backward was not called", "nothing may clear it after")
def losses_with_probe(backbone, head, probe, x, target, extra):
    h = backbone(x)
    task = nn.functional.mse_loss(head(h), target)
    probing = nn.functional.mse_loss(probe(h.detach()), extra)
    (task + probing).backward()
    for module in (backbone, head, probe):
        module.zero_grad()
    return task.item(), probing.item()


@wrong("05.1", "modules in training mode")
def freeze_all_but(model, part):
    model.requires_grad_(False).eval()
    model.get_submodule(part).requires_grad_(True).train()
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return trainable, sum(p.numel() for p in model.parameters()) - trainable


@wrong("05.1", "AttributeError: 'ModuleDict' object has no attribute 'body.2'")
def freeze_all_but(model, part):
    model.requires_grad_(False)
    getattr(model, part).requires_grad_(True)
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return trainable, sum(p.numel() for p in model.parameters()) - trainable


@wrong("05.3", "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn")
def train_head(model, batches, lr):
    before = {name: entry.clone() for name, entry in model.state_dict().items()}
    model.requires_grad_(False)
    model.body.eval()
    optimizer = torch.optim.SGD(model.head.parameters(), lr=lr)
    for x, labels in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model.head(model.body(x)), labels).backward()
        optimizer.step()
    return [name for name, entry in model.state_dict().items() if not torch.equal(entry, before[name])]


@wrong("05.3", "the snapshot was taken too late, or without clone()")
def train_head(model, batches, lr):
    model.zero_grad()
    model.body.requires_grad_(False)
    model.body.eval()
    optimizer = torch.optim.SGD(model.head.parameters(), lr=lr)
    for x, labels in batches:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model.head(model.body(x)), labels).backward()
        optimizer.step()
    before = {name: entry.clone() for name, entry in model.state_dict().items()}
    return [name for name, entry in model.state_dict().items() if not torch.equal(entry, before[name])]


@wrong("05.4", "AttributeError: 'Sequential' object has no attribute 'grad'")
def freeze_now(part, optimizer):
    part.requires_grad_(False)
    part.grad.zero_()


@wrong("05.4", "Raised at line", "StopIteration")
def freeze_now(part, optimizer):
    first = next(part.parameters())
    part.requires_grad_(False)
    part.zero_grad()
    first.grad = None


@wrong("05.5", "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn")
def losses_with_probe(backbone, head, probe, x, target, extra):
    h = backbone(x)
    task = nn.functional.mse_loss(head(h), target)
    probing = nn.functional.mse_loss(probe(h).detach(), extra)
    task.backward()
    probing.backward()
    return task.item(), probing.item()


@wrong("05.5", "RuntimeError: Trying to backward through the graph a second time")
def losses_with_probe(backbone, head, probe, x, target, extra):
    h = backbone(x)
    task = nn.functional.mse_loss(head(h), target)
    probing = nn.functional.mse_loss(probe(h), extra)
    task.backward()
    probing.backward()
    return task.item(), probing.item()


@wrong("05.5", "modules in training mode")
def losses_with_probe(backbone, head, probe, x, target, extra):
    probe.eval()
    h = backbone(x)
    task = nn.functional.mse_loss(head(h), target)
    probing = nn.functional.mse_loss(probe(h.detach()), extra)
    (task + probing).backward()
    return task.item(), probing.item()


@wrong("05.5", "or it was cleared")
def losses_with_probe(backbone, head, probe, x, target, extra):
    h = backbone(x)
    task = nn.functional.mse_loss(head(h), target)
    probing = nn.functional.mse_loss(probe(h), extra)
    (task + probing).backward()
    backbone.zero_grad()
    return task.item(), probing.item()


@wrong("05.6", "Likely slip: put back after errors only.")
def features(model, x):
    modes = {module: module.training for module in model.modules()}

    def put_back():
        for module, training in modes.items():
            module.training = training

    model.eval()
    try:
        with torch.no_grad():
            result = model(x)
    except Exception:
        put_back()
        raise
    put_back()
    return result


@wrong("05.6", "Likely slip: all in the models own mode.")
def features(model, x):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            return model(x)
    finally:
        for module, training in reversed(modes.items()):
            module.train(training)
