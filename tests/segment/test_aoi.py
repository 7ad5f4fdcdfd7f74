"""Areas of interest: any CRS, holes, several polygons, partly or wholly elsewhere, and what is no area at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio.raw
import pyproj
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from segment_places import NORTH_UP, UTM
from shapely.geometry import GeometryCollection, LineString, MultiPolygon, Point, Polygon, box

from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.held import IN_ARRAYS, Tiles
from swath.raster.reader import Raster
from swath.raster.tiled import TiledPixels, tiled
from swath.segment.aoi import Area, AreaFile, area_of_interest, read_areas
from swath.segment.burn import covered
from swath.segment.coverage import share_inside
from swath.segment.vector_file import VectorFile

Write = Callable[..., Path]
DRAWN = MultiPolygon(
    [
        Polygon([(5.2, 4.7), (30.4, 6.1), (26.3, 33.8), (8.8, 29.2)], [[(12, 12), (20.3, 12.7), (15.1, 22.4)]]),
        box(35, 2, 44.6, 9.3),
    ]
)


def to_crs(geometry: Any, code: int) -> Any:
    """From the image's pixel coordinates to a CRS, edges cut so finely that they stay straight on the ground."""
    transform = pyproj.Transformer.from_crs(UTM, code, always_xy=True).transform
    on_ground = shapely.transform(
        shapely.segmentize(geometry, 0.5), lambda xy: np.column_stack(NORTH_UP @ (xy[:, 0], xy[:, 1]))
    )
    return shapely.transform(on_ground, lambda xy: np.column_stack(transform(xy[:, 0], xy[:, 1])))  # fmt: skip


def inside(geometry: Any, shape: tuple[int, int]) -> np.ndarray:
    """The pixel centres that lie in a geometry, by point in polygon."""
    cols, rows = np.meshgrid(np.arange(shape[1]) + 0.5, np.arange(shape[0]) + 0.5)
    return shapely.contains_xy(geometry, cols, rows)


def everywhere(image: Raster) -> np.ndarray:
    return np.ones(image.shape, dtype=bool)


@pytest.mark.parametrize("code", [4326, 32645, 32644, 3857, 2193, 27700])
@pytest.mark.parametrize("suffix", [".geojson", ".gpkg"])
def test_any_crs_with_holes_and_several_parts(
    code: int, suffix: str, image: Raster, write_geojson: Write, tmp_path: Path
) -> None:
    drawn = to_crs(DRAWN, code)
    if not np.isfinite(shapely.get_coordinates(drawn)).all():
        pytest.fail("the place of this test lies outside the CRS")
    path = tmp_path / f"aoi{suffix}"
    if suffix == ".gpkg":
        written = shapely.to_wkb(np.array([drawn], object))
        pyogrio.raw.write(path, written, [], [], crs=f"EPSG:{code}", geometry_type="MultiPolygon")
    else:
        write_geojson(path.name, [(drawn, {})], crs=f"urn:ogc:def:crs:EPSG::{code}")
    area = area_of_interest(path, image)
    assert np.array_equal(area.clipped(everywhere(image)), inside(DRAWN, image.shape))
    assert (area.name, area.covered, area.notes) == ("the area of interest", 1.0, ())
    assert area.remarks(everywhere(image)) == ()


def test_only_valid_pixels_stay(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    area = area_of_interest(write_geojson("a.geojson", [(on_ground(box(10, 10, 30, 20)), {})]), image)
    valid = everywhere(image)
    valid[:15] = False
    assert area.clipped(valid).sum() == 20 * 5
    assert area.window == (slice(10, 20), slice(10, 30))
    assert area.measured(valid) == 0.5
    assert area.remarks(valid) == (
        "The image covers 50.0 % of the area of interest: the rest lies outside it, is nodata or void.",
    )


@pytest.mark.parametrize("code", [32645, 4326, 3857])
def test_partly_outside(code: int, image: Raster, write_geojson: Write) -> None:
    drawn = to_crs(MultiPolygon([box(-30, -10, 20, 30), box(60, 0, 70, 10)]), code)
    area = area_of_interest(write_geojson("a.geojson", [(drawn, {})], crs=f"urn:ogc:def:crs:EPSG::{code}"), image)
    assert np.array_equal(area.clipped(everywhere(image)), inside(box(0, 0, 20, 30), image.shape))
    assert area.covered == pytest.approx(20 * 30 / (50 * 40 + 100), rel=2e-3)
    assert area.remarks(everywhere(image))[-1].startswith("The image covers 28.6 % of the area of interest")


def test_polygons_that_overlap_count_once(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    polygons = [(on_ground(box(-10, 0, 10, 10)), {}), (on_ground(box(-10, 0, 10, 10)), {})]
    area = area_of_interest(write_geojson("a.geojson", polygons), image)
    assert area.covered == pytest.approx(0.5)
    assert area.clipped(everywhere(image)).sum() == 100


def test_pixel_coordinates_where_nothing_names_a_crs(plain_image: Raster, write_geojson: Write) -> None:
    area = area_of_interest(write_geojson("a.geojson", [(box(40, 10, 60, 20), {})], crs=None), plain_image)
    assert area.clipped(everywhere(plain_image)).sum() == 100
    assert area.covered == 0.5


def test_a_broken_outline_is_repaired_and_said(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    bow = on_ground(Polygon([(5, 5), (25, 25), (25, 5), (5, 25)]))
    area = area_of_interest(write_geojson("a.geojson", [(bow, {})]), image)
    assert area.notes == ("1 invalid outlines of the area of interest were repaired.",)
    assert 150 < area.clipped(everywhere(image)).sum() < 250


def test_elsewhere_names_both_extents(image: Raster, write_geojson: Write) -> None:
    path = write_geojson("paris.geojson", [(box(2.2, 48.8, 2.4, 48.9), {})], crs="absent")
    with pytest.raises(
        InputError,
        match=r"^paris\.geojson lies outside image\.tif: it covers x 2\.2 to 2\.4, y 48\.8 to 48\.9 in WGS 84; the "
        r"image covers x 300000 to 300500, y 3059600 to 3060000 in EPSG:32645\. Next: give an area of the same place",
    ):
        area_of_interest(path, image)


@pytest.mark.parametrize("drawn", [LineString([(5, 5), (20, 20)]), Point(5, 5)])
def test_lines_and_points_enclose_nothing(drawn: Any, image: Raster, write_geojson: Write, on_ground: Any) -> None:
    path = write_geojson("a.geojson", [(on_ground(box(0, 0, 9, 9)), {}), (on_ground(drawn), {})])
    with pytest.raises(
        InputError, match=r"a\.geojson draws lines or points, which enclose nothing\. Next: give a file"
    ):
        area_of_interest(path, image)


def test_lines_beside_the_polygons_of_a_collection(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    drawn = GeometryCollection([box(0, 0, 10, 10), LineString([(20, 20), (40, 20)])])
    area = area_of_interest(write_geojson("a.geojson", [(on_ground(drawn), {})]), image)
    assert area.clipped(everywhere(image)).sum() == 100


def test_empty_files_and_areas_between_pixel_centres(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    with pytest.raises(InputError, match=r"none\.geojson holds no polygon\. Next: give a file of polygons\."):
        area_of_interest(write_geojson("none.geojson", [(None, {})]), image)
    path = write_geojson("dot.geojson", [(on_ground(box(5.6, 5.6, 5.9, 5.9)), {})])
    with pytest.raises(
        InputError, match=r"dot\.geojson holds the centre of no pixel of image\.tif, so there is nothing"
    ):
        area_of_interest(path, image)


def test_one_polygon_of_several(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    polygons = [(on_ground(box(k, 0, k + 5, 5)), {"code": 10.0 * k, "name": "x"}) for k in (1, 2, 3)]
    path = write_geojson("a.geojson", polygons)
    area = area_of_interest(path, image, id_field="code", only="20")
    assert (area.name, area.left) == ("zone 20", 2)
    with pytest.raises(InputError, match=r'a\.geojson has no polygon "7"\. Next: name one of 10, 20, 30\.'):
        area_of_interest(path, image, id_field="code", only="7")
    with pytest.raises(InputError, match=r'a\.geojson has no column "id"\. Next: name one of code, name\.'):
        read_areas(path, "id")
    with pytest.raises(
        InputError, match=r'The column "name" of a\.geojson holds "x" 3 times\. Next: name a column that'
    ):
        read_areas(path, "name")


def test_ids_with_gaps(write_geojson: Write, on_ground: Any) -> None:
    path = write_geojson("a.geojson", [(on_ground(box(0, 0, 5, 5)), {"id": i}) for i in ("a", None, "", "b")])
    with pytest.raises(InputError, match=r'The column "id" of a\.geojson is empty for 2 of 4 polygons\. Next: name a'):
        read_areas(path, "id")


def test_zones_one_by_one_say_why_they_cannot_be_measured(
    image: Raster, write_geojson: Write, on_ground: Any, tmp_path: Path
) -> None:
    drawn = [box(0, 0, 10, 10), None, box(90, 0, 99, 9), box(5.6, 5.6, 5.9, 5.9), box(45, 0, 55, 10)]
    features = [(None if shape is None else on_ground(shape), {"id": k}) for k, shape in enumerate(drawn)]
    zones = [zone for _, zone in read_areas(write_geojson("z.geojson", features), "id").on(image)]
    assert [isinstance(zone, Area) for zone in zones] == [True, False, False, False, True]
    assert zones[1] == "Zone 1 of z.geojson has no outline."
    assert zones[2] == (
        "Zone 2 of z.geojson lies outside image.tif: it covers x 300900 to 300990, y 3059910 to 3060000 in WGS 84 / "
        "UTM zone 45N; the image covers x 300000 to 300500, y 3059600 to 3060000 in EPSG:32645."
    )
    assert zones[3].startswith("Zone 3 of z.geojson holds the centre of no pixel of image.tif")  # type: ignore[union-attr]
    assert (zones[4].name, zones[4].covered) == ("zone 4", pytest.approx(0.5))  # type: ignore[union-attr]
    assert [name for name, _ in read_areas(tmp_path / "z.geojson", "id").on(image, {"4", "2"})] == ["2", "4"]


@given(
    cuts=st.lists(st.integers(1, 49), max_size=6, unique=True),
    slants=st.lists(st.floats(-20, 20), min_size=6, max_size=6),
)
def test_zones_that_share_borders_share_no_pixel_and_leave_none_out(cuts: list[int], slants: list[float]) -> None:
    grid = Grid(NORTH_UP, (40, 50), UTM)
    image = Raster(Path("image.tif"), "GTiff", grid, (), (), "image.tif")
    edges = [LineString([(cut, -99), (cut + slant, 99)]) for cut, slant in zip(sorted(cuts), slants, strict=False)]
    lines = shapely.node(shapely.union_all([*edges, box(0, 0, 50, 40).exterior]))
    pieces = shapely.get_parts(shapely.polygonize(shapely.get_parts(lines)))
    on_ground = shapely.transform(pieces, lambda xy: np.column_stack(NORTH_UP @ (xy[:, 0], xy[:, 1])))
    file = VectorFile(Path("zones.gpkg"), UTM, np.arange(len(pieces)), on_ground, {})
    times = np.zeros(grid.shape, dtype=int)
    for _, zone in AreaFile(file, tuple(map(str, range(len(pieces))))).on(image):
        if isinstance(zone, Area):
            times[zone.window] += zone.pixels
            assert zone.covered > 0.999
    assert (times == 1).all()


def test_the_covered_share_is_that_of_the_ground() -> None:
    wide = box(-10, 0, 10, 80)
    frame = box(-10, 0, 10, 60)
    share = share_inside([wide], frame, pyproj.CRS(4326))
    assert share == pytest.approx(np.sin(np.radians(60)) / np.sin(np.radians(80)), rel=3e-3)  # zones of a sphere
    assert share_inside([wide], frame, pyproj.CRS(3857)) == 0.75
    assert np.isnan(share_inside([wide], None, pyproj.CRS(3857)))


@given(
    corners=st.lists(
        st.lists(st.tuples(st.integers(-8, 100), st.integers(-8, 80)), min_size=3, max_size=7), min_size=1, max_size=4
    ),
    parts=st.sampled_from([1, 2, 3, 7]),
    tiles=st.sampled_from([(7, 11), (16, 16), (1, 200), (64, 3)]),
)
def test_a_large_area_is_drawn_tile_by_tile(
    corners: list[list[tuple[int, int]]], parts: int, tiles: tuple[int, int]
) -> None:
    """Corners also on pixel centres and edges (halves and wholes), outside of the box, and outlines that overlap."""
    outlines = np.array([Polygon(np.array(xy) / parts).buffer(0) for xy in corners], dtype=object)
    outlines = outlines[~shapely.is_empty(outlines)]
    if not len(outlines):
        return
    whole, cut = (covered(outlines, (60, 80), limit) for limit in (IN_ARRAYS, Tiles(0, tiles)))
    assert isinstance(cut, TiledPixels)
    assert np.array_equal(cut[:, :], whole)


def test_what_is_measured_of_a_large_area() -> None:
    outlines = np.array([Polygon([(3, 2), (70, 9), (41, 58)])], dtype=object)
    valid = np.random.default_rng(0).random((90, 100)) < 0.7
    whole, cut = (
        Area("it", covered(outlines, (60, 80), limit), 20, 11, 0.8) for limit in (IN_ARRAYS, Tiles(0, (7, 11)))
    )
    held = tiled(valid.shape, Tiles(0, (16, 9)), lambda rows, cols: valid[rows, cols].copy())
    assert whole.measured(valid) == cut.measured(held)
    assert np.array_equal(whole.clipped(valid), cut.clipped(held)[:, :])
