"""The objects behind an answer: counted rows, true outlines, and what was dropped where and why."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio
import pyproj
import pytest
import shapely
from affine import Affine
from run_scenes import UTM, Scene, painted, write_image

from swath.agent import objects
from swath.agent.object_files import write_vector
from swath.errors import InputError
from swath.trace.reading import load_run

SHAPE = (40, 60)
HOUSES = painted(SHAPE, (12, 2, 18, 8), (12, 20, 18, 26), (50, 30, 56, 36), (20, 10, 22, 12))
WATER = painted(SHAPE, (0, 0, 5, 40))
NEAR = (
    'houses = components(segment("building"), larger_than_px=10)\n'
    'close = near(houses, segment("water"), max_distance_m=30)\n'
    'reply(count(close), kind="count", objects=close)\n'
)
AREA = 'w = segment("water")\nreply(area_m2(w), kind="quantity", unit="m2", objects=w)\n'


def rows(path: Path, layer: str) -> tuple[list[dict[str, Any]], Any, Any]:
    """The rows of a layer, its geometries and its CRS."""
    meta, _, geometry, columns = pyogrio.raw.read(path, layer=layer)
    names = meta["fields"].tolist()
    return (
        [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)],
        shapely.from_wkb(geometry),
        meta["crs"],
    )


def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> Scene:
    image = write_image(tmp_path / "town.tif", SHAPE, **options)
    return Scene(tmp_path, monkeypatch, image, {"building": HOUSES, "water": WATER})


def test_the_count_is_the_number_of_counted_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, answer = town(tmp_path, monkeypatch).ask(NEAR)
    counted, shapes, crs = rows(folder / "objects.gpkg", "counted")
    assert answer.answer == len(counted) == 2
    assert [row["class"] for row in counted] == ["building"] * 2
    assert [row["area_m2"] for row in counted] == [144.0, 144.0]
    assert [row["area_px"] for row in counted] == [36, 36]
    assert [json.loads(row["box"]) for row in counted] == [[12, 2, 18, 8], [12, 20, 18, 26]]
    assert all(row["height_m"] is None or math.isnan(row["height_m"]) for row in counted)
    assert all(row["score"] is None or math.isnan(row["score"]) for row in counted)
    assert pyproj.CRS(crs) == UTM
    assert shapely.equals(shapes[0], shapely.box(500_024, 4_999_984, 500_036, 4_999_996))


def test_what_was_dropped_names_the_step_and_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = town(tmp_path, monkeypatch).ask(NEAR)
    considered, shapes, _ = rows(folder / "objects.gpkg", "considered")
    steps = {step["step"]: step["name"] for step in load_run(folder).steps}
    told = {row["area_px"]: (steps[row["dropped_at_step"]], row["reason"]) for row in considered}
    assert told == {
        4: ("components", "components: area 4 px is not larger than 10 px"),
        36: ("near", "near: distance 92 m to water is not at most 30 m"),
    }
    assert shapely.area(shapes).tolist() == [144.0, 16.0]


@pytest.mark.parametrize(
    ("line", "tool", "reason"),
    [
        ("k = largest(h, n=1)", "largest", "largest: not among largest building"),
        ('k = located_in(h, image_part(part="top-left"))', "located_in", "located_in: not in the top-left"),
        (
            'k = exclude(h, touching(h, segment("building")))',
            "exclude",
            "exclude: not except building touching building",
        ),
        ("k = filter_regions(h, max_px=5)", "filter_regions", "filter_regions: area 36 px is not at most 5 px"),
        ('k = common(h, near(h, segment("water"), max_distance_m=1))', "common", "common: not that are building"),
    ],
)
def test_every_filter_gives_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, tool: str, reason: str
) -> None:
    program = f'h = components(segment("building"))\n{line}\nreply(count(k), kind="count", objects=k)\n'
    folder, answer = town(tmp_path, monkeypatch).ask(program)
    considered, _, _ = rows(folder / "objects.gpkg", "considered")
    assert len(considered) == 4 - answer.answer
    steps = {step["step"]: step["name"] for step in load_run(folder).steps}
    assert {steps[row["dropped_at_step"]] for row in considered} == {tool}
    assert all(row["reason"].startswith(reason) for row in considered)


def test_side_branches_do_not_take_the_blame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        'h = components(segment("building"))\n'
        "big = filter_regions(h, larger_than_px=10)\n"
        "small = filter_regions(h, max_px=10)\n"  # beside the way to the answer
        'close = near(big, segment("water"), max_distance_m=30)\n'
        "n = count(small)\n"
        "reply(count(close), kind='count', objects=close)\n"
    )
    folder, _ = town(tmp_path, monkeypatch).ask(program)
    considered, _, _ = rows(folder / "objects.gpkg", "considered")
    assert {row["reason"] for row in considered} == {
        "filter_regions: area 4 px is not larger than 10 px",
        "near: distance 92 m to water is not at most 30 m",
    }


def test_objects_of_both_branches_of_a_merge_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        'h = components(segment("building"))\n'
        'a = located_in(h, image_part(part="left"))\n'
        "b = filter_regions(h, max_px=10)\n"
        "both = merge(a, b)\n"
        'reply(count(both), kind="count", objects=both)\n'
    )
    folder, answer = town(tmp_path, monkeypatch).ask(program)
    considered, _, _ = rows(folder / "objects.gpkg", "considered")
    assert answer.answer == 3
    assert [row["reason"] for row in considered] == ["filter_regions: area 36 px is not at most 10 px"]


def test_objects_chosen_one_by_one_have_no_single_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        'h = components(segment("building"))\nfirst = each(h)[0]\nreply(count(first), kind="count", objects=first)\n'
    )
    folder, answer = town(tmp_path, monkeypatch).ask(program)
    considered, _, _ = rows(folder / "objects.gpkg", "considered")
    assert (answer.answer, len(considered)) == (1, 3)
    assert {row["reason"] for row in considered} == {"not chosen by the program"}
    assert all(math.isnan(row["dropped_at_step"]) for row in considered)


def test_the_components_of_an_area_are_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = 'b = segment("building")\nreply(area_m2(b), kind="quantity", unit="m2", objects=b)\n'
    folder, answer = town(tmp_path, monkeypatch).ask(program)
    counted, shapes, _ = rows(folder / "objects.gpkg", "counted")
    assert len(counted) == 4
    assert answer.counted is not None
    assert answer.counted.count == 4
    assert sum(row["area_m2"] for row in counted) == shapely.area(shapes).sum() == answer.answer == (3 * 36 + 4) * 4


def test_regions_dropped_before_an_area_are_considered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        'big = components(segment("building"), larger_than_px=10)\n'
        'part = within(big, segment("water"), max_distance_m=30)\n'
        'reply(area_m2(part), kind="quantity", unit="m2", objects=part)\n'
    )
    folder, _ = town(tmp_path, monkeypatch).ask(program)
    considered, _, _ = rows(folder / "objects.gpkg", "considered")
    assert sorted(row["reason"] for row in considered) == [
        "components: area 4 px is not larger than 10 px",
        "within: not within 30 m of water",
    ]


def test_the_largest_comes_first_and_sources_stay_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        'all = merge(components(segment("building")), components(segment("water")))\n'
        "s = sort_by_area(all)\nreply(count(s), kind='count', objects=s)\n"
    )
    folder, answer = town(tmp_path, monkeypatch).ask(program)
    counted, shapes, _ = rows(folder / "objects.gpkg", "counted")
    assert answer.answer == len(counted) == 5
    assert [row["class"] for row in counted] == ["water", *["building"] * 4]
    assert [row["area_m2"] for row in counted] == shapely.area(shapes).tolist() == [800, 144, 144, 144, 16]


def test_nothing_found_is_an_empty_layer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = NEAR.replace("larger_than_px=10", "larger_than_px=1000")
    folder, answer = town(tmp_path, monkeypatch).ask(program)
    counted, _, _ = rows(folder / "objects.gpkg", "counted")
    considered, _, _ = rows(folder / "objects.gpkg", "considered")
    assert (answer.answer, len(counted), len(considered)) == (0, 0, 4)


def test_an_answer_without_objects_has_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = 'reply(area_m2(segment("water")), kind="quantity", unit="m2")\n'
    folder, answer = town(tmp_path, monkeypatch).ask(program)
    assert not (folder / "objects.gpkg").exists()
    assert answer.counted is None


def test_without_crs_coordinates_are_pixels_and_y_runs_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = town(tmp_path, monkeypatch, crs=None, affine=Affine(7, 0, 3, 0, -7, 9)).ask(NEAR, gsd_m=2.0)
    counted, shapes, crs = rows(folder / "objects.gpkg", "counted")
    assert crs is None or "Undefined" in crs
    assert shapely.equals(shapes[0], shapely.box(12, 2, 18, 8))
    assert counted[0]["area_m2"] == 144.0


def test_a_sheared_and_turned_grid_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    affine = Affine.translation(5e5, 5e6) @ Affine.rotation(30) @ Affine.shear(10) @ Affine.scale(2, -3)
    folder, answer = town(tmp_path, monkeypatch, affine=affine).ask(AREA)
    _, shapes, _ = rows(folder / "objects.gpkg", "counted")
    corners = shapely.Polygon([affine @ corner for corner in ((0, 0), (5, 0), (5, 40), (0, 40))])
    assert shapely.symmetric_difference(shapes[0], corners).area < 1e-6
    assert answer.answer == pytest.approx(corners.area, rel=1e-9)


def test_pixels_that_meet_at_corners_are_valid_shapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checks = np.indices((20, 20)).sum(axis=0) % 2 == 0
    checks[10:, 10:] = np.random.default_rng(3).random((10, 10)) > 0.4
    image = write_image(tmp_path / "town.tif", checks.shape)
    folder, _ = Scene(tmp_path, monkeypatch, image, {"water": checks}).ask(AREA)
    counted, shapes, _ = rows(folder / "objects.gpkg", "counted")
    assert shapely.is_valid(shapes).all()
    assert [row["area_m2"] for row in counted] == shapely.area(shapes).tolist()
    assert shapely.area(shapes).sum() == checks.sum() * 4


def test_holes_stay_holes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ring = painted((20, 20), (2, 2, 18, 18)) & ~painted((20, 20), (6, 6, 12, 12))
    ring |= painted((20, 20), (8, 8, 10, 10))
    image = write_image(tmp_path / "town.tif", ring.shape)
    folder, _ = Scene(tmp_path, monkeypatch, image, {"water": ring}).ask(AREA)
    _, shapes, _ = rows(folder / "objects.gpkg", "counted")
    assert sorted(shapely.area(shapes).tolist()) == [4 * 4, (256 - 36) * 4]


def test_features_keep_their_own_outlines_and_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = write_image(tmp_path / "town.tif", SHAPE)
    outlines = [shapely.Polygon([(1.25, 1.5), (9.75, 2), (5, 8.125)]), shapely.box(5, 5, 12, 12)]  # they overlap
    program = 'b = components(segment("building"))\nreply(count(b), kind="count", objects=b)\n'
    folder, answer = Scene(tmp_path, monkeypatch, image, {"building": outlines}).ask(program)
    counted, shapes, _ = rows(folder / "objects.gpkg", "counted")
    assert answer.answer == 2
    assert [row["id"] for row in counted] == ["1", "2"]
    placed = [shapely.transform(outline, lambda xy: xy * (2, -2) + (5e5, 5e6)) for outline in outlines]
    assert shapely.equals_exact(shapely.get_geometry(shapes, 0), placed, 1e-9).all()
    assert [row["area_m2"] for row in counted] == pytest.approx([outline.area * 4 for outline in outlines])


def test_lines_and_points_are_written_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = write_image(tmp_path / "town.tif", SHAPE)
    things = [shapely.LineString([(1, 1), (20, 20)]), shapely.Point(30.5, 10.25)]
    program = 'b = components(segment("pole"))\nreply(count(b), kind="count", objects=b)\n'
    folder, _ = Scene(tmp_path, monkeypatch, image, {"pole": things}).ask(program)
    counted, shapes, _ = rows(folder / "objects.gpkg", "counted")
    assert [shape.geom_type for shape in shapes] == ["LineString", "Point"]
    assert all(math.isnan(row["area_m2"]) for row in counted)


def test_very_many_objects_become_centroids_and_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objects, "MOST_OUTLINES", 1)
    folder, answer = town(tmp_path, monkeypatch).ask(NEAR)
    counted, shapes, _ = rows(folder / "objects.gpkg", "counted")
    assert [shape.geom_type for shape in shapes] == ["Point", "Point"]
    assert (shapes[0].x, shapes[0].y) == (500_000 + 15 * 2, 5_000_000 - 5 * 2)
    assert json.loads(counted[0]["box"]) == [12, 2, 18, 8]
    sentence = "objects.gpkg holds centroids and boxes: 2 objects are too many for outlines."
    assert sentence in answer.warnings
    assert load_run(folder).record["remarks"] == [sentence]
    assert (folder / "overlay.png").exists()


def test_objects_alone_for_swath_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from swath.raster.reader import open_raster
    from swath.testing.segment import PaintedBackend
    from swath.tools.masks import segment
    from swath.tools.regions import components
    from swath.tools.site import Site

    raster = open_raster(write_image(tmp_path / "town.tif", SHAPE))
    site = Site(raster, PaintedBackend(SHAPE, {"building": HOUSES}), np.ones(SHAPE, dtype=bool))
    regions = components(site, segment(site, "building"))
    write_vector(tmp_path / "o.gpkg", regions, site)
    assert pyogrio.read_info(tmp_path / "o.gpkg")["features"] == 4
    with pytest.raises(InputError, match=r"nowhere.*o\.gpkg cannot be written. Next: check the folder"):
        write_vector(tmp_path / "nowhere" / "o.gpkg", regions, site)


def test_oriented_boxes_lengths_and_directions_are_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outline = shapely.affinity.rotate(shapely.box(20, 15, 40, 23), 30)
    image = write_image(tmp_path / "town.tif", SHAPE)
    scene = Scene(tmp_path, monkeypatch, image, {"house": [outline, shapely.box(2, 2, 6, 6)], "water": WATER})
    program = 'h = components(segment("house"))\nreply(count(h), kind="count", objects=h)\n'
    folder, _ = scene.ask(program)
    tilted, square = rows(folder / "objects.gpkg", "counted")[0]
    assert tilted["length_m"] == pytest.approx(40)
    assert tilted["width_m"] == pytest.approx(16)
    assert tilted["orientation_deg"] == pytest.approx(120, abs=2)
    corners = shapely.Polygon(np.reshape(json.loads(tilted["oriented_box"]), (4, 2)))
    assert corners.symmetric_difference(outline).area < 0.1
    assert math.isnan(square["orientation_deg"])
    assert square["length_m"] == square["width_m"] == pytest.approx(8)


def test_without_a_ground_size_there_are_corners_and_no_metres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    image = write_image(tmp_path / "plain.tif", SHAPE, crs=None)
    scene = Scene(tmp_path, monkeypatch, image, {"house": [shapely.box(2, 2, 12, 6)]})
    program = 'h = components(segment("house"))\nreply(boxes_px(h), kind="boxes", objects=h)\n'
    folder, answer = scene.ask(program)
    assert answer.answer == [[2, 2, 12, 6]]
    assert answer.to_json()["unit"] == "px"
    (row,) = rows(folder / "objects.gpkg", "counted")[0]
    assert math.isnan(row["length_m"]) and math.isnan(row["width_m"])
    assert json.loads(row["oriented_box"]) == [2, 2, 12, 2, 12, 6, 2, 6]
    assert row["orientation_deg"] == pytest.approx(90)
