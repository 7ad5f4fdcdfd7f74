"""A file server on a real socket that breaks off, forgets ranges or lies, as it is told."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType


class FileServer:
    """Serves one file at every path; use as a context manager.

    Attributes:
        ranges: the Range header of every call, None where there was none.
    """

    def __init__(
        self,
        content: bytes,
        *,
        breaks_after: int | None = None,
        breaks: int = 10**9,
        ranges: bool = True,
        length: bool = True,
        status: int | None = None,
    ) -> None:
        """Say how it behaves.

        Args:
            content: of the file.
            breaks_after: bytes after which the connection is closed.
            breaks: how many calls break off; later ones do not.
            ranges: whether it knows ranges.
            length: whether it says how long its answer is.
            status: an HTTP status to answer with instead.
        """
        self.ranges: list[str | None] = []
        server, calls = self, [0]

        class Handler(BaseHTTPRequestHandler):
            """Answers one call."""

            def do_GET(self) -> None:
                asked = self.headers.get("Range")
                server.ranges.append(asked)
                calls[0] += 1
                start = int(asked[6:-1]) if asked and ranges else 0
                if status is not None or (asked and ranges and start >= len(content)):
                    self.send_error(status or 416)
                    return
                body = content[start:]
                self.send_response(206 if asked and ranges else 200)
                if asked and ranges:
                    self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
                if length:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[:breaks_after] if breaks_after is not None and calls[0] <= breaks else body)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """Address of the file."""
        return f"http://127.0.0.1:{self._server.server_port}/weights.pth"

    def __enter__(self) -> FileServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
