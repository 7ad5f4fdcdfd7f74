"""Rasters of heights on the image's grid: in metres, gaps as NaN, one vertical datum.

A surface keeps its own grid for what is derived from neighbouring cells (slope, ruggedness); only results are brought
onto the image's grid. See design/heights.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from swath.errors import InputError, Refused
from swath.raster.fields import Field, TiledField
from swath.raster.height_raster import HIGHEST_M, WORDS, HeightRaster, Surface, open_height_raster
from swath.raster.parallel import threaded
from swath.raster.reader import Raster
from swath.raster.tiled import everywhere
from swath.raster.vertical import check_unit

NOISE_M = 0.5
"""A first surface may lie this far below bare earth by noise, where no accuracy is stated."""

TALLEST_M = 100.0
"""Ground cover that is everywhere higher than this is none: units or datums differ."""

WIDEST_M = 1000
"""Heights above ground beyond this are counted as this."""

STATE_HEIGHTS = "give --ndsm FILE, or --dsm FILE and --dtm FILE"
STATE_TERRAIN = "give --dem FILE or --dtm FILE (or --dsm FILE for the first surface, roofs and trees included)"


@dataclass(frozen=True)
class AboveGround:
    """Heights above ground.

    Attributes:
        heights: (rows, columns) of the image, in metres, NaN where unknown; or window by window.
        source: what they were taken from, for people.
        notes: what a careful reader should know of them.
    """

    heights: Field
    source: str
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Heights:
    """The rasters of heights that were given with an image.

    Attributes:
        rasters: by what they are.
        accuracy_m: within how many metres heights are right, as somebody stated; None where nobody did.
    """

    rasters: Mapping[Surface, HeightRaster]
    accuracy_m: float | None = None

    @cached_property
    def above_ground(self) -> AboveGround:
        """The nDSM where one was given, else DSM minus DTM.

        Raises:
            Refused: neither was given, their units or datums clash, or nowhere is a height known.
        """
        ndsm, dsm, dtm = (self.rasters.get(surface) for surface in ("ndsm", "dsm", "dtm"))
        if ndsm is not None:
            _check_cover(Spread.of(ndsm.heights), f"{ndsm.name} is nowhere near the ground")
            return AboveGround(ndsm.heights, f"nDSM {ndsm.name}", ndsm.notes)
        if dsm is None or dtm is None:
            given = ", ".join(f"--{surface}" for surface in self.rasters)
            raise Refused(f"Heights above ground need a first surface and bare earth; {given} is given. "
                          f"Next: {STATE_HEIGHTS}.")  # fmt: skip
        _check_clash(dsm, dtm)
        heights = _difference(dsm.heights, dtm.heights)
        noise = NOISE_M if self.accuracy_m is None else 2 * self.accuracy_m
        spread = Spread.of(heights, noise)
        if not spread.known:
            raise Refused(f"Nowhere in the image do both {dsm.name} and {dtm.name} hold a height. "
                          "Next: give a DSM and a DTM of the same place.")  # fmt: skip
        _check_cover(spread, f"{dsm.name} is nowhere near {dtm.name}")
        notes = (*dsm.notes, *dtm.notes, *_one_sided_datum(dsm, dtm), *_below(spread, noise))
        return AboveGround(heights, f"DSM {dsm.name} - DTM {dtm.name}", notes)

    def surface(self, named: Surface | Literal["auto"]) -> HeightRaster:
        """A surface by name; "auto" is the terrain where it was given (DEM, then DTM), else the first surface.

        Raises:
            Refused: it was not given.
        """
        order: tuple[Surface, ...] = ("dem", "dtm", "dsm") if named == "auto" else (named,)
        for surface in order:
            if surface in self.rasters:
                return self.rasters[surface]
        given = ", ".join(f"--{surface}" for surface in self.rasters)
        wanted = "Elevations need a surface" if named == "auto" else f"The {WORDS[named]} is not given"
        raise Refused(f"{wanted}; {given} is. Next: {STATE_TERRAIN if named == 'auto' else f'give --{named} FILE'}.")

    @property
    def methods(self) -> list[str]:
        """How each raster comes onto the image's grid."""
        return [raster.method for raster in self.rasters.values()]

    def describe(self) -> dict[str, Any]:
        """What was given, JSON-ready."""
        rasters = {surface: raster.describe() for surface, raster in self.rasters.items()}
        return {"accuracy_m": self.accuracy_m, "rasters": rasters}


def open_heights(
    files: Mapping[Surface, Path], image: Raster, accuracy_m: float | None = None, unit: str | None = None
) -> Heights | None:
    """Rasters of heights that belong to an image; None where none is given.

    Args:
        files: by what they are heights of.
        image: its grid is the one to measure on.
        accuracy_m: within how many metres the heights are right.
        unit: what heights are in whose file does not say, such as "ft".

    Raises:
        InputError: a file cannot be opened, holds no single band of real numbers, lies elsewhere, states a unit that is
            none of height or not the one that was said; or the accuracy is no length, or the unit none of height.
    """
    if accuracy_m is not None and not 0 < accuracy_m < HIGHEST_M:
        raise InputError(f"A vertical accuracy of {accuracy_m:g} m is not possible. Next: state metres above 0.")
    if unit is not None:
        check_unit(unit)
    rasters = {surface: open_height_raster(surface, path, image, unit) for surface, path in files.items()}
    return Heights(rasters, accuracy_m) if rasters else None


@dataclass(frozen=True)
class Spread:
    """How heights above ground are spread.

    Attributes:
        known: how many are known.
        below: how many of these lie below the ground by more than noise.
        low: the metre in which one twentieth of them lie lower.
        high: the metre in which one twentieth of them lie higher.
    """

    known: int
    below: int
    low: float
    high: float

    @classmethod
    def of(cls, heights: Field, noise_m: float = 0.0) -> Spread:
        """That of an image's, after a pass over them where it is held in tiles."""
        if not isinstance(heights, TiledField):
            known = heights[np.isfinite(heights)]
            if not known.size:
                return cls(0, 0, 0.0, 0.0)
            return cls(known.size, int(np.count_nonzero(known < -noise_m)), *np.percentile(known, (5, 95)).tolist())

        def looked_at(part: tuple[slice, slice]) -> tuple[int, NDArray[np.int64]]:
            values = heights.window(*part)
            values = values[np.isfinite(values)]
            metres = np.clip(np.floor(values), -WIDEST_M, WIDEST_M).astype(np.int64) + WIDEST_M
            return int(np.count_nonzero(values < -noise_m)), np.bincount(metres, minlength=2 * WIDEST_M + 1)

        parts = everywhere(heights.shape, heights.tiles).parts()
        below, counts = 0, np.zeros(2 * WIDEST_M + 1, dtype=np.int64)
        for lower, found in threaded(looked_at, parts):
            below += lower
            counts += found
        total = np.cumsum(counts)
        low, high = (int(np.searchsorted(total, share * total[-1], side="right")) - WIDEST_M for share in (0.05, 0.95))
        return cls(int(total[-1]), below, float(low), float(high))


def _difference(upper: Field, lower: Field) -> Field:
    if isinstance(upper, TiledField) and isinstance(lower, TiledField):
        first, second = upper.window, lower.window
        dtype = np.result_type(upper.dtype, lower.dtype)
        return TiledField(upper.shape, upper.tiles, lambda rows, cols: first(rows, cols) - second(rows, cols), dtype)
    return np.asarray(np.subtract(upper, lower))


def _below(spread: Spread, noise_m: float) -> tuple[str, ...]:
    """A warning where the first surface lies below bare earth by more than noise."""
    if not spread.below:
        return ()
    share = 100 * spread.below / spread.known
    return (f"The DSM lies more than {noise_m:g} m below the DTM at {share:.2g} % of the pixels.",)


def _check_clash(dsm: HeightRaster, dtm: HeightRaster) -> None:
    """Refuse a DSM and a DTM that do not count alike.

    Raises:
        Refused: other vertical datums, or only one of them says that it is not in metres.
    """
    one, other = dsm.vertical, dtm.vertical
    if one.datum and other.datum and one.datum != other.datum:
        raise Refused(
            f"{dsm.name} counts heights from {one.datum}, {dtm.name} from {other.datum}: their difference is no height "
            "above ground. Next: bring both to one vertical datum."
        )
    for stated, silent in ((dsm, dtm), (dtm, dsm)):
        if silent.vertical.unit is None and stated.vertical.metres != 1:
            raise Refused(
                f"{stated.name} is in {stated.vertical.unit}, {silent.name} states no vertical unit: whether both "
                "are in one unit is not known. Next: say it with --vertical-unit."
            )


def _one_sided_datum(dsm: HeightRaster, dtm: HeightRaster) -> tuple[str, ...]:
    for stated, silent in ((dsm, dtm), (dtm, dsm)):
        if stated.vertical.datum and not silent.vertical.datum:
            return (
                f"{silent.name} states no vertical datum; it was taken to be that of {stated.name}, "
                f"{stated.vertical.datum}.",
            )
    return ()


def _check_cover(spread: Spread, found: str) -> None:
    """Refuse heights above ground that never come near the ground.

    Raises:
        Refused: nineteen twentieths of the pixels lie more than `TALLEST_M` above ground, or below it.
    """
    low, high = spread.low, spread.high
    if low > TALLEST_M or high < -TALLEST_M:
        raise Refused(
            f"{found}: most of it lies {abs(low if low > 0 else high):.0f} m {'above' if low > 0 else 'below'} it. "
            "Next: check the vertical units (--vertical-unit ft, where files state none) and datums of the heights."
        )
