"""Objects that the border of the area of interest cuts are told, whatever the source that they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from shapely.geometry import Point, box

from swath.raster.grid import Grid
from swath.raster.reader import Raster
from swath.testing.segment import PaintedBackend
from swath.tools.area import perimeter_m
from swath.tools.clip import Clip
from swath.tools.masks import complement, segment
from swath.tools.regions import area_statistic_m2, components, count
from swath.tools.site import Nudge, Site

SHAPE = (20, 40)
GRID = Grid(Affine(2.0, 0, 500_000, 0, -2.0, 5_000_000), SHAPE, pyproj.CRS(32631))


def site_of(painting: Any, inside: np.ndarray, *, name: str = "the area of interest") -> Site:
    image = Raster(Path("image.tif"), "GTiff", GRID, (), (), "image.tif")
    return Site(image, PaintedBackend(SHAPE, {"house": painting}), inside, clip=Clip(name, ~inside))


def left(columns: int) -> np.ndarray:
    inside = np.zeros(SHAPE, dtype=bool)
    inside[:, :columns] = True
    return inside


def painted(*boxes: tuple[int, int, int, int]) -> np.ndarray:
    pixels = np.zeros(SHAPE, dtype=bool)
    for x0, y0, x1, y1 in boxes:
        pixels[y0:y1, x0:x1] = True
    return pixels


THREE = ((2, 2, 6, 6), (16, 2, 20, 6), (18, 10, 24, 14))
"""Clear of column 20, up to it, across it."""


def test_components_of_a_class_raster() -> None:
    site = site_of(painted(*THREE), left(20))
    assert count(site, components(site, segment(site, "house"))) == 3
    assert list(site.warnings) == [
        "1 of 3 house are cut by the border of the area of interest: only what lies inside is measured."
    ]


def test_diagonal_contact_across_the_border_is_one_object() -> None:
    pixels = painted((19, 5, 20, 6), (20, 6, 21, 7))
    site = site_of(pixels, left(20))
    components(site, segment(site, "house"))
    assert next(iter(site.warnings)).startswith("1 of 1 house are cut")


def test_features_are_named_by_their_id_and_may_overlap() -> None:
    outlines = [box(*bounds) for bounds in (*THREE, (19, 10, 22, 14), (30, 1, 33, 4))]
    site = site_of(outlines, left(20), name="zone 7")
    assert count(site, components(site, segment(site, "house"))) == 4
    assert list(site.warnings) == [
        "2 of 4 house are cut by the border of zone 7 (id 3, 4): only what lies inside is measured."
    ]


def test_many_ids_are_cut_short() -> None:
    site = site_of([box(18, y, 22, y + 0.9) for y in range(8)], left(20))
    components(site, segment(site, "house"))
    assert "(id 1, 2, 3, 4, 5 ...)" in next(iter(site.warnings))


def test_instances_that_touch_across_the_border_are_two() -> None:
    ids = np.zeros(SHAPE, dtype=np.int32)
    ids[2:6, 16:20], ids[2:6, 20:24], ids[10:14, 18:24] = 1, 2, 3
    site = site_of(ids, left(20))
    assert count(site, components(site, segment(site, "house"))) == 2
    assert next(iter(site.warnings)).startswith("1 of 2 house are cut")


def test_points_are_never_cut() -> None:
    site = site_of([Point(19.99, 3.5), Point(20.01, 3.5)], left(20))
    assert count(site, components(site, segment(site, "house"))) == 1
    assert not site.warnings


def test_of_a_computed_mask_it_is_known_only_that_it_reaches_the_border() -> None:
    site = site_of(painted(*THREE), left(20))
    components(site, complement(site, segment(site, "house")))
    assert list(site.warnings) == [
        "1 of 1 not house reach the border of the area of interest: only what lies inside is measured."
    ]


def test_void_beyond_the_border_cuts_nothing_and_a_doubt_repeats_no_warning() -> None:
    site = site_of(painted(*THREE), left(20))
    void = Site(site.raster, site.backend, left(20), clip=Clip("the area of interest", np.zeros(SHAPE, dtype=bool)))
    components(void, segment(void, "house"))
    assert not void.warnings
    whole = Site(site.raster, site.backend, np.ones(SHAPE, dtype=bool))
    components(whole, segment(whole, "house"))
    assert not whole.warnings
    assert site.nudged(Nudge(proximity_px=1)).clip is site.clip


def test_what_is_cut_is_measured_inside_only() -> None:
    for painting in (painted((18, 10, 24, 14)), [box(18, 10, 24, 14)]):
        site = site_of(painting, left(20))
        regions = components(site, segment(site, "house"))
        assert area_statistic_m2(site, regions, statistic="sum") == 2 * 4 * 4.0
    assert perimeter_m(site, regions) == (2 + 4 + 2) * 2.0  # the cut edge is no outline


@given(st.lists(st.booleans(), min_size=800, max_size=800), st.integers(1, 39))
def test_cut_is_what_belongs_to_an_object_of_the_whole_image_that_goes_on(flags: list[bool], columns: int) -> None:
    pixels = np.array(flags).reshape(SHAPE)
    site = site_of(pixels, left(columns))
    regions = components(site, segment(site, "house"))
    whole, _ = ndimage.label(pixels, np.ones((3, 3)))
    parts, n = ndimage.label(pixels & left(columns), np.ones((3, 3)))
    outside = set(np.unique(whole[~left(columns)])) - {0}
    cut = sum(
        int(whole[parts == k][0]) in outside and bool(touches(parts == k, pixels, columns)) for k in range(1, n + 1)
    )
    said = next(iter(site.warnings), "0 of 0 house").split()
    assert (len(regions), int(said[0])) == (n, cut)


def touches(part: np.ndarray, pixels: np.ndarray, columns: int) -> bool:
    grown = ndimage.binary_dilation(part, np.ones((3, 3)))
    return bool((grown & pixels & ~left(columns)).any())
