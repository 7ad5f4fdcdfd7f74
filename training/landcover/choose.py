"""What a card states beside the weights, chosen on validation groups and training images, never on a test group."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swath.raster.reader import open_raster
from swath.segment.networks.card import Roofs
from swath.segment.networks.objects import number_of
from swath.segment.networks.onnx import OnnxBackend
from swath.segment.networks.view import features_of
from swath.segment.protocol import SegmentOptions
from swath.segment.tiling import ByteImage
from training.landcover.sources import BIT, CLASSES, Sample

SEEDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SMALLEST_PX = (12, 40, 100)
ALONE_PX = (0, 100, 200, 400, 800)
SMOOTH_PX = (0.0, 1.5, 3.0, 4.0)
DOUBTS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)
OFFSET_STEPS, OFFSET_COST, OFFSET_PIXELS = (0.5, 0.25, 0.1), 0.001, 40_000
NOMINAL = 0.9
SMALLEST_SHARE = 0.01
COUNT_SLACK, LEAST_SLACK = 0.19, 1.0
"""The range within which people agree on counts, by the SQuID benchmark."""
RESAMPLED = 1000


@dataclass(frozen=True)
class Seen:
    """One image through the network, by the code that users run.

    Attributes:
        sample: the image and its labels.
        scores: (classes, rows, columns) float16, a class wins from 0.5 on.
        channels: all that the network says.
        roofs: ids of buildings.
    """

    sample: Sample
    scores: NDArray[np.float16]
    channels: ByteImage
    roofs: NDArray[np.int32] | None

    @property
    def classes(self) -> NDArray[np.intp]:
        """(rows, columns) index of the class that wins."""
        return self.scores.argmax(0)


def seen(card: Path, sample: Sample) -> Seen:
    """Run a card's network on a sample."""
    backend = OnnxBackend(open_raster(sample.path), SegmentOptions(card=card))
    if backend.channels.shape[1:] != sample.allowed.shape:
        raise ValueError(f"{sample.name} is shown at another size than its labels")
    shares = backend.channels[: len(CLASSES)].astype(np.float32)
    second, first = np.partition(shares, -2, axis=0)[-2:]
    rival = np.where(shares == first, second, first)
    scores = (shares / np.maximum(shares + rival, 1)).astype(np.float16)
    roofs = backend.segment("building").instance_ids if sample.footprints else None
    return Seen(sample, scores, backend.channels, roofs)


def within_range(found: float, truth: float) -> bool:
    """Whether a count is one that people would agree on."""
    return abs(found - truth) <= max(COUNT_SLACK * truth, LEAST_SLACK)


def count_rule(images: Iterable[Seen]) -> tuple[Roofs, float]:
    """The rule of objects with the least mean relative error of the count, and that error.

    Args:
        images: that tell their buildings apart, of training and validation: eight chips alone choose a rule for
            themselves.
    """
    images = list(images)
    best: tuple[float, Roofs] | None = None
    for seed, smallest, alone, smooth in product(SEEDS, SMALLEST_PX, ALONE_PX, SMOOTH_PX):
        rule = Roofs("building", len(CLASSES), len(CLASSES) + 1, seed, smallest, alone, smooth)
        errors = [abs(_count(image, rule) - _truth(image)) / max(_truth(image), 1) for image in images]
        if best is None or np.mean(errors) < best[0]:
            best = float(np.mean(errors)), rule
    if best is None:
        raise ValueError("no images to choose by")
    return best[1], best[0]


def class_offsets(images: Iterable[Seen]) -> NDArray[np.float64]:
    """What to add to the logits of the classes, land's staying as it is.

    Training shows rare classes more often than they are, and its groups hold more water than most; without offsets they
    are found too often. Sought by coordinate ascent from 0 for the mean of what training chooses weights by (mean IoU
    of the classes in Dubai, IoU of buildings in Nepal), less a cost of their squares, so that small gains move nothing.

    Args:
        images: of validation groups, seen without offsets.
    """
    cells = [_logs(image) for image in images]
    best = np.zeros(len(CLASSES))
    value = _agreement(cells, best)
    for step in OFFSET_STEPS:
        moved = True
        while moved:
            moved = False
            for i, sign in product([CLASSES.index(name) for name in CLASSES if name != "land"], (-1, 1)):
                tried = best + sign * step * (np.arange(len(CLASSES)) == i)
                found = _agreement(cells, tried)
                if found > value + 1e-5:
                    best, value, moved = tried, found, True
    return best.round(3)


def _logs(image: Seen) -> tuple[str, NDArray[np.float32], NDArray[np.uint8]]:
    """Source, logarithms of the classes' shares and labels of some known pixels of an image."""
    allowed = image.sample.allowed.ravel()
    known = np.flatnonzero(allowed)
    drawn = np.random.default_rng(0).choice(known, min(OFFSET_PIXELS, len(known)), replace=False)
    shares = image.channels[: len(CLASSES)].reshape(len(CLASSES), -1)[:, drawn].astype(np.float32)
    return image.sample.source, np.log(shares + np.float32(0.5)), allowed[drawn]


def _agreement(cells: list[tuple[str, NDArray[np.float32], NDArray[np.uint8]]], offsets: NDArray[np.float64]) -> float:
    """Mean over sources of the mean IoU of their classes, less the cost of the offsets."""
    both: dict[tuple[str, str], int] = {}
    either: dict[tuple[str, str], int] = {}
    for source, logs, allowed in cells:
        found = (logs + offsets[:, None].astype(np.float32)).argmax(0)
        for i, name in enumerate(CLASSES if source == "dubai" else ("building",)):
            mine, true = found == i, allowed == BIT[name]
            both[source, name] = both.get((source, name), 0) + int((mine & true).sum())
            either[source, name] = either.get((source, name), 0) + int((mine | true).sum())
    sources = {source for source, _ in both}
    ious = [np.mean([both[key] / max(either[key], 1) for key in both if key[0] == source]) for source in sources]
    return float(np.mean(ious) - OFFSET_COST * (offsets**2).sum())


def doubt(images: Iterable[Seen]) -> tuple[float, dict[str, float]]:
    """How far the thresholds have to lie from 0.5 for areas to hold the truth in 90 % of cases, and the coverage.

    A case is one class on one image where truth or answer is over 1 % of it; the coverage has the 5 to 95 % range of a
    bootstrap over images. Where even the widest thresholds do not reach 90 %, they are taken.
    """
    cases = [_cases(image) for image in images]
    for away in DOUBTS:
        held = [[_holds(scores, truth, away) for scores, truth in mine] for mine in cases]
        share = float(np.mean([hit for mine in held for hit in mine]))
        if share >= NOMINAL:
            break
    random = np.random.default_rng(0)
    drawn = [[held[i] for i in random.integers(0, len(held), len(held))] for _ in range(RESAMPLED)]
    shares = [np.mean([hit for mine in draw for hit in mine]) for draw in drawn]
    low, high = np.percentile(shares, [5, 95])
    n = sum(map(len, held))
    return away, {"coverage": share, "n": n, "low": float(low), "high": float(high), "nominal": NOMINAL}


def domain(samples: Iterable[Sample], side: int = 256) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Mean and inverse covariance of the features of windows of training images, and the distance 99 % stay below."""
    windows = [
        sample.image[top : top + side, left : left + side]
        for sample in samples
        for top in range(0, max(sample.image.shape[0] - side, 0) + 1, side)
        for left in range(0, max(sample.image.shape[1] - side, 0) + 1, side)
    ]
    features = np.array([features_of(window) for window in windows])
    mean = features.mean(0)
    inverse = np.linalg.inv(np.cov(features.T) + 1e-6 * np.eye(len(mean)))
    away = features - mean
    distances = np.sqrt(np.einsum("ij,jk,ik->i", away, inverse, away))
    return mean, inverse, float(np.percentile(distances, 99))


def _truth(image: Seen) -> int:
    if image.sample.footprints is None:
        raise ValueError(f"{image.sample.name} does not tell its buildings apart")
    return image.sample.footprints


def _count(image: Seen, rule: Roofs) -> int:
    mask = image.scores[0] >= 0.5
    return number_of(mask, image.channels[rule.centre], image.channels[rule.border], rule)


def _holds(scores: NDArray[np.float16], truth: float, away: float) -> bool:
    return float((scores >= 0.5 + away).mean()) <= truth <= float((scores >= 0.5 - away).mean())


def _cases(image: Seen) -> list[tuple[NDArray[np.float16], float]]:
    """Scores of the known pixels and the true share of every class that matters on an image."""
    allowed, known = image.sample.allowed, image.sample.allowed > 0
    cases = []
    for name in CLASSES if image.sample.source == "dubai" else ("building",):
        scores = image.scores[CLASSES.index(name)][known]
        truth = float((allowed[known] == BIT[name]).mean())
        if max(truth, float((scores >= 0.5).mean())) > SMALLEST_SHARE:
            cases.append((scores, truth))
    return cases
