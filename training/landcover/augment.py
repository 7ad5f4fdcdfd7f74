"""Crops at random places, scales, turns and colours, and what the heads of the network should say of them."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from training.landcover.sources import SCALES, UNKNOWN_INSTANCE, Sample

BORDER_PX = 2.5
"""Half the width of what is called border between two roofs."""


@dataclass(frozen=True)
class Crop:
    """One training example.

    Attributes:
        image: (size, size, 3) uint8.
        allowed: (size, size) uint8 bits.
        centre: (size, size) float32 from 0 (outline, ground) to 1 (middle of a roof), NaN where not known.
        border: (size, size) float32, 1 where a roof touches or nearly touches another, NaN where not known.
    """

    image: NDArray[np.uint8]
    allowed: NDArray[np.uint8]
    centre: NDArray[np.float32]
    border: NDArray[np.float32]


def crop(sample: Sample, others: list[Sample], size: int, random: np.random.Generator) -> Crop:
    """A random crop.

    Args:
        sample: where it is cut from.
        others: samples whose colours it may borrow.
        size: its side in pixels.
        random: generator.
    """
    matrix = _placement(sample, size, random)
    flags = cv2.WARP_INVERSE_MAP
    image = _warp(sample.image, matrix, size, flags | cv2.INTER_LINEAR)
    allowed = _warp(sample.allowed, matrix, size, flags | cv2.INTER_NEAREST)
    # warpAffine knows no int32; chips hold fewer than 32,000 roofs.
    ids = _warp(sample.instances.astype(np.int16), matrix, size, flags | cv2.INTER_NEAREST).astype(np.int32)
    centre, border = targets(ids)
    if random.random() < 0.3:
        image = _borrowed(image, others[random.integers(len(others))].image)
    return Crop(_recoloured(image, random), allowed, centre, border)


def targets(ids: NDArray[np.int32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What the centre and border heads should say.

    Args:
        ids: (rows, columns) int32 building ids, 0 = none, -1 = not known.
    """
    edge = np.zeros(ids.shape, bool)
    for axis in (0, 1):
        differs = np.diff(ids, axis=axis) != 0
        before, after = (slice(None, -1), slice(1, None))
        edge[(before, slice(None)) if axis == 0 else (slice(None), before)] |= differs
        edge[(after, slice(None)) if axis == 0 else (slice(None), after)] |= differs
    inside = ((ids > 0) & ~edge).astype(np.uint8)
    depth = cv2.distanceTransform(inside, cv2.DIST_L2, 5)
    deepest = np.zeros(max(int(ids.max()), 0) + 1, np.float32)
    known = ids > 0
    np.maximum.at(deepest, ids[known], depth[known])
    centre = np.zeros(ids.shape, np.float32)
    centre[known] = depth[known] / np.maximum(deepest[ids[known]], 1)
    unknown = ids == UNKNOWN_INSTANCE
    centre[unknown] = np.nan
    border = _near_two(ids)
    border[unknown] = np.nan
    return centre, border


def _near_two(ids: NDArray[np.int32]) -> NDArray[np.float32]:
    """1 within `BORDER_PX` of two roofs at once."""
    reach = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (int(2 * BORDER_PX), int(2 * BORDER_PX)))
    positive = np.where(ids > 0, ids, 0).astype(np.float32)
    highest = cv2.dilate(positive, reach)
    lowest = -cv2.dilate(np.where(ids > 0, -ids, -1e6).astype(np.float32), reach)
    return ((highest > 0) & (lowest < highest)).astype(np.float32)


def _placement(sample: Sample, size: int, random: np.random.Generator) -> NDArray[np.float64]:
    """2 x 3 matrix from crop pixels to source pixels."""
    low, high = SCALES[sample.source]
    scale = np.exp(random.uniform(np.log(low), np.log(high)))
    angle = random.integers(4) * np.pi / 2 + (random.uniform(-np.pi / 4, np.pi / 4) if random.random() < 0.5 else 0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / scale
    if random.random() < 0.5:
        turn[:, 0] *= -1
    rows, cols = sample.image.shape[:2]
    half = size / scale / 2
    centre = np.array([_within(cols, half, random), _within(rows, half, random)])
    return np.column_stack([turn, centre - turn @ np.array([size / 2, size / 2])])


def _within(length: int, half: float, random: np.random.Generator) -> float:
    low, high = min(half, length / 2), max(length - half, length / 2)
    return float(random.uniform(low, high))


def _warp(image: NDArray[np.generic], matrix: NDArray[np.float64], size: int, flags: int) -> NDArray[np.generic]:
    shrink = float(np.sqrt(abs(np.linalg.det(matrix[:, :2]))))
    if flags & cv2.INTER_LINEAR and shrink > 1.3:
        image = cv2.GaussianBlur(image, (0, 0), shrink * 0.4)
    return np.asarray(cv2.warpAffine(image, matrix, (size, size), flags=flags, borderMode=cv2.BORDER_REFLECT_101))


def _borrowed(image: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The image with another's mean and spread of colour (Reinhard et al. 2001), in CIELAB."""
    mine = cv2.cvtColor(image, cv2.COLOR_RGB2LAB).astype(np.float32)
    theirs = cv2.cvtColor(other[::4, ::4], cv2.COLOR_RGB2LAB).astype(np.float32)
    spread = (theirs.std((0, 1)) + 1) / (mine.std((0, 1)) + 1)
    moved = (mine - mine.mean((0, 1))) * spread.clip(0.6, 1.6) + theirs.mean((0, 1))
    return np.asarray(cv2.cvtColor(moved.clip(0, 255).astype(np.uint8), cv2.COLOR_LAB2RGB))


def _recoloured(image: NDArray[np.uint8], random: np.random.Generator) -> NDArray[np.uint8]:
    """Light, contrast, gamma, colour cast, saturation; haze, blur, noise and JPEG now and then."""
    values = image.astype(np.float32) / 255
    values = values ** np.exp(random.uniform(-0.45, 0.45))
    mean = values.mean()
    values = (values - mean) * np.exp(random.uniform(-0.4, 0.4)) + mean * np.exp(random.uniform(-0.3, 0.3))
    values *= np.exp(random.uniform(-0.15, 0.15, 3))
    gray = values.mean(2, keepdims=True)
    values = gray + (values - gray) * (0.0 if random.random() < 0.03 else np.exp(random.uniform(-0.7, 0.5)))
    if random.random() < 0.1:
        values = values * 0.7 + 0.3 * np.array([0.6, 0.65, 0.75]) * random.uniform(0.5, 1.2)
    if random.random() < 0.2:
        values = cv2.GaussianBlur(values, (0, 0), random.uniform(0.4, 1.4))
    if random.random() < 0.2:
        values = values + random.normal(0, random.uniform(0.005, 0.03), values.shape)
    out = (values.clip(0, 1) * 255).astype(np.uint8)
    if random.random() < 0.2:
        _, packed = cv2.imencode(".jpg", out, [cv2.IMWRITE_JPEG_QUALITY, int(random.integers(40, 90))])
        out = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
    return out
