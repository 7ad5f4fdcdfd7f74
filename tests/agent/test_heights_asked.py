"""Heights through the whole path: options, intervals, kept objects, run.json, replays, statements that cannot hold."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio.raw
import pytest
from affine import Affine
from run_scenes import Scene, painted, write_image

from swath.agent.ask import plan_only
from swath.agent.replay import replay
from swath.batch.survey import survey
from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.trace.reading import load_run
from swath.trace.schema import fault_of

SHAPE = (40, 60)
BOXES = ((4, 5, 14, 12), (20, 8, 32, 20), (40, 25, 50, 35))
TALL = (
    'b = components(segment("building"))\nt = with_height(b, larger_than_m=5)\nreply(count(t), kind="count", objects=t)'
)
MEAN = 'reply(height_statistic_m(segment("building"), statistic="mean"), kind="quantity", unit="m")'
SUNK = 'w = segment("building")\nreply(elevation_statistic_m(w), kind="quantity", unit="m", objects=w)'


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(tmp_path, monkeypatch, write_image(tmp_path / "i.tif"), {"building": painted(SHAPE, *BOXES)})


@pytest.fixture
def surfaces(scene: Scene, tmp_path: Path) -> dict[str, Any]:
    from swath.raster.reader import open_raster

    grid = open_raster(scene.image).grid
    ground = np.full(SHAPE, 50, dtype=np.float32)
    roofs = ground + 0
    for (x0, y0, x1, y1), height in zip(BOXES, (3, 6, 12), strict=True):
        roofs[y0:y1, x0:x1] += height
    roofs[6, 5] = np.nan
    write_array(tmp_path / "dsm.tif", roofs, grid)
    write_array(tmp_path / "dtm.tif", ground, grid)
    return {"dsm": tmp_path / "dsm.tif", "dtm": tmp_path / "dtm.tif"}


def test_objects_and_run_hold_the_heights(scene: Scene, surfaces: dict[str, Any]) -> None:
    run, answer = scene.ask(TALL, **surfaces)
    assert (answer.answer, answer.status) == (2, "answered")
    heights = {layer: pyogrio.raw.read(str(run / "objects.gpkg"), layer=layer, columns=["height_m"])[3][0].tolist()
               for layer in ("counted", "considered")}  # fmt: skip
    assert heights == {"counted": [6.0, 12.0], "considered": [3.0]}
    record = json.loads((run / "run.json").read_text())
    assert record["inputs"]["dsm"] == str(surfaces["dsm"])
    assert record["heights"]["rasters"]["dtm"]["sha256"] == hashlib.sha256(surfaces["dtm"].read_bytes()).hexdigest()
    assert fault_of("run", record) is None
    assert str(answer.method).endswith("dsm dsm.tif on the image's own grid; dtm dtm.tif on the image's own grid")


def test_without_heights_the_column_is_empty_and_the_field_null(scene: Scene) -> None:
    run, _ = scene.ask('b = components(segment("building"))\nreply(count(b), kind="count", objects=b)')
    assert np.isnan(pyogrio.raw.read(str(run / "objects.gpkg"), layer="counted", columns=["height_m"])[3][0]).all()
    assert json.loads((run / "run.json").read_text())["heights"] is None


def test_a_replay_measures_the_same_and_sees_a_changed_surface(scene: Scene, surfaces: dict[str, Any]) -> None:
    run, _ = scene.ask(TALL, **surfaces)
    assert replay(load_run(run)).same
    grid = Grid(Affine(2, 0, 500_000, 0, -2, 5_000_000), SHAPE, None)
    write_array(surfaces["dtm"], np.full(SHAPE, 49, dtype=np.float32), grid)
    again = replay(load_run(run))
    assert "the files that the heights come from have changed since" in again.differences


def test_intervals_say_what_they_cover(scene: Scene, surfaces: dict[str, Any]) -> None:
    _, answer = scene.ask(MEAN, **surfaces)
    assert answer.interval is not None
    assert answer.interval.covers == ("sampling",)
    _, answer = scene.ask(MEAN, vertical_accuracy_m=0.25, **surfaces)
    assert answer.interval is not None
    assert answer.interval.covers == ("vertical accuracy",)
    assert (answer.answer - answer.interval.low, answer.interval.high - answer.answer) == pytest.approx((0.25, 0.25))
    _, count = scene.ask(TALL, vertical_accuracy_m=3.0, **surfaces)
    assert count.interval is not None
    assert (count.interval.low, count.interval.high) == (1, 3)


def test_a_unit_that_was_said_is_used_kept_and_replayed(scene: Scene, surfaces: dict[str, Any]) -> None:
    run, answer = scene.ask(TALL.replace("larger_than_m=5", "larger_than_m=3"), vertical_unit="ft", **surfaces)
    assert answer.answer == 1  # 12 ft
    assert "dsm.tif states no vertical unit: --vertical-unit says ft." in answer.warnings
    heights = pyogrio.raw.read(str(run / "objects.gpkg"), layer="counted", columns=["height_m"])[3][0]
    assert heights.tolist() == pytest.approx([12 * 0.3048], rel=1e-6)
    record = json.loads((run / "run.json").read_text())
    assert (record["inputs"]["vertical_unit"], record["heights"]["rasters"]["dsm"]["unit"]) == ("ft", "ft")
    assert replay(load_run(run)).same


def test_ground_below_the_datum_is_an_answer(scene: Scene, tmp_path: Path) -> None:
    from swath.raster.reader import open_raster

    write_array(tmp_path / "dem.tif", np.full(SHAPE, -3.5, dtype=np.float32), open_raster(scene.image).grid)
    _, answer = scene.ask(SUNK, dem=tmp_path / "dem.tif")
    assert (answer.status, answer.answer) == ("answered", -3.5)


def test_a_refusal_names_the_options(scene: Scene) -> None:
    _, answer = scene.ask(MEAN)
    assert answer.status == "refused"
    assert answer.reason == (
        "Heights cannot be measured: no raster of heights is given. "
        "Next: give --ndsm FILE, or --dsm FILE and --dtm FILE."
    )


def test_heights_of_another_place_are_an_error(scene: Scene, tmp_path: Path) -> None:
    away = write_image(tmp_path / "away.tif", (9, 9), affine=Affine(2, 0, 900_000, 0, -2, 5_000_000))
    write_array(tmp_path / "one.tif", np.ones((9, 9), dtype=np.float32), _grid_of(away))
    with pytest.raises(InputError, match=r"The heights do not overlap the image: one\.tif covers x 900000 to 900018"):
        plan_only(scene.image, "how high?", program=MEAN, dem=tmp_path / "one.tif")


def _grid_of(path: Path) -> Grid:
    from swath.raster.reader import open_raster

    return open_raster(path).grid


def test_zones_are_measured_with_the_heights(scene: Scene, surfaces: dict[str, Any], tmp_path: Path) -> None:
    zones = {"west": (500_000, 500_036), "east": (500_036, 500_120)}
    features = [
        {"type": "Feature", "properties": {"name": name}, "geometry": {"type": "Polygon", "coordinates": [
            [[x0, 4_999_900], [x1, 4_999_900], [x1, 5_000_010], [x0, 5_000_010], [x0, 4_999_900]]]}}
        for name, (x0, x1) in zones.items()
    ]  # fmt: skip
    collection = {
        "type": "FeatureCollection",
        "crs": {"type": "name", "properties": {"name": "EPSG:32631"}},
        "features": features,
    }
    (tmp_path / "zones.geojson").write_text(json.dumps(collection))
    from swath.agent.planner import Program
    from swath.testing.planner import ScriptedPlanner

    source = 'reply(height_statistic_m(segment("building"), statistic="max"), kind="quantity", unit="m")'
    survey([scene.image], "how tall?", planner=ScriptedPlanner(Program(source, "heights")), id_field="name",
           zones=tmp_path / "zones.geojson", output=tmp_path / "t.csv", out=tmp_path / "runs", **surfaces)  # fmt: skip
    rows = (tmp_path / "t.csv").read_text().splitlines()
    answers = [row.split(",")[rows[0].split(",").index("answer")] for row in rows[1:]]
    assert [float(text) for text in answers] == [3.0, 12.0]
