"""Objects as GeoPackage, GeoJSON and CSV: the same values in each, which are those that tools measure."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio.raw
import pyproj
import pytest
import shapely
from affine import Affine
from run_scenes import NORTH_UP, UTM, Scene, painted, write_image

import swath
from swath.agent.export import Exports, export
from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.tools.colours import TERMS
from swath.trace.reading import Run, load_run

SHAPE = (40, 60)
IDS = np.zeros(SHAPE, dtype=np.int32)
IDS[5:15, 20:30], IDS[5:15, 30:40], IDS[20:22, 50:52] = 7, 3, 90_000  # two of them touch
ALL = 'h = components(segment("building"))\nreply(count(h), kind="count", objects=h)\n'
NONE = 'reply(perimeter_m(segment("building")), kind="quantity", unit="m")\n'
HOUSES = [
    shapely.affinity.rotate(shapely.box(6, 8, 22, 16), 30),
    shapely.box(30, 5, 42, 11),
    shapely.box(44, 22, 50, 34),
]
PAINT = {"red": (200, 30, 40), "blue": (40, 80, 200), "white": (250, 250, 250)}
STOREYS_M = (4.0, 9.5, 21.0)
TOLD = """h = components(segment("house"))
facts = [region_heights_m(h), region_colours(h), region_areas_m2(h), sides_m(h, side="length"),
    sides_m(h, side="width"), boxes_px(h), oriented_boxes_px(h), [orientation_deg(one) for one in each(h)]]
reply(f"{facts}", kind="text", objects=h)
"""


def scene_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **image: Any) -> Scene:
    path = write_image(tmp_path / "town.tif", SHAPE, **image)
    return Scene(tmp_path, monkeypatch, path, {"building": IDS})


def feature_collection(run: Run, path: Path) -> tuple[Mapping[str, Any], str]:
    said = export(run, Exports(geojson=path))
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found, said


def street(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Scene, dict[str, Path]]:
    """Three houses of known colour and height, the first of them turned by 30 degrees."""
    from rasterio.features import rasterize

    rgb = np.full((3, *SHAPE), 60, dtype=np.uint8)
    ground = np.full(SHAPE, 100.0, dtype=np.float32)
    roofs = ground.copy()
    for house, colour, height in zip(HOUSES, PAINT.values(), STOREYS_M, strict=True):
        inside = rasterize([house], out_shape=SHAPE).astype(bool)
        rgb[:, inside] = np.array(colour)[:, None]
        roofs[inside] += height
    grid = Grid(NORTH_UP, SHAPE, UTM)
    for name, values in (("i", rgb), ("dsm", roofs), ("dtm", ground)):
        write_array(tmp_path / f"{name}.tif", values, grid)
    scene = Scene(tmp_path, monkeypatch, tmp_path / "i.tif", {"house": HOUSES})
    return scene, {"dsm": tmp_path / "dsm.tif", "dtm": tmp_path / "dtm.tif"}


def kept_rows(path: Path) -> list[dict[str, Any]]:
    meta, _, _, columns = pyogrio.raw.read(path, layer="counted")
    return [dict(zip(meta["fields"].tolist(), row, strict=True)) for row in zip(*columns, strict=True)]


@pytest.mark.parametrize("keep", ["full", "light"])
def test_the_same_values_in_every_file_and_as_painted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str
) -> None:
    scene, surfaces = street(tmp_path, monkeypatch)
    folder, _ = scene.ask(TOLD, keep=keep, **surfaces)
    export(load_run(folder), Exports(tmp_path / "o.geojson", tmp_path / "o.csv"))
    properties = [item["properties"] for item in json.loads((tmp_path / "o.geojson").read_text())["features"]]
    with (tmp_path / "o.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [own["height_m"] for own in properties] == list(STOREYS_M)
    assert [own["colour"] for own in properties] == list(PAINT)
    assert [own["length_m"] for own in properties] == pytest.approx([32, 24, 24])
    assert [own["width_m"] for own in properties] == pytest.approx([16, 12, 12])
    assert [own["area_m2"] for own in properties] == pytest.approx([512, 288, 288])
    assert [own["orientation_deg"] for own in properties] == pytest.approx([120, 90, 0], abs=2)
    for own, row in zip(properties, table, strict=True):
        for name, value in own.items():
            text = json.dumps(value) if isinstance(value, list) else "" if value is None else str(value)
            assert row[name] == text, name
    if keep == "full":
        for own, row in zip(properties, kept_rows(folder / "objects.gpkg"), strict=True):
            assert {name: row[name] for name in ("height_m", "colour", "area_m2")} == {
                name: own[name] for name in ("height_m", "colour", "area_m2")
            }
            assert [json.loads(row[name]) for name in ("box", "oriented_box")] == [own["box"], own["oriented_box"]]
    xy = pyproj.Transformer.from_crs(4326, UTM, always_xy=True)
    places = [xy.transform(float(row["longitude"]), float(row["latitude"])) for row in table]
    for (x, y), house in zip(places, HOUSES, strict=True):
        assert (x, y) == pytest.approx(NORTH_UP @ house.centroid.coords[0], abs=0.01)


def test_columns_are_what_the_tools_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import ast

    scene, surfaces = street(tmp_path, monkeypatch)
    folder, answer = scene.ask(TOLD, **surfaces)
    heights, colours, areas, lengths, widths, boxes, corners, directions = ast.literal_eval(str(answer.answer))
    rows = kept_rows(folder / "objects.gpkg")
    assert [row["height_m"] for row in rows] == heights
    assert [row["colour"] for row in rows] == colours
    assert [row["area_m2"] for row in rows] == areas
    assert [row["length_m"] for row in rows] == lengths
    assert [row["width_m"] for row in rows] == widths
    assert [row["orientation_deg"] for row in rows] == directions
    assert [json.loads(row["oriented_box"]) for row in rows] == corners
    outer = np.array([json.loads(row["box"]) for row in rows])  # whole pixels around the outlines
    exact = np.array(boxes)
    assert np.array_equal(outer, np.hstack([np.floor(exact[:, :2]), np.ceil(exact[:, 2:])]))


def test_without_true_colour_and_heights_the_columns_are_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "grey.tif"
    write_array(path, np.full(SHAPE, 700, dtype=np.uint16), Grid(NORTH_UP, SHAPE, UTM))
    folder, _ = Scene(tmp_path, monkeypatch, path, {"house": HOUSES}).ask(ALL.replace("building", "house"))
    assert [(row["colour"], str(row["height_m"])) for row in kept_rows(folder / "objects.gpkg")] == [(None, "nan")] * 3
    export(load_run(folder), Exports(csv=tmp_path / "o.csv"))
    with (tmp_path / "o.csv").open(newline="") as file:
        assert [(row["colour"], row["height_m"], row["score"]) for row in csv.DictReader(file)] == [("", "", "")] * 3


def test_nothing_found_is_a_table_without_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path, monkeypatch, write_image(tmp_path / "i.tif"), {"building": painted(SHAPE)})
    folder, answer = scene.ask(ALL)
    assert answer.answer == 0
    said = export(load_run(folder), Exports(tmp_path / "o.geojson", tmp_path / "o.csv"))
    assert said.count("0 objects written") == 2
    assert json.loads((tmp_path / "o.geojson").read_text())["features"] == []
    assert len((tmp_path / "o.csv").read_text().splitlines()) == 1


@pytest.mark.parametrize("keep", ["full", "light"])
def test_export_is_longitude_and_latitude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str) -> None:
    folder, answer = scene_of(tmp_path, monkeypatch).ask(ALL, keep=keep)
    found, said = feature_collection(load_run(folder), tmp_path / "o.geojson")
    assert said == f"{answer.answer} objects written to {tmp_path / 'o.geojson'} in EPSG:4326."
    assert len(found["features"]) == answer.answer == 3
    assert "crs" not in found
    first = found["features"][0]
    assert first["properties"].pop("colour") in TERMS  # the image is noise
    assert first["properties"] == {
        "id": "1", "class": "building", "area_m2": 400.0, "height_m": None, "score": None, "box": [30, 5, 40, 15],
        "area_px": 100, "length_m": 20.0, "width_m": 20.0, "orientation_deg": None,
        "oriented_box": [30, 5, 40, 5, 40, 15, 30, 15],
    }  # fmt: skip
    lon, lat = shapely.geometry.shape(first["geometry"]).centroid.coords[0]
    x, y = pyproj.Transformer.from_crs(4326, 32631, always_xy=True).transform(lon, lat)
    assert (x, y) == pytest.approx((500_070, 4_999_980), abs=0.01)
    for part in shapely.get_parts(shapely.geometry.shape(first["geometry"])):
        assert part.exterior.is_ccw  # RFC 7946


def test_export_without_crs_says_that_it_is_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of(tmp_path, monkeypatch, crs=None, affine=Affine.identity())
    folder, _ = scene.ask(ALL)
    found, said = feature_collection(load_run(folder), tmp_path / "o.geojson")
    assert "pixel coordinates, x = column, y = row (down), since the image has no CRS" in said
    assert found["crs"] is None
    assert shapely.geometry.shape(found["features"][0]["geometry"]).bounds == (30, 5, 40, 15)


def test_export_of_another_planet_names_its_own_coordinates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moon = pyproj.CRS.from_proj4("+proj=eqc +lat_ts=0 +lon_0=0 +R=1737400 +units=m +no_defs")
    scene = scene_of(tmp_path, monkeypatch, crs=moon, affine=Affine(100, 0, 0, 0, -100, 0))
    folder, _ = scene.ask(ALL)
    _, said = feature_collection(load_run(folder), tmp_path / "o.geojson")
    assert said.endswith("objects written to " + f"{tmp_path / 'o.geojson'} in longitude and latitude of unknown.")


def test_export_of_nothing_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = scene_of(tmp_path, monkeypatch).ask(NONE)
    with pytest.raises(InputError, match=r"No objects stand behind the answer of run .* \(answered\)"):
        export(load_run(folder), Exports(tmp_path / "o.geojson"))
    folder, _ = scene_of(tmp_path, monkeypatch).ask(ALL)
    with pytest.raises(InputError, match=r"cannot be written: there is no folder .*nowhere\. Next: make it\."):
        export(load_run(folder), Exports(csv=tmp_path / "nowhere" / "o.csv"))


def test_an_export_overwrites_neither_the_run_nor_what_it_was_measured_from(village: Any, tmp_path: Path) -> None:
    answer = swath.ask(
        village.image, "How many buildings are there?", out=tmp_path / "runs", keep="full", **village.options
    )
    run = load_run(Path(str(answer.run)))
    before = {path: path.read_bytes() for path in (village.image, village.legend, run.folder / "run.json")}
    for path in (*before, run.folder / "objects.gpkg", *(run.folder / "masks").iterdir()):
        with pytest.raises(InputError, match="is one of the files that are read"):
            export(run, Exports(path))
    assert {path: path.read_bytes() for path in before} == before
    assert "12 objects" in export(run, Exports(tmp_path / "o.geojson"))
