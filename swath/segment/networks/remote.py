"""A segmentation service over HTTP: tiles go out as PNG, scores come back as bytes. The protocol: docs/models.md."""

from __future__ import annotations

import http.client
import io
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from swath.errors import InputError, SwathError
from swath.segment.networks.card import MOST_CLASSES, Card, class_name
from swath.segment.networks.onnx import FloatImage, OnnxBackend
from swath.segment.protocol import SegmentOptions
from swath.segment.tiling import SURE, ByteImage, Predict

PROTOCOL = "swath-segment/1"
CARD_TIMEOUT_S, TILE_TIMEOUT_S = 10.0, 120.0
LARGEST_CARD = 2**18
LONGEST_TEXT = 500
MOST_SENTENCES = 20


class RemoteBackend(OnnxBackend):
    """Scores of a network elsewhere, tiled and blended as those of one here."""

    name = "remote"
    card_timeout_s, tile_timeout_s = CARD_TIMEOUT_S, TILE_TIMEOUT_S

    def _read_card(self, options: SegmentOptions) -> Card:
        if options.address is None or not options.address.startswith(("http://", "https://")):
            raise InputError(
                "The segmenter remote needs the address of a service. "
                "Next: name it, as in --segmenter remote:http://127.0.0.1:8765."
            )
        self._url = options.address.rstrip("/")
        data = _exchange(self._url + "/", None, self.card_timeout_s, LARGEST_CARD)
        try:
            return _card(json.loads(data), self._url)
        except (ValueError, TypeError, KeyError, RecursionError, UnicodeDecodeError) as why:
            missing = f"it lacks {why}" if isinstance(why, KeyError) else str(why)[:160]
            raise InputError(
                f"{self._url} is no segmentation service of the protocol {PROTOCOL}: {missing}. "
                "Next: see docs/models.md."
            ) from None

    def _runner(self) -> Predict:
        return self._asked

    def _asked(self, image: ByteImage) -> FloatImage:
        rows, cols, _ = image.shape
        shape = (self.card.channels, rows, cols)
        size = int(np.prod(shape))
        data = _exchange(self._url + "/segment", _png(image), self.tile_timeout_s, size)
        if len(data) != size:
            raise SwathError(
                f"{self._url} answered a tile of {rows} x {cols} pixels with {len(data):,} bytes instead of {size:,}, "
                "so the image is not segmented at all. Next: check that it speaks the protocol in docs/models.md."
            )
        return np.frombuffer(data, np.uint8).reshape(shape).astype(np.float32) / np.float32(SURE)

    def describe(self) -> dict[str, Any]:
        """JSON-ready record: the service and what it says of its model."""
        return {**super().describe(), "url": self._url, "card": None}


def _png(image: ByteImage) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def _card(said: Any, url: str) -> Card:
    """The card of a service, every value of it checked."""
    if not isinstance(said, dict) or said.get("protocol") != PROTOCOL:
        raise ValueError(f'its description does not say "protocol": "{PROTOCOL}"')
    names = said["classes"]
    if not isinstance(names, list) or not 1 <= len(names) <= MOST_CLASSES:
        raise ValueError(f"classes is no list of 1 to {MOST_CLASSES} names")
    classes = tuple(class_name(_text(name)) for name in names)
    named = [name for name in classes if name]
    if not named or len(set(named)) < len(named):
        raise ValueError("classes does not name different classes")
    sentences = said.get("sentences", [])
    if not isinstance(sentences, list) or len(sentences) > MOST_SENTENCES:
        raise ValueError(f"sentences is no list of up to {MOST_SENTENCES} texts")
    return Card(
        path=Path(url),  # the whole address: what a service says of its weights is not all that tells it apart
        name=_text(said["name"]),
        network=Path(url.rpartition("/")[2]),
        sha256=_text(said["weights_sha256"]),
        classes=classes,
        channels=len(classes),
        activation="none",
        tile_px=_whole(said.get("tile", 512)),
        multiple_px=_whole(said.get("multiple", 32)),
        gsd_m=_range(said.get("gsd_m")),
        trained_gsd_m=_range(said.get("trained_gsd_m")),
        sentences=tuple(map(_text, sentences)),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= LONGEST_TEXT or not value.isprintable():
        raise ValueError(f"a text has to be 1 to {LONGEST_TEXT} printable letters")
    return value


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 4096:
        raise ValueError("tile and multiple are whole numbers from 1 to 4096")
    return value


def _range(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(size, int | float) for size in value):
        raise ValueError("ground sizes are two numbers of metres")
    low, high = map(float, value)
    if not 0 < low <= high < np.inf:
        raise ValueError("ground sizes are two numbers of metres, the smaller one first")
    return low, high


class _Stay(urllib.request.HTTPRedirectHandler):
    """Imagery goes to the address that was named and to no other."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Never."""


def _exchange(url: str, body: bytes | None, timeout_s: float, largest: int) -> bytes:
    """What a service answers; no more than `largest` bytes and one.

    Raises:
        SwathError: it cannot be reached, breaks off, takes too long or refuses.
    """
    headers = {"Content-Type": "image/png", "Accept-Encoding": "identity"} if body is not None else {}
    try:
        request = urllib.request.Request(url, data=body, headers=headers)  # noqa: S310  # http and https only
        with urllib.request.build_opener(_Stay).open(request, timeout=timeout_s) as reply:
            return bytes(reply.read(largest + 1))
    except urllib.error.HTTPError as why:
        said = why.read(300).decode("utf-8", "replace").strip().split("\n")[0]
        reason = f"status {why.code}{': ' + said if said else ''}"
    except TimeoutError:
        reason = f"no answer within {timeout_s:g} s"
    except (OSError, http.client.HTTPException, ValueError) as why:
        cause = getattr(why, "reason", None) or why
        reason = (
            f"no answer within {timeout_s:g} s" if isinstance(cause, TimeoutError) else str(cause) or type(why).__name__
        )
    raise SwathError(
        f"The segmentation service {url} failed ({reason[:300]}). Next: check that it runs, then ask again."
    )
