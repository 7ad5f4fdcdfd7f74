"""Segmentation over HTTP on real sockets: the reference service, and servers that fail in every way."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from click.testing import CliRunner

import swath
from swath.cli import swath as command
from swath.errors import InputError, SwathError
from swath.raster.reader import Raster, open_raster
from swath.segment.networks.card import read_card
from swath.segment.networks.remote import RemoteBackend
from swath.segment.networks.service import Service, described
from swath.segment.protocol import SegmentOptions
from swath.segment.registry import open_backend
from swath.segment.tiling import Tiling
from swath.testing.networks import colour_network
from swath.testing.segment_contract import faults

COLOURS = {"building": (220, 40, 40), "water": (20, 60, 200), "vegetation": (40, 160, 50)}
Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def running(server: ThreadingHTTPServer) -> Iterator[str]:
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def answering(get: Answer, post: Answer) -> Iterator[str]:
    """A server that answers as it is told."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            get(self)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            post(self)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with running(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as url:
        yield url


def says(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def hangs_up(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def card(tmp_path: Path) -> Path:
    return colour_network(tmp_path, COLOURS)


@pytest.fixture
def raster(tmp_path: Path) -> Raster:
    """Blocks of the three colours with some noise."""
    random = np.random.default_rng(3)
    which = np.kron(random.integers(0, 3, (15, 13)), np.ones((10, 10), int))
    pixels = (np.array(list(COLOURS.values()))[which] + random.integers(-15, 16, (150, 130, 3))).clip(0, 255)
    place = {"crs": "EPSG:32633", "transform": Affine(0.5, 0, 5e5, 0, -0.5, 4e6)}
    with rasterio.open(
        tmp_path / "image.tif", "w", driver="GTiff", width=130, height=150, count=3, dtype="uint8",
        photometric="rgb", **place,
    ) as file:  # fmt: skip
        file.write(pixels.astype(np.uint8).transpose(2, 0, 1))
    return open_raster(tmp_path / "image.tif")


def good(card: Path, **changed: Any) -> bytes:
    return json.dumps({**described(read_card(card)), **changed}).encode()


@pytest.mark.parametrize("side", [64, 512])
def test_the_service_gives_what_the_network_gives_here(
    card: Path, raster: Raster, monkeypatch: pytest.MonkeyPatch, side: int
) -> None:
    monkeypatch.setattr("swath.segment.networks.onnx.Tiling", lambda _, multiple_px: Tiling(side, 4, 4, multiple_px))
    here = open_backend(f"onnx:{card}", raster, SegmentOptions())
    with running(Service(read_card(card), "127.0.0.1", 0)) as url:
        there = open_backend(f"remote:{url}", raster, SegmentOptions())
        assert there.classes() == here.classes()
        for name in COLOURS:
            assert np.array_equal(np.asarray(there.segment(name).mask), np.asarray(here.segment(name).mask))
        assert faults(there, raster) == []
    record = there.describe()
    assert (record["name"], record["model"], record["url"]) == ("remote", "colours", url)
    assert record["weights_sha256"] == here.describe()["weights_sha256"]


def test_a_question_is_answered_by_a_service_and_says_so(card: Path, raster: Raster, tmp_path: Path) -> None:
    with running(Service(read_card(card), "127.0.0.1", 0)) as url:
        question, options = "What percentage of the image is water?", {"segmenter": f"remote:{url}"}
        answer = swath.ask(raster.path, question, out=tmp_path / "runs", **options)
    here = swath.ask(raster.path, question, out=tmp_path / "runs", segmenter=f"onnx:{card}")
    assert answer.answer == here.answer
    assert answer.segmenter == "remote"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html>", "Expecting value"),
        (b"[]", "does not say"),
        (b"[" * 100_000, "is no segmentation service"),
        (b"\xff\xfe", "is no segmentation service"),
        (json.dumps({"protocol": "swath-segment/1"}).encode(), "it lacks 'classes'"),
    ],
)
def test_what_is_no_service_is_one_sentence(raster: Raster, body: bytes, why: str) -> None:
    with (
        answering(says(body), hangs_up) as url,
        pytest.raises(
            InputError, match=r"is no segmentation service of the protocol swath-segment/1: .*docs/models.md"
        ) as said,
    ):
        open_backend(f"remote:{url}", raster, SegmentOptions())
    assert why in str(said.value)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"classes": []}, "classes is no list"),
        ({"classes": ["a"] * 300}, "classes is no list"),
        ({"classes": ["a", "A"]}, "different classes"),
        ({"classes": ["background"]}, "different classes"),
        ({"classes": [{"a": 1}]}, "printable letters"),
        ({"name": "\x1b[2J"}, "printable letters"),
        ({"name": "n" * 501}, "printable letters"),
        ({"sentences": ["a"] * 21}, "sentences is no list"),
        ({"tile": 10**9}, "whole numbers"),
        ({"multiple": True}, "whole numbers"),
        ({"gsd_m": [2, 1]}, "the smaller one first"),
        ({"gsd_m": "near"}, "two numbers of metres"),
        ({"weights_sha256": None}, "printable letters"),
    ],
)
def test_a_hostile_description_is_refused(card: Path, raster: Raster, changed: dict[str, Any], why: str) -> None:
    with answering(says(good(card, **changed)), hangs_up) as url, pytest.raises(InputError, match=why):
        open_backend(f"remote:{url}", raster, SegmentOptions())


def test_an_endless_description_is_cut_off(raster: Raster) -> None:
    with answering(says(b" " * 2**20), hangs_up) as url, pytest.raises(InputError, match="is no segmentation service"):
        open_backend(f"remote:{url}", raster, SegmentOptions())


@pytest.mark.parametrize(
    ("post", "why"),
    [
        (
            says(b"123"),
            r"answered a tile of 128 x 128 pixels with 3 bytes instead of 49,152, so the image is not segmented",
        ),
        (says(b"1" * 100_000), r"with 49,153 bytes instead of 49,152"),
        (says(b"out of memory\nsecret", 500), r"/segment failed \(status 500: out of memory\)"),
        (says(b"", 302, Location="http://127.0.0.1:1/"), r"failed \(status 302\)"),
        (hangs_up, r"/segment failed \("),
    ],
)
def test_a_wrong_answer_fails_the_whole_run(card: Path, raster: Raster, post: Answer, why: str) -> None:
    with answering(says(good(card, multiple=1)), post) as url:
        backend = open_backend(f"remote:{url}", raster, SegmentOptions())
        with pytest.raises(SwathError, match=why):
            backend.segment("water")


def test_a_silent_service_is_given_up(card: Path, raster: Raster, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr(RemoteBackend, "tile_timeout_s", 0.2)
    with answering(says(good(card)), lambda _: over.wait(60) and None) as url:
        backend = open_backend(f"remote:{url}", raster, SegmentOptions())
        with pytest.raises(SwathError, match=r"failed \(no answer within 0.2 s\). Next: check that it runs"):
            backend.segment("water")
        over.set()


def test_no_service_and_no_address_are_sentences(raster: Raster) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with pytest.raises(SwathError, match=r"failed \(.*refused\). Next: check that it runs"):
        open_backend(f"remote:http://127.0.0.1:{port}", raster, SegmentOptions())
    for name in ("remote", "remote:file:///etc/passwd", "remote:ftp://x"):
        with pytest.raises(
            InputError, match=r"needs the address of a service. Next: name it, as in --segmenter remote:http"
        ):
            open_backend(name, raster, SegmentOptions())


@pytest.mark.parametrize(
    ("sent", "status", "why"),
    [
        (b"POST /segment HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc", 400, b"the body is no PNG"),
        (b"POST /segment HTTP/1.0\r\n\r\n", 400, b"needs a Content-Length"),
        (b"POST /segment HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n", 400, b"needs a Content-Length"),
        (b"POST /other HTTP/1.0\r\nContent-Length: 0\r\n\r\n", 404, b"there is / and /segment"),
        (b"GET /x HTTP/1.0\r\n\r\n", 404, b"there is / and /segment"),
    ],
)
def test_the_service_answers_nonsense_with_a_sentence(card: Path, sent: bytes, status: int, why: bytes) -> None:
    with (
        running(Service(read_card(card), "127.0.0.1", 0)) as url,
        socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2])), 30) as line,
    ):
        line.sendall(sent)
        reply = b"".join(iter(lambda: line.recv(4096), b""))
    assert reply.split(b" ")[1] == str(status).encode()
    assert why in reply


def test_the_command_says_where_it_cannot_listen(card: Path) -> None:
    result = CliRunner().invoke(command, ["models", "serve", str(card), "--host", "192.0.2.1"])
    assert isinstance(result.exception, InputError)
    assert "192.0.2.1:8765 cannot be listened on" in str(result.exception)
