"""Pixel sizes on the ground against closed forms, PROJ's own scale factors and exact areas of polygons."""

from __future__ import annotations

import numpy as np
import pyproj
import pytest
from affine import Affine
from hypothesis import given, settings
from hypothesis import strategies as st

from swath.raster.geodesy import NoGround, spline_weights, strip_areas_m2
from swath.raster.grid import Grid
from swath.raster.ground import DISTORTION_LIMIT, Ground, crs_name, measure_ground

SHAPE = (200, 300)
WGS84 = pyproj.Geod(ellps="WGS84")
US_FOOT = 1200 / 3937

latitudes = st.floats(-85, 85)
longitudes = st.floats(-179, 178)


def ground(affine: Affine, crs: object, shape: tuple[int, int] = SHAPE) -> Ground:
    return measure_ground(affine, shape, pyproj.CRS.from_user_input(crs))


def centred(x: float, y: float, size: float, shape: tuple[int, int] = SHAPE) -> Affine:
    """A north-up grid of square pixels around a CRS coordinate."""
    return Affine(size, 0, x - size * shape[1] / 2, 0, -size, y + size * shape[0] / 2)


def at_lonlat(lon: float, lat: float, size: float, crs: object) -> Affine:
    to_crs = pyproj.Transformer.from_crs(4326, crs, always_xy=True)
    return centred(*to_crs.transform(lon, lat), size)


@given(lon=longitudes, lat=latitudes, degrees=st.floats(1e-5, 1e-3))
@settings(max_examples=60, deadline=None)
def test_geographic_sizes_are_the_radii_of_curvature(lon: float, lat: float, degrees: float) -> None:
    a, e2, phi = WGS84.a, WGS84.es, np.radians(lat)
    w = np.sqrt(1 - e2 * np.sin(phi) ** 2)
    normal, meridian = a / w, a * (1 - e2) / w**3
    x, y = ground(centred(lon, lat, degrees), 4326).size_xy_m
    assert x == pytest.approx(np.radians(degrees) * normal * np.cos(phi), rel=1e-6)
    assert y == pytest.approx(np.radians(degrees) * meridian, rel=1e-6)


@pytest.mark.parametrize("lat", [0, 30, 45, 60, 80, -60])
def test_web_mercator_is_corrected_on_both_axes(lat: float) -> None:
    found = ground(at_lonlat(10, lat, 10, 3857), 3857)
    w = np.sqrt(1 - WGS84.es * np.sin(np.radians(lat)) ** 2)
    x, y = 10 * np.cos(np.radians(lat)) / w, 10 * np.cos(np.radians(lat)) * (1 - WGS84.es) / w**3
    assert found.size_xy_m == pytest.approx((x, y), rel=1e-6)


def test_web_mercator_at_60_degrees_is_a_quarter_of_its_nominal_area() -> None:
    found = ground(at_lonlat(10, 60, 1, 3857), 3857)
    assert found.pixel_area_m2 == pytest.approx(0.25, rel=4e-3)
    assert found.pixel_area_m2 != pytest.approx(0.25, rel=3e-3)  # the spherical correction is 0.33 % off


def scaled_by_proj(lon: float, lat: float, crs: pyproj.CRS, size: float) -> tuple[float, float, float]:
    """Sizes of a north-up pixel, and its area, from PROJ's analytic factors; for conformal and other projections."""
    factors = pyproj.Proj(crs).get_factors(lon, lat)
    inverse = np.linalg.inv([[factors.dx_dlam, factors.dx_dphi], [factors.dy_dlam, factors.dy_dphi]])
    geod = crs.get_geod()
    assert geod is not None
    w = np.sqrt(1 - geod.es * np.sin(np.radians(lat)) ** 2)
    # PROJ's derivatives are for an ellipsoid of unit size.
    metres = np.diag([np.cos(np.radians(lat)) / w, (1 - geod.es) / w**3]) @ inverse * size
    x, y = np.hypot(*metres[:, 0]), np.hypot(*metres[:, 1])
    return float(x), float(y), float(abs(np.linalg.det(metres)))


@pytest.mark.parametrize(
    ("code", "lon", "lat"),
    [
        (3857, 20, 55),
        (6933, 20, 55),
        (3413, -45, 85),
        (3413, 10, 62),
        (3035, 30, 40),
        (3035, -5, 60),
        (2154, 3, 40),
        (5070, -120, 30),
        (54009, 60, 50),
    ],
)
def test_projected_sizes_are_those_of_projs_scale_factors(code: int, lon: float, lat: float) -> None:
    crs = pyproj.CRS.from_user_input(f"ESRI:{code}" if code > 50_000 else code)
    base = pyproj.Transformer.from_crs(crs.geodetic_crs, crs, always_xy=True)
    found = measure_ground(centred(*base.transform(lon, lat), 5), SHAPE, crs)
    x, y, area = scaled_by_proj(lon, lat, crs, 5)
    if not found.method.startswith("planar"):
        assert found.size_xy_m == pytest.approx((x, y), rel=2e-5)
        assert found.pixel_area_m2 == pytest.approx(area, rel=2e-5)
    else:
        assert found.size_xy_m == pytest.approx((x, y), rel=DISTORTION_LIMIT)


def test_a_utm_grid_of_half_a_metre_measures_half_a_metre() -> None:
    found = ground(centred(300_000, 5_500_000, 0.5), 32633)
    assert found.size_xy_m == (0.5, 0.5)
    assert found.pixel_area_m2 == 0.25
    assert found.method == "planar in EPSG:32633"


@given(a=st.floats(-20, 20), b=st.floats(-20, 20), d=st.floats(-20, 20), e=st.floats(-20, 20))
@settings(max_examples=100, deadline=None)
def test_planar_area_is_the_determinant(a: float, b: float, d: float, e: float) -> None:
    determinant = a * e - b * d
    if abs(determinant) < 1:
        return
    found = ground(Affine(a, b, 500_000, d, e, 5_000_000), 32633, (20, 20))
    assert found.pixel_area_m2 == pytest.approx(abs(determinant))
    assert found.size_xy_m == pytest.approx((np.hypot(a, d), np.hypot(b, e)))
    here = found.positions_m(np.array([3.0]), np.array([4.0])) - found.positions_m(np.array([0.0]), np.array([0.0]))
    assert np.linalg.norm(here) == pytest.approx(np.hypot(4 * a + 3 * b, 4 * d + 3 * e))


def test_a_rotated_grid_is_not_measured_by_its_diagonal_terms() -> None:
    affine = Affine.translation(500_000, 5_000_000) @ Affine.rotation(30) @ Affine.scale(10, -10)
    assert abs(affine.a) == pytest.approx(8.66, abs=0.001)
    assert ground(affine, 32633).size_xy_m == pytest.approx((10, 10))


def test_a_south_up_grid_has_positive_sizes_and_points_down() -> None:
    found = ground(Affine(10, 0, 500_000, 0, 10, 5_000_000), 32633)
    assert found.size_xy_m == (10, 10)
    assert found.row_m == (0, -10)


@pytest.mark.parametrize(
    ("code", "unit_m"), [(2263, US_FOOT), (2222, 0.3048), (32633, 1.0), ("+proj=utm +zone=33 +units=km", 1000.0)]
)
def test_the_linear_unit_of_the_crs_is_applied(code: object, unit_m: float) -> None:
    crs = pyproj.CRS.from_user_input(code)
    middle = pyproj.Transformer.from_crs(4326, crs, always_xy=True)
    lon, lat = {2263: (-74, 40.7), 2222: (-110.2, 33)}.get(code, (15, 50))  # type: ignore[call-overload]
    found = measure_ground(centred(*middle.transform(lon, lat), 2 / unit_m, (10, 10)), (10, 10), crs)
    assert found.size_xy_m == pytest.approx((2, 2))


def test_a_geographic_crs_in_grads() -> None:
    in_grads = ground(centred(1, 52, 0.001), 4807)
    in_degrees = ground(centred(0.9, 46.8, 0.0009), pyproj.CRS("+proj=longlat +a=6378249.2 +b=6356515 +no_defs"))
    assert in_grads.size_xy_m == pytest.approx(in_degrees.size_xy_m, rel=1e-6)


def test_a_projected_crs_whose_base_is_in_grads() -> None:
    assert ground(centred(600_000, 2_200_000, 10), 27572).size_xy_m == (10, 10)


def test_compound_and_bound_crs_are_measured_by_their_horizontal_part() -> None:
    assert ground(centred(155_000, 463_000, 0.5), 7415).size_xy_m == (0.5, 0.5)
    bound = "+proj=utm +zone=33 +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7 +units=m"
    assert ground(centred(500_000, 5_500_000, 2), bound).size_xy_m == (2, 2)


def test_the_moon_is_measured_on_the_moon() -> None:
    radius = 1_737_400
    x, y = ground(centred(10, 20, 0.01), f"+proj=longlat +R={radius}").size_xy_m
    assert (x, y) == pytest.approx((np.radians(0.01) * radius * np.cos(np.radians(20)), np.radians(0.01) * radius))


@pytest.mark.parametrize(("code", "scale"), [(3413, 0.96989), (3031, 0.97276), (32661, 0.994)])
def test_a_pixel_that_holds_the_pole(code: int, scale: float) -> None:
    crs = pyproj.CRS(code)
    pole = pyproj.Transformer.from_crs(crs.geodetic_crs, crs, always_xy=True).transform(0, -90 if code == 3031 else 90)
    found = measure_ground(centred(*pole, 1000, (10, 10)), (10, 10), crs)
    assert found.size_xy_m == pytest.approx((1000 / scale, 1000 / scale), rel=1e-4)
    assert found.pixel_area_m2 == pytest.approx(1e6 / scale**2, rel=2e-4)


@pytest.mark.parametrize(("crs", "x"), [(4326, 180.0), (3857, 20_037_508.34)])
def test_the_antimeridian_is_no_edge(crs: int, x: float) -> None:
    y, size = (50.0, 0.001) if crs == 4326 else (6_446_275.0, 100.0)
    across, elsewhere = ground(centred(x, y, size), crs), ground(centred(x / 2, y, size), crs)
    assert across.size_xy_m == pytest.approx(elsewhere.size_xy_m, rel=1e-9)


def polygon_area_m2(affine: Affine, crs: pyproj.CRS, shape: tuple[int, int], per_side: int = 400) -> float:
    """Area inside the image's border by pyproj's geodesic polygon, its sides followed closely."""
    rows, cols = shape
    t = np.linspace(0, 1, per_side, endpoint=False)
    col = np.concatenate([t * cols, np.full(per_side, cols), (1 - t) * cols, np.zeros(per_side)])
    row = np.concatenate([np.zeros(per_side), t * rows, np.full(per_side, rows), (1 - t) * rows])
    x, y = affine.a * col + affine.b * row + affine.c, affine.d * col + affine.e * row + affine.f
    lon, lat = x, y
    if crs.is_projected:
        lon, lat = pyproj.Transformer.from_crs(crs.geodetic_crs, crs, always_xy=True).transform(
            x, y, direction="INVERSE"
        )
    geod = crs.get_geod()
    assert geod is not None
    return abs(float(geod.polygon_area_perimeter(lon, lat)[0]))


def summed_m2(found: Ground) -> float:
    rows, cols = found.shape
    areas = [np.broadcast_to(found.area_m2(slice(r, r + 50)), (min(50, rows - r), cols)) for r in range(0, rows, 50)]
    return float(sum(block.sum() for block in areas))


@given(lon=longitudes, lat=st.floats(-70, 70), degrees=st.floats(0.001, 0.05))
@settings(max_examples=25, deadline=None)
def test_geographic_pixel_areas_add_up_to_the_polygon(lon: float, lat: float, degrees: float) -> None:
    affine, crs = centred(lon, lat, degrees, (100, 120)), pyproj.CRS(4326)
    found = measure_ground(affine, (100, 120), crs)
    tolerance = DISTORTION_LIMIT if found.uniform else 1e-6
    assert summed_m2(found) == pytest.approx(polygon_area_m2(affine, crs, (100, 120)), rel=tolerance)


def test_the_whole_earth_by_degrees() -> None:
    found = ground(Affine(1, 0, -180, 0, -1, 90), 4326, (180, 360))
    assert summed_m2(found) == pytest.approx(510_065_621_724_088.5, rel=1e-9)


def test_rows_beyond_the_poles_have_no_area() -> None:
    """Global grids that are registered on pixel centres reach half a pixel too far."""
    found = ground(Affine(1, 0, -180.5, 0, -1, 90.5), 4326, (181, 360))
    assert summed_m2(found) == pytest.approx(510_065_621_724_088.5, rel=1e-9)


@pytest.mark.parametrize(
    ("crs", "affine"),
    [
        (3857, Affine(5000, 0, 0, 0, -5000, 8_000_000)),
        (3413, Affine(10_000, 0, -1_500_000, 0, -10_000, 1_000_000)),
        (4326, Affine.translation(10, 60) @ Affine.rotation(25) @ Affine.scale(0.02, -0.02)),
        ("+proj=sinu +R=6371007.181", Affine(5000, 0, 3_000_000, 0, -5000, 6_000_000)),
    ],
)
def test_areas_that_vary_add_up_to_the_polygon(crs: object, affine: Affine) -> None:
    known = pyproj.CRS.from_user_input(crs)
    found = measure_ground(affine, SHAPE, known)
    assert not found.uniform
    assert summed_m2(found) == pytest.approx(polygon_area_m2(affine, known, SHAPE), rel=2e-5)


@given(row=st.floats(0, 199), col=st.floats(0, 299), d_row=st.floats(-40, 40), d_col=st.floats(-40, 40))
@settings(max_examples=50, deadline=None)
def test_distances_between_positions_are_geodesics(row: float, col: float, d_row: float, d_col: float) -> None:
    affine = Affine(0.005, 0, 10, 0, -0.005, 60)
    found = ground(affine, 4326)
    assert not found.uniform
    ends = found.positions_m(np.array([row, row + d_row]), np.array([col, col + d_col]))
    lon, lat = affine.c + 0.005 * np.array([col, col + d_col]), affine.f - 0.005 * np.array([row, row + d_row])
    lon, lat = lon + 0.0025, lat - 0.0025
    length = WGS84.inv(lon[0], lat[0], lon[1], lat[1])[2]
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(length, rel=1e-5, abs=1e-6)


def test_one_scene_measures_the_same_in_every_crs() -> None:
    """Area under reprojection: 3 km x 2 km around one place, gridded in six CRSs."""
    lon, lat, areas = 20.0, 60.0, {}
    for code in (32634, 4326, 3857, 3067, 3035, 3413):
        crs = pyproj.CRS(code)
        unit = 1e-4 if crs.is_geographic else 10.0
        affine = at_lonlat(lon, lat, unit, code)
        found = measure_ground(affine, SHAPE, crs)
        areas[code] = summed_m2(found) / polygon_area_m2(affine, crs, SHAPE)
    assert areas == pytest.approx(dict.fromkeys(areas, 1.0), abs=2 * DISTORTION_LIMIT)


@pytest.mark.parametrize(
    ("affine", "crs", "reason"),
    [
        (Affine(0, 0, 0, 0, 0, 0), 32633, "the geotransform is degenerate: its pixels have no area"),
        (Affine(1, 0, float("nan"), 0, -1, 0), 32633, "the geotransform is degenerate: its pixels have no area"),
        (Affine(1, 0, 0, 0, -1, 400), 4326, "the image centre lies outside the area where its CRS is defined"),
        (
            Affine(1, 0, 0, 0, -1, 0),
            'LOCAL_CS["site",UNIT["metre",1]]',
            "the CRS is local and has no link to the ground",
        ),
        (Affine(1, 0, 0, 0, -1, 0), 4978, "the CRS is geocentric: its axes run through the body, not along the ground"),
    ],
)
def test_no_ground_size_is_a_reason(affine: Affine, crs: object, reason: str) -> None:
    with pytest.raises(NoGround) as caught:
        ground(affine, crs)
    assert str(caught.value) == reason


def test_pixels_off_the_body_are_far_from_everything() -> None:
    full_disc = Affine(135_000, 0, -5_400_000, 0, -180_000, 5_400_000)
    found = ground(full_disc, "+proj=geos +h=35785831 +lon_0=0 +sweep=y +ellps=GRS80", (60, 80))
    corner, centre = found.positions_m(np.array([0.0, 30.0]), np.array([0.0, 40.0]))
    assert np.linalg.norm(corner - centre) > 1e11
    assert np.isfinite(found.area_m2(slice(0, 60))).all()


@given(st.floats(0, 16))
def test_spline_weights_reproduce_cubics(at: float) -> None:
    nodes = np.arange(17.0)
    weights = spline_weights(nodes, np.array([at]))
    for power in range(4):
        assert (weights @ nodes**power)[0] == pytest.approx(at**power, rel=1e-9, abs=1e-9)


def test_a_hemisphere_is_half_a_sphere() -> None:
    sphere = pyproj.Geod(a=2, b=2)
    assert strip_areas_m2(sphere, np.array([90.0, 0.0]), 360).item() == pytest.approx(8 * np.pi)


@pytest.mark.parametrize(
    ("crs", "name"),
    [
        (32633, "EPSG:32633"),
        ("+proj=stere +lat_0=90 +lat_ts=71 +R=6371000", "unnamed CRS (Polar Stereographic (variant B))"),
        ('LOCAL_CS["site",UNIT["metre",1]]', "site"),
    ],
)
def test_names_of_crs(crs: object, name: str) -> None:
    assert crs_name(pyproj.CRS.from_user_input(crs)) == name


@given(row=st.floats(-10, 300), col=st.floats(-10, 400), turn=st.floats(0, 360), shear=st.floats(-30, 30))
@settings(deadline=None)
def test_pixel_to_world_and_back(row: float, col: float, turn: float, shear: float) -> None:
    affine = (
        Affine.translation(500_000, 5_000_000) @ Affine.rotation(turn) @ Affine.shear(shear) @ Affine.scale(0.5, -0.7)
    )
    grid = Grid(affine, SHAPE, pyproj.CRS(32633))
    back = ~grid.affine @ (grid.affine @ (col, row))
    assert back == pytest.approx((col, row), abs=1e-6)
    window = grid.window(slice(10, 20), slice(30, 60))
    assert window.shape == (10, 30)
    assert window.affine @ (col - 30, row - 10) == pytest.approx(grid.affine @ (col, row), abs=1e-6)
