"""ResNet-18 with torchvision's parameter names and shapes, so that torchvision's weights can be loaded into it.

He, Zhang, Ren, Sun: Deep Residual Learning for Image Recognition, 2015 (arXiv 1512.03385), table 1, 18 layers.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

WIDTHS = (64, 128, 256, 512)  # channels of layer1 to layer4; fc receives those of layer4


class BasicBlock(nn.Module):
    """Two 3×3 convolutions and a skip connection, which `downsample` adapts if channels or size change."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        around = x if self.downsample is None else self.downsample(x)
        through = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(through + around)


class ResNet18(nn.Module):
    """A stem, four layers of two blocks each, and `fc`, the head: 512 inputs, one score per class."""

    def __init__(self, num_classes: int = 1000):
        super().__init__()
        self.conv1 = nn.Conv2d(3, WIDTHS[0], 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(WIDTHS[0])
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1, self.layer2, self.layer3, self.layer4 = (
            nn.Sequential(BasicBlock(inputs, outputs, stride), BasicBlock(outputs, outputs))
            for inputs, outputs, stride in zip((WIDTHS[0], *WIDTHS[:-1]), WIDTHS, (1, 2, 2, 2), strict=True)
        )
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(WIDTHS[-1], num_classes)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def resnet18(weights: str | Path | None = None, num_classes: int = 1000) -> ResNet18:
    """Make a ResNet-18, with random weights or with weights from a local file.

    weights: path of a file with a state dict, such as torchvision's resnet18-f37072fd.pth; None for random weights.
    Unlike torchvision's function of this name, it takes no enum and downloads nothing.
    num_classes: the number of outputs of `fc`, which weights from a file must match.
    Raises FileNotFoundError if there is no such file, and torch's RuntimeError if names or shapes do not match.

    >>> resnet18(num_classes=10)(torch.zeros(2, 3, 64, 64)).shape
    torch.Size([2, 10])
    """
    model = ResNet18(num_classes)
    if weights is not None:
        model.load_state_dict(torch.load(weights, map_location="cpu", weights_only=True))
    return model
