"""The course's ResNet-18 has torchvision's names and shapes, and loads its weight files."""

import torch

from gradlab.resnet import resnet18


def _batch_norm(name, channels):
    shapes = {"weight": (channels,), "bias": (channels,), "running_mean": (channels,), "running_var": (channels,)}
    return {f"{name}.{entry}": shape for entry, shape in (shapes | {"num_batches_tracked": ()}).items()}


def _block(name, inputs, outputs, downsample):
    table = {f"{name}.conv1.weight": (outputs, inputs, 3, 3)} | _batch_norm(f"{name}.bn1", outputs)
    table |= {f"{name}.conv2.weight": (outputs, outputs, 3, 3)} | _batch_norm(f"{name}.bn2", outputs)
    if downsample:
        table |= {f"{name}.downsample.0.weight": (outputs, inputs, 1, 1)}
        table |= _batch_norm(f"{name}.downsample.1", outputs)
    return table


# The entries of torchvision.models.resnet18().state_dict(), in its order.
TABLE = {
    "conv1.weight": (64, 3, 7, 7),
    **_batch_norm("bn1", 64),
    **_block("layer1.0", 64, 64, downsample=False),
    **_block("layer1.1", 64, 64, downsample=False),
    **_block("layer2.0", 64, 128, downsample=True),
    **_block("layer2.1", 128, 128, downsample=False),
    **_block("layer3.0", 128, 256, downsample=True),
    **_block("layer3.1", 256, 256, downsample=False),
    **_block("layer4.0", 256, 512, downsample=True),
    **_block("layer4.1", 512, 512, downsample=False),
    "fc.weight": (1000, 512),
    "fc.bias": (1000,),
}


def test_torchvisions_weights_load_from_a_local_file(tmp_path):
    """A plain state dict: each name is there with its shape, in torchvision's order."""
    generator = torch.Generator().manual_seed(0)
    state = {
        name: torch.tensor(3) if name.endswith("tracked") else torch.rand(shape, generator=generator)
        for name, shape in TABLE.items()
    }
    path = tmp_path / "resnet18-f37072fd.pth"
    torch.save(state, path)
    loaded = resnet18(weights=path).state_dict()
    assert list(loaded) == list(TABLE)
    assert all(torch.equal(loaded[name], entry) for name, entry in state.items())
