"""What a network has to beat: the commonest class, rules of colour, a random forest on colour and texture."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from training.landcover.sources import BIT, CLASSES, Sample

Classify = Callable[[NDArray[np.uint8], int], NDArray[np.intp]]
"""An image to the class index of every n-th pixel along both axes."""
PIXELS_PER_IMAGE = 1500
TREES, LEAF = 40, 20


def majority(samples: list[Sample]) -> Classify:
    """Everything is what most training pixels are."""
    counts = [sum(int((sample.allowed == BIT[name]).sum()) for sample in samples) for name in CLASSES]
    commonest = int(np.argmax(counts))
    return lambda image, every: np.full(image[::every, ::every].shape[:2], commonest, np.intp)


def colour_rules(image: NDArray[np.uint8], every: int) -> NDArray[np.intp]:
    """Green is vegetation, dark or blue water, gray of middling light road, bright gray building, the rest land."""
    image = image[::every, ::every]
    red, green, blue = (image[..., i].astype(np.int16) for i in range(3))
    light, spread = image.max(2).astype(np.int16), image.max(2).astype(np.int16) - image.min(2)
    chosen = [
        (green > red + 6) & (green >= blue),
        (blue > red + 15) | (light < 60),
        (spread < 18) & (light < 150),
        (spread < 25) & (light >= 175),
    ]
    names = ("vegetation", "water", "road", "building")
    return np.select(chosen, [CLASSES.index(name) for name in names], CLASSES.index("land")).astype(np.intp)


def forest(samples: list[Sample], seed: int = 0) -> Classify:
    """A random forest on `texture_features` of pixels of one known class."""
    from sklearn.ensemble import RandomForestClassifier

    random = np.random.default_rng(seed)
    features, labels = [], []
    for sample in samples:
        known = np.flatnonzero(np.isin(sample.allowed, list(BIT.values())))
        drawn = random.choice(known, min(PIXELS_PER_IMAGE, len(known)), replace=False) if len(known) else known
        features.append(texture_features(sample.image).reshape(-1, 9)[drawn])
        labels.append(np.log2(sample.allowed.ravel()[drawn]).astype(int))
    trees = RandomForestClassifier(TREES, min_samples_leaf=LEAF, class_weight="balanced", n_jobs=2, random_state=seed)
    trees.fit(np.concatenate(features), np.concatenate(labels))

    def classify(image: NDArray[np.uint8], every: int) -> NDArray[np.intp]:
        features = texture_features(image)[::every, ::every]
        found: NDArray[np.intp] = trees.predict(features.reshape(-1, 9)).reshape(features.shape[:2])
        return found

    return classify


def texture_features(image: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(rows, columns, 9): colour, mean colour around, spread and edges of the lightness at two scales."""
    colour = image.astype(np.float32)
    light = colour.mean(2)
    around = cv2.blur(colour, (9, 9))
    spread = cv2.blur(light**2, (9, 9)) - cv2.blur(light, (9, 9)) ** 2
    edges = cv2.blur(np.abs(cv2.Laplacian(light, cv2.CV_32F)), (5, 5))
    wide = cv2.blur(np.abs(cv2.Laplacian(cv2.blur(light, (5, 5)), cv2.CV_32F)), (21, 21))
    return np.dstack([colour, around, spread, edges, wide]).astype(np.float32)
