"""A painted scene for programs of the language-model planner, and tasks about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine
from scipy.ndimage import label

from swath.agent.ask import process_sandbox
from swath.agent.checker import check
from swath.agent.execution import Reply, run_program, surface
from swath.agent.llm.given import given
from swath.agent.llm.ways import Task
from swath.agent.planner import Scene
from swath.raster.grid import Grid
from swath.raster.heights import open_heights
from swath.raster.reader import open_raster
from swath.raster.write import write_array
from swath.testing.segment import PaintedBackend
from swath.tools.site import Site

SHAPE = (150, 240)
GSD_M = 4.0
CLASSES = ("building", "water", "vegetation", "road")
SCENE = Scene(CLASSES, SHAPE, (GSD_M, GSD_M), "EPSG:32631", "up", (), "painted")


ROOFS = ((200, 30, 30), (230, 230, 230), (40, 40, 40))
"""Red, white, black."""


def painted_site(folder: Path) -> Site:
    """600 x 960 m with a river, a road, woods of several sizes and forty houses of three colours on sloping ground."""
    rng = np.random.default_rng(3)
    rows, cols = np.mgrid[: SHAPE[0], : SHAPE[1]]
    water = (np.abs(cols - 30 - 6 * np.sin(rows / 20)) < 5) | ((rows - 100) ** 2 + (cols - 170) ** 2 < 90)
    road = np.abs(rows - 70) < 2
    vegetation = np.zeros(SHAPE, dtype=bool)
    for y, x, radius in ((30, 60, 20), (110, 55, 14), (40, 200, 6), (120, 200, 17), (10, 120, 3)):
        vegetation |= (rows - y) ** 2 + (cols - x) ** 2 < radius**2
    building = np.zeros(SHAPE, dtype=bool)
    for _ in range(40):
        y, x, high, wide = rng.integers(2, 140), rng.integers(2, 230), rng.integers(1, 5), rng.integers(1, 7)
        building[y : y + high, x : x + wide] = True
    building &= ~(water | road)
    vegetation &= ~(water | road | building)
    houses, _ = label(building, structure=np.ones((3, 3)))
    colours = np.where(building, np.array(ROOFS, np.uint8)[houses % 3].transpose(2, 0, 1), np.uint8(90))
    image, grid = folder / "painted.tif", Grid(Affine(GSD_M, 0, 5e5, 0, -GSD_M, 5e6), SHAPE, pyproj.CRS(32631))
    write_array(image, colours, grid, descriptions=("red", "green", "blue"))
    above_ground, ground = np.where(building, 4.0 + 3 * (houses % 5), 0.0), 0.006 * (cols * 1.0) ** 2
    for name, heights in (("ndsm", above_ground), ("dem", ground)):
        write_array(folder / f"{name}.tif", heights.astype(np.float32), grid)
    raster = open_raster(image)
    heights = open_heights({"ndsm": folder / "ndsm.tif", "dem": folder / "dem.tif"}, raster)
    paintings: dict[str, Any] = dict(zip(CLASSES, (building, water, vegetation, road), strict=True))
    return Site(raster, PaintedBackend(SHAPE, paintings), raster.valid(), heights=heights)


def task(question: str, classes: tuple[str, ...] = CLASSES) -> Task:
    """A question about the scene."""
    return Task(given(question, classes), SCENE)


def replied(source: str, site: Site) -> Reply:
    """What a program replies, once it has been checked."""
    check(source, surface())
    return run_program(source, site, process_sandbox()).reply
