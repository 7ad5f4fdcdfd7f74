"""A painted town with every class, and truths about it computed with numpy and scipy alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
from affine import Affine
from numpy.typing import NDArray
from scipy import ndimage
from skimage import measure

from swath.agent.checker import check
from swath.agent.execution import surface
from swath.agent.planner import Scene
from swath.raster.grid import Grid
from swath.raster.reader import open_raster
from swath.raster.write import write_array
from swath.segment.labels import LabelsBackend
from swath.segment.protocol import SegmentOptions
from swath.tools.registry import tools
from swath.tools.site import Site

Image = NDArray[np.bool_]
GSD_M = 0.5
NAMES = {
    1: "building", 2: "barren land", 3: "road", 4: "vegetation", 5: "water", 6: "solar panel", 7: "other",
    8: "agricultural land",
}  # fmt: skip
UNITS_M2 = {
    "m2": 1.0, "ha": 1e4, "km2": 1e6, "acre": 4046.8564224, "sqft": 0.09290304, "sqyd": 0.83612736,
}  # fmt: skip
SCENE = Scene(tuple(NAMES.values()), (360, 480), (GSD_M, GSD_M), "EPSG:32640", "up", (), "labels")


def painted_labels(seed: int = 7) -> NDArray[np.uint8]:
    """(360, 480) class values: barren ground, fields, woods, ponds, roads, buildings, panels."""
    rng = np.random.default_rng(seed)
    labels = np.full((360, 480), 2, dtype=np.uint8)
    rows, cols = np.mgrid[:360, :480]
    labels[250:350, 20:150] = 8
    for _ in range(14):
        y, x, radius = rng.integers(0, 360), rng.integers(0, 480), rng.integers(6, 34)
        labels[(rows - y) ** 2 + (cols - x) ** 2 < radius**2] = 4
    for y, x, radius in ((60, 90, 26), (180, 400, 18), (300, 250, 12), (40, 330, 7), (330, 440, 4), (120, 30, 9)):
        labels[(rows - y) ** 2 + 0.6 * (cols - x) ** 2 < radius**2] = 5
    labels[150:158, :] = 3
    labels[:, 200:207] = 3
    for _ in range(34):
        y, x = rng.integers(2, 325), rng.integers(2, 440)
        height, width = rng.integers(8, 32), rng.integers(8, 38)
        near = labels[max(y - 3, 0) : y + height + 3, max(x - 3, 0) : x + width + 3]
        if not np.isin(near, (1, 3, 5)).any():
            labels[y : y + height, x : x + width] = 1
    for y, x in ((20, 440), (26, 440), (260, 430), (200, 20)):
        labels[y : y + 4, x : x + 14] = 6
    labels[356:, 470:] = 7
    return labels


@dataclass
class Region:
    """One 8-connected component."""

    mask: Image

    @cached_property
    def size(self) -> float:
        """Area in m2."""
        return float(self.mask.sum()) * GSD_M**2


class Truths:
    """Names that references in `questions_offline.jsonl` use."""

    def __init__(self, labels: NDArray[np.uint8]) -> None:
        self.labels = labels
        self._regions: dict[bytes, list[Region]] = {}
        self._fields: dict[bytes, NDArray[np.float64]] = {}

    def names(self) -> dict[str, Any]:
        """What a reference may call."""
        classes = {letter: self.labels == value for letter, value in zip("BLDVWPOF", range(1, 9), strict=True)}
        calls = [name for name in dir(type(self)) if name.isupper()]
        return {**classes, **{name: getattr(self, name) for name in calls}, "np": np}

    def A(self, mask: Image, unit: str = "m2") -> float:  # noqa: N802
        return float(mask.sum()) * GSD_M**2 / UNITS_M2[unit]

    def PCT(self, mask: Image, of: Image | None = None) -> float:  # noqa: N802
        whole = np.ones_like(mask) if of is None else of
        return 100.0 * float((mask & whole).sum()) / float(whole.sum())

    def R(  # noqa: N802
        self,
        mask: Image,
        gt: float | None = None,
        ge: float | None = None,
        lt: float | None = None,
        btw: tuple[float, float] | None = None,
        u: str = "ha",
    ) -> list[Region]:
        key = mask.tobytes()
        if key not in self._regions:
            found, count = ndimage.label(mask, np.ones((3, 3)))
            self._regions[key] = [Region(found == i + 1) for i in range(count)]
        f = UNITS_M2[u]
        return [
            region
            for region in self._regions[key]
            if (gt is None or region.size > gt * f)
            and (ge is None or region.size >= ge * f)
            and (lt is None or region.size < lt * f)
            and (btw is None or btw[0] * f <= region.size <= btw[1] * f)
        ]

    def N(self, regions: list[Region]) -> int:  # noqa: N802
        return len(regions)

    def S(self, regions: list[Region], unit: str = "m2") -> list[float]:  # noqa: N802
        return sorted((region.size / UNITS_M2[unit] for region in regions), reverse=True)

    def M(self, regions: list[Region]) -> Image:  # noqa: N802
        return np.logical_or.reduce([region.mask for region in regions])

    def LARGEST(self, regions: list[Region]) -> list[Region]:  # noqa: N802
        return [max(regions, key=lambda region: region.size)]

    def field(self, target: Image) -> NDArray[np.float64]:
        """Distance in metres of every pixel to a target."""
        key = target.tobytes()
        if key not in self._fields:
            self._fields[key] = ndimage.distance_transform_edt(~target) * GSD_M
        return self._fields[key]

    def NEAR(self, mask: Image, target: Image, d: float) -> Image:  # noqa: N802
        return mask & (self.field(target) <= d)

    def FAR(self, mask: Image, target: Image, d: float) -> Image:  # noqa: N802
        return mask & (self.field(target) > d)

    def RD(self, regions: list[Region], target: Image) -> list[float]:  # noqa: N802
        return [float(self.field(target)[region.mask].min()) for region in regions]

    def _where(self, regions: list[Region], target: Image, holds: Any) -> list[Region]:
        return [region for region, d in zip(regions, self.RD(regions, target), strict=True) if holds(d)]

    def RNEAR(self, regions: list[Region], target: Image, d: float) -> list[Region]:  # noqa: N802
        return self._where(regions, target, lambda distance: distance <= d)

    def RNEARX(self, regions: list[Region], target: Image, d: float) -> list[Region]:  # noqa: N802
        return self._where(regions, target, lambda distance: distance < d)

    def RFAR(self, regions: list[Region], target: Image, d: float) -> list[Region]:  # noqa: N802
        return self._where(regions, target, lambda distance: distance > d)

    def RFARI(self, regions: list[Region], target: Image, d: float) -> list[Region]:  # noqa: N802
        return self._where(regions, target, lambda distance: distance >= d)

    def RTOUCH(self, regions: list[Region], target: Image) -> list[Region]:  # noqa: N802
        grown = ndimage.binary_dilation(target, np.ones((3, 3)))
        return [region for region in regions if (region.mask & grown).any()]

    def PART(self, name: str) -> Image:  # noqa: N802
        rows, cols = np.mgrid[: self.labels.shape[0], : self.labels.shape[1]]
        sides = {"n": rows < 180, "s": rows >= 180, "w": cols < 240, "e": cols >= 240}
        return np.logical_and.reduce([sides[letter] for letter in name])

    def RIN(self, regions: list[Region], part: Image) -> list[Region]:  # noqa: N802
        def inside(region: Region) -> bool:
            y, x = ndimage.center_of_mass(region.mask)
            return bool(part[int(np.floor(y + 0.5)), int(np.floor(x + 0.5))])

        return [region for region in regions if inside(region)]

    def DIST(self, a: Image, b: Image) -> float:  # noqa: N802
        return float(self.field(b)[a].min())

    def DISTR(self, regions: list[Region], target: Image) -> float:  # noqa: N802
        return self.DIST(regions[0].mask, target)

    def DISTR2(self, regions: list[Region]) -> float:  # noqa: N802
        one, two = sorted(regions, key=lambda region: -region.size)[:2]
        return self.DIST(one.mask, two.mask)

    def NEXT(self, regions: list[Region]) -> list[float]:  # noqa: N802
        everything = self.M(regions)
        return [self.DIST(region.mask, everything & ~region.mask) for region in regions]

    def FRAG(self, regions: list[Region]) -> str:  # noqa: N802
        return "connected" if len(regions) == 1 else "fragmented"

    def YN(self, holds: Any) -> str:  # noqa: N802
        return "yes" if holds else "no"

    def DOMINANT(self) -> str:  # noqa: N802
        return max(NAMES.values(), key=lambda name: int((self.labels == {v: k for k, v in NAMES.items()}[name]).sum()))

    def PERIM(self, mask: Image) -> float:  # noqa: N802
        lines = measure.find_contours(mask.astype(float), 0.5)
        return sum(float(np.hypot(*np.diff(line, axis=0).T).sum()) for line in lines) * GSD_M


@dataclass
class Town:
    """The town as an image that tools can measure."""

    site: Site
    truths: Truths

    def truth(self, reference: str) -> Any:
        """The value of a reference."""
        # NumPy imports some of its parts where they are first used.
        builtins = {"sum": sum, "int": int, "abs": abs, "max": max, "__import__": __import__}
        return eval(reference, {**self.truths.names(), "__builtins__": builtins})

    def run(self, source: str) -> dict[str, Any]:
        """What a program replies: value, kind, unit, objects."""
        check(source, surface())
        replied: list[dict[str, Any]] = []

        def bound(tool: Any) -> Any:
            return lambda *args, **kwargs: tool.call(self.site, args, kwargs)

        names: dict[str, Any] = {name: bound(tool) for name, tool in tools().items()}
        names["reply"] = lambda value, **rest: replied.append({"value": value, **rest})
        exec(source, names)
        return replied[-1]


def build_town(folder: Path) -> Town:
    """Paint the town into a folder and open it."""
    labels = painted_labels()
    grid = Grid(Affine(GSD_M, 0, 331000, 0, -GSD_M, 2785000), labels.shape, pyproj.CRS("EPSG:32640"))
    image, legend = folder / "town.tif", folder / "legend.json"
    write_array(image, labels, grid)
    legend.write_text(json.dumps({str(value): name for value, name in NAMES.items()}), encoding="utf-8")
    raster = open_raster(image)
    backend = LabelsBackend(raster, SegmentOptions(labels=image, legend=legend))
    return Town(Site(raster, backend, raster.valid()), Truths(labels))
