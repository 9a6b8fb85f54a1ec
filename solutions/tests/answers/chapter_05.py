"""Answers to the exercises of chapter 05 that have found something in a check."""


@wrong("05.1", "not: backward() itself", "Your function returned None")
def freeze_all_but(model, part):
    model.requires_grad_(False)
    model.get_submodule(part).requires_grad_(True)


@wrong("05.5", "not: backward was not called", "nothing may clear it later")
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


@wrong("05.5", "or .grad was cleared")
def losses_with_probe(backbone, head, probe, x, target, extra):
    h = backbone(x)
    task = nn.functional.mse_loss(head(h), target)
    probing = nn.functional.mse_loss(probe(h), extra)
    (task + probing).backward()
    backbone.zero_grad()
    return task.item(), probing.item()


@wrong("05.6", "Likely slip: not restored after an interrupt.")
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


@wrong("05.6", "Likely slip: all modules in one mode.")
def features(model, x):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            return model(x)
    finally:
        for module, training in reversed(modes.items()):
            module.train(training)


# something else changed in the model
@wrong("05.1", "The dtype differs from the expected one.")
def freeze_all_but(model, part):
    model.double()
    model.requires_grad_(False)
    model.get_submodule(part).requires_grad_(True)
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return trainable, sum(p.numel() for p in model.parameters()) - trainable


@wrong("05.1", "First difference at gradients[")
def freeze_all_but(model, part):
    model.requires_grad_(False)
    model.zero_grad()
    model.get_submodule(part).requires_grad_(True)
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    return trainable, sum(p.numel() for p in model.parameters()) - trainable


# the old head cut down: for fewer classes, its weight has the right shape
@wrong("05.2")
def with_new_head(model, weights, classes):
    model.load_state_dict(weights)
    model.requires_grad_(False)
    old = model.fc
    model.fc.weight = nn.Parameter(old.weight[:classes].detach().clone())
    model.fc.bias = nn.Parameter(old.bias[:classes].detach().clone())


@wrong("05.3", "Likely slip: a buffer of the head left out.")
def train_head(model, batches, lr):
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    model.zero_grad()
    model.body.requires_grad_(False)
    model.body.eval()
    optimizer = torch.optim.SGD(model.head.parameters(), lr=lr)
    for x, labels in batches:
        loss = nn.functional.cross_entropy(model.head(model.body(x)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [name for name, p in model.named_parameters() if not torch.equal(p, before[name])]


# modules already in eval were put into train, without train()
@wrong("05.6", "Likely slip: everything put into train.", "not: train() sets them all")
def features(model, x):
    model.eval()
    try:
        with torch.no_grad():
            return model(x)
    finally:
        for module in model.modules():
            module.training = True


# nothing was written back: a copy was run
@wrong("05.6", "Likely slip: features from batch statistics.", "not: written back")
def features(model, x):
    with torch.no_grad():
        return copy.deepcopy(model)(x)


# the names of the check's first model
@wrong("05.2", "AttributeError: 'Sequential' object has no attribute 'stem'")
def with_new_head(model, weights, classes):
    model.load_state_dict(weights)
    model.scale.requires_grad_(False)
    model.stem.requires_grad_(False)
    model.body.requires_grad_(False)
    model.fc = nn.Linear(model.fc.in_features, classes, dtype=model.fc.weight.dtype)


# every module back in training mode, whatever its mode was
@wrong("05.5", "'modules in training mode'")
def losses_with_probe(backbone, head, probe, x, target, extra):
    h = backbone(x)
    task = nn.functional.mse_loss(head(h), target)
    probe.eval()
    other = nn.functional.mse_loss(probe(h.detach()), extra)
    probe.train()
    (task + other).backward()
    return task.item(), other.item()


# an entry of which only some elements moved
@wrong("05.3", "Likely slip: only if every element moved.")
def train_head(model, batches, lr):
    before = {name: entry.clone() for name, entry in model.state_dict().items()}
    model.zero_grad()
    model.body.requires_grad_(False)
    model.body.eval()
    optimizer = torch.optim.SGD(model.head.parameters(), lr=lr)
    for x, labels in batches:
        loss = nn.functional.cross_entropy(model.head(model.body(x)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [name for name, entry in model.state_dict().items() if (entry != before[name]).all()]


# nothing was deleted
@wrong("05.2", "Likely slip: the given weights changed.", "not: You deleted")
def with_new_head(model, weights, classes):
    model.load_state_dict(weights)
    weights["fc.weight"] *= 2
    model.requires_grad_(False)
    model.fc = nn.Linear(model.fc.in_features, classes, dtype=model.fc.weight.dtype)


# a part whose name contains that of the head
@wrong("05.2", "old_fc", "not: Likely slip")
def with_new_head(model, weights, classes):
    model.load_state_dict(weights)
    model.fc = nn.Linear(model.fc.in_features, classes, dtype=model.fc.weight.dtype)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_("fc." in name)


# only what is still trainable
@wrong("05.4", "frozen already, with a gradient", "not: Likely slip")
def freeze_now(part, optimizer):
    for parameter in part.parameters():
        if parameter.requires_grad:
            parameter.requires_grad = False
            parameter.grad = None


# parameters that belong to the model itself or to a parent of the part stay trainable
@wrong("05.1", "scale")
def freeze_all_but(model, part):
    target = model.get_submodule(part)
    for module in model.children():
        module.requires_grad_(False)
    target.requires_grad_(True)
    on = sum(p.numel() for p in model.parameters() if p.requires_grad)
    off = sum(p.numel() for p in model.parameters() if not p.requires_grad)
    return on, off


# the new head has a bias only if the old one had
@wrong("05.2", "bias")
def with_new_head(model, weights, classes):
    model.load_state_dict(weights)
    model.requires_grad_(False)
    old = model.fc
    model.fc = nn.Linear(old.in_features, classes, bias=old.bias is not None, dtype=old.weight.dtype)


# freezes the children only: a parameter of the model itself stays trainable
@wrong("05.2", "scale")
def with_new_head(model, weights, classes):
    model.load_state_dict(weights)
    for name, child in model.named_children():
        if name != "fc":
            child.requires_grad_(False)
    model.fc = nn.Linear(model.fc.in_features, classes, dtype=model.fc.weight.dtype)


# parameters that have no gradient yet stay trainable
@wrong("05.4", "requires_grad")
def freeze_now(part, optimizer):
    for p in part.parameters():
        if p.grad is not None:
            p.grad = None
            p.requires_grad_(False)


# eval changes what the rest of the network sees through the part's BatchNorm or dropout
@wrong("05.4", "modules in training mode")
def freeze_now(part, optimizer):
    part.eval()
    part.requires_grad_(False)
    part.zero_grad(set_to_none=True)
