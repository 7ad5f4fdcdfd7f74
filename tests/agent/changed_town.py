"""The painted town and what it became, with truths about the change computed with numpy and scipy alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine
from numpy.typing import NDArray
from painted_town import GSD_M, NAMES, Image, Region, Town, Truths, painted_labels

from swath.agent.planner import Scene
from swath.raster.grid import Grid
from swath.raster.reader import open_raster
from swath.raster.write import write_array
from swath.segment.dates import DATES, open_two_dates
from swath.segment.protocol import SegmentOptions
from swath.tools.site import Site

SCENE = Scene(
    tuple(f"{name} {date}" for date in DATES for name in NAMES.values()),
    (360, 480),
    (GSD_M, GSD_M),
    "EPSG:32640",
    "up",
    (),
    "two dates",
)


def changed_labels(before: NDArray[np.uint8], seed: int = 3) -> NDArray[np.uint8]:
    """(360, 480) class values later: woods felled, fields built over, a pond larger, houses gone and new."""
    rng = np.random.default_rng(seed)
    after = before.copy()
    rows, cols = np.mgrid[: before.shape[0], : before.shape[1]]
    after[(rows - 60) ** 2 + 0.6 * (cols - 90) ** 2 < 31**2] = 5
    after[250:290, 20:70] = 1
    after[(before == 4) & (cols > 300) & (rows < 120)] = 2
    after[(rows - 230) ** 2 + (cols - 330) ** 2 < 18**2] = 4
    for region in Truths(before).R(before == 1):
        if rng.random() < 0.4:
            after[region.mask & (after == 1)] = 2
    for _ in range(25):
        y, x = rng.integers(2, 325), rng.integers(2, 440)
        height, width = rng.integers(6, 22), rng.integers(6, 22)
        if not np.isin(after[y - 2 : y + height + 2, x - 2 : x + width + 2], (1, 3, 5)).any():
            after[y : y + height, x : x + width] = 1
    return after


class ChangeTruths(Truths):
    """Names that references to two dates use: B0 is building before, B1 building after."""

    def __init__(self, before: NDArray[np.uint8], after: NDArray[np.uint8]) -> None:
        super().__init__(after)
        self.dates = (before, after)

    def names(self) -> dict[str, Any]:
        """What a reference may call."""
        letters = zip("BLDVWPOF", range(1, 9), strict=True)
        classes = {f"{letter}{i}": self.dates[i] == value for letter, value in letters for i in (0, 1)}
        same = self.dates[0] == self.dates[1]
        return {**super().names(), **classes, "SAME": same, "ALONE": self.alone, "SHARED": self.shared}

    def alone(self, regions: list[Region], other: Image) -> list[Region]:
        """The regions that share no pixel with a mask."""
        return [region for region in regions if not (region.mask & other).any()]

    def shared(self, regions: list[Region], other: Image) -> list[Region]:
        """The regions that share a pixel with a mask."""
        return [region for region in regions if (region.mask & other).any()]

    def MOST(self, thing: Image, date: int) -> str:  # noqa: N802
        """The class that covers most of a mask at a date."""
        values, counts = np.unique(self.dates[date][thing], return_counts=True)
        return NAMES[int(values[counts.argmax()])]

    def GREW(self) -> str:  # noqa: N802
        """The class whose area grew most."""
        return max(NAMES.values(), key=lambda name: self._grown({v: k for k, v in NAMES.items()}[name]))

    def _grown(self, value: int) -> int:
        return int((self.dates[1] == value).sum()) - int((self.dates[0] == value).sum())


def build_changed_town(folder: Path) -> Town:
    """Paint both dates into a folder and open them as one scene."""
    before = painted_labels()
    after = changed_labels(before)
    grid = Grid(Affine(GSD_M, 0, 331000, 0, -GSD_M, 2785000), before.shape, pyproj.CRS("EPSG:32640"))
    legend = folder / "legend.json"
    legend.write_text(json.dumps({str(value): name for value, name in NAMES.items()}), encoding="utf-8")
    for date, labels in zip(DATES, (before, after), strict=True):
        write_array(folder / f"{date}.tif", labels, grid)
    raster = open_raster(folder / "after.tif")
    backend = open_two_dates(
        folder / "before.tif", folder / "after.tif", "labels", raster, SegmentOptions(legend=legend)
    )
    assert backend.classes() == SCENE.classes
    return Town(Site(raster, backend, raster.valid()), ChangeTruths(before, after))
