"""Vector labels: identities, classes, places, repairs; and files that cannot be used as given."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio.raw
import pyproj
import pytest
import shapely
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from segment_places import NORTH_UP, UTM

from swath.errors import InputError
from swath.raster.reader import Raster, open_raster
from swath.segment import vector_file
from swath.segment.labels import LabelsBackend
from swath.segment.protocol import SegmentOptions
from swath.testing.segment_contract import faults

Write = Callable[..., Path]


def open_labels(image: Raster, labels: Path | None, **options: Any) -> LabelsBackend:
    return LabelsBackend(image, SegmentOptions(labels=labels, **options))


def centres_inside(outline: Any, shape: tuple[int, int] = (40, 50)) -> np.ndarray[Any, Any]:
    """Every pixel centre asked one by one."""
    rows, cols = np.mgrid[: shape[0], : shape[1]]
    return np.asarray(shapely.contains_xy(outline, cols + 0.5, rows + 0.5))


# What a feature covers


def test_touching_and_overlapping_features_stay_two(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    boxes = [shapely.box(1, 1, 10, 10), shapely.box(10, 1, 20, 10), shapely.box(15, 5, 30, 20)]
    backend = open_labels(
        image, write_geojson("houses.geojson", [(on_ground(box), {}) for box in boxes]), label_class="house"
    )
    found = backend.segment("house")
    assert found.features is not None
    assert [feature.id for feature in found.features] == ["0", "1", "2"]
    for feature, box in zip(found.features, boxes, strict=True):
        assert feature.outline.equals_exact(box, 1e-6, normalize=True)
    assert np.array_equal(found.mask, np.any([centres_inside(box) for box in boxes], axis=0))
    assert found.areal
    assert backend.known() is None
    assert faults(backend, image) == []


CENTRES = shapely.points(*(grid.ravel() + 0.5 for grid in np.meshgrid(np.arange(50), np.arange(40))))
_coordinate = st.floats(-15, 65, allow_nan=False).map(lambda value: round(value, 3))
_triangle = st.tuples(*[st.tuples(_coordinate, _coordinate)] * 3).map(shapely.Polygon)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(triangles=st.lists(_triangle.filter(lambda t: t.area > 0.01), min_size=1, max_size=6))
def test_masks_against_centres_and_areas_against_shapely(triangles: list[Any], tmp_path: Path, image: Raster) -> None:
    frame = shapely.box(0, 0, 50, 40)
    # a centre on an edge belongs to either side, as rounding has it
    assume(all(shapely.distance(shapely.boundary(triangle), CENTRES).min() > 1e-6 for triangle in triangles))
    path = tmp_path / "pixels.gpkg"
    ground = shapely.transform(triangles, lambda xy: np.column_stack(NORTH_UP @ (xy[:, 0], xy[:, 1])))
    path.unlink(missing_ok=True)
    kept = [t for t in triangles if centres_inside(t).any() or frame.contains(t)]
    assume(kept)  # slivers at the border alone are another test's
    pyogrio.raw.write(path, shapely.to_wkb(ground), [], [], geometry_type="Polygon", crs="EPSG:32645")
    assume(any(triangle.intersection(frame).area > 0 for triangle in triangles))
    found = open_labels(image, path).segment("pixels")
    assert found.features is not None
    expected = np.zeros((40, 50), dtype=bool)
    small = 0
    for triangle in triangles:
        inside = centres_inside(triangle)
        expected |= inside
        small += not inside.any() and frame.contains(triangle)
    extra = found.mask & ~expected
    assert not (expected & ~found.mask).any()
    assert extra.sum() <= small
    assert [f.outline.area for f in found.features] == pytest.approx(
        [t.intersection(frame).area for t in kept], abs=1e-5
    )


def test_what_the_border_cuts_off_to_a_sliver_lies_outside(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    boxes = [shapely.box(-20, 5, 0.08, 15), shapely.box(48, 38, 60, 60), shapely.box(-20, 20, 0.6, 21)]
    found = open_labels(image, write_geojson("b.geojson", [(on_ground(box), {}) for box in boxes])).segment("b")
    assert found.features is not None
    assert [feature.id for feature in found.features] == ["1", "2"]
    assert found.features[0].outline.equals_exact(shapely.box(48, 38, 50, 40), 1e-6, normalize=True)
    assert found.mask.sum() == 4 + 1


def boxes_only(path: Path, boxes: list[Any], *, crs: Any = "left out", **more: Any) -> Path:
    """A GeoJSON file of features without geometries, classes "car", "bus", "car" ..."""
    features = [
        {"type": "Feature", "id": 90 - i, "bbox": box, "geometry": None, "properties": {"class": ("car", "bus")[i % 2]}}
        for i, box in enumerate(boxes)
    ]
    collection = {"type": "FeatureCollection", **({} if crs == "left out" else {"crs": crs}), "features": features}
    path.write_text(json.dumps(collection | more))
    return path


def test_features_with_nothing_but_a_bbox_are_boxes(tmp_path: Path, image: Raster, write_geojson: Write) -> None:
    own = {"type": "name", "properties": {"name": "EPSG:32645"}}
    frame = [shapely.box(2, 3, 9, 12), shapely.box(20, 20, 30, 22), shapely.box(30, 5, 44, 7)]
    ground = [shapely.transform(box, lambda xy: np.column_stack(NORTH_UP @ (xy[:, 0], xy[:, 1]))) for box in frame]
    (a, b, c) = (list(box.bounds) for box in ground)
    path = boxes_only(
        tmp_path / "b.geojson", [a, b, [*c[:2], 0, *c[2:], 99.5], "no box", [5, 5, 1, 9], [1, 2, 3]], crs=own
    )
    backend = open_labels(image, path)
    cars, buses = backend.segment("car"), backend.segment("bus")
    assert cars.features is not None
    assert [feature.id for feature in cars.features] == ["90", "88"]
    assert np.array_equal(cars.mask, centres_inside(frame[0]) | centres_inside(frame[2]))
    assert np.array_equal(buses.mask, centres_inside(frame[1]))
    assert set(cars.warnings) == {
        "3 features of b.geojson have no geometry but a bbox, which was taken for their outline.",
        "3 features of b.geojson have no usable geometry and were left out.",
    }
    assert faults(backend, image) == []


def test_a_geometry_is_used_before_a_bbox(tmp_path: Path, image: Raster, write_geojson: Write, on_ground: Any) -> None:
    path = write_geojson("g.geojson", [(on_ground(shapely.box(2, 2, 6, 6)), {"class": "car"})])
    written = json.loads(path.read_text())
    written["features"][0]["bbox"] = list(on_ground(shapely.box(2, 2, 30, 30)).bounds)
    path.write_text(json.dumps(written))
    found = open_labels(image, path).segment("car")
    assert (found.mask.sum(), found.warnings) == (16, ())


def test_boxes_of_another_place_are_an_error(tmp_path: Path, image: Raster) -> None:
    path = boxes_only(tmp_path / "b.geojson", [[10.0, 50.0, 10.1, 50.1]])
    with pytest.raises(InputError, match=r"do not overlap|does not overlap"):
        open_labels(image, path)


def test_many_boxes_are_not_lost_by_looking_near_the_image_only(
    tmp_path: Path, image: Raster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_file, "WHOLE_FILE", 1)
    own = {"type": "name", "properties": {"name": "EPSG:32645"}}
    x, y = NORTH_UP @ (10, 10)
    path = boxes_only(tmp_path / "b.geojson", [[x - 8, y - 8, x, y], [x, y, x + 8, y + 8]], crs=own)
    assert open_labels(image, path).segment("car").mask.any()


def test_a_multipolygon_is_one_object(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    pair = shapely.MultiPolygon([shapely.box(1, 1, 4, 4), shapely.box(10, 10, 14, 14)])
    found = open_labels(image, write_geojson("b.geojson", [(on_ground(pair), {})])).segment("b")
    assert found.features is not None
    assert len(found.features) == 1
    assert found.mask.sum() == 9 + 16


def test_lines_and_points_have_a_place_but_no_area(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    features = [
        (on_ground(shapely.LineString([(0.5, 20.5), (49.5, 20.5)])), {"class": "road"}),
        (on_ground(shapely.Point(7.9, 3.1)), {"class": "tree"}),
        (on_ground(shapely.Point(50, 3)), {"class": "tree"}),
        (on_ground(shapely.box(1, 1, 3, 3)), {"class": "mix"}),
        (on_ground(shapely.Point(9.5, 9.5)), {"class": "mix"}),
    ]
    backend = open_labels(image, write_geojson("b.geojson", features))
    road, tree, mix = (backend.segment(name) for name in ("road", "tree", "mix"))
    assert not road.areal
    assert not tree.areal
    assert np.array_equal(road.mask, np.arange(40)[:, None] == np.full((1, 50), 20))
    assert np.argwhere(tree.mask).tolist() == [[3, 7]]
    assert not mix.areal
    assert mix.warnings == ("1 of the 2 features of mix are lines or points: it has no area.",)


# Where features lie


@pytest.mark.parametrize("epsg", [4326, 3857, 32644])
def test_other_crs(epsg: int, image: Raster, tmp_path: Path, on_ground: Any) -> None:
    boxes = [shapely.box(2.3, 3.7, 12.4, 9.1), shapely.box(-30, -20, 90, 70)]
    there = pyproj.Transformer.from_crs(UTM, epsg, always_xy=True)
    dense = shapely.segmentize(np.array([on_ground(box) for box in boxes], dtype=object), 5.0)
    moved = shapely.transform(dense, lambda xy: np.column_stack(there.transform(xy[:, 0], xy[:, 1])))
    path = tmp_path / "b.gpkg"
    pyogrio.raw.write(path, shapely.to_wkb(moved), [], [], geometry_type="Polygon", crs=f"EPSG:{epsg}")
    found = open_labels(image, path).segment("b")
    assert found.features is not None
    assert shapely.symmetric_difference(found.features[0].outline, boxes[0]).area < 1e-4
    assert found.features[1].outline.area == pytest.approx(40 * 50, rel=1e-9)
    assert found.mask.all()


def test_a_straight_edge_of_degrees_is_bent_as_it_should(tmp_path: Path) -> None:
    from swath.raster.grid import Grid
    from swath.raster.write import write_array

    grid = Grid(NORTH_UP @ NORTH_UP.scale(200), (300, 300), UTM)
    write_array(tmp_path / "i.tif", np.ones(grid.shape, np.uint8), grid)
    edge = shapely.box(80, 25, 95, 26)
    path = tmp_path / "b.gpkg"
    pyogrio.raw.write(path, shapely.to_wkb([edge]), [], [], geometry_type="Polygon", crs="EPSG:4326")
    found = open_labels(open_raster(tmp_path / "i.tif"), path).segment("b")
    rows, cols = np.mgrid[:300, :300] + 0.5
    lonlat = pyproj.Transformer.from_crs(UTM, 4326, always_xy=True).transform(*(grid.affine @ (cols, rows)))
    inside = (lonlat[0] > 80) & (lonlat[0] < 95) & (lonlat[1] > 25) & (lonlat[1] < 26)
    assert inside.sum() > 5000
    assert np.count_nonzero(found.mask != inside) <= 30


def test_geojson_is_longitude_and_latitude(image: Raster, write_geojson: Write) -> None:
    to_lonlat = pyproj.Transformer.from_crs(UTM, 4326, always_xy=True)
    lon, lat = to_lonlat.transform(*(NORTH_UP @ (20.5, 10.5)))
    found = open_labels(image, write_geojson("b.geojson", [(shapely.Point(lon, lat), {})], crs="absent")).segment("b")
    assert np.argwhere(found.mask).tolist() == [[10, 20]]


def test_features_of_another_place(image: Raster, write_geojson: Write) -> None:
    far = write_geojson("b.geojson", [(shapely.box(10, 50, 11, 51), {})], crs="absent")
    with pytest.raises(
        InputError,
        match=r"The labels do not overlap the image: b\.geojson covers x 10 to 11, y 50 to 51 in WGS 84; image\.tif "
        r"covers x 300000 to 300500, .*32645\. Next: give labels of the same place",
    ):
        open_labels(image, far)


def test_nothing_in_the_image_but_all_around_it_is_the_answer_none(
    image: Raster, write_geojson: Write, on_ground: Any
) -> None:
    around = [(on_ground(shapely.box(x, y, x + 5, y + 5)), {}) for x, y in ((-50, -50), (80, 70))]
    found = open_labels(image, write_geojson("b.geojson", around)).segment("b")
    assert found.features == ()
    assert not found.mask.any()


def test_an_empty_file_holds_none_of_its_class(image: Raster, write_geojson: Write) -> None:
    backend = open_labels(image, write_geojson("solar_panels.geojson", []))
    assert backend.classes() == ("solar_panels",)
    assert not backend.segment("solar_panels").mask.any()


def test_files_without_crs(image: Raster, plain_image: Raster, tmp_path: Path) -> None:
    path = tmp_path / "b.shp"
    with pytest.warns(UserWarning, match="'crs' was not provided"):
        pyogrio.raw.write(path, shapely.to_wkb([shapely.box(1, 2, 5, 9)]), [np.array([7])], ["n"],
                          geometry_type="Polygon", crs=None)  # fmt: skip
    with pytest.raises(InputError, match=r"b\.shp names no CRS while image\.tif is in .*32645.*so its features cannot"):
        open_labels(image, path)
    found = open_labels(plain_image, path).segment("b")
    assert np.array_equal(found.mask, centres_inside(shapely.box(1, 2, 5, 9)))
    assert found.warnings == ()


def test_geojson_on_an_image_without_crs(plain_image: Raster, write_geojson: Write) -> None:
    box = shapely.box(1, 2, 5, 9)
    stated = open_labels(plain_image, write_geojson("a.geojson", [(box, {})], crs=None)).segment("a")
    assert np.array_equal(stated.mask, centres_inside(box))
    assert stated.warnings == ()
    with pytest.raises(
        InputError, match=r"b\.geojson is in WGS 84 while plain\.tif names no CRS, .*\(GeoJSON with \"crs\": null\)\."
    ):
        open_labels(plain_image, write_geojson("b.geojson", [(box, {})], crs="absent"))
    with pytest.raises(InputError, match=r"c\.geojson is in .*32645?.* while plain\.tif names no CRS|UTM zone 45N"):
        open_labels(plain_image, write_geojson("c.geojson", [(box, {})]))


def test_coordinates_that_can_only_be_pixels(tmp_path: Path, write_raster: Write, write_geojson: Write) -> None:
    image = open_raster(write_raster("wide.tif", np.ones((120, 300), np.uint8), crs=None))
    box = shapely.box(200, 95, 220, 110)
    found = open_labels(image, write_geojson("b.geojson", [(box, {})], crs="absent")).segment("b")
    assert np.array_equal(found.mask, centres_inside(box, (120, 300)))
    assert found.warnings == (
        "b.geojson names no CRS and wide.tif neither: its coordinates were taken for columns and rows.",
    )


# What features are


@pytest.mark.parametrize("column", ["class", "Label", "TYPE", "category", "landuse", "fclass"])
def test_the_class_column_is_found_by_name(column: str, image: Raster, write_geojson: Write, on_ground: Any) -> None:
    features = [
        (on_ground(shapely.box(1, 1, 5, 5)), {"name": "x", column: " House "}),
        (on_ground(shapely.box(9, 9, 15, 15)), {"name": "y", column: "Lake"}),
        (on_ground(shapely.box(20, 20, 25, 25)), {"name": "z", column: None}),
    ]
    backend = open_labels(image, write_geojson("b.geojson", features))
    assert backend.classes() == ("house", "lake")
    assert backend.segment("house").mask.sum() == 16
    assert backend.segment("lake").warnings == (f'1 features of b.geojson have no "{column}" and were left out.',)
    assert open_labels(image, write_geojson("b.geojson", features), label_class="Spot").classes() == ("spot",)


def test_an_empty_class_column_is_none(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    features = [(on_ground(shapely.box(1, 1, 5, 5)), {"class": None, "type": "", "kind": "shed"})]
    assert open_labels(image, write_geojson("b.geojson", features)).classes() == ("shed",)


def test_numbers_in_the_class_column_need_a_legend(
    image: Raster, write_geojson: Write, write_legend: Write, on_ground: Any
) -> None:
    boxes = [shapely.box(1 + 10 * i, 1, 6 + 10 * i, 6) for i in range(4)]
    values = [1, 2, 0, 7]
    path = write_geojson("b.geojson", [(on_ground(box), {"class": v}) for box, v in zip(boxes, values, strict=True)])
    with pytest.raises(InputError, match=r'The column "class" of b\.geojson holds numbers \(0, 1, 2, 7\)\. Next: name'):
        open_labels(image, path)
    backend = open_labels(image, path, legend=write_legend({"1": "house", "2": "lake"}))
    assert backend.classes() == ("house", "lake")
    assert np.array_equal(backend.segment("lake").mask, centres_inside(boxes[1]))
    assert backend.segment("lake").warnings == (
        "1 features of b.geojson have values that the legend does not name and were left out: 7.",
    )
    known = backend.known()
    assert known is not None
    assert np.array_equal(~known, centres_inside(boxes[2]))
    names = write_geojson("n.geojson", [(on_ground(boxes[0]), {"class": "shed"})])
    with pytest.raises(InputError, match=r'The column "class" of n\.geojson holds names, so .* names nothing\. Next'):
        open_labels(image, names, legend=write_legend({"1": "house"}))
    single = write_geojson("s.geojson", [(on_ground(boxes[0]), {})])
    with pytest.raises(
        InputError, match=r"s\.geojson has no class column for the legend to name\. Next: leave --legen"
    ):
        open_labels(image, single, legend=write_legend({"1": "house"}))


def test_what_a_file_calls_void_is_not_known(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    features = [
        (on_ground(shapely.box(0, 0, 10, 40)), {"class": "void"}),
        (on_ground(shapely.box(20, 0, 30, 40)), {"class": "house"}),
    ]
    backend = open_labels(image, write_geojson("b.geojson", features))
    assert backend.classes() == ("house",)
    known = backend.known()
    assert known is not None
    assert np.array_equal(known, np.arange(50)[None, :].repeat(40, 0) >= 10)


def test_a_layer_takes_all_features_whatever_their_columns(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    features = [(on_ground(shapely.box(i, 0, i + 1, 40)), {"class": f"c{i}"}) for i in range(5)]
    backend = open_labels(image, None, layers={"strip": write_geojson("b.geojson", features)})
    assert backend.classes() == ("strip",)
    assert backend.segment("strip").mask.sum() == 5 * 40


def test_identifiers_and_scores(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    boxes = [on_ground(shapely.box(i, 0, i + 1, 40)) for i in range(3)]
    told = [
        (box, {"id": f"way/{i}", "confidence": c}) for i, (box, c) in enumerate(zip(boxes, (0.2, 1.0, -1), strict=True))
    ]
    features = open_labels(image, write_geojson("b.geojson", told)).segment("b").features
    assert features is not None
    assert [(f.id, f.score) for f in features] == [("way/0", 0.2), ("way/1", 1.0), ("way/2", None)]
    twice = [(box, {"id": "way/7"}) for box in boxes]
    features = open_labels(image, write_geojson("c.geojson", twice)).segment("c").features
    assert features is not None
    assert [f.id for f in features] == ["0", "1", "2"]


# What is wrong with files


def test_defects_are_counted(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    bow_tie = shapely.Polygon([(0, 0), (10, 10), (10, 0), (0, 10)])
    features = [
        (on_ground(bow_tie), {}),
        (None, {}),
        (shapely.Polygon(), {}),
        (on_ground(shapely.box(20, 0, 30, 10)), {}),
    ]
    found = open_labels(image, write_geojson("b.geojson", features)).segment("b")
    assert found.features is not None
    assert len(found.features) == 2
    assert found.features[0].outline.area == pytest.approx(50)
    assert found.warnings == (
        "1 invalid outlines of b.geojson were repaired.",
        "2 features of b.geojson have no usable geometry and were left out.",
    )


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "a.geojson",
            b"hello",
            r"a\.geojson is not GeoJSON, as its name says, but something else\. Next: save it again as GeoJSON or",
        ),
        ("b.json", b'{"1": "water"}', r"b\.json cannot be read as a vector file"),
        ("c.gpkg", b"SQLite format 3\x00 and no more", r"c\.gpkg cannot be read as a vector file"),
        ("d.shp", b"\x00" * 200, r"d\.shp is not a shapefile, as its name says"),
        ("g.shp", b"\x00\x00\x27\x0a" + b"\x00" * 200, r"g\.shp cannot be read as a vector file \(.*\)\. Next: save"),
        ("e.geojson", b"", r"e\.geojson is empty \(0 bytes\)\. Next: fetch the file again\."),
        (
            "f.geojson",
            '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"class":"forêt"},'
            '"geometry":{"type":"Point","coordinates":[3,4]}}]}'.encode("latin-1"),
            r"f\.geojson holds text that is not UTF-8\. Next: save it as UTF-8\.",
        ),
    ],
)
def test_files_that_cannot_be_read(name: str, content: bytes, sentence: str, image: Raster, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        open_labels(image, tmp_path / name)


def test_several_layers(image: Raster, tmp_path: Path, on_ground: Any) -> None:
    wkb = shapely.to_wkb([on_ground(shapely.box(1, 1, 5, 5))])
    for layer in ("houses", "lakes"):
        pyogrio.raw.write(tmp_path / "b.gpkg", wkb, [], [], layer=layer, append=layer == "lakes",
                          geometry_type="Polygon", crs="EPSG:32645")  # fmt: skip
    with pytest.raises(
        InputError, match=r"b\.gpkg holds 2 layers \(houses, lakes\)\. Next: save the layer that is mean"
    ):
        open_labels(image, tmp_path / "b.gpkg")


def test_large_files_are_read_near_the_image(
    image: Raster, write_geojson: Write, on_ground: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes = [(on_ground(shapely.box(x, 5, x + 3, 9)), {"class": f"c{x}"}) for x in (-400, 10, 30, 900)]
    path = write_geojson("b.geojson", boxes)
    whole = open_labels(image, path)
    monkeypatch.setattr(vector_file, "WHOLE_FILE", 2)
    part = open_labels(image, path)
    assert part.classes() == whole.classes() == ("c-400", "c10", "c30", "c900")
    for name in whole.classes():
        assert np.array_equal(part.segment(name).mask, whole.segment(name).mask)
    assert part.segment("c10").features == whole.segment("c10").features
    empty = write_geojson("e.geojson", [(on_ground(shapely.box(x, 500, x + 3, 501)), {}) for x in (0, 10, 20)])
    with pytest.raises(InputError, match="The labels do not overlap the image: e.geojson covers x 300000 to 300230"):
        open_labels(image, empty)


def test_the_record(image: Raster, write_geojson: Write, on_ground: Any) -> None:
    path = write_geojson("b.geojson", [(on_ground(shapely.box(1, 1, 5, 5)), {"class": "House"})])
    record = open_labels(image, path).describe()
    assert json.loads(json.dumps(record)) == record
    assert record["labels"] == {
        "path": str(path),
        "sha256": vector_file.sha256_of(path),
        "layer": "b",
        "column": "class",
        "classes": ["house"],
    }


# Real data


def test_real_footprints_of_nepal(shared_data: Path) -> None:
    folder = shared_data / "buildings_hot"
    drawn = json.loads((folder / "labels.geojson").read_text())["features"]
    for chip in ("OAM-386691-220243-19", "OAM-386694-220241-19"):
        path = folder / "images" / f"{chip}.tif"
        if not path.is_file():
            continue
        image = open_raster(path)
        backend = open_labels(image, folder / "labels.geojson", label_class="building")
        found = backend.segment("building")
        assert found.features is not None
        assert faults(backend, image) == []
        listed = [feature for feature in drawn if chip in feature["properties"]["chips"]]
        assert abs(len(found.features) - len(listed)) <= 3
        truth = open_raster(folder / "masks" / f"{chip}.tif").read(1).data[0].data > 0
        assert np.mean(found.mask != truth) < 0.01
        pixels = sum(feature.outline.area for feature in found.features)
        assert found.mask.sum() == pytest.approx(pixels, rel=0.01)
