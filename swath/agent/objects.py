"""The objects behind an answer as tables: what each is, where, how large, how high, of what colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.agent.execution import Outcome
from swath.agent.lineage import Dropped, dropped_objects
from swath.agent.outlines import Geometries, outlines
from swath.agent.reasons import Source
from swath.errors import Refused
from swath.raster.fields import Field
from swath.raster.grid import Grid
from swath.tools.appearance import colours_of_objects
from swath.tools.cells import statistic_of_objects
from swath.tools.handles import Mask, Regions
from swath.tools.patches import Patches
from swath.tools.rectangles import rectangles, sides
from swath.tools.regions import all_components
from swath.tools.runs import Runs
from swath.tools.shapes import axes_of, has_direction
from swath.tools.site import Site

MOST_OUTLINES = 100_000
"""Above this many objects a file holds centroids and boxes: outlines of 100,000 objects fill about 100 MB."""

FloatArray = NDArray[np.float64]
Things = NDArray[np.object_]


def _no_numbers() -> FloatArray:
    return np.zeros(0)


def _nothing() -> Things:
    return np.zeros(0, dtype=object)


@dataclass(frozen=True)
class ObjectTable:
    """Objects, one row each.

    Attributes:
        ids: (n,) the source's own identifiers, or running numbers.
        classes: (n,) what each is.
        areas_m2: (n,) NaN where there is no ground size, or no area.
        heights_m: (n,) 95th percentile of the height above ground, NaN where unknown.
        colours: (n,) colour of most pixels, None where the image has no true colour.
        sizes_px: (n,) pixels.
        scores: (n,) NaN where unknown.
        boxes: (n, 4) half-open pixel boxes.
        corners: (n, 8) oriented boxes, x and y of four corners in pixels; NaN where there are very many.
        sides_m: (n, 2) length and width of the oriented boxes; NaN where there is no ground size.
        orientations_deg: (n,) long axis clockwise from up, 0 to 180; NaN where there is none.
        shapes: (n,) outlines in pixel coordinates, or centroids where there are very many.
        dropped_at_step: (n,) the line of steps.jsonl whose result no longer held it; None for counted objects.
        reasons: (n,) why it was dropped; None for counted objects.
    """

    ids: Things = field(default_factory=_nothing)
    classes: Things = field(default_factory=_nothing)
    areas_m2: FloatArray = field(default_factory=_no_numbers)
    heights_m: FloatArray = field(default_factory=_no_numbers)
    colours: Things = field(default_factory=_nothing)
    sizes_px: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    scores: FloatArray = field(default_factory=_no_numbers)
    boxes: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 4), dtype=np.int64))
    corners: FloatArray = field(default_factory=lambda: np.zeros((0, 8)))
    sides_m: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    orientations_deg: FloatArray = field(default_factory=_no_numbers)
    shapes: Geometries = field(default_factory=_nothing)
    dropped_at_step: Things = field(default_factory=_nothing)
    reasons: Things = field(default_factory=_nothing)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.ids)


def counted_objects(answer: Mask | Regions, site: Site) -> ObjectTable:
    """The answer's objects in the answer's order; of a mask, its components.

    Args:
        answer: what stands behind an answer.
        site: what was measured: its heights and its colours.
    """
    regions = as_regions(answer)
    outlined = len(regions) <= MOST_OUTLINES
    chosen = [regions.indices[regions.which == k] for k in range(len(regions.sources))]
    table = _joined([_rows(*pair, outlined, site) for pair in zip(regions.sources, chosen, strict=True)])
    # `_rows` went source by source: back to the order of the answer.
    order = np.argsort(np.argsort(regions.which, kind="stable"), kind="stable")
    return _taken(table, order) if len(regions.sources) > 1 else table


def considered_objects(outcome: Outcome, first_step: int) -> ObjectTable:
    """The objects that were looked at and dropped.

    Args:
        outcome: a program that ran to its end.
        first_step: line of steps.jsonl of the program's first call.
    """
    answer = outcome.reply.objects
    if answer is None:
        return ObjectTable()
    dropped = dropped_objects(answer, outcome.ledger, outcome.site)
    outlined = sum(len(group.indices) for group in dropped) <= MOST_OUTLINES
    sources = {id(group.source): group.source for group in dropped}
    groups = [[group for group in dropped if group.source is source] for source in sources.values()]
    return _joined([_dropped_rows(own, first_step, outlined, outcome.site) for own in groups])


def as_regions(thing: Mask | Regions) -> Regions:
    """Regions as they are; a mask as its objects, those without a valid pixel left out."""
    return thing if isinstance(thing, Regions) else all_components(thing, 8)


def too_many(*tables: ObjectTable) -> str | None:
    """A sentence where a table holds centroids in place of outlines."""
    most = max(map(len, tables), default=0)
    if most <= MOST_OUTLINES:
        return None
    return f"objects.gpkg holds centroids and boxes: {most:,} objects are too many for outlines."


def _dropped_rows(groups: Sequence[Dropped], first_step: int, outlined: bool, site: Site) -> ObjectTable:
    """Rows of one source, whose outlines are drawn in one pass over the image."""
    rows = _rows(groups[0].source, np.concatenate([group.indices for group in groups]), outlined, site)
    steps = [None if group.call is None else first_step + group.call for group in groups for _ in group.indices]
    reasons = [reason for group in groups for reason in group.reasons]
    return replace(rows, dropped_at_step=_column(steps), reasons=_column(reasons))


def _rows(source: Source, indices: NDArray[np.int64], outlined: bool, site: Site) -> ObjectTable:
    count, runs = len(indices), source.runs.of(indices)
    ids = source.source_ids
    shapes = outlines(source, indices) if outlined else shapely.points(source.centroids_yx[indices][:, ::-1] + 0.5)
    corners, sides_m = _oriented(source, indices) if outlined else (np.full((count, k), np.nan) for k in (8, 2))
    return ObjectTable(
        _column([ids[i] for i in indices]),
        _column([_class_of(source)] * count),
        _areas_m2(source)[indices],
        _heights_m(site, runs),
        _column(colours_of_objects(site.raster, runs)),
        source.sizes_px[indices],
        source.scores[indices],
        source.boxes[indices],
        corners,
        sides_m,
        _orientations_deg(runs, _grid_of(source)),
        np.asarray(shapes, dtype=object).reshape(count),
        _column([None] * count),
        _column([None] * count),
    )


def _column(values: Sequence[object]) -> Things:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _class_of(source: Source) -> str:
    if isinstance(source, Patches):
        return source.class_name
    return " or ".join(sorted(source.mask.classes)) or source.mask.name


def _grid_of(source: Source) -> Grid:
    return source.grid if isinstance(source, Patches) else source.mask.grid


def _oriented(source: Source, indices: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """(n, 8) corners in pixels and (n, 2) sides in metres of oriented boxes."""
    grid = _grid_of(source)
    corners = rectangles(source, indices, grid)
    sides_m = sides(corners, grid) if grid.ground is not None else np.full((len(indices), 2), np.nan)
    return corners.reshape(-1, 8), sides_m


def _orientations_deg(runs: Runs, grid: Grid) -> FloatArray:
    long_m, short_m, degrees = axes_of(runs, grid).T
    return np.asarray(np.where(has_direction(long_m, short_m), degrees, np.nan))


def _heights_m(site: Site, runs: Runs) -> FloatArray:
    heights = _heights_above_ground(site)
    return np.full(runs.count, np.nan) if heights is None else statistic_of_objects(heights, runs)


def _heights_above_ground(site: Site) -> Field | None:
    """(rows, columns) heights above ground in metres; None where no rasters were given from which they follow."""
    try:
        return None if site.heights is None else site.heights.above_ground.heights
    except Refused:
        return None


def _areas_m2(source: Source) -> FloatArray:
    areal = source.areal if isinstance(source, Patches) else source.mask.areal
    if areal and _grid_of(source).ground is not None:
        try:
            return np.asarray(source.areas_m2, dtype=float)
        except Refused:
            pass
    return np.full(len(source.sizes_px), np.nan)


def _columns(table: ObjectTable) -> list[NDArray[np.generic]]:
    return [getattr(table, own.name) for own in fields(ObjectTable)]


def _joined(parts: Sequence[ObjectTable]) -> ObjectTable:
    columns = zip(*(_columns(part) for part in (ObjectTable(), *parts)), strict=True)
    return ObjectTable(*(np.concatenate(own) for own in columns))


def _taken(table: ObjectTable, order: NDArray[np.int64]) -> ObjectTable:
    return ObjectTable(*(column[order] for column in _columns(table)))  # type: ignore[arg-type]  # columns of several types
