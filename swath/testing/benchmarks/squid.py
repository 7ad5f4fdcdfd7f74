"""A tiny SQuID in its official layouts: two painted scenes with their label maps, and a question of every type.

The scenes are rectangles, so that every truth follows from their corners: areas in closed form, and the distance of a
pixel to a class from the nearest corner or side of its rectangles. Nothing here calls the tools.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from PIL import Image

from swath.eval.squid.ranges import derived_ranges
from swath.eval.squid.wording import TYPES, unit_of

Layout = Literal["parquet", "arrow", "arrow-stream", "saved", "json", "jsonl"]
Columns = Literal["shipped", "card"]

SIDE_PX = 160
LEGEND = {
    1: "barren land", 2: "water", 3: "forest", 4: "agricultural land", 5: "building", 6: "urban area", 7: "vegetation",
    8: "solar panel",
}  # fmt: skip
COLOURS = {
    1: (180, 160, 120), 2: (30, 60, 160), 3: (20, 90, 30), 4: (200, 190, 80), 5: (170, 80, 70), 6: (140, 140, 140),
    7: (110, 180, 90), 8: (15, 15, 60),
}  # fmt: skip
CODES = {name: code for code, name in LEGEND.items()}


@dataclass(frozen=True)
class FakeSquid:
    """A fake in one layout.

    Attributes:
        data: folder with the rows, and with the images where they are not embedded.
        labels: folder with one label map per image and their legend.json.
        rows: what was written, with the range in the two shipped columns and the image by its path.
    """

    data: Path
    labels: Path
    rows: tuple[dict[str, Any], ...]


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


def write_squid(
    folder: Path,
    *,
    layout: Layout = "parquet",
    columns: Columns = "shipped",
    embedded: bool = True,
    templates: Sequence[Template] = TEMPLATES,
) -> FakeSquid:
    """Write a fake with every template asked of every scene.

    Args:
        folder: where to write; `data` and `labels` are made in it.
        layout: parquet as on the hub, an arrow file or stream, a folder of `Dataset.save_to_disk`, JSON, JSON lines.
        columns: the two shipped columns of the range, or the single one of the card.
        embedded: whether the rows hold the images, or their paths.
        templates: the questions.
    """
    data, labels = folder / "data", folder / "labels"
    data.mkdir(parents=True)
    labels.mkdir()
    for scene in SCENES:
        Image.fromarray(scene.pixels()).save(labels / f"{scene.name}.png")
        if not embedded:
            (data / "images").mkdir(exist_ok=True)
            (data / "images" / f"{scene.name}.png").write_bytes(_png(scene))
    (labels / "legend.json").write_text(json.dumps(LEGEND), encoding="utf-8")
    asked = [(scene, template) for scene in SCENES for template in templates]
    rows = [_row(number, scene, template) for number, (scene, template) in enumerate(asked)]
    written = [
        _as_columns(_with_image(row, scene, embedded), columns) for row, (scene, _) in zip(rows, asked, strict=True)
    ]
    _WRITERS[layout](written, data)
    return FakeSquid(data, labels, tuple(rows))


def _row(number: int, scene: Scene, template: Template) -> dict[str, Any]:
    question = f"{template.words} (GSD: {scene.gsd_m:g}m)"
    truth = template.truth(scene)
    answer = truth if isinstance(truth, str) else f"{round(float(truth), 4):g}"
    limits = None if isinstance(truth, bool | str) else _limits(question, template.type, float(answer))
    return {
        "id": f"SQuID_{number:04d}",
        "image": f"images/{scene.name}.png",
        "question": question,
        "answer": answer,
        "type": template.type,
        "tier": int(TYPES[template.type].tier),
        "gsd": scene.gsd_m,
        "acceptable_range_lower": limits and limits[0],
        "acceptable_range_upper": limits and limits[1],
    }


def _limits(question: str, kind: str, truth: float) -> tuple[float, float] | None:
    """The range that the files would ship: none for zeros."""
    rules = derived_ranges(question, unit_of(question, kind), truth)
    return None if truth == 0 else rules.get("sane") or rules.get("card") or rules["squid-fit"]


def _with_image(row: dict[str, Any], scene: Scene, embedded: bool) -> dict[str, Any]:
    return {**row, "image": {"bytes": _png(scene), "path": f"{scene.name}.png"}} if embedded else row


def _as_columns(row: dict[str, Any], columns: Columns) -> dict[str, Any]:
    if columns == "shipped":
        return row
    ends = [row[f"acceptable_range_{end}"] for end in ("lower", "upper")]
    kept = {key: value for key, value in row.items() if not key.startswith("acceptable_range")}
    return {**kept, "acceptable_range": None if ends[0] is None else ends}


def _png(scene: Scene) -> bytes:
    palette = np.zeros((256, 3), np.uint8)
    for code, colour in COLOURS.items():
        palette[code] = colour
    held = io.BytesIO()
    Image.fromarray(palette[scene.pixels()]).save(held, "PNG")
    return held.getvalue()


def _table(rows: list[dict[str, Any]]) -> Any:
    import pyarrow

    table = pyarrow.Table.from_pylist(rows)
    at = table.schema.get_field_index("gsd")
    return table.set_column(at, "gsd", table.column("gsd").cast(pyarrow.float32()))


def _write_parquet(rows: list[dict[str, Any]], data: Path) -> None:
    from pyarrow import parquet

    half = len(rows) // 2
    for number, part in enumerate((rows[:half], rows[half:])):
        parquet.write_table(_table(part), data / f"train-{number:05d}-of-00002.parquet")


def _write_arrow(rows: list[dict[str, Any]], data: Path) -> None:
    import pyarrow

    table = _table(rows)
    with pyarrow.ipc.new_file(str(data / "train.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=5)


def _write_stream(rows: list[dict[str, Any]], data: Path) -> None:
    import pyarrow

    table = _table(rows)
    with pyarrow.ipc.new_stream(str(data / "train.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=20)


def _write_saved(rows: list[dict[str, Any]], data: Path) -> None:
    import datasets

    saved = datasets.Dataset.from_list(rows)
    if isinstance(rows[0]["image"], dict):
        saved = saved.cast_column("image", datasets.Image())
    datasets.DatasetDict({"train": saved}).save_to_disk(str(data))


def _write_json(rows: list[dict[str, Any]], data: Path) -> None:
    (data / "train.json").write_text(json.dumps(rows, default=_base64), encoding="utf-8")


def _write_lines(rows: list[dict[str, Any]], data: Path) -> None:
    lines = "".join(json.dumps(row, default=_base64) + "\n" for row in rows)
    (data / "train.jsonl").write_text(lines, encoding="utf-8")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


_WRITERS: dict[Layout, Callable[[list[dict[str, Any]], Path], None]] = {
    "parquet": _write_parquet,
    "arrow": _write_arrow,
    "arrow-stream": _write_stream,
    "saved": _write_saved,
    "json": _write_json,
    "jsonl": _write_lines,
}
