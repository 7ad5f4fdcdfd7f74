"""The reference service of the protocol that `--segmenter remote:URL` speaks: any network with a card, over HTTP."""

from __future__ import annotations

import io
import json
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any

import numpy as np
from PIL import Image

from swath.errors import InputError, SwathError
from swath.segment.networks.card import Card
from swath.segment.networks.onnx import runner_of
from swath.segment.networks.remote import PROTOCOL
from swath.segment.tiling import SURE, ByteImage

LARGEST_BODY = 2**26
LONGEST_SIDE = 4096
IDLE_S = 30.0


class Service(ThreadingHTTPServer):
    """A network that answers over HTTP, one tile at a time.

    Attributes:
        card: its card.
    """

    def __init__(self, card: Card, host: str, port: int) -> None:
        """Bind; `serve_forever` then answers.

        Args:
            card: the network.
            host: address to listen on.
            port: 0 for any free one.

        Raises:
            InputError: the network cannot be run, or the address cannot be listened on.
        """
        self.card = card
        self._predict, self._one_at_a_time = runner_of(card), Lock()
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as why:
            raise InputError(
                f"{host}:{port} cannot be listened on ({why}). Next: choose another --host or --port."
            ) from None

    def scores(self, body: bytes) -> bytes:
        """The answer to a tile.

        Raises:
            ValueError: it is no tile.
            SwathError: the network cannot be run on it.
        """
        image = _tile(body, self.card)
        with self._one_at_a_time:
            found = self._predict(image)[: len(self.card.classes)]
        if not np.isfinite(found).all():
            raise SwathError("The network gives no numbers for this tile.")
        rounded: ByteImage = np.rint(found.clip(0, 1) * SURE).astype(np.uint8)
        return rounded.tobytes()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Service
    timeout = IDLE_S

    def do_GET(self) -> None:
        """The description of the network."""
        if self.path != "/":
            self._say(HTTPStatus.NOT_FOUND, "there is / and /segment")
            return
        self._send(HTTPStatus.OK, "application/json", json.dumps(described(self.server.card)).encode())

    def do_POST(self) -> None:
        """The scores of one tile."""
        if self.path != "/segment":
            self._say(HTTPStatus.NOT_FOUND, "there is / and /segment")
            return
        try:
            scores = self.server.scores(self._body())
        except (InputError, ValueError) as why:
            self._say(HTTPStatus.BAD_REQUEST, str(why))
        except SwathError as why:
            self._say(HTTPStatus.INTERNAL_SERVER_ERROR, str(why))
        else:
            self._send(HTTPStatus.OK, "application/octet-stream", scores)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or int(length) > LARGEST_BODY:
            self.close_connection = True
            raise ValueError(f"a tile needs a Content-Length of at most {LARGEST_BODY} bytes")
        return self.rfile.read(int(length))

    def _say(self, status: HTTPStatus, sentence: str) -> None:
        self._send(status, "text/plain; charset=utf-8", sentence.encode())

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: imagery may be nobody's business."""


def described(card: Card) -> dict[str, Any]:
    """What GET / answers."""
    return {
        "protocol": PROTOCOL,
        "name": card.name,
        "weights_sha256": card.sha256,
        "classes": [name or "background" for name in card.classes],
        "tile": card.tile_px,
        "multiple": card.multiple_px,
        "gsd_m": card.gsd_m,
        "trained_gsd_m": card.trained_gsd_m,
        "sentences": list(card.sentences),
    }


def _tile(body: bytes, card: Card) -> ByteImage:
    try:
        with Image.open(io.BytesIO(body), formats=("PNG",)) as picture:
            cols, rows = picture.size
            if picture.mode != "RGB" or max(rows, cols) > LONGEST_SIDE:
                raise ValueError(f"a tile is an RGB PNG of at most {LONGEST_SIDE} x {LONGEST_SIDE} pixels")
            if rows % card.multiple_px or cols % card.multiple_px:
                raise ValueError(f"the sides of a tile are multiples of {card.multiple_px}")
            return np.asarray(picture)
    except (OSError, SyntaxError, Image.DecompressionBombError) as why:
        raise ValueError(f"the body is no PNG ({why})") from None
