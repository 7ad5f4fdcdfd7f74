"""What the tools of one run share: the image, its valid pixels, the source of classes, distances computed so far."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.raster.ground import Ground
from swath.raster.heights import Heights
from swath.raster.reader import Raster
from swath.raster.tiled import PixelSet
from swath.segment.error_matrix import ErrorMatrix
from swath.segment.protocol import Backend, OpenVocabulary, Segmentation
from swath.tools.clip import Clip
from swath.tools.distances import Distances, distances_to
from swath.tools.handles import Mask, Regions
from swath.tools.kernels import pixel_ground

SAMPLE = "reference sample"
"""The doubt of an area that an error matrix corrects."""
KEPT_DISTANCES = 4
"""Targets whose distances are kept at once: 4 bytes a pixel each; a program seldom measures to more than two."""


def nobody() -> OpenVocabulary | None:
    """No source that finds free phrases."""
    return None


@dataclass(frozen=True)
class Nudge:
    """One doubt, moved to one of its ends, for the interval of an answer; all zero is the measurement itself.

    Attributes:
        boundary: -1 shrinks, +1 grows the outline of masks made of `classes` by half a pixel.
        classes: the classes whose outline moves.
        proximity_px: -1 or +1 pixel on every distance.
        outline: -1 takes outlines as short, +1 as long as the true ones may be.
        threshold: -1 takes the strict, +1 the lax threshold of every segmenter that gives scores.
        height: -1 takes heights as low, +1 as high as they may be.
        sample: -1 takes the lower, +1 the upper end of what an error matrix corrects.
    """

    boundary: int = 0
    classes: frozenset[str] = frozenset()
    proximity_px: int = 0
    outline: int = 0
    threshold: int = 0
    height: int = 0
    sample: int = 0


@dataclass(frozen=True)
class Site:
    """The ground that a program measures.

    Attributes:
        raster: the image.
        backend: the source of classes.
        valid: (rows, columns) bool: valid pixels inside the area of interest, where the source says anything.
        nudge: the doubt under which this run measures.
        clip: the area of interest that `valid` was clipped to, None without one.
        heights: the rasters of heights that were given with the image, None without one.
        errors: what reference samples say of the map; areas and shares of classes are corrected by it, None without.
        vocabulary: opens the source that finds free phrases, None where there is none; called when a phrase needs it.
        warnings: sentences that tools add for people, each once.
        doubts: names of the doubts that touched a measurement: "boundary", "proximity", "outline", "segmentation",
            "vertical accuracy", "sampling", "reference sample".
        measured_classes: the sets of classes whose outlines were measured.
        used_classes: names of the classes that were segmented for this question.
    """

    raster: Raster
    backend: Backend
    valid: PixelSet
    nudge: Nudge = Nudge()
    clip: Clip | None = None
    heights: Heights | None = None
    errors: ErrorMatrix | None = None
    vocabulary: Callable[[], OpenVocabulary | None] = nobody
    warnings: dict[str, None] = field(default_factory=dict)
    doubts: set[str] = field(default_factory=set)
    measured_classes: set[frozenset[str]] = field(default_factory=set)
    used_classes: dict[str, None] = field(default_factory=dict)
    _segmentations: dict[str, Segmentation] = field(default_factory=dict)
    _masks: dict[tuple[str, int], Mask] = field(default_factory=dict)
    _derived: dict[tuple[Hashable, ...], tuple[Any, Mask]] = field(default_factory=dict)
    _distances: dict[int, tuple[Mask, Distances]] = field(default_factory=dict)

    def nudged(self, nudge: Nudge) -> Site:
        """The same site under a doubt: computed masks and distances are shared, warnings are not."""
        return replace(self, nudge=nudge, warnings={}, doubts=set(), measured_classes=set(), used_classes={})

    def again(self) -> Site:
        """The same site for another question: what was segmented is shared, what was found out is not."""
        return replace(self.nudged(Nudge()), _derived={})

    @property
    def segmentations(self) -> Mapping[str, Segmentation]:
        """What was segmented for this question, by class."""
        return {name: self._segmentations[name] for name in self.used_classes}

    def warn(self, sentence: str) -> None:
        """Add a sentence that a careful reader of the answer should know."""
        self.warnings[sentence] = None

    def grounded(self, phrase: str) -> Mask | None:
        """The mask of what a free phrase names, computed once; None where nothing finds free phrases.

        Raises:
            Refused: the source of free phrases cannot look for it.
        """
        if phrase not in self._segmentations:
            source = self.vocabulary()
            if source is None:
                return None
            self._segmentations[phrase] = source.ground(phrase)
        return self.class_mask(phrase)

    def segmented(self, class_name: str) -> Segmentation:
        """The pixels of a class, computed once."""
        if class_name not in self._segmentations:
            self._segmentations[class_name] = self.backend.segment(class_name)
        self.used_classes[class_name] = None
        found = self._segmentations[class_name]
        for sentence in found.warnings:
            self.warn(sentence)
        # Samples were held against the map as it is: they tell of its errors whatever the threshold could have been.
        if found.score is not None and found.thresholds is not None and self.errors is None:
            self.doubts.add("segmentation")
        return found

    def class_mask(self, class_name: str) -> Mask:
        """The mask of a class under the present doubt; the same object each time."""
        found = self.segmented(class_name)
        key = (class_name, self.nudge.threshold)
        if key not in self._masks:
            pixels: PixelSet = found.mask
            if self.nudge.threshold and found.score is not None and found.thresholds is not None:
                pixels = found.score >= found.thresholds[0 if self.nudge.threshold < 0 else 2]
            self._masks[key] = Mask(
                self.valid & pixels,  # in this order a set in tiles takes an array
                self.valid,
                self.raster.grid,
                class_name,
                frozenset([class_name]),
                found.instance_ids,
                found.features,
                found.areal,
            )
        return self._masks[key]

    def distances(self, target: Mask) -> Distances:
        """Ground distances of pixels and objects to a mask; computed once while it stays among the last few.

        In pixels where no ground size is known, which suffices for ranking; who states metres requires the ground.
        """
        key = id(target)
        if key not in self._distances:
            while len(self._distances) >= KEPT_DISTANCES:
                self._distances.pop(next(iter(self._distances)))
            self._distances[key] = target, distances_to(target.pixels, self.ground_or_pixels)
        return self._distances[key][1]

    def derived(self, operation: str, parents: tuple[Any, ...], build: Callable[[], Mask]) -> Mask:
        """A mask made from others, computed once; it keeps its parents alive, so that their ids stay theirs."""
        key = (operation, *map(id, parents))
        if key not in self._derived:
            self._derived[key] = parents, build()
        return self._derived[key][1]

    def mask_of(self, thing: Mask | Regions) -> Mask:
        """A mask as it is, regions as the mask of all their pixels, computed once."""
        if isinstance(thing, Mask):
            return thing
        key = ("mask_of", *map(id, thing.sources), thing.which.tobytes(), thing.indices.tobytes())
        if key not in self._derived:
            self._derived[key] = thing.sources, thing.mask
        return self._derived[key][1]

    @property
    def ground_or_pixels(self) -> Ground:
        """The ground; where its size is not known, one on which a pixel is 1 by 1, for what only compares."""
        return self.raster.grid.ground or pixel_ground(self.raster.grid.shape)

    @property
    def half_pixel_m(self) -> float:
        """Half of a pixel's mean ground size in metres."""
        x, y = self.raster.grid.require_ground().size_xy_m
        return (x + y) / 4

    def boundary_shift(self, classes: frozenset[str]) -> int:
        """-1, 0 or +1: where the outline of things made of these classes goes under the present doubt."""
        self.doubts.add("boundary")
        self.measured_classes.add(classes)
        return self.nudge.boundary if classes == self.nudge.classes else 0

    def doubted_distance_m(self, distance_m: float) -> float:
        """A distance limit under the present doubt."""
        self.doubts.add("proximity")
        if not self.nudge.proximity_px:
            return distance_m
        return distance_m + self.nudge.proximity_px * max(self.ground_or_pixels.size_xy_m)


def doubted_area_m2(site: Site, of: Mask | Regions) -> float:
    """Ground area in m2 of a mask or of regions, under the present doubt; ground where outlines overlap counts once.

    Raises:
        Refused: lines or points, which have no area, or no known ground size.
    """
    if isinstance(of, Regions):
        return max(float(doubted_areas_m2(site, of).sum()) - of.shared_area_m2, 0.0)
    require_area(of)
    shift = site.boundary_shift(of.classes)
    return max(of.area_m2 + shift * site.half_pixel_m * of.outline_m, 0.0) if shift else of.area_m2


def doubted_areas_m2(site: Site, regions: Regions) -> NDArray[np.float64]:
    """(n,) ground areas in m2, under the present doubt.

    Raises:
        Refused: lines or points, which have no area, or no known ground size.
    """
    require_area(regions)
    shift = site.boundary_shift(regions.classes)
    areas = np.asarray(regions.column("areas_m2"), dtype=float)
    if shift:
        areas = np.maximum(areas + shift * site.half_pixel_m * regions.column("outlines_m"), 0.0)
    return areas


def require_area(of: Mask | Regions) -> None:
    """Refuse to take the area of what has none.

    Raises:
        Refused: lines or points.
    """
    if not of.areal:
        raise Refused(
            f"The area of {of.name} cannot be measured: its source draws lines or points. "
            "Next: give outlines (polygons) or a class raster, or ask for a count or a distance."
        )
