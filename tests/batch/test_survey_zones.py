"""One answer for every zone: clipped exactly as an area of interest is, from an image that is opened once."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pyogrio.raw
import pyproj
import pytest
import shapely
import working
from shapely.geometry import LineString, MultiPolygon, Polygon, box

import swath
from swath.agent.ask import ask
from swath.agent.replay import replay
from swath.batch.rows import Row
from swath.errors import InputError
from swath.segment.labels import LabelsBackend
from swath.testing.planner import ScriptedPlanner
from swath.trace.reading import find_run

Street = Callable[..., Path]
Zones = Callable[..., Path]
COUNT = 'houses = components(segment("building"))\nreply(count(houses), kind="count", objects=houses)\n'
AREA = 'reply(area_m2(segment("building")), kind="quantity", unit="m2", objects=segment("building"))'
NEAR = (
    'big = components(segment("building"), min_m2=4)\nnear_water = near(big, segment("water"), max_distance_m=27)\n'
    'reply(count(near_water), kind="count", objects=near_water)'
)
HALF = (
    'part = intersection(segment("grass"), image_part(part="north"))\n'
    'reply(share_percent(part), kind="percent", unit="percent")'
)
SHORE = 'reply(perimeter_m(segment("water")), kind="quantity", unit="m")'
MEAN = 'reply(area_statistic_m2(components(segment("building")), statistic="mean"), kind="quantity", unit="m2")'
PROGRAMS = [COUNT, AREA, NEAR, HALF, SHORE, MEAN]
LABELS = {"labels": "{stem}.tif", "legend": "legend.json"}
DRAWN = {
    "cut": box(6, 0, 30, 40),
    "slanted": Polygon([(20, 2), (70, 7), (60, 39), (15, 30)]),
    "holed": box(0, 0, 50, 40).difference(box(10, 2, 22, 20)),
    "two parts": MultiPolygon([box(3, 3, 9, 9), box(40, 0, 60, 12)]),
    "over": box(0, 0, 100, 40),
    "sticking out": box(80, -20, 140, 40),
    "no house": box(0, 10, 99, 20),
}


def surveyed(source: str, **options: Any) -> tuple[Row, ...]:
    return swath.survey("a.tif", "?", planner=ScriptedPlanner(source), **LABELS | options).rows


@pytest.mark.parametrize("code", [32631, 4326, 3857])
@pytest.mark.parametrize("source", PROGRAMS)
def test_every_zone_is_clipped_exactly_as_an_area_of_interest(
    street: Street, write_zones: Zones, code: int, source: str
) -> None:
    street("a.tif", 10)
    fine = {name: shapely.segmentize(shape, 0.25) for name, shape in DRAWN.items()}
    rows = surveyed(source, zones=write_zones("z.geojson", fine, code), id_field="name", keep="light")
    assert [row.zone for row in rows] == list(DRAWN)
    for row, (name, shape) in zip(rows, fine.items(), strict=True):
        area = write_zones("aoi.geojson", {name: shape}, code)
        alone = ask("a.tif", "?", program=source, aoi=area, labels="a.tif", legend="legend.json", keep="light")
        interval = None if alone.interval is None else (alone.interval.low, alone.interval.high)
        assert (row.status, row.answer, row.unit, row.kind) == (alone.status, alone.answer, alone.unit, alone.kind)
        assert (row.low, row.high) == (interval or (None, None))
        named = [warning.replace("the area of interest", f"zone {name}") for warning in alone.warnings]
        assert (list(row.warnings), row.reason) == (named, alone.reason)


@pytest.mark.parametrize("source", [COUNT, AREA, NEAR, MEAN])
def test_features_are_clipped_as_by_an_area_of_interest_too(street: Street, write_zones: Zones, source: str) -> None:
    street("a.tif", 0)
    houses = {k: box(2 + 9.3 * k, 4, 9 + 9.3 * k, 9.5) for k in range(10)} | {99: box(0, 12, 70, 14)}
    ponds = write_zones("ponds.geojson", {k: box(9 * k, 30, 9 * k + 4, 36) for k in range(11)})
    labels = {"labels": write_zones("houses.geojson", houses, column="id"), "label_class": "building"}
    given: dict[str, Any] = {**labels, "layers": {"water": ponds}, "keep": "light"}
    planner = ScriptedPlanner(source)
    zones = write_zones("z.geojson", DRAWN)
    found = swath.survey("a.tif", "?", zones=zones, id_field="name", planner=planner, **given)
    for row, (name, shape) in zip(found.rows, DRAWN.items(), strict=True):
        alone = ask("a.tif", "?", program=source, aoi=write_zones("aoi.geojson", {name: shape}), **given)
        assert (row.status, row.answer, row.reason) == (alone.status, pytest.approx(alone.answer), alone.reason)
        assert list(row.warnings) == [text.replace("the area of interest", f"zone {name}") for text in alone.warnings]


def test_an_image_is_opened_and_segmented_once(
    street: Street, write_zones: Zones, monkeypatch: pytest.MonkeyPatch
) -> None:
    street("a.tif", 10)
    calls: list[str] = []

    def counted(owner: Any, name: str) -> None:
        original = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given, **more: (calls.append(name), original(*given, **more))[1])

    counted(LabelsBackend, "segment")
    counted(swath.raster.reader.Raster, "read")
    counted(swath.agent.request, "open_raster")
    planner = ScriptedPlanner(NEAR)
    few = {k: box(10 * k, 0, 10 * k + 10, 40) for k in range(3)}
    swath.survey("a.tif", "?", zones=write_zones("few.geojson", few), id_field="name", planner=planner, **LABELS)
    for_few = sorted(calls)
    assert (for_few.count("segment"), for_few.count("open_raster"), len(planner.asked)) == (2, 1, 1)
    calls.clear()
    many = {k: box(k, 0, k + 1.5, 40) for k in range(98)}
    zones = write_zones("many.geojson", many)
    found = swath.survey("a.tif", "?", zones=zones, id_field="name", planner=ScriptedPlanner(NEAR), **LABELS)
    assert sorted(calls) == for_few
    assert found.count("answered") == 98


@pytest.mark.parametrize("seed", range(6))
def test_areas_of_a_partition_add_up_to_the_whole(street: Street, write_zones: Zones, seed: int) -> None:
    street("a.tif", 12)
    points = shapely.MultiPoint(np.random.default_rng(seed).uniform((0, 0), (100, 40), (9, 2)))
    cells = shapely.get_parts(shapely.voronoi_polygons(points, extend_to=box(-9, -9, 120, 60)))
    cells = shapely.intersection(cells, box(0, 0, 100, 40))
    zones = write_zones("z.geojson", dict(enumerate(cells)), column="id")
    for source in (AREA, 'reply(area_m2(segment("grass")), kind="quantity", unit="m2")'):
        rows = surveyed(source, zones=zones, id_field="id", keep="light")
        whole = ask("a.tif", "?", program=source, labels="a.tif", legend="legend.json", keep="light")
        assert sum(row.answer for row in rows) == whole.answer
    counted = sum(row.answer for row in surveyed(COUNT, zones=zones, id_field="id", keep="light"))
    assert counted >= 12  # an object that a border cuts is counted on both sides, and named


def test_cut_objects_outside_zones_and_covered_shares_are_said(street: Street, write_zones: Zones) -> None:
    street("a.tif", 10)
    drawn = {
        "left": box(0, 0, 6, 40),
        "away": box(500, 0, 510, 10),
        "tiny": box(3.6, 3.6, 3.9, 3.9),
        "none": None,
        "over": box(90, -40, 110, 40),
        "bow": Polygon([(10, 0), (30, 30), (30, 0), (10, 30)]),
    }
    rows = {row.zone: row for row in surveyed(COUNT, zones=write_zones("z.geojson", drawn), id_field="name")}
    assert list(rows) == list(drawn)
    assert [(row.status, row.covered_percent) for row in rows.values()] == [
        ("answered", 100.0), ("refused", 0.0), ("refused", 0.0), ("refused", 0.0), ("answered", 25.0),
        ("answered", 100.0),
    ]  # fmt: skip
    assert (
        rows["left"].warnings[0]
        == "1 of 1 building are cut by the border of zone left: only what lies inside is measured."
    )
    assert rows["away"].reason == (
        "Zone away of z.geojson lies outside a.tif: it covers x 500500 to 500510, y 4999990 to 5000000 in WGS 84 / UTM "
        "zone 31N; the image covers x 500000 to 500100, y 4999960 to 5000000 in EPSG:32631."
    )
    assert (rows["tiny"].reason or "").startswith("Zone tiny of z.geojson holds the centre of no pixel of a.tif")
    assert rows["none"].reason == "Zone none of z.geojson has no outline."
    assert "The image covers 25.0 % of zone over: the rest lies outside it, is nodata or void." in rows["over"].warnings
    assert "1 invalid outlines of zone bow were repaired." in rows["bow"].warnings
    assert rows["away"].run is None


def test_zones_where_nothing_is_valid(street: Street, write_zones: Zones) -> None:
    street("a.tif", 3)
    Path("legend.json").write_text(json.dumps({"1": "building", "2": "void", "3": "grass"}), encoding="utf-8")
    zones = write_zones("z.geojson", {"water": box(0, 36, 100, 40), "half": box(0, 30, 100, 40)})
    void, half = surveyed(COUNT, zones=zones, id_field="name")
    assert (void.status, void.covered_percent, half.status, half.covered_percent) == ("refused", 0.0, "answered", 50.0)
    assert void.reason == "No pixel in zone water is valid in a.tif: all are nodata, masked or void."


def test_an_image_that_cannot_be_opened_is_a_row_for_every_zone(street: Street, write_zones: Zones) -> None:
    street("a.tif", 3)
    zones = write_zones("z.geojson", {"x": box(0, 0, 20, 40), "y": box(20, 0, 40, 40)})
    names = ["nowhere.tif", "a.tif"]
    found = swath.survey(names, "?", zones=zones, id_field="name", planner=ScriptedPlanner(COUNT), **LABELS)
    assert [(row.image, row.zone, row.status, row.answer) for row in found.rows] == [
        ("nowhere.tif", "x", "failed", None), ("nowhere.tif", "y", "failed", None),
        ("a.tif", "x", "answered", 2), ("a.tif", "y", "answered", 1),
    ]  # fmt: skip


def test_processes_share_the_zones_of_one_image(street: Street, write_zones: Zones, tmp_path: Path) -> None:
    street("a.tif", 10)
    zones = write_zones(
        "z.geojson", {k: box(8 * k, 0, 8 * k + 9, 40) for k in range(11)} | {"out": box(900, 0, 901, 1)}
    )
    ask_all = {"zones": zones, "id_field": "name", "planner": working.Counting(tmp_path), **LABELS}
    alone = swath.survey("a.tif", "?", output="1.csv", **ask_all).rows
    shared = swath.survey("a.tif", "?", output="2.csv", jobs=2, **ask_all).rows
    assert [(row.zone, row.answer, row.warnings, row.reason) for row in shared] == [
        (row.zone, row.answer, row.warnings, row.reason) for row in alone
    ]
    assert len(list(tmp_path.glob("plan-*"))) == 2


def test_a_resumed_survey_takes_over_zones(street: Street, write_zones: Zones) -> None:
    street("a.tif", 10)
    ask_all: dict[str, Any] = {
        "zones": write_zones("z.geojson", DRAWN),
        "id_field": "name",
        "output": "t.csv",
        **LABELS,
    }
    seen: list[Row] = []

    def listen(known: int, wanted: int, row: Row | None) -> None:
        assert wanted == len(DRAWN)
        if row is not None:
            seen.append(row)
        if known == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        swath.survey("a.tif", "?", planner=ScriptedPlanner(COUNT), listen=listen, **ask_all)
    found = swath.survey("a.tif", "?", planner=ScriptedPlanner(COUNT), resume=True, **ask_all)
    assert [row.zone for row in found.rows] == list(DRAWN)
    assert list(found.rows[:3]) == seen
    with pytest.raises(InputError, match=r"not the same: id"):
        ask_all["zones"] = write_zones("z.geojson", {k: shape for k, shape in enumerate(DRAWN.values())}, column="nr")  # noqa: C416
        swath.survey("a.tif", "?", planner=ScriptedPlanner(COUNT), resume=True, **ask_all | {"id_field": "nr"})


@pytest.mark.parametrize("keep", ["light", "wrong", "full"])
def test_the_run_of_a_zone_replays(street: Street, write_zones: Zones, keep: str) -> None:
    street("a.tif", 10)
    rows = surveyed(NEAR, zones=write_zones("z.geojson", DRAWN), id_field="name", keep=keep)
    for row in rows:
        run = find_run(Path(row.run or "").name, Path("runs"))
        assert run.record["inputs"]["zone"] == row.zone
        assert replay(run).differences == ()
        assert replay(run, resegment=True).differences == ()
        assert run.record["image"]["grid"]["shape"] == [40, 100]
        assert (run.folder / "masks").exists() == (keep == "full")


def test_the_run_of_a_zone_of_features_replays(street: Street, write_zones: Zones) -> None:
    street("a.tif", 0)
    houses = write_zones("houses.geojson", {k: box(2 + 9.3 * k, 4, 9 + 9.3 * k, 9.5) for k in range(10)})
    given: dict[str, Any] = {"layers": {"building": houses}, "keep": "light"}
    planner = ScriptedPlanner(AREA)
    found = swath.survey("a.tif", "?", zones=write_zones("z.geojson", DRAWN), id_field="name", planner=planner, **given)
    runs = [find_run(Path(row.run or "").name, Path("runs")) for row in found.rows]
    assert [run.answer["objects"]["count"] for run in runs] == [3, 6, 5, 4, 10, 2, 0]
    assert [replay(run).differences for run in runs] == [()] * len(runs)


def test_evidence_of_refused_zones_is_kept_on_the_whole_image(street: Street, write_zones: Zones) -> None:
    street("a.tif", 10)
    rows = surveyed(MEAN, zones=write_zones("z.geojson", DRAWN), id_field="name")
    refused = [row for row in rows if row.status == "refused"]
    assert [row.zone for row in refused] == ["sticking out", "no house"]
    run = find_run(Path(refused[0].run or "").name, Path("runs"))
    assert swath.info(swath.open_raster(run.folder / run.record["valid"]["file"]))["shape"] == [40, 100]


def test_geopackage_carries_the_outlines_of_the_zones(street: Street, write_zones: Zones) -> None:
    street("a.tif", 10)
    zones = write_zones("z.geojson", {**DRAWN, "none": None}, 4326)
    rows = surveyed(COUNT, zones=zones, id_field="name", output="t.gpkg")
    meta, _, geometry, columns = pyogrio.raw.read("t.gpkg", layer="survey")
    table = dict(zip(meta["fields"], columns, strict=True))
    assert pyproj.CRS(meta["crs"]).to_epsg() == 4326
    assert meta["geometry_type"] == "MultiPolygon"
    assert list(table["name"]) == [*DRAWN, "none"]
    drawn = shapely.from_wkb(geometry)
    _, _, given, _ = pyogrio.raw.read(zones)
    assert drawn[-1] is None
    assert shapely.equals(drawn[:-1], shapely.from_wkb(given)[:-1]).all()
    assert [row.answer for row in rows[:-1]] == table["answer"][:-1].tolist()
    assert np.isnan(table["answer"][-1])
    assert table["covered_percent"].tolist() == [row.covered_percent for row in rows]
    assert table["low"].dtype == table["seconds"].dtype == np.float64
    assert [text or "" for text in table["reason"]] == [row.reason or "" for row in rows]


def test_parquet_is_geoparquet(street: Street, write_zones: Zones) -> None:
    street("a.tif", 10)
    zones = write_zones("z.geojson", {**DRAWN, "none": None})
    rows = surveyed(COUNT, zones=zones, id_field="name", output="t.parquet")
    table = pyarrow.parquet.read_table("t.parquet")
    geo = json.loads(table.schema.metadata[b"geo"])
    assert geo["primary_column"] == "geometry"
    assert pyproj.CRS.from_json_dict(geo["columns"]["geometry"]["crs"]).to_epsg() == 32631
    assert table["answer"].to_pylist() == [row.answer for row in rows]
    assert str(table.schema.field("answer").type) == "int64"
    shapes = shapely.from_wkb(table["geometry"].to_pylist())
    assert shapely.area(shapes[0]) == 24 * 40
    assert shapes[-1] is None


def test_without_pyarrow_parquet_is_refused_before_anything_is_measured(
    street: Street, monkeypatch: pytest.MonkeyPatch
) -> None:
    street("a.tif", 1)
    monkeypatch.setattr("swath.batch.table.find_spec", lambda name: None)
    with pytest.raises(
        InputError, match=r"^Parquet needs pyarrow, which is not installed\. Next: pip install 'swath\[par"
    ):
        surveyed(COUNT, output="t.parquet")
    assert not Path("runs").exists()


def test_answers_of_one_column_are_all_numbers_or_all_texts(street: Street, write_zones: Zones) -> None:
    street("a.tif", 3)
    source = 'houses = components(segment("building"))\nreply(count(houses) > 2, kind="boolean", objects=houses)'
    zones = write_zones("z.geojson", {"a": box(0, 0, 40, 40), "b": box(50, 0, 60, 40)})
    rows = surveyed(source, zones=zones, id_field="name", output="t.gpkg")
    assert [row.answer for row in rows] == ["yes", "no"]
    _, _, _, columns = pyogrio.raw.read("t.gpkg", columns=["answer"])
    assert columns[0].tolist() == ["yes", "no"]


def test_images_lie_where_their_borders_are(street: Street) -> None:
    street("a.tif", 1), street("b.tif", 2, east_m=1000)
    names = ["a.tif", "nowhere.tif", "b.tif"]
    swath.survey(names, "?", planner=ScriptedPlanner(COUNT), output="t.gpkg", labels="{stem}.tif", legend="legend.json")
    meta, _, geometry, _ = pyogrio.raw.read("t.gpkg")
    assert pyproj.CRS(meta["crs"]).to_epsg() == 32631
    shapes = shapely.from_wkb(geometry)
    assert shapes[1] is None
    assert shapes[2].bounds == (501_000, 4_999_960, 501_100, 5_000_000)


def test_zones_without_a_column_are_numbered_and_columns_never_clash(street: Street, write_zones: Zones) -> None:
    street("a.tif", 3)
    zones = write_zones("z.geojson", {"x": box(0, 0, 20, 40), "y": box(20, 0, 40, 40)}, column="image")
    for id_field, column, ids in ((None, "zone", ["0", "1"]), ("image", "zone_image", ["x", "y"])):
        surveyed(COUNT, zones=zones, id_field=id_field, output=f"{column}.csv")
        with Path(f"{column}.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row[column] for row in rows] == ids
        assert {row["image"] for row in rows} == {"a.tif"}


def test_zones_that_are_lines_or_have_no_such_column(street: Street, write_zones: Zones) -> None:
    street("a.tif", 3)
    lines = write_zones("l.geojson", {"x": LineString([(0, 0), (20, 40)])})
    with pytest.raises(InputError, match=r"l\.geojson draws lines or points, which enclose nothing"):
        surveyed(COUNT, zones=lines, id_field="name")
    zones = write_zones("z.geojson", {"x": box(0, 0, 20, 40)})
    with pytest.raises(InputError, match=r'z\.geojson has no column "id"\. Next: name one of name\.'):
        surveyed(COUNT, zones=zones, id_field="id")
