"""A town of coloured boxes of known heights on two slopes: files, and what is true of them by construction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine
from numpy.typing import NDArray

from swath.raster.grid import Grid
from swath.raster.write import write_array

SHAPE = (200, 240)
GRID = Grid(Affine(1, 0, 500_000, 0, -1, 5_000_000), SHAPE, pyproj.CRS(32631))
LEGEND = {1: "grass", 2: "building", 3: "tree", 4: "water", 5: "silo", 6: "hangar", 7: "plane", 8: "road"}
COLOURS = {
    "red": (200, 30, 30), "white": (245, 245, 245), "grey": (128, 128, 128), "blue": (30, 60, 200),
    "green": (40, 140, 40), "black": (5, 5, 5),
}  # fmt: skip


@dataclass(frozen=True)
class Box:
    """One thing: class value, columns and rows, height above ground in metres, colour."""

    name: str
    value: int
    x0: int
    y0: int
    x1: int
    y1: int
    height: float
    colour: str

    @property
    def area(self) -> int:
        return (self.x1 - self.x0) * (self.y1 - self.y0)


BOXES = (
    Box("b1", 2, 10, 10, 26, 22, 6, "red"),
    Box("b2", 2, 40, 12, 70, 40, 12, "white"),
    Box("b3", 2, 90, 8, 100, 20, 4.5, "red"),
    Box("b4", 2, 150, 15, 162, 35, 21, "grey"),
    Box("b5", 2, 20, 120, 44, 150, 9, "blue"),
    Box("b6", 2, 100, 84, 130, 104, 15, "white"),
    Box("b7", 2, 160, 150, 168, 158, 3, "red"),
    Box("b8", 2, 60, 160, 100, 188, 30, "grey"),
    Box("s1", 5, 180, 60, 190, 70, 18, "white"),
    Box("h1", 6, 10, 60, 30, 80, 8, "grey"),
    Box("h2", 6, 70, 60, 92, 80, 8.5, "white"),
    Box("p1", 7, 45, 66, 52, 72, 2, "white"),
    Box("p2", 7, 140, 170, 147, 176, 2.5, "red"),
    Box("t1", 3, 110, 140, 120, 150, 7, "green"),
    Box("t2", 3, 125, 120, 131, 126, 11, "green"),
    Box("t3", 3, 180, 120, 186, 126, 5, "green"),
    Box("w1", 4, 195, 150, 235, 190, 0, "blue"),
    Box("r1", 8, 0, 44, 240, 50, 0, "black"),
)


@dataclass(frozen=True)
class Town:
    """Files, and arrays of the ground and of the heights above it in metres."""

    image: Path
    options: dict[str, Any]
    ground: NDArray[np.float32]
    above: NDArray[np.float32]

    def of(self, *names: str) -> NDArray[np.bool_]:
        """(rows, columns) the pixels of some things."""
        found = np.zeros(SHAPE, dtype=bool)
        for box in BOXES:
            if box.name in names:
                found[box.y0 : box.y1, box.x0 : box.x1] = True
        return found


def build_town(folder: Path) -> Town:
    """Write the town: it rises 0.1 m a metre towards the east, half a metre a metre from column 200 on."""
    columns = np.arange(SHAPE[1])
    profile = 100 + 0.1 * np.minimum(columns, 200) + 0.5 * np.maximum(columns - 200, 0)
    ground = np.broadcast_to(profile, SHAPE).astype(np.float32)
    above, labels = np.zeros(SHAPE, dtype=np.float32), np.ones(SHAPE, dtype=np.uint8)
    pixels = np.empty((3, *SHAPE), dtype=np.uint8)
    pixels[:] = np.array(COLOURS["green"])[:, None, None]
    for box in BOXES:
        window = np.s_[box.y0 : box.y1, box.x0 : box.x1]
        above[window], labels[window] = box.height, box.value
        pixels[(slice(None), *window)] = np.array(COLOURS[box.colour])[:, None, None]
    write_array(folder / "town.tif", pixels, GRID)
    write_array(folder / "labels.tif", labels, GRID)
    write_array(folder / "dtm.tif", ground, GRID)
    write_array(folder / "dsm.tif", ground + above, GRID)
    (folder / "legend.json").write_text(json.dumps({str(value): name for value, name in LEGEND.items()}))
    options = {
        "labels": folder / "labels.tif", "legend": folder / "legend.json", "dsm": folder / "dsm.tif",
        "dtm": folder / "dtm.tif", "bands": {"red": 1, "green": 2, "blue": 3},
    }  # fmt: skip
    return Town(folder / "town.tif", options, ground, above)
