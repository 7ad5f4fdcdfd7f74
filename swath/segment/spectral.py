"""Water and vegetation from normalised-difference indices, where the bands and the values themselves allow it.

NDWI = (green - nir) / (green + nir), McFeeters 1996; MNDWI = (green - swir1) / (green + swir1), Xu 2006;
NDVI = (nir - red) / (nir + red), Rouse et al. 1974. There is no built-up index: see design/spectral.md.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Any

import numpy as np

from swath.errors import InputError, Refused
from swath.raster.reader import Raster
from swath.raster.tiled import PixelSet
from swath.segment.indices import INDICES, Index, IndexImage, compute, defined, is_reflectance
from swath.segment.protocol import BoolImage, Segmentation, SegmentOptions, unknown_class
from swath.segment.thresholds import Decision, Unsplit, vegetation_threshold, water_threshold


class SpectralBackend:
    """Classes by index and threshold."""

    name = "spectral"

    def __init__(self, raster: Raster, options: SegmentOptions) -> None:
        """Choose an index for each class.

        Raises:
            InputError: a stated threshold names no index or is no number.
            Refused: no index can be computed from the bands that are known.
        """
        self._raster = raster
        self._stated = _stated(options)
        self._index_of = _choose(raster, self._stated)
        if not self._index_of:
            raise Refused(_no_index(raster))
        self._decisions: dict[str, Decision] = {}
        self._water: BoolImage | None = None

    def classes(self) -> tuple[str, ...]:
        """The classes whose bands are there: "water", "vegetation"."""
        return tuple(self._index_of)

    def known(self) -> PixelSet:
        """(rows, columns) bool: where at least one of the indices has a value."""
        return defined(self._raster, self._index_of.values())

    def segment(self, class_name: str) -> Segmentation:
        """The pixels of "water" or "vegetation".

        Raises:
            Refused: the class is not one of `classes()`, or no threshold can be told from the values.
        """
        if class_name not in self._index_of:
            raise unknown_class(class_name, self)
        image = compute(self._raster, self._index_of[class_name])
        decision = self._decide(class_name, image)
        self._decisions[class_name] = decision
        if class_name == "water":
            self._water = image.sample >= np.float32(decision.used)
        strict, lax = decision.strict, decision.lax
        return Segmentation(
            image.values >= np.float32(decision.used),
            score=image.values,
            thresholds=None if strict is None or lax is None else (strict, decision.used, lax),
            method=f"{image.index.formula(self._raster)}, {class_name} from {decision.used:.3f} on: {decision.how}",
            warnings=decision.warnings,
        )

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: indices with their bands, thresholds as stated and as used so far."""
        return {
            "name": self.name,
            "indices": {name: index.formula(self._raster) for name, index in self._index_of.items()},
            "stated_thresholds": self._stated,
            "thresholds": {name: asdict(decision) for name, decision in self._decisions.items()},
        }

    def _decide(self, class_name: str, image: IndexImage) -> Decision:
        index = image.index
        if index.name in self._stated:
            return Decision(self._stated[index.name], None, None, "stated")
        if is_reflectance(image):
            strict, used, lax = index.on_reflectance
            return Decision(
                used, strict, lax, "the usual threshold for reflectances, which the values are by their type and range"
            )
        decision = (
            water_threshold(image) if class_name == "water" else vegetation_threshold(image, self._water_sample())
        )
        if isinstance(decision, Unsplit):
            raise Refused(
                f"{class_name.capitalize()} cannot be told from {self._raster.path.name}: {decision.why}. "
                f"Next: state a threshold with --threshold {index.name}=VALUE, or give --labels FILE."
            )
        return decision

    def _water_sample(self) -> BoolImage | None:
        """Where the sample is water, None where that cannot be told."""
        if self._water is None and "water" in self._index_of:
            with suppress(Refused):
                self.segment("water")
        return self._water


def _stated(options: SegmentOptions) -> dict[str, float]:
    known = {index.name for index in INDICES}
    stated = {}
    for name, value in options.thresholds.items():
        if name.upper() not in known:
            raise InputError(
                f'A threshold for "{name}" was given, which is no index. Next: use one of {", ".join(sorted(known))}.'
            )
        if not -1 <= value <= 1:
            raise InputError(f"The threshold {name}={value} can never be reached. Next: give a number from -1 to 1.")
        stated[name.upper()] = float(value)
    return stated


def _choose(raster: Raster, stated: dict[str, float]) -> dict[str, Index]:
    """The index of each class: the one that a person gave a threshold for, else the first whose bands are known."""
    for index in INDICES:
        if index.name in stated:
            for role in index.roles(raster):
                raster.band(role)
    chosen: dict[str, Index] = {}
    for index in sorted(INDICES, key=lambda index: index.name not in stated):
        if raster.has(*index.roles(raster)):
            chosen.setdefault(index.class_name, index)
    return {name: chosen[name] for name in ("water", "vegetation") if name in chosen}


def _no_index(raster: Raster) -> str:
    known = ", ".join(f"{band.role}={band.index}" for band in raster.bands if band.role) or "none"
    return (
        f"Classes cannot be told from the bands of {raster.path.name} (known: {known}): water needs green and nir or "
        "swir1, vegetation red and nir. Next: name such bands with --bands nir=N, or give --labels FILE."
    )
