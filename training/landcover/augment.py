"""Crops at random places, scales, turns and colours, and what the heads of the network should say of them."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from training.landcover.draw import Place
from training.landcover.sources import SCALES, UNKNOWN_INSTANCE, Sample

BORDER_PX = 1.5
"""Half the width of what is called border between two roofs, in pixels of the labels."""


@dataclass(frozen=True)
class Crop:
    """One training example; labels have half its sides, as what the network says before it is interpolated.

    Attributes:
        image: (size, size, 3) uint8.
        allowed: (size / 2, size / 2) uint8 bits.
        centre: (size / 2, size / 2) float32 from 0 (outline, ground) to 1 (middle of a roof), NaN where not known.
        border: (size / 2, size / 2) float32, 1 where a roof touches or nearly touches another, NaN where not known.
    """

    image: NDArray[np.uint8]
    allowed: NDArray[np.uint8]
    centre: NDArray[np.float32]
    border: NDArray[np.float32]


def crop(place: Place, others: list[Sample], size: int, random: np.random.Generator) -> Crop:
    """A random crop.

    Args:
        place: what it is cut from.
        others: samples whose colours it may borrow.
        size: its side in pixels.
        random: generator.
    """
    sample, matrix = place.sample, _placement(place, size, random)
    image = warped(sample.image, matrix, size, cv2.INTER_LINEAR)
    halved = matrix @ np.array([[2, 0, 0.5], [0, 2, 0.5], [0, 0, 1]])
    allowed = warped(sample.allowed, halved, size // 2, cv2.INTER_NEAREST)
    # warpAffine knows no int32; chips hold fewer than 32,000 roofs.
    ids = warped(sample.instances, halved, size // 2, cv2.INTER_NEAREST, np.int16).astype(np.int32)
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


def _placement(place: Place, size: int, random: np.random.Generator) -> NDArray[np.float64]:
    """2 x 3 matrix from crop pixels to source pixels."""
    sample = place.sample
    low, high = (end * sample.scale for end in SCALES[sample.source])
    scale = np.exp(random.uniform(np.log(low), np.log(high)))
    angle = random.integers(4) * np.pi / 2 + (random.uniform(-np.pi / 4, np.pi / 4) if random.random() < 0.5 else 0)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / scale
    if random.random() < 0.5:
        turn[:, 0] *= -1
    half = size / scale / 2
    centre = np.array(
        [
            _within(length, half, at, random)
            for length, at in zip(sample.image.shape[1::-1], place.at_xy or (None, None), strict=True)
        ]
    )
    return np.column_stack([turn, centre - turn @ np.array([size / 2, size / 2])])


def _within(length: int, half: float, at: int | None, random: np.random.Generator) -> float:
    low, high = min(half, length / 2), max(length - half, length / 2)
    if at is None:
        return float(random.uniform(low, high))
    return float(np.clip(at + random.uniform(-half / 2, half / 2), low, high))


def warped(
    image: NDArray[np.generic], matrix: NDArray[np.float64], size: int, flags: int, kind: type = np.uint8
) -> NDArray[np.generic]:
    """A crop; only the part of the image that it needs is blurred and copied.

    Args:
        image: (rows, columns, ...).
        matrix: 2 x 3, from crop pixels to those of the image.
        size: side of the crop in pixels.
        flags: OpenCV's interpolation; linear ones blur first where the crop is coarser than the image.
        kind: type of the crop's pixels.
    """
    shrink = float(np.sqrt(abs(np.linalg.det(matrix[:, :2]))))
    corners = matrix @ np.array([[0, size, 0, size], [0, 0, size, size], [1, 1, 1, 1]])
    more = 3 + 2 * shrink
    left, top = np.maximum(corners.min(1) - more, 0).astype(int)
    right, bottom = (corners.max(1) + more).astype(int)
    part = np.ascontiguousarray(image[top : bottom + 1, left : right + 1], kind)
    if flags & cv2.INTER_LINEAR and shrink > 1.3:
        part = cv2.GaussianBlur(part, (0, 0), shrink * 0.4)
    moved = matrix - np.array([[0, 0, left], [0, 0, top]])
    flags |= cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpAffine(part, moved, (size, size), flags=flags, borderMode=cv2.BORDER_REFLECT_101))


def _borrowed(image: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The image with another's mean and spread of colour (Reinhard et al. 2001), in CIELAB."""
    mine = cv2.cvtColor(image, cv2.COLOR_RGB2LAB).astype(np.float32)
    every = max(1, min(other.shape[:2]) // 100)
    theirs = cv2.cvtColor(np.ascontiguousarray(other[::every, ::every]), cv2.COLOR_RGB2LAB).astype(np.float32)
    spread = (theirs.std((0, 1)) + 1) / (mine.std((0, 1)) + 1)
    moved = (mine - mine.mean((0, 1))) * spread.clip(0.6, 1.6) + theirs.mean((0, 1))
    return np.asarray(cv2.cvtColor(moved.clip(0, 255).astype(np.uint8), cv2.COLOR_LAB2RGB))


def _recoloured(image: NDArray[np.uint8], random: np.random.Generator) -> NDArray[np.uint8]:
    """Light, contrast, gamma, colour cast, saturation; haze, blur, noise and JPEG now and then."""
    power = np.exp(random.uniform(-0.45, 0.45))
    values = ((np.arange(256, dtype=np.float32) / 255) ** np.float32(power))[image]
    mean = values.mean()
    values = (values - mean) * np.float32(np.exp(random.uniform(-0.4, 0.4))) + mean * np.float32(
        np.exp(random.uniform(-0.3, 0.3))
    )
    values *= np.exp(random.uniform(-0.15, 0.15, 3)).astype(np.float32)
    gray = values.mean(2, keepdims=True)
    values = gray + (values - gray) * np.float32(0.0 if random.random() < 0.03 else np.exp(random.uniform(-0.7, 0.5)))
    if random.random() < 0.1:
        haze = 0.3 * np.array([0.6, 0.65, 0.75]) * random.uniform(0.5, 1.2)
        values = values * np.float32(0.7) + haze.astype(np.float32)
    if random.random() < 0.2:
        values = cv2.GaussianBlur(values, (0, 0), random.uniform(0.4, 1.4))
    if random.random() < 0.2:
        values = values + random.standard_normal(values.shape, np.float32) * np.float32(random.uniform(0.005, 0.03))
    out = (values.clip(0, 1) * 255).astype(np.uint8)
    if random.random() < 0.2:
        _, packed = cv2.imencode(".jpg", out, [cv2.IMWRITE_JPEG_QUALITY, int(random.integers(40, 90))])
        out = np.asarray(cv2.imdecode(packed, cv2.IMREAD_COLOR), np.uint8)
    return out
