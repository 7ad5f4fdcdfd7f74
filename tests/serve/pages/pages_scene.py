"""A small town for tests of pages: five houses of known sizes beside a canal, and runs about them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine

import swath
from swath.agent.planner import Program
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.testing.planner import ScriptedPlanner

SHAPE = (120, 160)
HOUSES = ((30, 10, 40, 20), (60, 10, 80, 30), (100, 10, 105, 14), (30, 60, 60, 90), (110, 60, 130, 100))
"""Boxes (x_min, y_min, x_max, y_max) on pixels of 1 m: 100, 400, 20, 900 and 800 m2."""
AREAS_M2 = (100, 400, 20, 900, 800)
LARGE = 4
"""Houses larger than 50 m2, of which two lie within 25 m of the canal, columns 0 to 9."""
NEAR = 2

COUNT = (
    'houses = components(segment("building"), larger_than_m2=50)\n'
    'wet = near(houses, segment("water"), max_distance_m=25)\n'
    'reply(count(wet), kind="count", objects=wet)\n'
)
DRAFT = COUNT.replace("larger_than_m2", "bigger_than_m2")
ALL = 'houses = components(segment("building"))\nreply(count(houses), kind="count", objects=houses)\n'
QUESTION = "How many buildings larger than 50 m2 are within 25 m of water?"


@dataclass(frozen=True)
class Town:
    """Files of the scene.

    Attributes:
        folder: where they lie.
        image: three bands of noise.
        options: of `ask`, that say where the classes are.
    """

    folder: Path
    image: Path
    options: dict[str, Any]

    def ask(self, program: str, *drafts: str, question: str = QUESTION, reading: str = "large buildings near water",
            **options: Any) -> Path:  # fmt: skip
        """The folder of a run of a program, after some drafts that were rejected."""
        planner = ScriptedPlanner(*drafts, Program(program, reading))
        answer = swath.ask(
            self.image, question, planner=planner, out=self.folder / "runs", **{**self.options, **options}
        )
        return Path(str(answer.run))


def town(folder: Path, name: str = "town.tif") -> Town:
    """Write the scene."""
    classes = np.full(SHAPE, 3, dtype=np.uint8)
    classes[:, :10] = 2
    for x0, y0, x1, y1 in HOUSES:
        classes[y0:y1, x0:x1] = 1
    noise = np.random.default_rng(0).integers(60, 120, (3, *SHAPE), dtype=np.uint8)
    grid = Grid(Affine(1, 0, 500_000, 0, -1, 5_000_000), SHAPE, pyproj.CRS(32631))
    image, labels, legend = folder / name, folder / "classes.tif", folder / "legend.json"
    write_array(image, noise, grid)
    write_array(labels, classes, grid)
    legend.write_text(json.dumps({"1": "building", "2": "water", "3": "grass"}), encoding="utf-8")
    return Town(folder, image, {"labels": labels, "legend": legend})
