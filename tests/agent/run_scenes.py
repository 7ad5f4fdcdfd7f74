"""Scenes whose objects are known by construction, asked through the whole path with a painted source of classes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine
from numpy.typing import NDArray

import swath
from swath.agent.planner import Program
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.testing.planner import ScriptedPlanner
from swath.testing.segment import PaintedFactory, Painting
from swath.types import Answer

UTM = pyproj.CRS(32631)
NORTH_UP = Affine(2, 0, 500_000, 0, -2, 5_000_000)


def write_image(
    path: Path,
    shape: tuple[int, int] = (40, 60),
    *,
    affine: Affine = NORTH_UP,
    crs: pyproj.CRS | None = UTM,
    seed: int = 0,
) -> Path:
    """An RGB image of noise."""
    pixels = np.random.default_rng(seed).integers(0, 255, (3, *shape), dtype=np.uint8)
    write_array(path, pixels, Grid(affine, shape, crs))
    return path


def painted(shape: tuple[int, int], *boxes: tuple[int, int, int, int]) -> NDArray[np.bool_]:
    """A mask of boxes (x_min, y_min, x_max, y_max)."""
    mask = np.zeros(shape, dtype=bool)
    for x0, y0, x1, y1 in boxes:
        mask[y0:y1, x0:x1] = True
    return mask


class Scene:
    """An image and painted classes; `ask` runs a program on it and keeps the run."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, image: Path, paintings: Mapping[str, Painting]
    ) -> None:
        self.out = folder / "runs"
        self.image = image
        self.factory = PaintedFactory(paintings)
        monkeypatch.setattr(
            "swath.agent.desk.open_backend", lambda name, raster, options: self.factory(raster, options)
        )

    def ask(self, program: str, *drafts: str, question: str = "how many?", **options: Any) -> tuple[Path, Answer]:
        """The run's folder and the answer of the last of the programs."""
        planner = ScriptedPlanner(*drafts, Program(program, "things"))
        answer = swath.ask(self.image, question, planner=planner, out=self.out, **options)
        assert answer.run is not None
        return Path(answer.run), answer
