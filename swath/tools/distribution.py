"""How objects are distributed: clustered, random, regular, in rows; each with its published test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swath.errors import Refused
from swath.tools.handles import Regions
from swath.tools.kernels import mask_area_m2, object_outlines_m
from swath.tools.labelling import component_runs
from swath.tools.places import centroids_xy, on_plane
from swath.tools.registry import tool
from swath.tools.site import Site

FloatArray = NDArray[np.float64]

FEWEST = 8
"""Donnelly's correction holds for more than seven points."""

Z_95 = 1.959964
"""Two-sided 95 % of the normal distribution."""

ROWS_LEVEL, ROWS_CONCENTRATION = 0.01, 0.5
"""Level of the test of rows, for one and two directions together, and the least mean resultant length that counts."""


@dataclass(frozen=True)
class Spacing:
    """Nearest-neighbour distances against those of a random pattern.

    Attributes:
        index: mean distance to the nearest neighbour over the mean expected of a random pattern: below 1 clustered,
            above 1 regular, 2.149 at most (a triangular lattice).
        z: by how many standard errors the mean differs from the expected one.
    """

    index: float
    z: float


@tool(measures=True)
def nearest_neighbour_index(site: Site, regions: Regions) -> float:
    """The Clark-Evans index of the regions' centroids: below 1 clustered, about 1 random, above 1 regular.

    Mean distance to the nearest neighbour, over that expected of as many random points in the valid area of the image
    (Clark and Evans 1954), with Donnelly's correction for the edge (1978). On the ground, in pixels where no ground
    size is known.

    Args:
        site: the image.
        regions: at least eight objects.

    Raises:
        Refused: there are fewer than eight.
    """
    return _spacing(site, regions).index


@tool(measures=True)
def nearest_neighbour_z(site: Site, regions: Regions) -> float:
    """By how many standard errors the objects are farther apart than random ones; see `nearest_neighbour_index`.

    Beyond -1.96 they are clustered, beyond 1.96 regular, at a level of 95 %.

    Args:
        site: the image.
        regions: at least eight objects.

    Raises:
        Refused: there are fewer than eight.
    """
    return _spacing(site, regions).z


@tool(measures=True)
def distribution(site: Site, regions: Regions) -> str:
    """How the regions are distributed: "in rows", "clustered", "regular" or "random", which is scattered.

    In rows where the directions from objects to their nearest neighbours concentrate on one axis, or on two at right
    angles (Rayleigh's test on doubled and on quadrupled angles, level 0.01 for both together, mean resultant length at
    least 0.5); else by the z of `nearest_neighbour_z`: clustered below -1.96, regular above 1.96, random between.

    Args:
        site: the image.
        regions: at least eight objects.

    Raises:
        Refused: there are fewer than eight.
    """
    spacing = _spacing(site, regions)
    site.warn(
        f"Distribution of the {len(regions)} {regions.name} in the valid area by the Clark-Evans index "
        f"{spacing.index:.2f} (z = {spacing.z:.1f}, Donnelly's edge correction)."
    )
    if _in_rows(_axes_to_neighbours(regions)):
        return "in rows"
    return "clustered" if spacing.z < -Z_95 else "regular" if spacing.z > Z_95 else "random"


def clark_evans(distances: FloatArray, area: float, perimeter: float) -> Spacing:
    """The index of nearest-neighbour distances, with Donnelly's mean and standard error.

    Args:
        distances: (n,) from each point to its nearest neighbour.
        area: of the ground on which points could lie, in the square of the distances' unit.
        perimeter: of that ground, in the distances' unit.
    """
    n = len(distances)
    expected = 0.5 * np.sqrt(area / n) + (0.0514 + 0.041 / np.sqrt(n)) * perimeter / n
    error = np.sqrt(0.0703 * area / n**2 + 0.037 * perimeter * np.sqrt(area / n**5))
    return Spacing(float(distances.mean() / expected), float((distances.mean() - expected) / error))


def rayleigh(angles: FloatArray) -> tuple[float, float]:
    """Mean resultant length of angles in radians, and the probability of one as large by chance (Zar 1999, 27.4)."""
    n, length = len(angles), float(np.abs(np.exp(1j * angles).mean()))
    return length, float(np.exp(np.sqrt(1 + 4 * n + 4 * n**2 * (1 - length**2)) - (1 + 2 * n)))


def _spacing(site: Site, regions: Regions) -> Spacing:
    if len(regions) < FEWEST:
        raise Refused(
            f"How {regions.name} are distributed cannot be told from {len(regions)} of them: the test needs {FEWEST}. "
            "Next: ask for their number, their places or the distances between them."
        )
    ground = site.ground_or_pixels
    perimeter = float(object_outlines_m(component_runs(site.valid, 8), None, ground).sum())
    return clark_evans(_neighbours(regions)[0], mask_area_m2(site.valid, ground), perimeter)


def _neighbours(regions: Regions) -> tuple[FloatArray, NDArray[np.int64]]:
    """(n,) distance from each centroid to its nearest neighbour on the plane of `on_plane`, and which that is."""
    from scipy.spatial import cKDTree  # 0.2 s to load

    points = on_plane(centroids_xy(regions), regions.grid)
    distances, which = cKDTree(points).query(points, k=2)
    second = np.where(which[:, 0] == np.arange(len(points)), 1, 0)  # of points at one place either may come first
    return np.asarray(distances[:, 1]), np.asarray(which[np.arange(len(points)), second])


def _axes_to_neighbours(regions: Regions) -> FloatArray:
    """(m,) directions in radians between nearest neighbours, each pair once."""
    points = on_plane(centroids_xy(regions), regions.grid)
    pairs = np.sort(np.column_stack([np.arange(len(points)), _neighbours(regions)[1]]), axis=1)
    i, j = np.unique(pairs, axis=0).T
    away = points[j] - points[i]
    return np.asarray(np.arctan2(away[:, 1], away[:, 0]))


def _in_rows(axes: FloatArray) -> bool:
    tests = [rayleigh(fold * axes) for fold in (2, 4)]
    return any(length >= ROWS_CONCENTRATION and p <= ROWS_LEVEL / len(tests) for length, p in tests)
