"""What a person asks: the image, the question, and every option of `swath ask`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from swath.raster.held import USUAL_TILES
from swath.raster.reader import Raster, open_raster
from swath.raster.remote import shown

Keep = Literal["light", "wrong", "full"]


@dataclass(frozen=True)
class Request:
    """What a person asks, with every option of `swath ask`.

    Attributes:
        image: the raster.
        question: as typed.
        labels: class raster or vector file.
        legend: JSON file of value to name.
        label_class: class of a vector file without a class column.
        layers: further classes, name to file.
        aoi: vector file; only what lies inside is measured.
        zone_field: column of that file that tells its polygons apart, where only one of them is meant.
        zone: the one that is meant.
        before: labels or image of an earlier date, with `after`.
        after: labels or image of a later date.
        segmenter: name of a backend, or "auto".
        bands: band roles to 1-based indices.
        thresholds: index thresholds ("NDWI" to 0.1).
        confusion: error matrix of reference samples that corrects areas of classes; "card" for the model's own.
        gsd_m: ground size of a pixel in metres; wins over the file's.
        dsm: heights of the first surface.
        dtm: heights of bare earth.
        ndsm: heights above ground.
        dem: heights of the terrain.
        vertical_accuracy_m: within how many metres heights are right.
        vertical_unit: unit of heights whose file states none.
        planner: name of a planner, or "auto".
        model: name of a language model.
        base_url: address of the server that has it.
        look: whether a vision model may be shown crops, for what cannot be measured.
        agree: whether two unlike ways to plan have to lead to the same answer.
        tiles_above_px: images of more pixels are held in tiles.
        out: parent folder of run folders.
        keep: what the run folder holds.
    """

    image: Path
    question: str
    labels: Path | None = None
    legend: Path | None = None
    label_class: str | None = None
    layers: Mapping[str, Path] = field(default_factory=dict)
    aoi: Path | None = None
    zone_field: str | None = None
    zone: str | None = None
    before: Path | None = None
    after: Path | None = None
    segmenter: str = "auto"
    bands: Mapping[str, int] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    confusion: Path | None = None
    gsd_m: float | None = None
    dsm: Path | None = None
    dtm: Path | None = None
    ndsm: Path | None = None
    dem: Path | None = None
    vertical_accuracy_m: float | None = None
    vertical_unit: str | None = None
    planner: str = "auto"
    model: str | None = None
    base_url: str | None = None
    look: bool = False
    agree: bool = False
    tiles_above_px: int = USUAL_TILES.above_px
    out: Path = Path("runs")
    keep: Keep = "full"

    def opened_image(self) -> Raster:
        """The image, its header read.

        Raises:
            InputError: it cannot be opened.
        """
        tiles = replace(USUAL_TILES, above_px=self.tiles_above_px)
        return open_raster(self.image, gsd_m=self.gsd_m, bands=dict(self.bands) or None, tiles=tiles)

    def files(self) -> list[Path]:
        """The files that are read, but for those that they name themselves."""
        named = [getattr(self, field.name) for field in fields(self) if field.name != "out"]
        return [file for file in (*named, *self.layers.values()) if isinstance(file, Path)]

    def inputs(self) -> dict[str, Any]:
        """The options that decide what is measured, JSON-ready."""
        left_out = ("image", "question", "out", "keep", "planner", "model", "base_url", "look", "agree")
        return {name: _plain(value) for name, value in asdict(self).items() if name not in left_out}


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return shown(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    return value
