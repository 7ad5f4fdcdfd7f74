"""Losses for labels that say what a pixel may be."""

from __future__ import annotations

import torch
import torch.nn.functional as f
from torch import Tensor

from training.landcover.network import CLASSES

SMOOTHING = 0.02
"""Share of the labels taken to be wrong; outlines are off by up to a metre."""


def classes_loss(logits: Tensor, allowed: Tensor, doubt: float = 0.0) -> Tensor:
    """-log of the summed probability of the allowed classes, plus half a dice loss where one class is allowed.

    Args:
        logits: (batch, classes, rows, columns).
        allowed: (batch, rows, columns) uint8 bits; 0 = not known.
        doubt: q of the generalised cross-entropy (1 - p^q) / q (Zhang and Sabuncu 2018), which minds wrong labels less
            the larger it is; 0 is -log p, its limit.
    """
    bits = torch.stack([(allowed >> i) & 1 for i in range(CLASSES)], 1).to(logits.dtype)
    known = (allowed > 0).to(logits.dtype)
    shares = logits.softmax(1)
    right = (shares * bits).sum(1)
    trusted = right * (1 - SMOOTHING) + SMOOTHING / CLASSES
    cost = (1 - trusted**doubt) / doubt if doubt else -torch.log(trusted)
    likelihood = (cost * known).sum() / known.sum().clamp(min=1)
    single = ((bits.sum(1) == 1) * known).unsqueeze(1)
    overlap = (shares * bits * single).sum((0, 2, 3))
    total = ((shares + bits) * single).sum((0, 2, 3))
    present = (bits * single).sum((0, 2, 3)) > 0
    dice = 1 - (2 * overlap + 1) / (total + 1)
    return likelihood + 0.5 * (dice * present).sum() / present.sum().clamp(min=1)


def roofs_loss(logits: Tensor, centre: Tensor, border: Tensor, border_weight: float = 0.5) -> Tensor:
    """Cross-entropy of the centre and border heads where they are known; borders are rare and weigh three times.

    Args:
        logits: (batch, 2, rows, columns): centre, border.
        centre: (batch, rows, columns), NaN where not known.
        border: the same.
        border_weight: of the border's loss beside the centre's.
    """
    weight = 1 + 2 * border.nan_to_num(0)
    return _masked(logits[:, 0], centre, 1 + 2 * centre.nan_to_num(0)) + border_weight * _masked(
        logits[:, 1], border, weight
    )


def _masked(logits: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    known = ~target.isnan()
    loss = f.binary_cross_entropy_with_logits(logits, target.nan_to_num(0), reduction="none") * weight * known
    return loss.sum() / known.sum().clamp(min=1)
