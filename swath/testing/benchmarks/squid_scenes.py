"""The scenes of the fake SQuID and a question of every type.

The scenes are rectangles, so that every truth follows from their corners: areas in closed form, and the distance of a
pixel to a class from the nearest corner or side of its rectangles. Nothing here calls the tools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

SIDE_PX = 160
LEGEND = {
    1: "barren land", 2: "water", 3: "forest", 4: "agricultural land", 5: "building", 6: "urban area", 7: "vegetation",
    8: "solar panel",
}  # fmt: skip
CODES = {name: code for code, name in LEGEND.items()}


@dataclass(frozen=True)
class Rectangle:
    """Pixels of one class: rows `top` to below `bottom`, columns `left` to below `right`."""

    name: str
    top: int
    left: int
    bottom: int
    right: int

    @property
    def px(self) -> int:
        """Number of pixels."""
        return (self.bottom - self.top) * (self.right - self.left)


@dataclass(frozen=True)
class Scene:
    """Rectangles of at least a pixel's distance on barren land.

    Attributes:
        name: of its image and of its label map.
        gsd_m: side of a pixel in metres.
        rectangles: of every class but barren land.
    """

    name: str
    gsd_m: float
    rectangles: tuple[Rectangle, ...]

    def of(self, name: str) -> list[Rectangle]:
        """The rectangles of a class."""
        return [found for found in self.rectangles if found.name == name]

    def hectares(self, px: float) -> float:
        """The area of so many pixels."""
        return px * self.gsd_m**2 / 10_000

    def larger(self, name: str, hectares: float) -> list[Rectangle]:
        """The rectangles of a class above a size."""
        return [found for found in self.of(name) if self.hectares(found.px) > hectares]

    def distance_m(self, name: str) -> npt.NDArray[np.float64]:
        """(row, column) metres from each pixel's centre to the nearest centre of a class of rectangles."""
        at = np.arange(SIDE_PX, dtype=float)
        nearest = np.full((SIDE_PX, SIDE_PX), np.inf)
        for found in self.of(name):
            rows = np.maximum(0, np.maximum(found.top - at, at - (found.bottom - 1)))
            columns = np.maximum(0, np.maximum(found.left - at, at - (found.right - 1)))
            nearest = np.minimum(nearest, np.hypot(rows[:, None], columns[None, :]))
        return nearest * self.gsd_m

    def near_px(self, of: Sequence[Rectangle], target: str, metres: float) -> int:
        """Pixels of rectangles that lie within a distance of a class."""
        near = self.distance_m(target) <= metres * (1 + 1e-9)
        return int(sum(near[found.top : found.bottom, found.left : found.right].sum() for found in of))

    def near(self, of: Sequence[Rectangle], target: str, metres: float) -> int:
        """Rectangles that come within a distance of a class."""
        return sum(self.near_px([found], target, metres) > 0 for found in of)

    def pixels(self) -> npt.NDArray[np.uint8]:
        """(row, column) class values."""
        painted = np.full((SIDE_PX, SIDE_PX), CODES["barren land"], np.uint8)
        for found in self.rectangles:
            painted[found.top : found.bottom, found.left : found.right] = CODES[found.name]
        return painted


_PAINTED = (
    Rectangle("water", 0, 0, 160, 12),
    Rectangle("urban area", 8, 20, 40, 60),
    Rectangle("urban area", 8, 100, 28, 150),
    Rectangle("urban area", 44, 140, 50, 150),
    Rectangle("building", 50, 16, 62, 30),
    Rectangle("building", 50, 40, 60, 52),
    Rectangle("building", 50, 90, 70, 110),
    Rectangle("building", 66, 18, 70, 22),
    Rectangle("forest", 80, 20, 110, 50),
    Rectangle("forest", 80, 60, 100, 80),
    Rectangle("agricultural land", 80, 90, 120, 130),
    Rectangle("agricultural land", 124, 90, 134, 110),
    Rectangle("agricultural land", 80, 140, 84, 144),
    Rectangle("vegetation", 116, 16, 150, 46),
    Rectangle("vegetation", 116, 54, 130, 70),
    Rectangle("solar panel", 140, 120, 150, 140),
)
SCENES = (
    Scene("tile_05m", 0.5, _PAINTED),
    Scene("tile_03m", 0.3, tuple(found for found in _PAINTED if found.name != "solar panel" or found.top < 0)),
)


@dataclass(frozen=True)
class Template:
    """A question in the benchmark's style and the truth that follows from the rectangles."""

    type: str
    words: str
    truth: Callable[[Scene], float | bool | str]


def _size_share(scene: Scene) -> float:
    return _share(max(found.px for found in scene.larger("vegetation", 0.005)))


def _share(px: float) -> float:
    return 100 * px / SIDE_PX**2


def _px(found: Sequence[Rectangle]) -> int:
    return sum(one.px for one in found)


def _barren_px(scene: Scene) -> int:
    return SIDE_PX**2 - _px(scene.rectangles)


def _near_ha(scene: Scene, name: str, above_ha: float, target: str, metres: float) -> float:
    return scene.hectares(scene.near_px(scene.larger(name, above_ha), target, metres))


TEMPLATES = (
    Template("percentage", "What percentage of the image is covered by forest?", lambda s: _share(_px(s.of("forest")))),
    Template(
        "count",
        "How many separate urban area regions are there? When counting, ignore patches smaller than 0.002 hectares.",
        lambda s: sum(s.hectares(found.px) >= 0.002 for found in s.of("urban area")),
    ),
    Template(
        "size",
        "What percentage of the image is covered by the largest vegetation region "
        "(among regions larger than 0.005 hectares)?",
        _size_share,
    ),
    Template(
        "total_area", "What is the total area of water bodies (in hectares)?", lambda s: s.hectares(_px(s.of("water")))
    ),
    Template(
        "binary_comparison",
        "Is there more barren land than forest area in this image?",
        lambda s: _barren_px(s) > _px(s.of("forest")),
    ),
    Template("binary_presence", "Are there any solar panels in this image?", lambda s: bool(s.of("solar panel"))),
    Template(
        "binary_threshold", "Does forest cover more than 10% of the image?", lambda s: _share(_px(s.of("forest"))) > 10
    ),
    Template(
        "binary_multiple",
        "Are there both water bodies and solar panels in this image?",
        lambda s: bool(s.of("water") and s.of("solar panel")),
    ),
    Template(
        "proximity_percentage",
        "What percentage of the image is urban area within 20m of water?",
        lambda s: _share(s.near_px(s.of("urban area"), "water", 20)),
    ),
    Template(
        "proximity_area",
        "What is the total vegetation area (in hectares) within 12m of forest?",
        lambda s: _near_ha(s, "vegetation", 0, "forest", 12),
    ),
    Template(
        "binary_proximity",
        "Are there any buildings within 5m of water bodies?",
        lambda s: s.near(s.of("building"), "water", 5) > 0,
    ),
    Template(
        "building_proximity",
        "How many buildings (larger than 0.001 hectares) are within 10m of agricultural land?",
        lambda s: s.near(s.larger("building", 0.001), "agricultural land", 10),
    ),
    Template(
        "building_flood_risk",
        "How many buildings (larger than 0.001 hectares) are at flood risk (within 10m of water bodies)?",
        lambda s: s.near(s.larger("building", 0.001), "water", 10),
    ),
    Template(
        "building_fire_risk",
        "How many buildings (larger than 0.001 hectares) are at fire risk (within 12m of forest)?",
        lambda s: s.near(s.larger("building", 0.001), "forest", 12),
    ),
    Template(
        "connectivity",
        "How many separate agricultural land patches between 0.0025 and 10 hectares are there?",
        lambda s: sum(0.0025 <= s.hectares(found.px) <= 10 for found in s.of("agricultural land")),
    ),
    Template(
        "fragmentation",
        "Is the forest area connected or fragmented? Ignore patches smaller than 0.005 hectares.",
        lambda s: "fragmented" if sum(s.hectares(f.px) >= 0.005 for f in s.of("forest")) > 1 else "connected",
    ),
    Template(
        "power_calculation",
        "What is the total potential solar power (in kW) of the solar panels, "
        "assuming 1000 W/m2 of irradiance and 20% efficiency?",
        lambda s: s.hectares(_px(s.of("solar panel"))) * 10_000 * 0.2,
    ),
    Template(
        "complex_multi_condition",
        "Find barren land patches larger than 0.01 hectares, then calculate how much of their area (in hectares) "
        "falls within 5m of forest area",
        lambda s: s.hectares(_barren_near_forest(s)),
    ),
    Template(
        "complex_urban_flood_risk",
        "Find urban area patches larger than 0.005 hectares, then calculate how much of their area (in hectares) "
        "falls within 15m of water bodies",
        lambda s: _near_ha(s, "urban area", 0.005, "water", 15),
    ),
    Template(
        "complex_urban_fire_risk",
        "Find urban area patches larger than 0.005 hectares, then calculate how much of their area (in hectares) "
        "falls within 25m of forest area",
        lambda s: _near_ha(s, "urban area", 0.005, "forest", 25),
    ),
    Template(
        "complex_agriculture_water_access",
        "Find agricultural land patches larger than 0.005 hectares, then calculate how much of their area "
        "(in hectares) falls within 50m of water bodies",
        lambda s: _near_ha(s, "agricultural land", 0.005, "water", 50),
    ),
    Template(
        "complex_size_filter",
        "What is the total area (in hectares) of agricultural land patches between 0.001 and 0.02 hectares?",
        lambda s: sum(h for found in s.of("agricultural land") if 0.001 <= (h := s.hectares(found.px)) <= 0.02),
    ),
    Template(
        "complex_average",
        "What is the average size (in hectares) of forest patches larger than 0.003 hectares?",
        lambda s: float(np.mean([s.hectares(found.px) for found in s.larger("forest", 0.003)])),
    ),
    Template(
        "complex_vegetation_water_access",
        "Find vegetation patches larger than 0.002 hectares, then calculate how much of their area (in hectares) "
        "falls within 14m of water bodies",
        lambda s: _near_ha(s, "vegetation", 0.002, "water", 14),
    ),
)
"""One of every type, the one that the card leaves out included, at the scale of tiles of 80 and 48 m."""


def _barren_near_forest(scene: Scene) -> int:
    """Pixels of the barren ground, which is one patch, within 5 m of forest."""
    near = scene.distance_m("forest") <= 5 * (1 + 1e-9)
    return int((near & (scene.pixels() == CODES["barren land"])).sum())
