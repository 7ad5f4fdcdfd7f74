"""Automatic thresholds for digital numbers, each held against evidence that the class is there at all.

Otsu's threshold always exists; what makes it one of water or of vegetation is tested by ratios of the same band between
the two groups, in which unknown gains cancel. The numbers come from the trials in design/spectral.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from swath.segment.indices import FloatImage, IndexImage
from swath.segment.otsu import Split, split

BoolImage = NDArray[np.bool_]

MOST_VALLEY = 1 / 3
"""Two equal normal groups whose valley is a third of their peaks are 3.8 standard deviations apart: the threshold
misplaces 3 % of each. Land cut in two has no valley (1.0); water and land were at 0.02 to 0.13."""
MOST_INFRARED = 1 / 3
"""Water's infrared over the land's: 0.05 to 0.22 where it was water, 0.5 and more between two kinds of land."""
FEWEST_PIXELS = 100
"""Of each group: fewer tell nothing of a distribution (10 % of chance at 100)."""
SMALLEST_TILE = 64
"""Pixels a side: in 4,096 pixels a lake of `FEWEST_PIXELS` is still 2 %, which Otsu's threshold can find."""
FINEST_TILES = 16
LEAST_EXPLAINED = 0.75
"""Plants thin out without a valley, but a flat spread already explains 0.75 when it is cut in two, one hump 0.64."""
LEAST_CONTRAST = 1.5
"""Vegetation's nir/red over the rest's: 1.6 to 2.9 where people see plants and bare ground, 1.1 between two fields."""
BRIGHT_SHARE = 0.01


@dataclass(frozen=True)
class Decision:
    """A threshold and where it comes from.

    Attributes:
        used: the class is where the index is at least this.
        strict: the highest threshold that could be argued for, None where a person stated the threshold.
        lax: the lowest one, likewise.
        how: where it comes from, for people.
        warnings: sentences for people.
    """

    used: float
    strict: float | None
    lax: float | None
    how: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unsplit:
    """No threshold; `why` completes the sentence "... cannot be told: why"."""

    why: str


def water_threshold(image: IndexImage) -> Decision | Unsplit:
    """Where water begins in NDWI or MNDWI of digital numbers.

    Otsu's threshold of the whole image, else of those tiles in which water shows: a small lake is nothing beside
    a large country, but half of a tile on its shore.
    """
    values, infrared = image.sample, image.infrared
    tiles = 1
    while tiles == 1 or (tiles <= FINEST_TILES and min(values.shape) // tiles >= SMALLEST_TILE):
        showing = [part for part in _parts(values.shape, tiles) if _shows_water(values[part], _cut(infrared, part))]
        if showing:
            found = split(np.concatenate([_finite(values[part]) for part in showing]))
            if found is not None and found.valley <= MOST_VALLEY and _is_dark(found, values, infrared):
                where = "all values" if tiles == 1 else f"{len(showing)} of {tiles**2} tiles in which water shows"
                return Decision(
                    found.threshold,
                    found.strict,
                    found.lax,
                    f"Otsu's threshold of {where}",
                    _water_warnings(found, values, infrared),
                )
        tiles *= 2
    return Unsplit(
        f"{image.index.name} does not fall into two groups of which one is dark in the infrared, so there may be no "
        "water in it, or nothing else"
    )


def vegetation_threshold(image: IndexImage, water: BoolImage | None) -> Decision | Unsplit:
    """Where vegetation begins in NDVI of digital numbers.

    Args:
        image: NDVI.
        water: where the sample is water, which is left aside: it would pass for the group that is not vegetation.
    """
    values = image.sample if water is None else np.where(water, np.float32(np.nan), image.sample)
    found = split(_finite(values))
    if found is None or min(found.upper_count, found.lower_count) < FEWEST_PIXELS:
        return Unsplit(f"{image.index.name} hardly varies")
    nir, red = (image.bands[role] for role in image.index.roles(image.raster))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = nir / red
    upper, lower = (np.nanmedian(ratio[where]) for where in (values >= found.threshold, values < found.threshold))
    if found.explained < LEAST_EXPLAINED or not upper >= LEAST_CONTRAST * lower:
        return Unsplit(
            f"{image.index.name} does not fall into two groups (its best cut explains {100 * found.explained:.0f} % of "
            "its variance), so there may be no vegetation in it, or nothing else"
        )
    aside = ", water left aside" if water is not None else ""
    return Decision(found.threshold, found.strict, found.lax, f"Otsu's threshold of all values{aside}")


def _parts(shape: tuple[int, ...], tiles: int) -> Iterator[tuple[slice, slice]]:
    """The tiles x tiles parts of an image."""
    ys, xs = (np.linspace(0, size, tiles + 1).astype(int) for size in shape)
    for top, bottom in pairwise(ys):
        for left, right in pairwise(xs):
            yield slice(top, bottom), slice(left, right)


def _cut(infrared: dict[str, FloatImage], part: tuple[slice, slice]) -> dict[str, FloatImage]:
    return {role: values[part] for role, values in infrared.items()}


def _finite(values: FloatImage) -> FloatImage:
    present: FloatImage = values[np.isfinite(values)]
    return present


def _shows_water(values: FloatImage, infrared: dict[str, FloatImage]) -> bool:
    """Whether values fall into two clear groups of which the upper one is dark in every infrared band."""
    found = split(_finite(values))
    return (
        found is not None
        and min(found.upper_count, found.lower_count) >= FEWEST_PIXELS
        and found.valley <= MOST_VALLEY
        and _is_dark(found, values, infrared)
    )


def _is_dark(found: Split, values: FloatImage, infrared: dict[str, FloatImage]) -> bool:
    upper, lower = values >= found.threshold, values < found.threshold
    for band in infrared.values():
        dark, bright = _median(band[upper]), _median(band[lower])
        if not dark <= MOST_INFRARED * bright:
            return False
    return True


def _median(values: FloatImage) -> float:
    present = _finite(values)
    return float(np.median(present)) if present.size else float("nan")


def _water_warnings(found: Split, values: FloatImage, infrared: dict[str, FloatImage]) -> tuple[str, ...]:
    if "nir" not in infrared:
        return ("Without a near-infrared band snow cannot be told from water.",)
    nir = infrared["nir"]
    upper = values >= found.threshold
    land = _median(nir[values < found.threshold])
    share = float(np.mean(nir[upper] >= land))
    if share <= BRIGHT_SHARE:
        return ()
    return (f"{100 * share:.2g} % of the water is as bright as land in the near infrared: surf, ice, snow or cloud?",)
