"""Areas of interest as people meet them: what is said, what is refused, and that runs of them replay."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import swath
from swath.agent.replay import replay
from swath.errors import InputError
from swath.trace.reading import find_run

COUNT = 'houses = components(segment("building"))\nreply(count(houses), kind="count", objects=houses)\n'
SHARE = 'reply(share_percent(segment("water")), kind="percent", unit="percent")'
Write = Callable[..., Path]


@pytest.fixture
def write_area(tmp_path: Path) -> Write:
    """Write boxes, in pixels of the village (x0, y0, x1, y1), as polygons or another type with an id each."""

    def write(*boxes: tuple[float, ...], kind: str = "Polygon") -> Path:
        features = []
        for number, (x0, y0, x1, y1) in enumerate(boxes):
            corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)]
            ring = [[500_000 + x / 2, 5_000_000 - y / 2] for x, y in corners]
            coordinates = [ring] if kind == "Polygon" else ring
            geometry = {"type": kind, "coordinates": coordinates}
            features.append({"type": "Feature", "properties": {"id": number}, "geometry": geometry})
        crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32631"}}
        path = tmp_path / "area.geojson"
        path.write_text(json.dumps({"type": "FeatureCollection", "crs": crs, "features": features}), encoding="utf-8")
        return path

    return write


def asked(village: Any, tmp_path: Path, area: Path, source: str, **options: Any) -> swath.Answer:
    return swath.ask(village.image, "?", program=source, aoi=area, out=tmp_path / "runs", **village.options | options)


def test_cut_objects_and_the_covered_share_are_said(village: Any, tmp_path: Path, write_area: Write) -> None:
    answer = asked(village, tmp_path, write_area((50, -200, 300, 200)), COUNT)
    assert answer.answer == 12
    assert answer.warnings == (
        "The image covers 49.5 % of the area of interest: the rest lies outside it, is nodata or void.",
        "3 of 12 building are cut by the border of the area of interest: only what lies inside is measured.",
    )


def test_what_lies_outside_is_no_part_of_a_share(village: Any, tmp_path: Path, write_area: Write) -> None:
    answer = asked(village, tmp_path, write_area((0, 0, 40, 100), (30, 100, 50, 120)), SHARE)
    assert answer.answer == pytest.approx(100 * (20 * 100 + 10 * 20) / (40 * 100 + 20 * 20))
    assert answer.warnings == ()


@pytest.mark.parametrize("keep", ["light", "full"])
def test_runs_of_areas_replay_with_their_warnings(village: Any, tmp_path: Path, write_area: Write, keep: str) -> None:
    area = write_area((50, -200, 300, 200))
    answer = asked(village, tmp_path, area, COUNT, keep=keep)
    run = find_run(Path(answer.run or "").name, tmp_path / "runs")
    assert replay(run).differences == ()
    assert replay(run, resegment=True).differences == ()
    if keep == "full":
        area.unlink()
        assert replay(run).differences == ()


def test_one_polygon_of_a_file(village: Any, tmp_path: Path, write_area: Write) -> None:
    area = write_area((0, 0, 60, 200), (60, 0, 120, 200), (0, 0, 300, 200))
    counts = [asked(village, tmp_path, area, COUNT, zone_field="id", zone=zone, keep="light").answer for zone in "012"]
    assert counts == [3, 6, 12]  # the first column of houses is cut between the first two


@pytest.mark.parametrize(
    ("boxes", "kind", "sentence"),
    [
        (
            [(1000, 0, 1010, 9)], "Polygon",
            r"area\.geojson lies outside village\.tif: it covers x 500500 to 500505, y 4999995\.5 to 5000000 in WGS 84 "
            r"/ UTM zone 31N; the image covers x 500000 to 500150, y 4999900 to 5000000 in EPSG:32631\. Next: give",
        ),
        ([(0, 0, 9, 9)], "LineString", r"area\.geojson draws lines or points, which enclose nothing\. Next: give a"),
        ([], "Polygon", r"area\.geojson holds no polygon\. Next: give a file of polygons\."),
        ([(0.6, 0.6, 0.9, 0.9)], "Polygon", r"area\.geojson holds the centre of no pixel of village\.tif"),
    ],
)  # fmt: skip
def test_what_is_no_area_of_this_image(
    village: Any, tmp_path: Path, write_area: Write, boxes: list[tuple[float, ...]], kind: str, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        asked(village, tmp_path, write_area(*boxes, kind=kind), COUNT)
    assert not (tmp_path / "runs").exists()


def test_an_area_without_a_valid_pixel_is_refused(village: Any, tmp_path: Path, write_area: Write) -> None:
    answer = asked(village, tmp_path, write_area((0, 198, 300, 200)), COUNT)
    assert (answer.status, answer.reason) == (
        "refused",
        "No pixel in the area of interest is valid in village.tif: all are nodata, masked or void.",
    )
