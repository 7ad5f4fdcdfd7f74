"""The lie of the land: elevations at places, relief, slope, facing, ruggedness, profiles, flooding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyproj
import pytest
from heighted_sites import heighted
from measured_sites import AFFINES, SHAPE, blobs, call, geographic, planar, site_on

from swath.errors import Refused, ToolError
from swath.raster import terrain
from swath.raster.grid import Grid
from swath.tools.site import Nudge, Site
from swath.tools.terrain.slopes import FACINGS

DEM = np.random.default_rng(2).normal(120, 6, SHAPE)
DEM[3, 4] = np.nan
KNOWN = np.isfinite(DEM)


@pytest.fixture
def site() -> Site:
    return heighted(planar("square"), {"forest": blobs(seed=1)}, dem=DEM)


def tilted(grid: Grid, east: float, north: float) -> Any:
    """A plane that rises by so much per metre."""
    rows, cols = np.indices(grid.shape) + 0.5
    x, y = grid.affine @ (cols, rows)
    return 50 + east * (x - grid.affine.c) + north * (y - grid.affine.f)


def test_an_elevation_at_a_pixel_a_map_coordinate_and_a_longitude(site: Site) -> None:
    assert call(site, "elevation_m", row_px=7, column_px=11) == DEM[7, 11]
    x, y = site.raster.grid.affine @ (11.3, 7.8)
    assert call(site, "elevation_m", x=x, y=y) == DEM[7, 11]
    lon, lat = pyproj.Transformer.from_crs(32633, 4326, always_xy=True).transform(x, y)
    assert call(site, "elevation_m", lon_deg=lon, lat_deg=lat) == DEM[7, 11]
    assert "Elevations are counted from NAVD88." in site.warnings


def test_southern_and_western_places_may_be_negative() -> None:
    grid = Grid(geographic().affine.translation(-40, -50) @ geographic().affine, SHAPE, pyproj.CRS(4326))
    site = heighted(grid, {}, dem=DEM)
    lon, lat = grid.affine @ (20.5, 30.5)
    assert lon < 0
    assert call(site, "elevation_m", lon_deg=lon, lat_deg=lat) == DEM[30, 20]


def test_a_place_is_one_place_inside_with_a_height(site: Site) -> None:
    for place in ({}, {"row_px": 1}, {"row_px": 1, "column_px": 1, "x": 0.0, "y": 0.0}, {"lon_deg": 10.0}):
        with pytest.raises(ToolError, match=r"Give one place: row_px and column_px, or lon_deg and lat_deg,"):
            call(site, "elevation_m", **place)
    with pytest.raises(Refused, match=r"The place row 60, column 0 lies outside the image, which has 60 x 80 pixels"):
        call(site, "elevation_m", row_px=60, column_px=0)
    with pytest.raises(Refused, match=r"The place longitude 100, latitude 5 lies outside the image"):
        call(site, "elevation_m", lon_deg=100.0, lat_deg=5.0)
    with pytest.raises(Refused, match=r"dem\.tif has no height at row 3, column 4: there it is nodata\."):
        call(site, "elevation_m", row_px=3, column_px=4)
    nowhere = heighted(Grid(AFFINES["square"], SHAPE, None), {}, dem=DEM)
    with pytest.raises(
        Refused, match=r"Longitudes and latitudes cannot be placed: the image names no CRS\. Next: name a"
    ):
        call(nowhere, "elevation_m", lon_deg=10.0, lat_deg=45.0)


def test_statistics_and_relief_by_brute_force(site: Site) -> None:
    forest = call(site, "segment", "forest")
    cells = DEM[forest.pixels & KNOWN]
    assert call(site, "elevation_statistic_m") == pytest.approx(np.nanmean(DEM))
    assert call(site, "elevation_statistic_m", forest, statistic="percentile", percent=10.0) == pytest.approx(
        np.percentile(cells, 10)
    )
    assert call(site, "relief_m") == pytest.approx(np.nanmax(DEM) - np.nanmin(DEM))
    assert call(site, "relief_m", call(site, "components", forest)) == pytest.approx(np.ptp(cells))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(call(site, "elevation_mask", larger_than_m=125.0).pixels, DEM > 125)
    below = heighted(planar("square"), {}, dem=DEM - 122)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(call(below, "elevation_mask", max_m=-3.0).pixels, DEM - 122 <= -3)


def test_slopes_are_those_of_the_gradient(site: Site) -> None:
    slope = terrain.slope_deg(*terrain.gradient(DEM, site.raster.grid))
    known = np.isfinite(slope)
    forest = call(site, "segment", "forest")
    assert call(site, "slope_statistic_deg") == pytest.approx(np.nanmean(slope))
    assert call(site, "slope_statistic_deg", forest, statistic="max") == pytest.approx(
        slope[forest.pixels & known].max()
    )
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(call(site, "slope_mask", larger_than_deg=80.0).pixels, slope > 80)
        np.testing.assert_array_equal(call(site, "slope_mask", max_deg=80.0).pixels, slope <= 80)
    flat = 100 * np.count_nonzero(slope[known] <= 80) / np.count_nonzero(known)
    assert call(site, "flat_share_percent", max_slope_deg=80.0) == pytest.approx(flat)
    assert "Flat is a slope of at most 80 degrees." in site.warnings
    flat_pixels = call(site, "slope_mask", max_deg=80.0)
    assert call(site, "share_percent", flat_pixels) == pytest.approx(flat)
    assert call(site, "share_percent", call(site, "complement", flat_pixels)) == pytest.approx(100 - flat)
    missing = 100 * (1 - np.count_nonzero(known) / known.size)
    said = f"the image: {missing:.2g} % of the pixels have no known"
    assert f"{said} slope; the others count." in site.warnings
    eastern = call(site, "facing_mask", direction="east")
    wanted = 100 * eastern.size_px / np.count_nonzero(known)
    assert call(site, "share_percent", eastern) == pytest.approx(wanted)
    above = call(site, "elevation_mask", larger_than_m=120.0)
    wanted = 100 * np.count_nonzero(DEM > 120) / np.count_nonzero(KNOWN)
    assert call(site, "share_percent", above) == pytest.approx(wanted)
    assert call(site, "share_percent", call(site, "flood_mask", water_level_m=120.0)) == pytest.approx(100 - wanted)
    both = call(site, "intersection", above, flat_pixels)
    wanted = 100 * both.size_px / np.count_nonzero(known)
    assert call(site, "share_percent", both) == pytest.approx(wanted)
    assert f"{said} elevation or slope; the others count." in site.warnings


def test_a_flat_share_goes_by_true_area() -> None:
    """Between 60 and 0 degrees north a row of pixels covers more and more ground."""
    grid = geographic(degrees=1.0)
    lower = np.arange(SHAPE[0])[:, None] > 29  # the southern half, 30 to 1 degrees north, is flat
    site = heighted(grid, {}, dem=np.where(lower, 0.0, np.cumsum(np.full(SHAPE, 3e4), axis=1)))
    inner = np.zeros(SHAPE, dtype=bool)
    inner[1:-1, 1:-1] = True
    areas = np.broadcast_to(grid.ground.area_m2(slice(0, 60)), SHAPE)  # type: ignore[union-attr]
    flat = inner & (np.arange(SHAPE[0])[:, None] > 30)
    wanted = 100 * areas[flat].sum() / areas[inner].sum()
    assert call(site, "flat_share_percent") == pytest.approx(wanted)
    assert wanted > 55


@pytest.mark.parametrize("name", AFFINES)
def test_a_plane_faces_downhill_on_every_grid(name: str) -> None:
    grid = planar(name)
    for east, north, facing in ((0.2, 0.0, 270.0), (0.0, 0.2, 180.0), (-0.2, -0.2, 45.0)):
        site = heighted(grid, {}, dem=tilted(grid, east, north))
        assert call(site, "aspect_deg") == pytest.approx(facing, abs=1e-6)
        assert call(site, "slope_statistic_deg", statistic="max") == pytest.approx(
            np.degrees(np.arctan(np.hypot(east, north))), abs=1e-6
        )


def test_an_aspect_is_a_circular_mean_and_may_be_none(site: Site) -> None:
    aspect = np.radians(terrain.aspect_deg(*terrain.gradient(DEM, site.raster.grid)))
    mean = np.angle(np.nanmean(np.exp(1j * aspect)), deg=True) % 360
    assert call(site, "aspect_deg") == pytest.approx(mean)
    roof = heighted(planar("square"), {}, dem=np.abs(tilted(planar("square"), 0.2, 0.0) - 54.0))
    with pytest.raises(Refused, match=r"The ground faces all directions alike, so that none prevails\."):
        call(roof, "aspect_deg")
    level = heighted(planar("square"), {}, dem=np.full(SHAPE, 7.0))
    assert call(level, "slope_statistic_deg", statistic="max") == 0
    with pytest.raises(Refused, match=r"No pixel of the image has a known aspect\."):
        call(level, "aspect_deg")


@pytest.mark.parametrize("name", AFFINES)
def test_slopes_of_a_cone_face_away_from_its_top(name: str) -> None:
    grid = planar(name)
    rows, cols = np.indices(SHAPE) + 0.5
    x, y = grid.affine @ (cols, rows)
    east, north = x - x.mean(), y - y.mean()
    azimuth = np.degrees(np.arctan2(east, north)) % 360
    site = heighted(grid, {}, dem=500 - 0.3 * np.hypot(east, north))
    inner = np.zeros(SHAPE, dtype=bool)
    inner[1:-1, 1:-1] = True
    far = np.hypot(east, north) > 0.4 * np.hypot(east, north).max()  # at the top the window holds all sides
    for number, direction in enumerate(FACINGS):
        off = np.abs((azimuth - 45 * number + 180) % 360 - 180)
        for within in (45.0, 22.5):
            found = call(site, "facing_mask", direction=direction, within_deg=within).pixels
            clear = inner & far & (np.abs(off - within) > 3)
            np.testing.assert_array_equal(found[clear], (off < within)[clear])
            assert not found[~inner].any()


def test_limits_of_facing_level_ground_and_gentle_slopes() -> None:
    grid = planar("square")
    site = heighted(grid, {}, dem=tilted(grid, 0.2, 0.2))  # faces 225 degrees
    share = {way: call(site, "facing_mask", direction=way).pixels.mean() for way in FACINGS}
    inner = (SHAPE[0] - 2) * (SHAPE[1] - 2) / (SHAPE[0] * SHAPE[1])
    assert {way for way, found in share.items() if found == inner} == {"south", "south-west", "west"}
    assert sum(share.values()) == pytest.approx(3 * inner)
    assert "Slopes face south where their aspect is within 45 degrees of it." in site.warnings
    degrees = float(np.degrees(np.arctan(np.hypot(0.2, 0.2))))
    mask = call(site, "facing_mask", direction="south-west", min_slope_deg=degrees - 0.1)
    assert (mask.pixels.mean(), mask.name.endswith("degrees or more that face south-west")) == (inner, True)
    assert not call(site, "facing_mask", direction="south-west", min_slope_deg=degrees + 0.1).pixels.any()
    level = heighted(grid, {}, dem=np.full(SHAPE, 7.0))
    assert not any(call(level, "facing_mask", direction=way).pixels.any() for way in FACINGS)


@pytest.mark.parametrize("index", ["tri", "tpi", "roughness"])
def test_ruggedness_says_its_cell_size(site: Site, index: str) -> None:
    field = terrain.index_m(DEM, index)  # type: ignore[arg-type]
    assert call(site, "ruggedness_m", index=index, statistic="median") == pytest.approx(np.nanmedian(field))
    assert f"The {index} depends on the cell size; it is of cells of 0.5 x 0.5 m." in site.warnings


def test_profiles_run_from_end_to_end(site: Site) -> None:
    along = call(site, "profile_m", from_row_px=10, from_column_px=5, to_row_px=10, to_column_px=15)
    assert along == DEM[10, 5:16].tolist()
    back = call(site, "profile_m", from_row_px=10, from_column_px=15, to_row_px=10, to_column_px=5)
    assert back == along[::-1]
    diagonal = call(site, "profile_m", from_row_px=8, from_column_px=8, to_row_px=12, to_column_px=12)
    assert diagonal == [DEM[k, k] for k in range(8, 13)]
    with pytest.raises(Refused, match=r"The line crosses 1 of 6 pixels where dem\.tif has no height\."):
        call(site, "profile_m", from_row_px=3, from_column_px=0, to_row_px=3, to_column_px=5)
    with pytest.raises(Refused, match=r"The place row 0, column 80 lies outside the image"):
        call(site, "profile_m", from_row_px=0, from_column_px=0, to_row_px=0, to_column_px=80)


def test_flooding_is_planar_and_says_so(site: Site) -> None:
    with np.errstate(invalid="ignore"):
        wet = DEM < 115
    np.testing.assert_array_equal(call(site, "flood_mask", water_level_m=115.0).pixels, wet)
    assert call(site, "flood_depth_m", water_level_m=115.0) == pytest.approx(np.mean(115 - DEM[wet]))
    assert call(site, "flood_depth_m", water_level_m=115.0, statistic="max") == pytest.approx(115 - np.nanmin(DEM))
    assert call(site, "flood_depth_m", water_level_m=-5.0) == 0
    assert any(
        sentence.startswith("Flooding is planar: every cell below the water level") for sentence in site.warnings
    )


def test_the_terrain_comes_first_and_the_first_surface_is_said() -> None:
    both = heighted(planar("square"), {}, dem=DEM, dtm=DEM + 1, dsm=DEM + 9)
    assert call(both, "elevation_statistic_m", statistic="min") == np.nanmin(DEM)
    assert call(both, "elevation_statistic_m", statistic="min", surface="dtm") == np.nanmin(DEM) + 1
    assert not any("first surface" in sentence for sentence in both.warnings)
    top = heighted(planar("square"), {}, dsm=DEM)
    assert call(top, "relief_m") == pytest.approx(np.nanmax(DEM) - np.nanmin(DEM))
    assert "Measured on the first surface, dsm.tif: roofs and trees are part of it." in top.warnings


def test_what_cannot_be_measured_is_refused_with_the_options() -> None:
    bare = site_on(planar("square"), {})
    for tool, how in (("relief_m", {}), ("slope_mask", {"larger_than_deg": 5.0}), ("elevation_m", {"x": 0.0, "y": 0.0}),
                      ("flood_mask", {"water_level_m": 1.0})):  # fmt: skip
        where = {"x": 500_001.0, "y": 4_999_999.0} if tool == "elevation_m" else how
        with pytest.raises(
            Refused, match=r"Elevations cannot be measured: no raster of heights is given\. Next: give --dem"
        ):
            call(bare, tool, **where)
    tiny = heighted(planar("square", (2, 2)), {}, dem=np.ones((2, 2)))
    with pytest.raises(
        Refused, match=r"No cell of dem\.tif has a height on all its eight sides, so that no slope can be"
    ):
        call(tiny, "slope_statistic_deg")
    no_size = heighted(Grid(AFFINES["square"], SHAPE, None), {}, dem=DEM)
    assert call(no_size, "relief_m") > 0
    with pytest.raises(Refused, match="Metres cannot be measured: the file names no CRS"):
        call(no_size, "slope_statistic_deg")


def test_a_stated_accuracy_moves_elevations_and_twice_a_relief() -> None:
    site = heighted(planar("square"), {}, accuracy_m=0.4, dem=DEM)
    for tool, how, shift in (("elevation_m", {"row_px": 5, "column_px": 5}, 0.4), ("elevation_statistic_m", {}, 0.4),
                             ("relief_m", {}, 0.8)):  # fmt: skip
        value = call(site, tool, **how)
        ends = [call(site.nudged(Nudge(height=end)), tool, **how) for end in (-1, 1)]
        assert ends == pytest.approx([value - shift, value + shift])
    assert "vertical accuracy" in site.doubts
    silent = heighted(planar("square"), {}, dem=DEM)
    call(silent, "elevation_m", row_px=5, column_px=5)
    assert not silent.doubts
