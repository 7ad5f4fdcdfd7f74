"""Asking over HTTP: answers, steps, threads, areas, edited programs, many clients at once."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import shapely
from PIL import Image
from running_site import SLOW, Served, houses

COUNT = "How many buildings are there?"
STEPS = ["question", "read", "plan", "check", "run", "verify", "answer"]


@pytest.fixture(scope="module")
def counted(served: Served) -> dict[str, Any]:
    return served.answered(COUNT, thread="counted")


def test_a_question_is_answered_and_its_steps_are_told_in_order(served: Served, village: Any) -> None:
    told = list(served.events(served.put(COUNT, thread="steps")["id"]))
    begun = [step["name"] for kind, step in told if kind == "step" and step["kind"] == "begin"]
    assert begun == STEPS
    calls = [step["words"] for kind, step in told if kind == "step" and step["kind"] == "tool"]
    assert calls[0] == 'segment("building")'
    last = told[-1][1]
    assert (last["state"], last["answer"]["answer"], last["answer"]["image"]) == ("done", village.houses, "village.tif")


def test_a_stream_goes_on_where_it_broke_off(served: Served) -> None:
    ask = served.put(COUNT, thread="resumed")
    steps = [step for kind, step in served.events(ask["id"]) if kind == "step"]
    again = [step for kind, step in served.events(ask["id"], after=4) if kind == "step"]
    assert again == steps[5:]


def test_objects_lie_where_they_were_painted(served: Served, counted: dict[str, Any], village: Any) -> None:
    found = served.get(f"/runs/{counted['run']}/objects")
    assert found["total"] == len(found["shapes"]) == village.houses
    assert set(found["columns"]["area_m2"]) == {village.house_m2}
    bounds = {shapely.geometry.shape(shape).bounds for shape in found["shapes"]}
    assert (47, 20, 63, 30) in bounds  # the columns and rows of the first house
    lonlat = served.get(f"/runs/{counted['run']}/objects", coordinates="lonlat")
    lon, lat = shapely.get_coordinates(shapely.geometry.shape(lonlat["shapes"][0]))[0]
    assert (round(lon), round(lat)) == (3, 45)  # the scene's corner is 500 km east, 5,000 km north in UTM zone 31


def test_a_thread_remembers_and_another_does_not(served: Served, village: Any) -> None:
    served.answered("How many buildings are there?", thread="with memory")
    follow = "How many of those are within 4.1 m of water?"
    assert served.answered(follow, thread="with memory")["answer"] == village.near_canal
    assert served.answered(follow, thread="without")["status"] == "refused"


def test_an_area_limits_what_is_measured(served: Served) -> None:
    left = {"polygon": [[0, 0], [100, 0], [100, 200], [0, 200]], "coordinates": "pixels"}
    answer = served.answered(COUNT, thread="area", area=left)
    assert answer["answer"] == 3  # the houses of the first column
    run = served.get(f"/runs/{answer['run']}")
    assert run["answer"]["answer"] == 3
    listed = {found["id"]: found["within"] for found in served.get("/runs")["runs"]}
    assert listed[answer["run"]] == "in a drawn area"
    corner = {"polygon": [[2.9999, 45.0], [3.0006, 45.0], [3.0006, 45.16], [2.9999, 45.16]], "coordinates": "lonlat"}
    assert served.answered(COUNT, thread="area 2", area=corner)["answer"] == 3  # about 0.0006 degrees are 47 m


def test_an_area_of_an_image_without_crs_is_in_its_pixels(served: Served) -> None:
    ring = [[20, 20], [30, 20], [30, 30], [20, 30], [20, 20]]
    feature = {"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [ring]}}
    layer = json.dumps({"type": "FeatureCollection", "crs": None, "features": [feature]})
    (served.folder / "pond.geojson").write_text(layer, encoding="utf-8")
    area = {"polygon": [[10, 10], [60, 10], [60, 60], [10, 60]], "coordinates": "pixels"}
    options = {"image": "plain.tif", "thread": "pond", "area": area, "layers": {"pond": "pond.geojson"}}
    answer = served.answered("What percentage of the image is pond?", **options)
    assert answer["answer"] == pytest.approx(100 * 10**2 / 50**2), answer


def test_reference_samples_correct_a_share(served: Served, village: Any) -> None:
    (served.folder / "samples.csv").write_text("map,water,other\nwater,90,10\nother,7,393\n", encoding="utf-8")
    assert "samples.csv" in [entry["name"] for entry in served.get("/files")["entries"]]
    answer = served.answered("What percentage of the image is water?", thread="samples", confusion="samples.csv")
    mapped = village.canal_m2 * 4 / village.valid_px
    assert answer["answer"] == pytest.approx(100 * (0.9 * mapped + 7 / 400 * (1 - mapped)))
    none = served.ended(served.put("What percentage of the image is water?", thread="card", confusion="card"))
    assert "has no card that states an error matrix" in json.dumps(none)
    body = {"image": "village.tif", "question": COUNT, "thread": "t", "confusion": "../samples.csv"}
    assert served.client.post("/api/v1/asks", json=body).status_code == 400


def test_an_edited_program_runs_and_is_checked(served: Served, village: Any) -> None:
    program = 'big = components(segment("building"), larger_than_m2=39)\nreply(count(big) * 2, kind="count")\n'
    edited = served.ended(served.put(COUNT, program=program))
    assert edited["answer"]["answer"] == 2 * village.houses
    assert edited["answer"]["planner"] == "given"
    assert (edited["question"], edited["answer"]["question"]) == ("Edited program", "Edited program")
    assert COUNT not in edited["answer"]["text"]
    recorded = {run["id"]: run["question"] for run in served.get("/runs")["runs"]}
    assert recorded[edited["answer"]["run"]] == "Edited program"
    bad = served.ended(served.put(COUNT, program='import os\nreply(1, kind="count")\n'))
    assert bad["answer"]["status"] == "failed"
    assert "import" in bad["answer"]["reason"]


def test_eight_clients_at_once_each_get_the_answer_to_their_own_question(served: Served, many: dict[str, int]) -> None:
    def one(image: str) -> tuple[str, int]:
        answer = served.answered(COUNT, image=image, thread=image, labels=image, legend="legend.json")
        assert answer["image"] == image
        return image, answer["answer"]

    with ThreadPoolExecutor(len(many)) as clients:
        assert dict(clients.map(one, many)) == many
    runs = served.get("/runs", search="many-")["runs"]
    assert {run["image"]: int(run["text"].split(":")[0].split()[0]) for run in runs} == many


@pytest.fixture
def many(served: Served) -> dict[str, int]:
    wanted = {f"many-{number}.tif": number for number in range(1, 9)}
    for name, number in wanted.items():
        houses(served.folder / name, number)
    return wanted


def test_a_question_at_work_can_be_given_up_and_the_next_is_answered(served: Served) -> None:
    options = {"image": "large.tif", "labels": "large.tif", "legend": "legend.json"}
    ask = served.put(COUNT, program=SLOW, **options)
    for kind, told in served.events(ask["id"]):
        if kind == "step" and told["kind"] == "tool":
            served.client.post(f"/api/v1/asks/{ask['id']}/cancel")
            break
    state = served.ended(ask)
    assert state["state"] == "cancelled"
    assert state["reason"] == "The question was given up. Next: ask it again, or another one."
    assert served.answered(COUNT, thread="after")["status"] == "answered"


def test_downloads_hold_what_was_counted(served: Served, counted: dict[str, Any], village: Any) -> None:
    def file(name: str) -> bytes:
        answer = served.client.get(f"/runs/{counted['run']}/files/{name}")
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-disposition"].startswith("attachment")
        return answer.content

    assert len(list(csv.DictReader(io.StringIO(file("objects.csv").decode())))) == village.houses
    assert len(json.loads(file("objects.geojson"))["features"]) == village.houses
    assert Image.open(io.BytesIO(file("overlay.png"))).format == "PNG"
    (served.folder / "copy.gpkg").write_bytes(file("objects.gpkg"))
    with sqlite3.connect(served.folder / "copy.gpkg") as database:
        assert database.execute("SELECT count(*) FROM counted").fetchone() == (village.houses,)
    database.close()
    names = zipfile.ZipFile(io.BytesIO(file("run.zip"))).namelist()
    assert f"{counted['run']}/run.json" in names
    assert any(name.startswith(f"{counted['run']}/masks/") for name in names)


def test_runs_are_searched_and_filtered(served: Served, counted: dict[str, Any]) -> None:
    served.answered("How tall is the king?", thread="refused")
    everything = served.get("/runs")
    assert counted["run"] in [run["id"] for run in everything["runs"]]
    assert {run["status"] for run in served.get("/runs", status="refused")["runs"]} == {"refused"}
    assert [run["question"] for run in served.get("/runs", search="KING tall")["runs"]] == ["How tall is the king?"]
    assert served.get("/runs", search="no such words")["total"] == 0
    assert served.get("/runs", kind="percent", status="refused")["total"] == 0
    assert {run["image"] for run in served.get("/runs", image="village.tif")["runs"]} == {"village.tif"}


def test_tiles_show_the_pixels_that_they_stand_for(served: Served) -> None:
    tile = served.client.get("/api/v1/tiles/pixels/0/1/1.png", params={"path": "plain.tif"})
    picture = np.asarray(Image.open(io.BytesIO(tile.content)))
    rows, cols = np.mgrid[256:512, 256:512]
    assert (picture[..., 0] == (rows * 700 + cols) % 251).all()
    assert (picture[..., 3] == 255).all()
    corner = served.client.get("/api/v1/tiles/pixels/0/2/2.png", params={"path": "plain.tif"})
    edge = np.asarray(Image.open(io.BytesIO(corner.content)))
    assert edge[..., 3].sum() == 255 * (600 - 512) * (700 - 512)


def test_an_image_is_described(served: Served) -> None:
    found = served.get("/image", path="olinda.tif", bands="red=3,nir=4")
    assert (found["shape"], found["crs"], found["levels"]) == ([352, 349], "EPSG:31985", 1)
    assert found["bands"][3]["role"] == "nir"
    west, south, east, north = found["bounds"]
    assert -35 < west < east < -34 and -8.1 < south < north < -7.9
    assert served.get("/image", path="plain.tif")["bounds"] is None
