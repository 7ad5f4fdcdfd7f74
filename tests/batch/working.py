"""Work and a planner that other processes can import."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swath.agent.planner import Feedback, Program, Scene
from swath.batch.pool import Once


def squared(setup: int, items: Sequence[int], once: Once) -> Iterator[int]:
    for item in items:
        yield setup + item**2


def stumbling(setup: Any, items: Sequence[int], once: Once) -> Iterator[int]:
    """Breaks off at multiples of three."""
    for item in items:
        if item % 3 == 0:
            raise ValueError(f"cannot work on\n{item}")
        yield item


def dying(setup: Any, items: Sequence[int], once: Once) -> Iterator[int]:
    """Takes the whole process down at 13 and 14."""
    for item in items:
        if item == 13:
            os.kill(os.getpid(), signal.SIGKILL)
        if item == 14:
            os._exit(7)
        yield item


def noting(folder: Path, items: Sequence[int], once: Once) -> Iterator[str]:
    """Computes one thing for odd and one for even items, and leaves a file for each time that it did."""

    def compute(key: str) -> str:
        time.sleep(0.05)
        (folder / f"{key}-{os.getpid()}-{time.monotonic_ns()}").touch()
        return f"value of {key}"

    for item in items:
        key = "odd" if item % 2 else "even"
        yield once(key, lambda key=key: compute(key))  # type: ignore[misc]


def giving_up(folder: Path, items: Sequence[int], once: Once) -> Iterator[str]:
    """Whoever computes first fails, whoever comes next does it."""

    def compute() -> str:
        time.sleep(0.2)
        try:
            (folder / "first").touch(exist_ok=False)
        except FileExistsError:
            return "done"
        raise RuntimeError("the first one fails")

    for _ in items:
        yield once("key", compute)


def endless(setup: Path, items: Sequence[int], once: Once) -> Iterator[int]:
    """The first item at once, the others never."""
    (setup / str(os.getpid())).touch()
    yield items[0]
    time.sleep(600)


@dataclass
class Counting:
    """A planner that counts buildings, and leaves a file in a folder each time that it is asked."""

    folder: Path
    source: str = 'houses = components(segment("building"))\nreply(count(houses), kind="count", objects=houses)\n'
    name: str = "counting"

    def plan(self, question: str, scene: Scene, feedback: Feedback | None) -> Program:
        (self.folder / f"plan-{os.getpid()}-{time.monotonic_ns()}").touch()
        return Program(self.source, "buildings")
