"""Vector files are what their names say, reach no server, and do not swallow Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio
import pytest
import shapely

from swath.errors import InputError
from swath.raster.reader import Raster
from swath.segment.aoi import area_of_interest
from swath.segment.labels import LabelsBackend
from swath.segment.protocol import SegmentOptions
from swath.segment.vector_opening import opening


@pytest.fixture
def server() -> Iterator[tuple[str, list[bytes]]]:
    """Address of a server of this machine, and what it has been asked for."""
    asked: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                return
            asked.append(caller.recv(200))
            caller.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/x.geojson", asked
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.mark.parametrize("name", ["a.geojson", "a.json", "a.gpkg", "a.shp", "a.fgb"])
@pytest.mark.parametrize("wrapped", ["{}", "/vsicurl/{}", "WFS:{}"])
def test_a_description_of_a_server_is_no_vector_file(
    name: str, wrapped: str, image: Raster, server: tuple[str, list[bytes]], tmp_path: Path
) -> None:
    url, asked = server
    source = f"<SrcDataSource>{wrapped.format(url)}</SrcDataSource>"
    (tmp_path / name).write_text(f'<OGRVRTDataSource><OGRVRTLayer name="x">{source}</OGRVRTLayer></OGRVRTDataSource>')
    with pytest.raises(InputError, match=rf"{name} is not .*, as its name says, but something else\. Next: save it"):
        LabelsBackend(image, SegmentOptions(tmp_path / name))
    with pytest.raises(InputError, match=r"as its name says, but something else"):
        area_of_interest(tmp_path / name, image)
    assert asked == []


def test_a_command_for_gdal_is_no_vector_file(image: Raster, server: tuple[str, list[bytes]], tmp_path: Path) -> None:
    url, asked = server
    command = {"type": "gdal_streamed_alg", "command_line": f"gdal vector pipeline ! read /vsicurl/{url} ! filter"}
    (tmp_path / "a.json").write_text(json.dumps(command))
    with pytest.raises(InputError, match=r"a\.json is not GeoJSON, as its name says"):
        LabelsBackend(image, SegmentOptions(tmp_path / "a.json"))
    assert asked == []


def test_gdal_has_no_network_while_a_file_is_read_and_its_settings_back_afterwards(
    server: tuple[str, list[bytes]], tmp_path: Path
) -> None:
    url, asked = server
    path = tmp_path / "a.geojson"
    path.write_text('{"type": "FeatureCollection", "features": []}')
    before = pyogrio.get_gdal_config_option("CPL_VSIL_CURL_ALLOWED_EXTENSIONS")
    with opening(path), pytest.raises(pyogrio.errors.DataSourceError):
        pyogrio.read_info(f"/vsicurl/{url}")
    assert asked == []
    assert pyogrio.get_gdal_config_option("CPL_VSIL_CURL_ALLOWED_EXTENSIONS") == before


def test_another_ending_is_refused_by_name(image: Raster, tmp_path: Path) -> None:
    (tmp_path / "a.kml").write_text("<kml/>")
    with pytest.raises(InputError, match=r"a\.kml is not a vector file by its name\. Next: give one of \.fgb, \.geojs"):
        area_of_interest(tmp_path / "a.kml", image)


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_ctrl_c_takes_effect_once_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text('{"type": "FeatureCollection", "features": []}')
    seen = []
    with pytest.raises(KeyboardInterrupt), opening(path):
        os.kill(os.getpid(), signal.SIGINT)
        seen.append("the block went on")
    assert seen == ["the block went on"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_being_ended_takes_effect_once_the_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text('{"type": "FeatureCollection", "features": []}')
    seen = []

    def end(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    usual = signal.signal(signal.SIGTERM, end)
    try:
        with pytest.raises(SystemExit, match="143"), opening(path):
            os.kill(os.getpid(), signal.SIGTERM)
            seen.append("the block went on")
        assert seen == ["the block went on"]
        assert signal.getsignal(signal.SIGTERM) is end
    finally:
        signal.signal(signal.SIGTERM, usual)


def test_a_file_is_opened_in_threads_too(tmp_path: Path) -> None:
    path = tmp_path / "a.geojson"
    path.write_text('{"type": "FeatureCollection", "features": []}')

    def read() -> str:
        with opening(path):
            return str(pyogrio.read_info(path)["driver"])

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(read).result() == "GeoJSON"


def test_nothing_usable_is_an_error_and_not_the_answer_0(image: Raster, tmp_path: Path, on_ground: Any) -> None:
    path = tmp_path / "a.shp"
    shapes = shapely.to_wkb([on_ground(shapely.box(x, 5, x + 4, 9)) for x in (5, 15, 25)])
    names = np.array(["building"] * 3, dtype=object)
    pyogrio.raw.write(path, shapes, [names], ["class"], geometry_type="Polygon", crs="EPSG:32645")
    path.write_bytes(path.read_bytes()[:110])
    with pytest.raises(InputError, match=r"None of the 3 features of a\.shp has a usable geometry\. Next: save it ag"):
        LabelsBackend(image, SegmentOptions(path))
