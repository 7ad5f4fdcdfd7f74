"""The truths behind the questions, by a second computation that knows nothing of swath.

Every line of a questions file holds its truth as a small expression (`truth`) over the functions below, which work on
the arrays and polygons themselves. `python truths.py DATA QUESTIONS FOLDER` computes them again and says where they
differ (FOLDER takes the files of made.py). A row is `borderline` where a limit moved by one pixel would change its
answer. Meanings: design/conventions.md.

    C(name)                    pixels of a class, or those whose centre lies in a feature of a layer
    R(x, gt= ge= lt= le=, u=)  regions, largest first: 8-connected patches of a mask, or the features of a layer's name
    A(x, u) PCT(x, of) N(r) S(r, u)    area, share in percent, number, the areas one by one
    NEAR FAR(mask, target, m)  pixels within m metres of the target, and the others
    RNEAR RFAR(r, target, m)   regions by their nearest pixel;  RD(r, target) those distances;  DIST(a, b, u)
    HALF(where) IN(r, mask)    a half or quarter of the image; the regions whose centroid lies in a mask
    PER(x, u) M(r) TOP(r, n) NTH(r, n) YN(bool) V      outline, pixels, the n largest, the nth, yes/no, valid pixels
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import rasterio
import shapely
from made import make
from PIL import Image
from scipy import ndimage
from skimage.measure import find_contours

SLACK = 1e-9
AREA = {"m2": 1.0, "ha": 1e4, "km2": 1e6, "acre": 4046.8564224, "sqft": 0.3048**2, "sqyd": 0.9144**2}
LENGTH = {"m": 1.0, "km": 1e3, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344, "cm": 0.01}
SIDES = {
    "n": (0, 1, 0, 2), "s": (1, 2, 0, 2), "w": (0, 2, 0, 1), "e": (0, 2, 1, 2),
    "nw": (0, 1, 0, 1), "ne": (0, 1, 1, 2), "sw": (1, 2, 0, 1), "se": (1, 2, 1, 2),
}  # fmt: skip


@dataclass(eq=False)
class Regions:
    """Some regions, largest first: their pixels as (slices, boolean block), their ground areas in m2."""

    blocks: list[tuple[tuple[slice, slice], np.ndarray]]
    m2: np.ndarray

    def pick(self, kept: Any) -> Regions:
        index = np.flatnonzero(kept) if np.asarray(kept).dtype == bool else np.asarray(kept, dtype=int)
        return Regions([self.blocks[i] for i in index], self.m2[index])


class Scene:
    """One image with its classes; `nudge_size` and `nudge_distance` move every limit by so many pixels."""

    def __init__(self, row: dict[str, Any], data: Path, made: Path) -> None:
        self.nudge_size = self.nudge_distance = 0.0
        self.features: dict[str, np.ndarray] = {}
        self.lonlat: dict[str, np.ndarray] = {}
        options = row["options"]
        gsd = options.get("gsd_m", row.get("gsd"))
        self._ground(data / row["image"], gsd)
        self.classes: dict[str, np.ndarray] = {}
        self.void = np.zeros(self.shape, bool)
        self._labels(options, data, made)
        for name, path in options.get("layers", {}).items():
            self._layer(name, make(path, data, made))

    def _ground(self, path: Path, gsd: float | None) -> None:
        if path.suffix in (".png", ".jpg"):
            with Image.open(path) as image:
                self.shape = image.size[::-1]
            self.crs, self.pixel = None, (gsd or np.nan, gsd or np.nan)
            return
        with rasterio.open(path) as source:
            self.shape, self.affine = source.shape, source.transform
            self.crs = pyproj.CRS(source.crs) if source.crs else None
        if self.crs is not None and self.crs.is_geographic:
            geod = self.crs.get_geod()
            x, y = self.affine @ (self.shape[1] / 2, self.shape[0] / 2)
            self.pixel = (
                geod.inv(x, y, x, y + self.affine.e)[2],
                geod.inv(x, y, x + self.affine.a, y)[2],
            )
        else:
            self.pixel = (abs(self.affine.e), self.affine.a)

    def _labels(self, options: dict[str, Any], data: Path, made: Path) -> None:
        if "labels" not in options:
            return
        path = make(options["labels"], data, made)
        if path.suffix == ".geojson":
            self._layer(options["label_class"], path)
            return
        codes = np.array(Image.open(path))
        legend = json.loads(make(options["legend"], data, made).read_text(encoding="utf-8"))
        for value, name in legend.get("classes", legend).items():
            if name == "void":
                self.void = codes == int(value)
            else:
                self.classes[name] = codes == int(value)

    def _layer(self, name: str, path: Path) -> None:
        """Features clipped to the image: in pixel coordinates, and in degrees where the file is in degrees."""
        collection = json.loads(path.read_text(encoding="utf-8"))
        shapes = shapely.make_valid(np.array([shapely.geometry.shape(f["geometry"]) for f in collection["features"]]))
        crs = (collection.get("crs") or {}).get("properties", {}).get("name")
        if crs is not None and self.crs is not None:
            to = pyproj.Transformer.from_crs(crs, self.crs, always_xy=True)
            inverse = ~self.affine

            def move(xy: np.ndarray) -> np.ndarray:
                x, y = to.transform(xy[:, 0], xy[:, 1])
                return np.column_stack(inverse @ (np.asarray(x), np.asarray(y)))

            shapes = shapely.transform(shapely.segmentize(shapes, 1e-5 if "CRS84" in crs else 1.0), move)
        frame = shapely.box(0, 0, self.shape[1], self.shape[0])
        shapes = shapely.intersection(shapes, frame)
        self.features[name] = shapes[~shapely.is_empty(shapes)]
        self.classes[name] = M(self.R(name), self.shape)

    @property
    def pixel_m2(self) -> float:
        return self.pixel[0] * self.pixel[1]

    @cached_property
    def V(self) -> np.ndarray:  # noqa: N802
        return ~self.void

    def C(self, *names: str) -> np.ndarray:  # noqa: N802
        return np.any([self.classes[name] for name in names], axis=0)

    def R(self, of: str | np.ndarray, u: str = "ha", **limits: float) -> Regions:  # noqa: N802
        if isinstance(of, str) and of in self.features:
            found = self._features(self.features[of])
        else:
            found = self._patches(self.classes[of] if isinstance(of, str) else of)
        return self.sized(found, u, **limits)

    def sized(self, found: Regions, u: str = "ha", **limits: float) -> Regions:
        scale, nudge = (self.pixel_m2 if u == "px" else AREA[u]), self.nudge_size * self.pixel_m2
        tests = {"gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal}
        kept = np.ones(len(found.m2), bool)
        for name, limit in limits.items():
            edge = limit * scale + nudge
            edge += edge * SLACK * {"gt": 1, "ge": -1, "lt": -1, "le": 1}[name]
            kept &= tests[name](found.m2, edge)
        return found.pick(kept)

    def _patches(self, mask: np.ndarray) -> Regions:
        labels, n = ndimage.label(mask, np.ones((3, 3)))
        px = np.bincount(labels.ravel(), minlength=n + 1)[1:]
        blocks = [(where, labels[where] == i + 1) for i, where in enumerate(ndimage.find_objects(labels))]
        order = np.argsort(-px, kind="stable")
        scale = 1.0 if np.isnan(self.pixel_m2) else self.pixel_m2
        return Regions([blocks[i] for i in order], px[order] * scale)

    def _features(self, shapes: np.ndarray) -> Regions:
        blocks, kept = [], []
        for shape in shapes:
            x0, y0, x1, y1 = shape.bounds
            c0, r0 = min(int(x0), self.shape[1] - 1), min(int(y0), self.shape[0] - 1)
            c1, r1 = max(c0 + 1, int(np.ceil(x1))), max(r0 + 1, int(np.ceil(y1)))
            columns, rows = np.meshgrid(np.arange(c0, c1) + 0.5, np.arange(r0, r1) + 0.5)
            inside = shapely.intersects_xy(shape, columns, rows)
            if not inside.any():
                if shape.area:  # the border cut it off to less than a pixel
                    continue
                inside[0, 0] = True
            kept.append(shape)
            blocks.append(((slice(r0, r1), slice(c0, c1)), inside))
        m2 = shapely.area(kept) * (1.0 if np.isnan(self.pixel_m2) else self.pixel_m2)
        order = np.argsort(-m2, kind="stable")
        return Regions([blocks[i] for i in order], m2[order])

    def M(self, regions: Regions) -> np.ndarray:  # noqa: N802
        return M(regions, self.shape)

    def mask(self, x: str | np.ndarray | Regions) -> np.ndarray:
        if isinstance(x, str):
            return self.classes[x]
        return M(x, self.shape) if isinstance(x, Regions) else x

    def A(self, x: Any, u: str = "m2") -> float:  # noqa: N802
        if isinstance(x, Regions):
            return float(x.m2.sum()) / AREA[u]
        return float(self.mask(x).sum()) * (1.0 if u == "px" else self.pixel_m2 / AREA[u])

    def PCT(self, x: Any, of: Any = None) -> float:  # noqa: N802
        return 100.0 * float(self.mask(x).sum()) / float((self.V if of is None else self.mask(of)).sum())

    def N(self, regions: Regions) -> int:  # noqa: N802
        return len(regions.m2)

    def S(self, regions: Regions, u: str = "m2") -> np.ndarray:  # noqa: N802
        return regions.m2 / AREA[u]

    def TOP(self, regions: Regions, n: int = 1) -> Regions:  # noqa: N802
        return regions.pick(np.arange(min(n, len(regions.m2))))

    def NTH(self, regions: Regions, n: int) -> Regions:  # noqa: N802
        return regions.pick([n - 1])

    def PART(self, regions: Regions, kept: Any) -> Regions:  # noqa: N802
        return regions.pick(kept)

    def far(self, target: Any) -> np.ndarray:
        """Metres from each pixel's centre to the nearest pixel centre of the target."""
        mask = self.mask(target)
        if not mask.any():
            return np.full(self.shape, np.inf)
        return ndimage.distance_transform_edt(~mask, sampling=self.pixel)

    def _limit(self, metres: float) -> float:
        return (metres + self.nudge_distance * max(self.pixel)) * (1 + SLACK)

    def NEAR(self, mask: Any, target: Any, metres: float) -> np.ndarray:  # noqa: N802
        return self.mask(mask) & (self.far(target) <= self._limit(metres))

    def FAR(self, mask: Any, target: Any, metres: float) -> np.ndarray:  # noqa: N802
        return self.mask(mask) & (self.far(target) > self._limit(metres))

    def RD(self, regions: Regions, target: Any, u: str = "m") -> np.ndarray:  # noqa: N802
        far = self.far(target)
        return np.array([far[where][block].min() for where, block in regions.blocks]) / LENGTH[u]

    def RNEAR(self, regions: Regions, target: Any, metres: float) -> Regions:  # noqa: N802
        return regions.pick(self.RD(regions, target) <= self._limit(metres))

    def RFAR(self, regions: Regions, target: Any, metres: float) -> Regions:  # noqa: N802
        return regions.pick(self.RD(regions, target) > self._limit(metres))

    def TOUCH(self, regions: Regions, target: Any) -> Regions:  # noqa: N802
        reach = ndimage.binary_dilation(self.mask(target), np.ones((3, 3)))
        return regions.pick(np.array([bool(reach[where][block].any()) for where, block in regions.blocks]))

    def DIST(self, a: Any, b: Any, u: str = "m") -> float:  # noqa: N802
        return float(self.far(b)[self.mask(a)].min()) / LENGTH[u]

    def HALF(self, where: str) -> np.ndarray:  # noqa: N802
        rows, columns = self.shape
        r, c = (0, rows // 2, rows), (0, columns // 2, columns)
        r0, r1, c0, c1 = SIDES[where]
        part = np.zeros(self.shape, bool)
        part[r[r0] : r[r1], c[c0] : c[c1]] = True
        return part & self.V

    def IN(self, regions: Regions, mask: np.ndarray) -> Regions:  # noqa: N802
        kept = []
        for (rows, columns), block in regions.blocks:
            r, c = np.argwhere(block).mean(axis=0) + 0.5 + self.nudge_distance
            r, c = rows.start + r, columns.start + c
            kept.append(bool(mask[min(int(r), self.shape[0] - 1), min(int(c), self.shape[1] - 1)]))
        return regions.pick(np.array(kept, dtype=bool))

    def PER(self, x: Any, u: str = "m") -> float:  # noqa: N802
        """Length of the outline by marching squares; neither the image border nor edges to void count."""
        lines = find_contours(self.mask(x).astype(float), 0.5, fully_connected="high", mask=self.V)
        steps = [np.diff(line, axis=0) * self.pixel for line in lines]
        return float(sum(np.hypot(*step.T).sum() for step in steps)) / LENGTH[u]

    def FRAG(self, regions: Regions) -> str:  # noqa: N802
        return "connected" if len(regions.m2) == 1 else "fragmented"

    def YN(self, yes: Any) -> str:  # noqa: N802
        return "yes" if yes else "no"

    def IMAGE(self, u: str = "ha") -> float:  # noqa: N802
        return self.shape[0] * self.shape[1] * self.pixel_m2 / AREA[u]

    def names(self) -> dict[str, Any]:
        held = {name: getattr(self, name) for name in dir(self) if name.isupper()}
        return held | {"far": self.far, "np": np, "CLOSEST": self.closest, "sized": self.sized}

    def closest(self, regions: Regions, target: Any, n: int = 1, farthest: bool = False) -> Regions:
        order = np.argsort(self.RD(regions, target), kind="stable")
        return regions.pick(order[::-1][:n] if farthest else order[:n])


def M(regions: Regions, shape: tuple[int, int]) -> np.ndarray:  # noqa: N802
    """The pixels of regions."""
    mask = np.zeros(shape, bool)
    for where, block in regions.blocks:
        mask[where] |= block
    return mask


def truth(row: dict[str, Any], scene: Scene, size: float = 0.0, distance: float = 0.0) -> Any:
    """The answer of one question, with its limits moved by so many pixels."""
    scene.nudge_size, scene.nudge_distance = size, distance
    value = eval(row["truth"], scene.names())
    if isinstance(value, np.generic):
        value = value.item()
    return round(value, 6) if isinstance(value, float) else value


def close(a: Any, b: Any, tolerance: dict[str, float]) -> bool:
    """Whether two truths agree within the question's tolerance."""
    if isinstance(a, str) or isinstance(b, str) or a is None:
        return bool(a == b)
    if isinstance(a, list):
        return len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b, strict=True))
    return abs(a - b) <= max(tolerance.get("abs", 0), tolerance.get("rel", 0) * abs(a)) + 1e-9


def borderline(row: dict[str, Any], scene: Scene) -> bool:
    """Whether the answer leaves its tolerance when a limit moves: sizes by a pixel's area, distances by a pixel.

    Distances are left out for areas and shares, which grow with every pixel by nature.
    """
    answer = truth(row, scene)
    steps = [(1, 0), (-1, 0)] if isinstance(answer, float) else [(1, 0), (-1, 0), (0, 1), (0, -1)]
    moved = [truth(row, scene, *by) for by in steps]
    return any(not close(answer, other, row["tolerance"]) for other in moved)


def main(data: Path, questions: Path, made: Path) -> int:
    """Compare every recorded answer with a fresh computation; the number that differ."""
    differ = 0
    for line in questions.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "truth" not in row:
            continue
        scene = Scene(row, data, made)
        fresh = truth(row, scene)
        if not close(row["answer"], fresh, {"rel": 1e-6}) or borderline(row, scene) != row.get("borderline", False):
            differ += 1
            sys.stdout.write(f"{row['id']}: recorded {row['answer']}, now {fresh}\n")
    return differ


if __name__ == "__main__":
    sys.exit(1 if main(*map(Path, sys.argv[1:4])) else 0)
