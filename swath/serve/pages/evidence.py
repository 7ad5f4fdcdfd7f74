"""What a run looked at: from its folder where it was kept, else measured again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from affine import Affine
from numpy.typing import NDArray

from swath.agent.desk import Desk
from swath.agent.kept_masks import pixels_of, sha256_of
from swath.agent.object_files import table_columns
from swath.agent.objects import considered_objects, counted_objects
from swath.agent.recorded import checked
from swath.agent.replay import measured_again, place_of_image
from swath.errors import SwathError
from swath.raster.reader import Raster, open_raster
from swath.trace.reading import OBJECTS_FILE, Run

MEASURED_UP_TO_PX = 25_000_000
"""Pixels of an image that is measured again for a page; a larger one takes a minute and more."""

BoolImage = NDArray[np.bool_]


@dataclass(frozen=True)
class Objects:
    """Objects of one layer, row by row.

    Attributes:
        columns: name to values, None where there is none.
        shapes: (n,) outlines in pixel coordinates.
    """

    columns: Mapping[str, list[Any]] = field(default_factory=dict)
    shapes: NDArray[np.object_] = field(default_factory=lambda: np.zeros(0, dtype=object))

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.shapes)


class Evidence:
    """The image, masks and objects of one run; what is missing is said in `remarks`."""

    def __init__(self, run: Run) -> None:
        """Open nothing yet."""
        self.run = run
        self.remarks: dict[str, None] = {}

    @cached_property
    def raster(self) -> Raster | None:
        """The image, None where it is not there any more or is another one now."""
        recorded = self.run.record["image"]
        if recorded["grid"] is None:
            return None
        try:
            place = place_of_image(self.run)
            if recorded["sha256"] is not None and sha256_of(place) != recorded["sha256"]:
                self.remark(f"The picture is left out: {place} is not the image that was measured.")
                return None
            inputs = self.run.record["inputs"]
            return open_raster(place, gsd_m=inputs.get("gsd_m"), bands=inputs.get("bands") or None)
        except (SwathError, OSError) as error:
            self.remark(f"The picture is left out. {error}")
            return None

    @property
    def shape(self) -> tuple[int, int] | None:
        """(rows, columns) of the image, None where it was never opened."""
        grid = self.run.record["image"]["grid"]
        return None if grid is None else (grid["shape"][0], grid["shape"][1])

    def mask(self, handle: int) -> BoolImage | None:
        """(rows, columns) pixels of a mask or region set by its number, None where they are not to be had."""
        entry = self._kept.get(handle)
        try:
            if entry is not None:
                return self._pixels(entry)
            handles = [] if self._desk is None or self._desk.execution is None else self._desk.execution.ledger.handles
            return np.asarray(pixels_of(handles[handle - 1])) if 0 < handle <= len(handles) else None
        except (SwathError, OSError) as error:
            self.remark(f"A mask is left out. {error}")
            return None

    def objects(self) -> tuple[Objects, Objects]:
        """The answer's objects, and those that were looked at and dropped."""
        path = self.run.folder / OBJECTS_FILE
        if path.is_file():
            return self._kept_objects(path, "counted"), self._kept_objects(path, "considered")
        if self.run.answer.get("objects") is None or self._desk is None or self._desk.measured is None:
            return Objects(), Objects()
        outcome = self._desk.measured.outcome
        if outcome.reply.objects is None:
            return Objects(), Objects()
        tables = (
            counted_objects(outcome.reply.objects, self._desk.opened()),
            considered_objects(outcome, first_call(self.run)),
        )
        counted, considered = (
            Objects({name: _with_none(*column) for name, column in table_columns(table).items()}, table.shapes)
            for table in tables
        )
        more: dict[str, list[Any]] = {
            "dropped_at_step": list(tables[1].dropped_at_step),
            "reason": list(tables[1].reasons),
        }
        return counted, Objects({**considered.columns, **more}, considered.shapes)

    @cached_property
    def _kept(self) -> dict[int, Mapping[str, Any]]:
        return {handle: entry for entry in self.run.record.get("masks", ()) for handle in entry["handles"]}

    def _pixels(self, entry: Mapping[str, Any]) -> BoolImage | None:
        raster = open_raster(checked(self.run, {"file": entry["file"], "sha256": entry["sha256"]}))
        if raster.shape != self.shape:
            self.remark(f"{entry['file']} is left out: it is not on the image's grid.")
            return None
        return np.asarray(raster.read(1).data.data[0] > 0)

    @cached_property
    def _desk(self) -> Desk | None:
        """The program run again, None where that is not possible or would take long."""
        rows, cols = self.shape or (0, 0)
        if self.run.program is None or not 0 < rows * cols <= MEASURED_UP_TO_PX or self.run.status == "failed":
            return None
        try:
            return measured_again(self.run)[0]
        except (SwathError, OSError) as error:
            self.remark(f"What the run did not keep could not be measured again. {error}")
            return None

    def _kept_objects(self, path: Path, layer: str) -> Objects:
        import pyogrio.errors
        import pyogrio.raw  # 0.3 s to load

        try:
            meta, _, geometry, columns = pyogrio.raw.read(str(path), layer=layer)
        except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError):
            self.remark(f"{OBJECTS_FILE} cannot be read: its layer {layer} is left out.")
            return Objects()
        named = dict(zip(map(str, meta["fields"]), columns, strict=True))
        shapes = _in_pixels(shapely.from_wkb(geometry), self.run.record["image"]["grid"])
        return Objects({name: _with_none(column, None) for name, column in named.items()}, shapes)

    def remark(self, sentence: str) -> None:
        """Say once what is missing."""
        self.remarks[sentence] = None


def first_call(run: Run) -> int:
    """Number of the line of steps.jsonl that holds the first call of a tool; 1 where none was made."""
    return next((int(step["step"]) for step in run.steps if step.get("kind") == "tool"), 1)


def _with_none(values: NDArray[Any], missing: NDArray[np.bool_] | None) -> list[Any]:
    gaps = np.zeros(len(values), dtype=bool) if missing is None else missing
    return [None if gap or value != value else value for value, gap in zip(values.tolist(), gaps.tolist(), strict=True)]


def _in_pixels(shapes: NDArray[np.object_], grid: Mapping[str, Any] | None) -> NDArray[np.object_]:
    """Coordinates of the image's CRS to pixels; files of an image without one hold pixels already."""
    if grid is None or grid["crs"] is None or len(shapes) == 0:
        return shapes
    a, b, c, d, e, f = tuple(~Affine(*grid["affine"]))[:6]

    def back(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([a * xy[:, 0] + b * xy[:, 1] + c, d * xy[:, 0] + e * xy[:, 1] + f])

    return np.asarray(shapely.transform(shapes, back), dtype=object)
