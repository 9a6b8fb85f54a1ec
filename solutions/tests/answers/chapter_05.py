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
