"""Surveys of what lies elsewhere: STAC items, here and on a server, and on a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from counting_server import CountingServer, counting_server
from dask_cluster import Cluster, wait_until

import swath
from swath.batch.images import images_of
from swath.batch.rows import Row
from swath.errors import InputError

QUESTION = "How many buildings are there?"
GEOTIFF = "image/tiff; application=geotiff; profile=cloud-optimized"
Street = Callable[..., Path]


def item(name: str, **assets: Any) -> dict[str, Any]:
    place = {"geometry": None, "properties": {"datetime": "2026-11-30T00:00:00Z"}, "links": []}
    return {"type": "Feature", "stac_version": "1.1.0", "id": name, "assets": assets, **place}


def asset(href: str, *roles: str, type_: str = GEOTIFF) -> dict[str, Any]:
    return {"href": href, "type": type_, **({"roles": list(roles)} if roles else {})}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[CountingServer]:
    with counting_server(tmp_path) as started:
        yield started


def told(rows: tuple[Row, ...]) -> list[Any]:
    return [(Path(row.image).name, row.status, row.answer, row.unit, row.low, row.high) for row in rows]


def test_items_of_this_machine_and_of_a_server(street: Street, tmp_path: Path, server: CountingServer) -> None:
    for k in range(3):
        street(f"{k}.tif", k + 1)
        (tmp_path / f"{k}.json").write_text(json.dumps(item(f"i{k}", data=asset(f"./{k}.tif", "data"))))
    found = {"type": "FeatureCollection", "features": [item(f"i{k}", image=asset(f"{k}.tif")) for k in range(3)]}
    (tmp_path / "search.json").write_text(json.dumps(found))
    options: dict[str, Any] = {"labels": "{stem}.tif", "legend": "legend.json"}
    plain = swath.survey(["0.tif", "1.tif", "2.tif"], QUESTION, **options)
    assert [row.answer for row in plain.rows] == [1, 2, 3]
    for words in (["0.json", "1.json", "2.json"], ["search.json"], [f"{server.url}/search.json"]):
        there = swath.survey(words, QUESTION, output="t.csv", **options)
        assert told(there.rows) == told(plain.rows)
        assert all(row.run is not None for row in there.rows)
    asked = len(server.asked)
    again = swath.survey([f"{server.url}/search.json"], QUESTION, output="t.csv", resume=True, **options)
    assert told(again.rows) == told(plain.rows)
    assert len(server.asked) - asked == 1 + 3  # the item, and whether each raster is still the same


def test_a_raster_that_changed_on_its_server_is_measured_again(street: Street, server: CountingServer) -> None:
    street("0.tif", 1)
    options: dict[str, Any] = {"labels": f"{server.url}/0.tif", "legend": "legend.json", "output": "t.csv"}
    assert swath.survey(f"{server.url}/0.tif", QUESTION, **options).rows[0].answer == 1
    street("0.tif", 4)
    assert swath.survey(f"{server.url}/0.tif", QUESTION, resume=True, **options).rows[0].answer == 4


@pytest.mark.parametrize(
    ("assets", "word", "chosen"),
    [
        ({"a": asset("a.tif"), "small": asset("b.tif", "thumbnail")}, "i.json", "a.tif"),
        ({"a": asset("a.tif", "data"), "b": asset("b.tif")}, "i.json", "a.tif"),
        ({"a": asset("a.tif"), "b": asset("b.tif")}, "i.json#b", "b.tif"),
        ({"a": {"href": "a.tif"}, "b": asset("b.xml", type_="application/xml")}, "i.json", "a.tif"),
    ],
)
def test_which_asset_is_meant(assets: Any, word: str, chosen: str, tmp_path: Path) -> None:
    (tmp_path / "i.json").write_text(json.dumps(item("x", **assets)))
    assert images_of([tmp_path / word]) == (tmp_path / chosen,)


@pytest.mark.parametrize(
    ("content", "word", "sentence"),
    [
        (item("x", a=asset("a.tif"), b=asset("b.tif")), "i.json",
         r"^The STAC item x of .*i\.json has 2 GeoTIFFs \(there are: a, b\)\. Next: name one, as in item\.json#KEY\.$"),
        (item("x", a=asset("a.tif")), "i.json#c", r'has no GeoTIFF "c" \(there are: a\)'),
        (item("x", a=asset("a.png", type_="image/png")), "i.json", r"has no GeoTIFFs \(there are: none\)"),
        ({"type": "Catalog", "links": []}, "i.json", r"i\.json holds no STAC items\. Next: name an item"),
        ([1], "i.json", "holds no STAC items"),
        (None, "i.json", r"^The STAC item .*i\.json cannot be read: no such file"),
    ],
)  # fmt: skip
def test_what_is_no_item(content: Any, word: str, sentence: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "i.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=sentence):
        images_of([tmp_path / word])


def test_an_item_on_the_network_names_no_file_of_this_machine(tmp_path: Path, server: CountingServer) -> None:
    for href in ("file:///etc/hostname.tif", "ftp://a/b.tif"):
        (tmp_path / "i.json").write_text(json.dumps(item("x", a=asset(href))))
        with pytest.raises(InputError, match="does not lie on the network as the item does"):
            images_of([f"{server.url}/i.json"])
    with pytest.raises(InputError, match=r"gone\.json cannot be fetched: it is not there"):
        images_of([f"{server.url}/gone.json"])


def test_a_cluster_gives_the_same_rows_though_it_loses_a_worker(
    street: Street, tmp_path: Path, cluster: Cluster
) -> None:
    address, workers = cluster
    for k in range(20):
        street(f"{k:02d}.tif", k % 9)
    options: dict[str, Any] = {"labels": str(tmp_path / "{stem}.tif"), "legend": str(tmp_path / "legend.json")}
    words = [str(tmp_path / "*.tif")]
    here = swath.survey(words, QUESTION, out=tmp_path / "runs", **options)
    killed: list[int] = []

    def listen(known: int, wanted: int, row: Row | None) -> None:
        if known == 2 and not killed:
            workers[0].kill()
            killed.append(known)

    there = swath.survey(
        words, QUESTION, out=tmp_path / "runs", dask=address, output=tmp_path / "t.csv", listen=listen, **options
    )
    assert killed
    wait_until(lambda: workers[0].poll() is not None)
    assert told(there.rows) == told(here.rows)
    assert there.count("answered") == 20
