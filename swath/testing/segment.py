"""A segmentation backend of painted shapes: what it returns is known by construction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from swath.raster.reader import Raster
from swath.segment.burn import burn
from swath.segment.protocol import BoolImage, Feature, Segmentation, SegmentOptions, unknown_class

Painting = Sequence[BaseGeometry] | NDArray[Any]


class PaintedBackend:
    """Classes painted onto an image.

    A class is painted by outlines in pixel coordinates (its objects keep their identities), by a bool image (a plain
    mask), by an int image (instances, 0 = none) or by a float image (scores; the class is where they reach
    `threshold`).
    """

    name = "painted"

    def __init__(
        self,
        shape: tuple[int, int],
        paintings: Mapping[str, Painting],
        *,
        known: BoolImage | None = None,
        threshold: float = 0.5,
        doubt: float = 0.1,
        warnings: tuple[str, ...] = (),
    ) -> None:
        """Paint.

        Args:
            shape: (rows, columns) of the image.
            paintings: class name to what is painted.
            known: where the source says anything; None for everywhere.
            threshold: least score of a class painted by scores.
            doubt: how far the strict and the lax threshold lie from it.
            warnings: sentences that come with every class.
        """
        self._shape = shape
        self._paintings = dict(paintings)
        self._known = known
        self._thresholds = (threshold + doubt, threshold, threshold - doubt)
        self._warnings = warnings
        self.asked: list[str] = []

    def classes(self) -> tuple[str, ...]:
        """The painted classes."""
        return tuple(self._paintings)

    def known(self) -> BoolImage | None:
        """As it was given."""
        return self._known

    def segment(self, class_name: str) -> Segmentation:
        """What was painted; every call is noted in `asked`.

        Raises:
            Refused: nothing of that name was painted.
        """
        if class_name not in self._paintings:
            raise unknown_class(class_name, self)
        self.asked.append(class_name)
        painting = self._paintings[class_name]
        if isinstance(painting, np.ndarray):
            return self._from_image(painting)
        features = tuple(Feature(str(i), outline) for i, outline in enumerate(painting, start=1))
        areal = all(outline.geom_type.endswith("Polygon") for outline in painting)
        mask = burn(list(painting), self._shape, areal=areal)
        return Segmentation(mask, features=features, areal=areal, method="painted", warnings=self._warnings)

    def _from_image(self, image: NDArray[Any]) -> Segmentation:
        if image.dtype == bool:
            return Segmentation(image, method="painted", warnings=self._warnings)
        if image.dtype.kind in "iu":
            ids = image.astype(np.int32)
            return Segmentation(ids > 0, instance_ids=ids, method="painted", warnings=self._warnings)
        score = image.astype(np.float32)
        mask = score >= np.float32(self._thresholds[1])
        return Segmentation(mask, score, self._thresholds, method="painted", warnings=self._warnings)

    def describe(self) -> dict[str, Any]:
        """The classes."""
        return {"name": self.name, "classes": list(self._paintings)}


class PaintedFactory:
    """Builds a `PaintedBackend` as the factory of an entry point would, and notes what it was given."""

    def __init__(self, paintings: Mapping[str, Painting]) -> None:
        self._paintings = paintings
        self.given: list[tuple[Raster, SegmentOptions]] = []

    def __call__(self, raster: Raster, options: SegmentOptions) -> PaintedBackend:
        """A backend on the raster's shape."""
        self.given.append((raster, options))
        return PaintedBackend(raster.shape, self._paintings)


class PaintedVocabulary(PaintedBackend):
    """A backend with an open vocabulary: it finds the phrases that were painted, and nothing for any other."""

    name = "grounded"

    def __init__(self, shape: tuple[int, int], paintings: Mapping[str, Painting]) -> None:
        """Paint; `paintings` are phrases to what they name."""
        super().__init__(shape, paintings)
        self.phrases: list[str] = []

    def classes(self) -> tuple[str, ...]:
        """None: there is no list of what a phrase may name."""
        return ()

    def ground(self, phrase: str) -> Segmentation:
        """What was painted for a phrase, or no object; every call is noted in `phrases`."""
        self.phrases.append(phrase)
        if phrase not in self._paintings:
            return Segmentation(np.zeros(self._shape, dtype=bool), features=(), method="painted")
        return self.segment(phrase)
