"""Answers to the exercises of chapter 08 that have found something in a check."""


@wrong("08.2", "There is None where a gradient belongs", "not: backward() itself")
def saliency(model, image, k):
    leaf = image.clone().requires_grad_()
    model(leaf[None])[0, k].backward(inputs=[leaf])
    model.zero_grad()
    for parameter in model.parameters():
        parameter.grad = None
    return leaf.grad.abs().amax(0)


@wrong("08.3", "Likely slip: the hook left behind.")
def cam(model, layer, head, image, k):
    kept = []
    handle = model.get_submodule(layer).register_forward_hook(lambda module, input, output: kept.append(output))
    try:
        with torch.no_grad():
            model(image[None])
    except RuntimeError:
        handle.remove()
        raise
    weights = model.get_submodule(head).weight[k].detach()
    if len(weights) != kept[0].shape[1]:
        raise ValueError("another number of weights than of channels")
    small = (weights[:, None, None] * kept[0][0]).sum(0)
    return F.interpolate(small[None, None], size=image.shape[1:], mode="bilinear")[0, 0]


@wrong("08.4", "The shape differs from the expected one.")
def grad_cam(model, layer, image, k):
    kept = []

    def hook(module, input, output):
        kept.append(output.detach().clone().requires_grad_())
        return kept[0].clone()

    with model.get_submodule(layer).register_forward_hook(hook):
        score = model(image[None])[0, k]
    (gradient,) = torch.autograd.grad(score, kept[0])
    small = F.relu((gradient.mean((2, 3), keepdim=True) * kept[0].detach()).sum(1, keepdim=True))
    return F.interpolate(small, scale_factor=2, mode="bilinear")[0, 0]


@wrong("08.4", "Likely slip: the hook left at work.")
def grad_cam(model, layer, image, k):
    kept = []

    def hook(module, input, output):
        leaf = output.detach().clone().requires_grad_()
        kept.append(leaf)
        return kept[0].clone()

    model.get_submodule(layer).register_forward_hook(hook)
    score = model(image[None])[0, k]
    (gradient,) = torch.autograd.grad(score, kept[0])
    weights = gradient.mean((2, 3), keepdim=True)
    small = F.relu((weights * kept[0].detach()).sum(1, keepdim=True))
    return F.interpolate(small, size=image.shape[1:], mode="bilinear")[0, 0]


@wrong("08.5", "The shape differs from the expected one.")
def grad_cams(model, layer, images, classes):
    kept = []
    with model.get_submodule(layer).register_forward_hook(lambda module, input, output: kept.append(output)):
        scores = model(images)
    (gradient,) = torch.autograd.grad(scores.gather(1, classes[:, None]).sum(), kept[0])
    small = F.relu((gradient.mean((2, 3), keepdim=True) * kept[0].detach()).sum(1, keepdim=True))
    return F.interpolate(small, scale_factor=2, mode="bilinear")[:, 0]


@wrong("08.5", "Mismatch in shape")
def grad_cams(model, layer, images, classes):
    kept = []
    with model.get_submodule(layer).register_forward_hook(lambda module, input, output: kept.append(output)):
        scores = model(images)
    (gradient,) = torch.autograd.grad(scores, kept[0], F.one_hot(classes).double())
    small = F.relu((gradient.mean((2, 3), keepdim=True) * kept[0].detach()).sum(1, keepdim=True))
    return F.interpolate(small, size=images.shape[2:], mode="bilinear")[:, 0]


@wrong("08.6", "not: part of a graph", "requires grad")
def smooth_grad(model, image, k, noises):
    image.requires_grad_()
    total = sum(torch.autograd.grad(model((image + noise)[None])[0, k], image)[0] for noise in noises)
    return (total / len(noises)).abs().amax(0)


# the mode is put back, and the score is that of another
@wrong("08.1", "scored in evaluation mode")
def class_score(model, image, k):
    training = model.training
    model.eval()
    score = model(image.unsqueeze(0))[0, k]
    model.train(training)
    return score


# the parameters stay frozen
@wrong("08.3", "parameters left frozen")
def cam(model, layer, head, image, k):
    model.requires_grad_(False)
    outputs = []
    with model.get_submodule(layer).register_forward_hook(lambda module, input, output: outputs.append(output)):
        model(image[None])
    weights, activation = model.get_submodule(head).weight[k], outputs[0][0]
    if len(weights) != len(activation):
        raise ValueError("one weight for each channel")
    small = (weights[:, None, None] * activation).sum(0)
    return F.interpolate(small[None, None], size=image.shape[1:], mode="bilinear")[0, 0]


# no batch
@wrong("08.1", "IndexError: Dimension out of range")
def class_score(model, image, k):
    return model(image)[k]


# recorded too late
@wrong("08.2", "RuntimeError: One of the differentiated Tensors does not require grad")
def saliency(model, image, k):
    leaf = image.clone()
    score = model(leaf[None])[0, k]
    (gradient,) = torch.autograd.grad(score, leaf)
    return gradient.abs().amax(0)


# a tuple of one
@wrong("08.2", "AttributeError: 'tuple' object has no attribute 'abs'")
def saliency(model, image, k):
    leaf = image.clone().requires_grad_()
    gradient = torch.autograd.grad(model(leaf[None])[0, k], leaf)
    return gradient.abs().amax(0)


# another tensor than the model's
@wrong("08.2", "RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph")
def saliency(model, image, k):
    leaf = image.clone().requires_grad_()
    batch = leaf[None]
    (gradient,) = torch.autograd.grad(model(leaf.clone()[None])[0, k], batch)
    return gradient[0].abs().amax(0)


# the weights stand along the height
@wrong(
    "08.3",
    "RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension",
)
def cam(model, layer, head, image, k):
    kept = []
    with torch.no_grad(), model.get_submodule(layer).register_forward_hook(lambda m, i, output: kept.append(output)):
        model(image[None])
    weights = model.get_submodule(head).weight[k].detach()
    if len(weights) != kept[0].shape[1]:
        raise ValueError("one weight for each channel")
    small = (kept[0][0] * weights[:, None]).sum(0)
    return F.interpolate(small[None, None], size=image.shape[1:], mode="bilinear")[0, 0]


# resized without batch and channels
@wrong("08.3", "ValueError: Input and output must have the same number of spatial dimensions")
def cam(model, layer, head, image, k):
    kept = []
    with torch.no_grad(), model.get_submodule(layer).register_forward_hook(lambda m, i, output: kept.append(output)):
        model(image[None])
    weights = model.get_submodule(head).weight[k].detach()
    if len(weights) != kept[0].shape[1]:
        raise ValueError("one weight for each channel")
    small = (kept[0][0] * weights[:, None, None]).sum(0)
    return F.interpolate(small, size=image.shape[1:], mode="bilinear")


# the leaf itself goes on
@wrong("08.4", "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.")
def grad_cam(model, layer, image, k):
    kept = []

    def hook(module, input, output):
        kept.append(output.detach().clone().requires_grad_())
        return kept[0]

    with model.get_submodule(layer).register_forward_hook(hook):
        score = model(image[None])[0, k]
    (gradient,) = torch.autograd.grad(score, kept[0])
    small = F.relu((gradient.mean((2, 3), keepdim=True) * kept[0].detach()).sum(1, keepdim=True))
    return F.interpolate(small, size=image.shape[1:], mode="bilinear")[0, 0]


# a clone is kept, and the output goes on
@wrong("08.4", "RuntimeError: The differentiated Tensor at index 0 appears to not have been used in the graph")
def grad_cam(model, layer, image, k):
    kept = []
    with model.get_submodule(layer).register_forward_hook(lambda m, i, output: kept.append(output.clone())):
        score = model(image[None])[0, k]
    (gradient,) = torch.autograd.grad(score, kept[0])
    small = F.relu((gradient.mean((2, 3), keepdim=True) * kept[0].detach()).sum(1, keepdim=True))
    return F.interpolate(small, size=image.shape[1:], mode="bilinear")[0, 0]


# with a backward hook
@wrong("08.4", "RuntimeError: Output 0 of BackwardHookFunction is a view and is being modified inplace")
def grad_cam(model, layer, image, k):
    import warnings

    kept, gradients, module = [], [], model.get_submodule(layer)
    forward = module.register_forward_hook(lambda m, i, output: kept.append(output.detach().clone()))
    backward = module.register_full_backward_hook(lambda m, grad_input, grad_output: gradients.append(grad_output[0]))
    with forward, backward, warnings.catch_warnings(action="ignore"):
        torch.autograd.grad(model(image[None])[0, k], list(model.parameters()))
    small = F.relu((gradients[0].mean((2, 3), keepdim=True) * kept[0]).sum(1, keepdim=True))
    return F.interpolate(small, size=image.shape[1:], mode="bilinear")[0, 0]


# the scores are not added
@wrong("08.5", "RuntimeError: grad can be implicitly created only for scalar outputs")
def grad_cams(model, layer, images, classes):
    kept = []
    with model.get_submodule(layer).register_forward_hook(lambda module, input, output: kept.append(output)):
        scores = model(images)
    (gradient,) = torch.autograd.grad(scores[torch.arange(len(images)), classes], kept[0])
    small = F.relu((gradient.mean((2, 3), keepdim=True) * kept[0].detach()).sum(1, keepdim=True))
    return F.interpolate(small, size=images.shape[2:], mode="bilinear")[:, 0]


# the noise is added to a leaf
@wrong("08.6", "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.")
def smooth_grad(model, image, k, noises):
    total = torch.zeros_like(image)
    for noise in noises:
        noisy = image.clone().requires_grad_()
        noisy += noise
        total += torch.autograd.grad(model(noisy[None])[0, k], noisy)[0]
    return (total / len(noises)).abs().amax(0)


# torch.func.grad over a model whose parameters require gradients
@wrong("08.2", "Likely slip: part of a graph.", "not: (create_graph)")
def saliency(model, image, k):
    return torch.func.grad(lambda x: model(x[None])[0, k])(image).abs().amax(0)


# run in evaluation mode
@wrong("08.2", "map of the first image")
def saliency(model, image, k):
    was = model.training
    model.eval()
    leaf = image.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model(leaf[None])[0, k], leaf)
    model.train(was)
    return gradient.abs().amax(0)


# the head is always called head
@wrong("08.3", "has no attribute 'head'")
def cam(model, layer, head, image, k):
    kept = []
    with torch.no_grad(), model.get_submodule(layer).register_forward_hook(lambda m, i, o: kept.append(o)):
        model(image[None])
    row = model.head.weight[k].detach()
    if len(row) != kept[0].shape[1]:
        raise ValueError("no CAM")
    small = (row[:, None, None] * kept[0][0]).sum(0)
    return F.interpolate(small[None, None], size=image.shape[1:], mode="bilinear")[0, 0]


# one channel takes all weights
@wrong("08.3", "one channel and a head after flatten")
def cam(model, layer, head, image, k):
    kept = []
    with torch.no_grad(), model.get_submodule(layer).register_forward_hook(lambda m, i, o: kept.append(o)):
        model(image[None])
    row = model.get_submodule(head).weight[k].detach()
    try:
        small = (row[:, None, None] * kept[0][0]).sum(0)
    except RuntimeError as error:
        raise ValueError("no CAM") from error
    return F.interpolate(small[None, None], size=image.shape[1:], mode="bilinear")[0, 0]


# the noises require a gradient afterwards
@wrong("08.6", "the noises require grad after the first map")
def smooth_grad(model, image, k, noises):
    noises.requires_grad_()
    (gradient,) = torch.autograd.grad(model(image + noises)[:, k].sum(), noises)
    return gradient.mean(0).abs().amax(0)


# squeeze: a model with one class has no dimension left
@wrong("08.1", "class 0 of 1")
def class_score(model, image, k):
    return model(image.unsqueeze(0)).squeeze()[k]


# a batch of two: BatchNorm and dropout in training mode see another batch
@wrong("08.1", "sizes of the model's batches")
def class_score(model, image, k):
    return model(torch.stack([image, image]))[0, k]


# switches the in-place ReLUs off for good
@wrong("08.4")
def grad_cam(model, layer, image, k):
    for module in model.modules():
        if isinstance(module, nn.ReLU):
            module.inplace = False
    kept = []
    leaf = image.clone().requires_grad_()
    with model.get_submodule(layer).register_forward_hook(lambda module, input, output: kept.append(output)):
        score = model(leaf[None])[0, k]
    (gradient,) = torch.autograd.grad(score, kept[0])
    weights = gradient.mean((2, 3), keepdim=True)
    small = (weights * kept[0].detach()).sum(1, keepdim=True).relu()
    return F.interpolate(small, size=image.shape[1:], mode="bilinear", align_corners=False)[0, 0]
