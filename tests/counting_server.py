"""A web server on this machine that serves ranges of files, counts what it serves, and misbehaves where told to."""

from __future__ import annotations

import base64
import contextlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class CountingServer:
    """What it serves and what it did.

    Attributes:
        folder: whose files it serves.
        url: where it listens.
        served: bytes of files that it sent, by path.
        asked: paths that it was asked for, in order, with what stood behind "?".
        busy: requests that it is going to answer with 503.
        silent: whether it answers nothing at all.
        user: who may read, as "name:password"; None for everybody.
    """

    folder: Path
    url: str = ""
    served: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    busy: int = 0
    silent: bool = False
    user: str | None = None

    @property
    def total(self) -> int:
        """Bytes of files that it sent."""
        return sum(self.served.values())


class Handler(BaseHTTPRequestHandler):
    """Answers as the state of its server says."""

    protocol_version = "HTTP/1.1"
    state: CountingServer
    stopped: threading.Event

    def do_GET(self) -> None:
        state = self.state
        state.asked.append(self.path)
        if state.silent:
            self.stopped.wait(20)
        elif state.busy > 0:
            state.busy -= 1
            self._end(503, b"busy")
        elif not self._may_read():
            self._end(401, b"who?")
        else:
            self._serve(unquote(urlsplit(self.path).path).lstrip("/"))

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def _may_read(self) -> bool:
        user = self.state.user
        return user is None or self.headers.get("Authorization") == f"Basic {base64.b64encode(user.encode()).decode()}"

    def _serve(self, name: str) -> None:
        file = self.state.folder / name
        if not file.is_file():
            self._end(404, b"no such file")
            return
        data, parts = file.read_bytes(), re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if parts is None:
            self._end(200, data, name)
            return
        first, last = int(parts[1]), min(int(parts[2] or len(data) - 1), len(data) - 1)
        if first > last:
            self._end(416, b"")
            return
        self._end(206, data[first : last + 1], name, f"bytes {first}-{last}/{len(data)}")

    def _end(self, status: int, body: bytes, name: str = "", part: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Last-Modified", "Mon, 30 Nov 2026 12:00:00 GMT")
        if part:
            self.send_header("Content-Range", part)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
            if name:
                self.state.served[name] = self.state.served.get(name, 0) + len(body)

    def log_message(self, *arguments: object) -> None:
        """Nothing."""


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing: clients go when they have what they want."""


@contextlib.contextmanager
def counting_server(folder: Path) -> Iterator[CountingServer]:
    """Start one; it ends with the block."""
    state, stopped = CountingServer(folder), threading.Event()
    server = Server(("127.0.0.1", 0), type("Own", (Handler,), {"state": state, "stopped": stopped}))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
