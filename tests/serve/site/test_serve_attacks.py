"""Attacks on the server: each is refused with one sentence, and the server goes on."""

from __future__ import annotations

import http.client
import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import rasterio
from PIL import Image
from running_site import Running, Served

from swath.errors import InputError
from swath.serve import guard, start
from swath.serve.folder import open_folder
from swath.serve.server import Settings

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'\u202e\ud7ff"
OUTSIDE = "Only files inside the served folder can be named. Next: choose one from the list."
BYTES = {"content-type": "application/octet-stream"}


def one_sentence(answer: httpx.Response, status: int) -> str:
    """The refusal; it is a sentence that says what next, and the server is alive."""
    assert answer.status_code == status, answer.text
    said: str = answer.json()["error"]
    assert "Next: " in said and said.endswith(".") and len(said) < 400 and "Traceback" not in said
    return said


@pytest.mark.parametrize(
    "path",
    ["../secret.tif", "/etc/passwd", "more/../../secret.tif", "..\\secret.tif", "more/./../../secret.tif",
     ".hidden.tif", "\0", "%2e%2e/secret.tif", "file:///etc/passwd", "/vsicurl/http://x/a.tif",
     "GTIFF_DIR:1:/etc/passwd", "a" * 5000],
)  # fmt: skip
@pytest.mark.parametrize("where", ["image", "files", "tile", "labels", "layer"])
def test_paths_out_of_the_folder_are_refused(served: Served, path: str, where: str) -> None:
    (served.folder.parent / "secret.tif").write_bytes((served.folder / "village.tif").read_bytes())
    (served.folder / ".hidden.tif").write_bytes((served.folder / "village.tif").read_bytes())
    client = served.client
    if where in ("labels", "layer"):
        named = {"labels": path} if where == "labels" else {"layers": {"a": path}}
        body = {"image": "village.tif", "question": "?", "thread": "t", **named}
        answer = client.post("/api/v1/asks", content=json.dumps(body), headers={"content-type": "application/json"})
    else:
        address, name = {"image": ("image", "path"), "files": ("files", "folder"),
                         "tile": ("tiles/pixels/0/0/0.png", "path")}[where]  # fmt: skip
        answer = client.get(f"/api/v1/{address}", params={name: path})
    one_sentence(answer, 400)


def test_a_link_out_of_the_folder_is_refused_and_not_listed(served: Served) -> None:
    secret = served.folder.parent / "secret.tif"
    secret.write_bytes((served.folder / "village.tif").read_bytes())
    (served.folder / "link.tif").symlink_to(secret)
    (served.folder / "linked").symlink_to(served.folder.parent)
    try:
        assert one_sentence(served.client.get("/api/v1/image", params={"path": "link.tif"}), 400) == OUTSIDE
        assert one_sentence(served.client.get("/api/v1/image", params={"path": "linked/secret.tif"}), 400) == OUTSIDE
        names = [entry["name"] for entry in served.get("/files")["entries"]]
        assert "village.tif" in names and not {"link.tif", "linked"} & set(names)
    finally:
        (served.folder / "link.tif").unlink()
        (served.folder / "linked").unlink()


def test_a_mosaic_of_files_elsewhere_is_refused(served: Served) -> None:
    secret = served.folder.parent / "secret.tif"
    secret.write_bytes((served.folder / "village.tif").read_bytes())
    source = f"<SimpleSource><SourceFilename>{secret}</SourceFilename><SourceBand>1</SourceBand></SimpleSource>"
    vrt = f'<VRTDataset rasterXSize="300" rasterYSize="200"><VRTRasterBand dataType="Byte" band="1">{source}'
    (served.folder / "mosaic.vrt").write_text(f"{vrt}</VRTRasterBand></VRTDataset>")
    said = one_sentence(served.client.get("/api/v1/image", params={"path": "mosaic.vrt"}), 400)
    assert said == "mosaic.vrt is made of files outside the served folder. Next: copy them into it."
    ogr = f"<OGRVRTDataSource><OGRVRTLayer name='a'><SrcDataSource>{secret}</SrcDataSource></OGRVRTLayer>"
    (served.folder / "vector.json").write_text(f"{ogr}</OGRVRTDataSource>")
    body = {"image": "village.tif", "question": "How many a are there?", "thread": "t", "labels": "vector.json"}
    said = one_sentence(served.client.post("/api/v1/asks", json=body), 400)
    assert said == "vector.json only names other files. Next: give these files themselves."


@pytest.mark.parametrize("run", ["../village", "..", ".", "%2e%2e", "no-such-run", "a" * 3000])
def test_runs_are_found_by_id_only(served: Served, run: str) -> None:
    answer = served.client.get(f"/runs/{run}/files/run.json")
    assert answer.status_code in (400, 404), answer.text
    assert "Next: " in answer.text


@pytest.mark.parametrize("name", ["../run.json", "..%2f..%2flegend.json", "masks", "threads.sqlite", ".partial"])
def test_only_known_files_of_a_run_are_given(served: Served, name: str, any_run: str) -> None:
    answer = served.client.get(f"/runs/{any_run}/files/{name}")
    assert answer.status_code == 404
    assert "Next: " in answer.text


@pytest.fixture(scope="module")
def any_run(served: Served) -> str:
    run: str = served.answered("How many buildings are there?", thread="any")["run"]
    return run


def upload(served: Served, content: Any, name: str = "a.tif", **headers: str) -> httpx.Response:
    return served.client.post("/api/v1/uploads", params={"name": name}, content=content, headers={**BYTES, **headers})


def kept(served: Served) -> set[str]:
    folder = served.folder / "uploads"
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def test_an_upload_too_large_is_cut_off_whatever_it_announces(served: Served) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(5 * 2**30 // 2**16):  # 5 GB
            sent += 2**16
            yield b"II*\0" + bytes(2**16 - 4)

    before = kept(served)
    try:
        said = one_sentence(upload(served, endless()), 413)
    except (httpx.WriteError, httpx.ReadError):  # the server hung up, which the client noticed before it read why
        said = "Uploads of more than 2 MiB are refused."
    except httpx.RemoteProtocolError as cut:  # the same, noticed between the head of the answer and its sentence
        assert str(cut).startswith("peer closed connection without sending complete message body")
        said = "Uploads of more than 2 MiB are refused."
    assert said.startswith("Uploads of more than 2 MiB are refused.")
    assert sent < 64 * 2**20
    assert kept(served) == before
    connection = http.client.HTTPConnection("127.0.0.1", served.client.base_url.port)
    connection.request("POST", "/api/v1/uploads?name=a.tif", headers={**BYTES, "content-length": str(5 * 2**30)})
    assert connection.getresponse().status == 413
    connection.close()


def zip_bomb() -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.tif", bytes(50 * 2**20))
    return file.getvalue()


def pixel_bomb_tif(tmp_path: Path) -> bytes:
    path = tmp_path / "bomb.tif"
    profile = {"driver": "GTiff", "width": 400_000, "height": 400_000, "count": 1, "dtype": "uint8", "tiled": True,
               "transform": rasterio.Affine(2, 0, 0, 0, -2, 0)}  # fmt: skip
    with rasterio.open(path, "w", **profile, blockxsize=65536, blockysize=65536, compress="deflate", sparse_ok=True):
        pass
    return path.read_bytes()


def pixel_bomb_png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 90_000, 90_000, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("kind", ["zip", "tif", "png"])
def test_bombs_are_refused(served: Served, tmp_path: Path, kind: str) -> None:
    before = kept(served)
    content = {"zip": zip_bomb, "tif": lambda: pixel_bomb_tif(tmp_path), "png": pixel_bomb_png}[kind]()
    assert len(content) < 2**20
    said = one_sentence(upload(served, content), 400)
    assert ("is no GeoTIFF" if kind == "zip" else "which no real image does") in said
    assert kept(served) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is no GeoTIFF"),
        (b"#!/bin/sh\nrm -rf /\n", "is no GeoTIFF"),
        (b"<VRTDataset/>", "is no GeoTIFF"),
        (b"<html><script>alert(1)</script>", "is no GeoTIFF"),
        (b"II*\0" + os.urandom(4000), "cannot be opened"),
        (b"SQLite format 3\0" + os.urandom(4000), "cannot be read"),
        (b"{" + b'"a":' * 20_000, "is not JSON"),
    ],
)
def test_what_is_no_image_is_refused(served: Served, content: bytes, words: str) -> None:
    before = kept(served)
    assert words in one_sentence(upload(served, content), 400)
    assert kept(served) == before


@pytest.mark.parametrize("kind", ["text/html", "multipart/form-data; boundary=x", "image/tiff", "text/plain", ""])
def test_uploads_of_a_wrong_content_type_are_refused(served: Served, kind: str) -> None:
    answer = served.client.post(
        "/api/v1/uploads", params={"name": "a.tif"}, content=b"II*\0", headers={"content-type": kind}
    )
    assert "application/octet-stream" in one_sentence(answer, 415)
    asked = served.client.post("/api/v1/asks", content=b"{}", headers={"content-type": kind})
    assert "application/json" in one_sentence(asked, 415)


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.tif",
        "/etc/cron.d/evil.tif",
        "..\\evil.tif",
        "evil\0.tif",
        "évil<script>.tif",
        ".htaccess",
        "",
        "a" * 999,
    ],
)
def test_names_of_uploads_are_made_harmless(served: Served, name: str) -> None:
    picture = BytesIO()
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(picture, "PNG")
    answer = served.client.post("/api/v1/uploads", params={"name": name}, content=picture.getvalue(), headers=BYTES)
    assert answer.status_code == 201, answer.text
    path = answer.json()["path"]
    folder, _, own = path.partition("/")
    assert folder == "uploads" and own.endswith(".png") and not own.startswith(".") and len(own) < 80
    assert not set(own) & set('/\\<>"\0') and (served.folder / path).is_file()
    assert served.get("/image", path=path)["shape"] == [8, 8]


def test_what_is_hostile_in_every_field_stays_text(served: Served) -> None:
    body = {"image": "village.tif", "question": HOSTILE, "thread": HOSTILE[:50], "label_class": HOSTILE,
            "layers": {HOSTILE: "legend.json"}, "segmenter": HOSTILE, "planner": "offline"}  # fmt: skip
    state = served.ended(served.client.post("/api/v1/asks", json=body).json())
    assert state["state"] == "failed" and "Next: " in state["reason"]
    answer = served.answered(HOSTILE, thread="hostile")
    assert answer["status"] == "refused"
    for page in ("/", "/runs", "/batches"):
        shown = served.client.get(page)
        assert "<script>alert" not in shown.text
        policy = shown.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    for name in ("files?folder=" + HOSTILE, "image?path=" + HOSTILE, "asks/" + HOSTILE, HOSTILE):
        said = served.client.get(f"/api/v1/{name}")
        assert said.headers["content-type"] == "application/json" and said.status_code in (400, 404)


@pytest.mark.parametrize(
    "body",
    [
        "[]", "null", "{", '{"image": 1}', '{"image": "village.tif"}', "[" * 100_000,
        '{"image": "village.tif", "question": "?", "thread": "t", "base_url": "http://169.254.169.254/"}',
        '{"image": "village.tif", "question": "?", "thread": "t", "out": "/tmp"}',
        '{"image": "village.tif", "question": "?", "thread": "t", "gsd_m": NaN}',
        '{"image": "village.tif", "question": "?", "thread": "t", "bands": {"red": "3"}}',
        '{"image": "village.tif", "question": "?", "thread": "t", "area": {"polygon": [[1, 2]]}}',
        '{"image": "village.tif", "question": "?", "thread": "t", "area": {"polygon": [[0, 0], [1, 1], [2, "2"]]}}',
        '{"image": "village.tif", "question": "\\ud800", "thread": "t"}',
        json.dumps({"image": "village.tif", "question": "?" * 3000, "thread": "t"}),
        json.dumps({"image": "village.tif", "question": "?", "thread": "t", "program": "a" * 200_000}),
    ],
)  # fmt: skip
def test_what_is_no_question_is_refused(served: Served, body: str) -> None:
    answer = served.client.post("/api/v1/asks", content=body, headers={"content-type": "application/json"})
    one_sentence(answer, 400)


def test_a_body_too_long_is_refused(served: Served) -> None:
    answer = served.client.post("/api/v1/asks", content=b" " * 2**21, headers={"content-type": "application/json"})
    assert "longer than 1 MiB" in one_sentence(answer, 413)


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", "http://localhost.evil.example"],
)
def test_requests_from_another_origin_are_refused(served: Served, origin: str) -> None:
    body = {"image": "village.tif", "question": "?", "thread": "t"}
    answer = served.client.post("/api/v1/asks", json=body, headers={"origin": origin})
    assert "other sites" in one_sentence(answer, 403)
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_reads_by_pages_of_other_sites_are_refused(served: Served, site: str) -> None:
    seen = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    answer = served.client.get("/api/v1/tiles/pixels/0/0/0.png", params={"path": "village.tif"}, headers=seen)
    one_sentence(answer, 403)
    led = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert served.client.get("/runs", headers=led).status_code == 200
    framed = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}
    assert served.client.get("/runs", headers=framed).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80", "10.0.0.1", "", "[::", "localhost@evil"]
)
def test_a_wrong_host_is_refused(served: Served, host: str) -> None:
    answer = served.client.get("/api/v1", headers={"host": host})
    assert answer.status_code in (400, 421), answer.text  # h11 refuses some of these itself
    if answer.status_code == 421:
        assert "does not go by that name" in one_sentence(answer, 421)
    assert served.client.get("/api/v1", headers={"host": "localhost:99"}).status_code == 200


@pytest.fixture(scope="module")
def strangers(painted: Path) -> Iterator[Running]:
    """A server that needs a token, as one that listens to more than this machine."""
    place = start.address("127.0.0.1", 0, ("map.example",), "a token of the test's own")
    running = Running(Settings(open_folder(painted)), place)
    yield running
    running.stop()


def test_a_token_is_needed_and_lets_in_once_shown(strangers: Running) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{strangers.port}") as client:
        one_sentence(client.get("/api/v1"), 401)
        assert client.get("/").status_code == 401
        assert client.get("/assets/ask.js").status_code == 401
        welcome = client.get("/", params={"token": "a token of the test's own", "x": "1"})
        assert (welcome.status_code, welcome.headers["location"]) == (303, "/?x=1")
        cookie = welcome.headers["set-cookie"]
        assert "HttpOnly" in cookie and "SameSite=lax" in cookie and "token" not in cookie
        assert client.get("/").status_code == 200
        assert client.get("/api/v1", headers={"host": "map.example"}).status_code == 200
    with httpx.Client(base_url=f"http://127.0.0.1:{strangers.port}") as other:
        bearer = {"authorization": "Bearer a token of the test's own"}
        assert other.get("/api/v1", headers=bearer).status_code == 200
        assert other.get("/api/v1", headers={"cookie": "swath=1; swath-0=2"}).status_code == 401


def test_no_redirect_leads_elsewhere(strangers: Running) -> None:
    with httpx.Client(base_url=f"http://127.0.0.1:{strangers.port}") as client:
        answer = client.get("//evil.example/", params={"token": "a token of the test's own"})
        assert answer.headers.get("location", "/").startswith("/") and not answer.headers["location"].startswith("//")


def test_guessing_tokens_is_cut_short(strangers: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(guard, "monotonic", lambda: now)
    with httpx.Client(base_url=f"http://127.0.0.1:{strangers.port}") as client:
        statuses = [client.get("/api/v1", params={"token": f"guess {number}"}).status_code for number in range(12)]
        assert statuses == [401] * guard.GUESSES + [429, 429]
        right = {"token": "a token of the test's own"}
        assert "Too many" in one_sentence(client.get("/api/v1", params=right), 429)
        now += guard.GUESSES_IN_S + 1
        assert client.get("/api/v1", params=right).status_code == 303


def test_other_addresses_get_a_token_of_their_own() -> None:
    assert start.address("127.0.0.1", 0, (), None).token is None
    made = {start.address(host, 0, (), None).token for host in ("0.0.0.0", "192.168.0.7", "swath.example", "::")}
    assert len(made) == 4 and all(token and len(token) > 40 for token in made)
    with pytest.raises(InputError, match="A token has at least 16 letters"):
        start.address("0.0.0.0", 0, (), "short")
