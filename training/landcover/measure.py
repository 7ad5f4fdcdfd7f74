"""The numbers of a card, on test groups: by the code that users run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from training.landcover.baselines import Classify, colour_rules, forest, majority
from training.landcover.choose import Seen, within_range
from training.landcover.sources import BIT, CLASSES, NATURAL_WATER, Sample

FALSE_SHARE = 0.01
EVERY_PX = 8
"""Baselines are asked about one pixel of 64: thirty million would take the forest an hour."""
BINS = 10
Labelled = tuple[Sample, NDArray[np.intp]]


def table(images: Iterable[Labelled]) -> NDArray[np.int64]:
    """(classes, classes) pixels: rows what the labels say, columns what was found; of pixels of one known class."""
    counts = np.zeros((len(CLASSES), len(CLASSES)), np.int64)
    for sample, found in images:
        for i, name in enumerate(CLASSES):
            counts[i] += np.bincount(found[sample.allowed == BIT[name]], minlength=len(CLASSES))
    return counts


def class_ious(counts: NDArray[np.int64]) -> dict[str, float]:
    """IoU of every class and their mean."""
    both = np.diag(counts)
    ious = both / np.maximum(counts.sum(0) + counts.sum(1) - both, 1)
    return {**{name: float(iou) for name, iou in zip(CLASSES, ious, strict=True)}, "mean": float(ious.mean())}


def buildings(images: Iterable[Labelled]) -> dict[str, float]:
    """IoU, precision and recall of buildings, and the median error of their area, where only they are labelled."""
    both = mine = theirs = 0
    errors = []
    for sample, classes in images:
        found, true = classes == 0, sample.allowed == BIT["building"]
        both, mine, theirs = both + int((found & true).sum()), mine + int(found.sum()), theirs + int(true.sum())
        errors.append(abs(int(found.sum()) - int(true.sum())) / max(int(true.sum()), 1))
    return {
        "iou": both / max(mine + theirs - both, 1),
        "precision": both / max(mine, 1),
        "recall": both / max(theirs, 1),
        "median_area_error": float(np.median(errors)),
        "chips": len(errors),
    }


def counts(images: Iterable[Seen]) -> dict[str, Any]:
    """Counts of buildings against footprints, by objects and by connected components."""
    import cv2

    rows = []
    for image in images:
        mask = (image.scores[0] >= 0.5).astype(np.uint8)
        parts = cv2.connectedComponents(mask, connectivity=8)[0] - 1
        rows.append((image.sample.footprints or 0, 0 if image.roofs is None else int(image.roofs.max()), parts))
    truth, found, parts = (np.array(column, float) for column in zip(*rows, strict=True))
    return {
        "truth": [int(value) for value in truth],
        "found": [int(value) for value in found],
        "mean_error": float(np.mean(np.abs(found - truth) / np.maximum(truth, 1))),
        "bias": float(found.sum() / max(truth.sum(), 1) - 1),
        "within_range": float(np.mean([within_range(a, b) for a, b in zip(found, truth, strict=True)])),
        "components_within_range": float(np.mean([within_range(a, b) for a, b in zip(parts, truth, strict=True)])),
        "chips": len(rows),
    }


def false_alarms(images: Iterable[Seen]) -> dict[str, dict[str, float]]:
    """By source: share of chips without a class on which it is found on more than 1 %."""
    absent = {"naip": ("water",), "neon": ("water", "road", "building"), "hot": ("water",)}
    found: dict[str, dict[str, list[bool]]] = {}
    for image in images:
        source = image.sample.source
        if image.sample.name in NATURAL_WATER:
            continue
        for name in absent.get(source, ()):
            share = float((image.classes == CLASSES.index(name)).mean())
            found.setdefault(source, {}).setdefault(name, []).append(share > FALSE_SHARE)
    return {
        source: {**{name: float(np.mean(hits)) for name, hits in by_class.items()}, "chips": len(by_class["water"])}
        for source, by_class in found.items()
    }


def vegetation(images: Iterable[Labelled]) -> float:
    """IoU of vegetation against weak masks."""
    both = either = 0
    index = CLASSES.index("vegetation")
    for sample, classes in images:
        known, true = sample.allowed > 0, sample.allowed == BIT["vegetation"]
        found = (classes == index) & known
        both, either = both + int((found & true).sum()), either + int((found | true).sum())
    return both / max(either, 1)


def calibration(images: Iterable[Seen]) -> dict[str, Any]:
    """Share of right pixels by the score of the class that wins, in ten bins, and the mean gap between the two."""
    right, sure, pixels = np.zeros(BINS), np.zeros(BINS), np.zeros(BINS)
    for image in images:
        known = image.sample.allowed > 0
        chosen = image.scores.argmax(0)[known]
        score = image.scores.max(0)[known].astype(np.float64)
        hit = (image.sample.allowed[known] >> chosen) & 1
        place = np.minimum((score * BINS).astype(int), BINS - 1)
        for total, values in ((right, hit), (sure, score), (pixels, np.ones_like(score))):
            total += np.bincount(place, values, minlength=BINS)
    some = pixels > 0
    gap = float(np.abs(right - sure)[some].sum() / pixels.sum())
    rows = [[round(float(sure[i] / pixels[i]), 3), round(float(right[i] / pixels[i]), 3)] for i in np.flatnonzero(some)]
    return {"expected_error": gap, "score_and_share_right": rows}


def baselines(train: list[Sample], dubai: list[Sample], hot: list[Sample]) -> dict[str, dict[str, float]]:
    """IoU by class on the Dubai test group and of buildings on the Nepal one, of three simpler ways."""
    ways: dict[str, Classify] = {
        "majority": majority(train),
        "colour rules": colour_rules,
        "random forest": forest(train),
    }
    found = {}
    for name, way in ways.items():
        ious = class_ious(table(_thinned(way, sample) for sample in dubai))
        found[name] = {**ious, "building in Nepal": buildings(_thinned(way, sample) for sample in hot)["iou"]}
    return found


def _thinned(way: Classify, sample: Sample) -> Labelled:
    thin = replace(sample, allowed=sample.allowed[::EVERY_PX, ::EVERY_PX])
    return thin, way(sample.image, EVERY_PX)
