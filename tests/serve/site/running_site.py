"""A server as `swath serve` starts it, in a thread, and a client of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyproj
import uvicorn
from affine import Affine

from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.serve import start
from swath.serve.server import Settings


@dataclass
class Served:
    """A running server: its address, its folder, a client of it."""

    url: str
    folder: Path
    client: httpx.Client

    def get(self, address: str, **query: Any) -> Any:
        answer = self.client.get(f"/api/v1{address}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def put(self, question: str, image: str = "village.tif", thread: str = "t", **options: Any) -> dict[str, Any]:
        """Put a question into the queue."""
        labels = {"labels": "village.tif", "legend": "legend.json"} if image == "village.tif" else {}
        body = {"image": image, "question": question, "thread": thread, **labels, **options}
        answer = self.client.post("/api/v1/asks", json=body)
        assert answer.status_code == 202, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def events(self, ask: str, after: int | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """What is told of a question, to its end."""
        headers = {} if after is None else {"last-event-id": str(after)}
        with self.client.stream("GET", f"/api/v1/asks/{ask}/events", headers=headers) as stream:
            kind = ""
            for line in stream.iter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    yield kind, json.loads(value)

    def ended(self, ask: dict[str, Any]) -> dict[str, Any]:
        """The last state of a question."""
        *_, (kind, state) = self.events(ask["id"])
        assert kind == "state"
        return state

    def answered(self, question: str, **options: Any) -> dict[str, Any]:
        """The answer to a question."""
        state = self.ended(self.put(question, **options))
        assert state["state"] == "done", state
        found: dict[str, Any] = state["answer"]
        return found


class Running:
    """A server in a thread; its socket listens before it runs, so that clients need not wait for it."""

    def __init__(self, settings: Settings, place: start.Address) -> None:
        self.socket = start.bound(place)
        self.socket.listen()
        self.port = self.socket.getsockname()[1]
        config = uvicorn.Config(start.guarded(settings, place), log_level="error", ws="none", http="h11")
        config.timeout_graceful_shutdown = 1
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]})
        self.thread.start()

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()


SLOW = """grass, house = segment("grass"), segment("building")
n = 0
for i in range(900):
    n = perimeter_m(beyond(grass, house, larger_than_m=100 + i))
reply(n, kind="quantity", unit="m")
"""
"""A program that takes a minute or more on the large image: each round looks at nine million pixels anew."""


def large(path: Path) -> None:
    """A class raster of 3,000 x 3,000 pixels with one house."""
    classes = np.full((3000, 3000), 3, dtype=np.uint8)
    classes[100:110, 100:116] = 1
    write_array(path, classes, Grid(Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000), classes.shape, pyproj.CRS(32631)))


def houses(path: Path, count: int) -> None:
    """A class raster of 0.5 m pixels in UTM with some houses (1) of 10 x 16 pixels on grass (3)."""
    classes = np.full((40, 30 * max(count, 1)), 3, dtype=np.uint8)
    for number in range(count):
        classes[10:20, 30 * number + 5 : 30 * number + 21] = 1
    write_array(path, classes, Grid(Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000), classes.shape, pyproj.CRS(32631)))
