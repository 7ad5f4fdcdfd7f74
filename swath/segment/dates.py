"""Two dates of one place: every class before and after, as classes of their own on one grid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any

import numpy as np

from swath.errors import InputError, Refused
from swath.raster.placing import place
from swath.raster.reader import Raster, open_raster
from swath.raster.tiled import PixelSet
from swath.segment.align import onto_image
from swath.segment.labels import LabelsBackend
from swath.segment.protocol import Backend, Segmentation, SegmentOptions
from swath.segment.registry import open_backend
from swath.segment.vector_file import is_vector, sha256_of

DATES = ("before", "after")


@dataclass(frozen=True)
class TwoDates:
    """A source whose classes are those of two others, "water before" and "water after".

    Attributes:
        sources: the source of each date; masks lie on the image's grid.
    """

    sources: dict[str, Backend]
    name: str = "two dates"

    def classes(self) -> tuple[str, ...]:
        """Every class of each date, such as "water before"; only what both dates know can be compared."""
        return tuple(f"{name} {date}" for date in DATES for name in self.sources[date].classes())

    def known(self) -> PixelSet | None:
        """(rows, columns) bool: where both dates say something."""
        known = [found for found in (self.sources[date].known() for date in DATES) if found is not None]
        return reduce(and_, known) if known else None

    def segment(self, class_name: str) -> Segmentation:
        """The pixels of a class at a date.

        Raises:
            Refused: the class or the date is not one of `classes()`.
        """
        name, _, date = class_name.rpartition(" ")
        if date not in self.sources or name not in self.sources[date].classes():
            raise Refused(f'"{class_name}" is not one of {", ".join(self.classes())}.')
        found = self.sources[date].segment(name)
        return replace(found, method=f"{date}: {found.method}")

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: the description of both sources."""
        return {"name": self.name, **{date: self.sources[date].describe() for date in DATES}}


@dataclass(frozen=True)
class _OnImage:
    """A source of another raster, its masks brought onto the image's grid by nearest neighbour."""

    source: Backend
    own: Raster
    image: Raster

    @property
    def name(self) -> str:
        return self.source.name

    def classes(self) -> tuple[str, ...]:
        return self.source.classes()

    def known(self) -> PixelSet | None:
        own = self.source.known()
        valid = self.own.valid() if own is None else self.own.valid() & own
        return self._moved(valid)

    def segment(self, class_name: str) -> Segmentation:
        found = self.source.segment(class_name)
        mask = self._moved(found.mask)
        if found.score is None or found.thresholds is None:
            return replace(found, mask=mask, score=None, thresholds=None, instance_ids=None, features=None)
        strict, used, lax = (self._moved(found.score >= threshold) for threshold in found.thresholds)
        nested = np.asarray(strict).astype(np.float32) + used + lax
        return replace(found, mask=used, score=nested, thresholds=(3.0, 2.0, 1.0), instance_ids=None, features=None)

    def _moved(self, pixels: PixelSet) -> PixelSet:
        placement = place(self.own.grid, self.image.grid, self.own.path.name, self.image.path.name)
        if placement.same_grid:
            return pixels
        moved = onto_image(np.asarray(pixels).astype(np.uint8), self.own.grid, self.image.grid, self.own.path.name)
        return np.asarray(moved == 1)

    def describe(self) -> dict[str, Any]:
        return {**self.source.describe(), "path": str(self.own.path), "sha256": sha256_of(self.own.path)}


def open_two_dates(
    before: Path | None, after: Path | None, name: str, raster: Raster, options: SegmentOptions
) -> TwoDates:
    """The source of classes for `--before` and `--after`.

    A vector file, a raster of one band, or any raster with a legend holds labels; a raster of several bands is an image
    for the segmenter.

    Args:
        before: labels or image of the first date.
        after: labels or image of the second date.
        name: the segmenter for images, or "auto".
        raster: the image, whose grid everything is brought onto.
        options: legend, thresholds.

    Raises:
        InputError: one of the two is missing, or cannot be used, or lies elsewhere.
    """
    if before is None or after is None:
        raise InputError("A comparison takes two dates: give both --before FILE and --after FILE.")
    given = {"before": before, "after": after}
    return TwoDates({date: _source(path, name, raster, options) for date, path in given.items()})


def _source(path: Path, name: str, raster: Raster, options: SegmentOptions) -> Backend:
    if is_vector(path) or options.legend is not None:
        return LabelsBackend(raster, replace(options, labels=path))
    own = open_raster(path, tiles=raster.tiles)
    if len(own.data_bands) == 1:
        return LabelsBackend(raster, replace(options, labels=path))
    roles = {band.role: band.index for band in raster.bands if band.role}
    own = open_raster(path, bands={role: index for role, index in roles.items() if index <= len(own.bands)} or None)
    return _OnImage(open_backend(name, own, options), own, raster)
