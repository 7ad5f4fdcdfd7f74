"""Opening: whatever cannot be read is one sentence; nothing reaches for the network or writes a file."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from affine import Affine
from numpy.typing import NDArray
from PIL import Image
from scipy.io import netcdf_file

from swath.errors import InputError
from swath.raster import source
from swath.raster.info import info
from swath.raster.reader import open_raster

VRT = (
    '<VRTDataset rasterXSize="80" rasterYSize="60"><VRTRasterBand dataType="Byte" band="1"><SimpleSource>'
    "<SourceFilename{relative}>{name}</SourceFilename><SourceBand>1</SourceBand></SimpleSource></VRTRasterBand>"
    "</VRTDataset>"
)


def write_vrt(path: Path, name: str, *, relative: bool = False) -> Path:
    path.write_text(VRT.format(name=name, relative=' relativeToVRT="1"' if relative else ""), encoding="utf-8")
    return path


def refusal(path: Path | str) -> str:
    with pytest.raises(InputError) as caught:
        info(open_raster(path))
    sentence = str(caught.value)
    assert sentence.count("Next: ") == 1
    assert "\n" not in sentence
    return sentence


def test_a_missing_file(tmp_path: Path) -> None:
    path = tmp_path / "none.tif"
    assert refusal(path) == f"There is no file {path}. Next: check the path."


def test_a_directory(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} is a folder, not an image. Next: name one file in it."


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "empty.tif"
    path.touch()
    assert refusal(path) == f"{path} is empty (0 bytes). Next: fetch the file again."


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe.tif"
    os.mkfifo(path)
    assert refusal(path) == f"{path} is not a regular file. Next: name a file of pixels."


def test_an_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raster_file: Any, photo: Any) -> None:
    path = raster_file("a.tif", photo)
    monkeypatch.setattr(os, "access", lambda *_: False)  # tests may run as root, who may read everything
    assert refusal(path) == f"{path} may not be read by this user. Next: change its permissions."


def test_an_impossible_path() -> None:
    assert "is not a usable path (" in refusal("x" * 5000)
    assert refusal("\0") == "There is no file \0. Next: check the path."


@pytest.mark.parametrize("text", ["hello, this is no image\n", "<!DOCTYPE html><html><body>404</body></html>"])
def test_a_text_file_named_tif(tmp_path: Path, text: str) -> None:
    path = tmp_path / "text.tif"
    path.write_text(text, encoding="utf-8")
    wanted = f"{path} cannot be opened as a raster: it holds text, not pixels. Next: name a GeoTIFF or an image."
    assert refusal(path) == wanted


@pytest.mark.parametrize("content", [b"II*\0", b"II*\0\x08\0\0\0" + bytes(range(200)), bytes(range(256)) * 20])
def test_a_file_of_unknown_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bytes.tif"
    path.write_bytes(content)
    wanted = "cannot be opened as a raster: unknown format or damaged file. Next: fetch it again or convert it."
    assert refusal(path) == f"{path} {wanted}"


def encoded(folder: Path, name: str, photo: NDArray[np.uint8], raster_file: Any) -> Path:
    if name.endswith(".tif"):
        options: dict[str, Any] = {
            "plain.tif": {},
            "deflate.tif": {"compress": "deflate", "tiled": True, "blockxsize": 16, "blockysize": 16},
            "jpeg.tif": {"compress": "jpeg", "photometric": "ycbcr", "interleave": "pixel"},
        }[name]
        return Path(raster_file(name, photo, **options))
    path = folder / name
    image = Image.fromarray(photo.transpose(1, 2, 0))
    image.save(path, **({"progressive": True} if name == "progressive.jpg" else {}))
    return path


FORMATS = ["plain.tif", "deflate.tif", "jpeg.tif", "a.png", "a.jpg", "progressive.jpg", "a.webp"]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("share", [0.6, 0.97])
def test_a_truncated_file(tmp_path: Path, name: str, share: float, photo: NDArray[np.uint8], raster_file: Any) -> None:
    path = encoded(tmp_path, name, photo, raster_file)
    info(open_raster(path))  # whole, it is fine
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    wanted = f"The pixels of {path} cannot be read: the file is damaged or truncated. Next: fetch it again."
    assert refusal(path) == wanted


def test_truncation_is_seen_by_valid_and_read_too(photo: NDArray[np.uint8], raster_file: Any) -> None:
    path = raster_file("plain.tif", photo)
    path.write_bytes(path.read_bytes()[:-9000])
    raster = open_raster(path)
    with pytest.raises(InputError, match="damaged or truncated"):
        raster.valid()
    with pytest.raises(InputError, match="damaged or truncated"):
        raster.read(3)
    with pytest.raises(InputError, match="damaged or truncated"):
        raster.decimated(10)


def test_a_damaged_jpeg_is_not_read_as_grey(tmp_path: Path, photo: NDArray[np.uint8]) -> None:
    path = tmp_path / "a.jpg"
    Image.fromarray(photo.transpose(1, 2, 0)).save(path, quality=95)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2] = b"\xff\xd9"  # an end where there should be none
    path.write_bytes(content)
    assert "damaged or truncated" in refusal(path)


def test_a_truncated_ascii_grid(tmp_path: Path) -> None:
    path = tmp_path / "a.asc"
    path.write_text("ncols 3\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 2\n1 2 3\n4 5 6\n7", encoding="utf-8")
    assert "damaged or truncated" in refusal(path)


def test_a_file_that_holds_several_rasters_names_them(tmp_path: Path) -> None:
    path = tmp_path / "two.nc"
    with netcdf_file(path, "w") as file:
        for name, size in (("lat", 6), ("lon", 8)):
            file.createDimension(name, size)
        for name, value in (("ndvi", 0.5), ("lai", 2.0)):
            file.createVariable(name, "f4", ("lat", "lon"))[:] = value
    sentence = refusal(path)
    first = f"netcdf:{path}:ndvi"
    wanted = f"{path} holds 2 rasters, none of them at its top. Next: name one of them: {first}, netcdf:{path}:lai."
    assert sentence == wanted
    raster = open_raster(first)
    assert raster.path == path
    assert raster.read(1).data[0, 0, 0] == np.float32(0.5)


def test_a_multi_page_tiff_says_so_and_its_pages_can_be_named(tmp_path: Path, photo: NDArray[np.uint8]) -> None:
    path = tmp_path / "pages.tif"
    Image.fromarray(photo[0]).save(path, save_all=True, append_images=[Image.fromarray(photo[1])])
    assert "The file holds 2 rasters; this is the first." in open_raster(path).warnings
    second = open_raster(f"GTIFF_DIR:2:{path}").read(1).data[0]
    np.testing.assert_array_equal(second, photo[1])


def test_a_vrt_whose_source_is_missing(tmp_path: Path) -> None:
    path = write_vrt(tmp_path / "a.vrt", "gone.tif", relative=True)
    assert refusal(path) == f"{path} names the file gone.tif, which is not there. Next: put it in its place."


def test_a_vrt_of_a_vrt_whose_source_is_missing(tmp_path: Path) -> None:
    write_vrt(tmp_path / "inner.vrt", "gone.tif", relative=True)
    path = write_vrt(tmp_path / "outer.vrt", "inner.vrt", relative=True)
    assert "names the file gone.tif, which is not there" in refusal(path)


def test_a_vrt_of_itself(tmp_path: Path) -> None:
    path = write_vrt(tmp_path / "a.vrt", "b.vrt", relative=True)
    write_vrt(tmp_path / "b.vrt", "a.vrt", relative=True)
    wanted = f"{path} names itself among its own sources. Next: build it again from the original files."
    assert refusal(path) == wanted


def test_a_vrt_of_a_local_file_is_read(tmp_path: Path, raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster_file("a.tif", photo)
    raster = open_raster(write_vrt(tmp_path / "a.vrt", "a.tif", relative=True))
    np.testing.assert_array_equal(raster.read(1).data[0], photo[0])


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A web server on this machine that notes who calls."""
    calls: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            with client:
                calls.append(client.recv(200))
                client.sendall(b"HTTP/1.1 404 no\r\nContent-Length: 0\r\n\r\n")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield server.getsockname()[1], calls
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(5)


NETWORK_NAMES = [
    "/vsicurl/http://127.0.0.1:{port}/a.tif",
    "/vsicurl_streaming/http://127.0.0.1:{port}/a.tif",
    "&#47;vsicurl/http://127.0.0.1:{port}/a.tif",
    "/vsizip//vsicurl/http://127.0.0.1:{port}/a.zip/a.tif",
    "http://127.0.0.1:{port}/a.tif",
    "&#104;ttp://127.0.0.1:{port}/a.tif",
    "WMS:http://127.0.0.1:{port}/wms?a=b",
]


@pytest.mark.parametrize("name", NETWORK_NAMES)
def test_a_vrt_does_not_reach_the_network(
    tmp_path: Path, name: str, listener: tuple[int, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port, calls = listener
    path = write_vrt(tmp_path / "a.vrt", name.format(port=port))
    wanted = f"{path} refers to the network, which swath does not open. Next: fetch its sources first."
    assert refusal(path) == wanted
    # The second lock holds by itself.
    monkeypatch.setattr(source, "check_sources", lambda *_: None)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    assert "cannot be" in refusal(path)
    assert calls == []


def test_a_vrt_hidden_inside_a_vrt_does_not_reach_the_network(
    tmp_path: Path, listener: tuple[int, list[bytes]]
) -> None:
    port, calls = listener
    write_vrt(tmp_path / "inner.vrt", f"/vsicurl/http://127.0.0.1:{port}/a.tif")
    assert "refers to the network" in refusal(write_vrt(tmp_path / "outer.vrt", "inner.vrt", relative=True))
    assert calls == []


def test_the_listener_can_hear(listener: tuple[int, list[bytes]]) -> None:
    port, calls = listener
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        client.recv(100)
    assert calls


def test_a_local_name_that_looks_like_a_url(
    tmp_path: Path, raster_file: Any, photo: NDArray[np.uint8], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raster_file("a.tif", photo).rename(tmp_path / "s3:a.tif")
    np.testing.assert_array_equal(open_raster("s3:a.tif").read(2).data[0], photo[1])


def test_reading_leaves_the_folder_as_it_was(tmp_path: Path, raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster_file("a.tif", photo.astype(np.float32), nodata=3)
    Image.fromarray(photo[0]).save(tmp_path / "a.png")
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    for name in ("a.tif", "a.png"):
        raster = open_raster(tmp_path / name)
        info(raster)
        raster.decimated(20)
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_gdal_and_proj_stay_silent(tmp_path: Path, raster_file: Any, photo: NDArray[np.uint8]) -> None:
    """In a process of its own: what C libraries print passes by Python's capturing."""
    ten_metres = Affine(0.01, 0, 500, 0, -0.01, 5000)
    kilometres = raster_file("km.tif", photo, crs="+proj=utm +zone=33 +datum=WGS84 +units=km", transform=ten_metres)
    truncated = encoded(tmp_path, "a.jpg", photo, raster_file)
    truncated.write_bytes(truncated.read_bytes()[:2000])
    code = (
        "import sys\n"
        "from swath.errors import InputError\n"
        "from swath.raster.info import info\n"
        "from swath.raster.reader import open_raster\n"
        "for name in sys.argv[1:]:\n"
        "    try:\n"
        "        print(info(open_raster(name))['pixel_size_m'])\n"
        "    except InputError:\n"
        "        print('refused')\n"
    )
    command = [sys.executable, "-c", code, str(kilometres), str(truncated)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stderr == ""
    assert run.stdout.splitlines() == ["{'x': 10.0, 'y': 10.0}", "refused"]


def test_a_pipe_among_the_sources_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tif")
    path = write_vrt(tmp_path / "a.vrt", "pipe.tif", relative=True)
    assert refusal(path) == f"{path} names pipe.tif, which is no regular file. Next: name a file of pixels."


@pytest.mark.parametrize("address", ["ftp://a.example/b.tif", "/vsitar/b.tif", "webdav://a.example/b.tif"])
def test_an_address_is_not_called_a_missing_file(address: str) -> None:
    assert refusal(Path(address)) == (
        f"{Path(address)} is not a file of this machine; over the network swath reads GeoTIFFs alone, by https://, "
        "s3://, gs:// or az://. Next: fetch it first."
    )


def test_a_name_that_is_not_utf8(tmp_path: Path, raster_file: Any, photo: NDArray[np.uint8]) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.tif"))
    raster_file("a.tif", photo).rename(path)
    assert "is not UTF-8 text, which GDAL wants. Next: rename the file." in refusal(path)


def test_damaged_hdf5_prints_nothing_by_itself(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.tif"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert "unknown format or damaged file" in refusal(path)
    assert capfd.readouterr() == ("", "")
