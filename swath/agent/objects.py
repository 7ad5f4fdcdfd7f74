"""The objects behind an answer as tables, and the GeoPackage that holds them.

Outlines come from the pixels themselves (or are the source's own), so that what is drawn is what was counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from affine import Affine
from numpy.typing import NDArray

from swath.agent.execution import Outcome
from swath.agent.lineage import Dropped, Source, dropped_objects
from swath.errors import InputError, Refused
from swath.raster.grid import Grid
from swath.tools.cells import Field, statistic_of_objects
from swath.tools.handles import LabelImage, Mask, Regions
from swath.tools.patches import Patches
from swath.tools.rectangles import rectangles, sides
from swath.tools.regions import all_components
from swath.tools.shapes import axes_of, has_direction
from swath.tools.site import Site

MOST_OUTLINES = 100_000
"""Above this many objects a file holds centroids and boxes: outlines of 100,000 objects fill about 100 MB."""

LIST_COLUMNS = ("box", "oriented_box")
"""Columns of the file that hold lists of numbers, as JSON."""

Geometries = NDArray[np.object_]


@dataclass(frozen=True)
class ObjectTable:
    """Objects, one row each.

    Attributes:
        ids: the source's own identifiers, or running numbers.
        classes: what each is.
        areas_m2: (n,) NaN where there is no ground size, or no area.
        heights_m: (n,) 95th percentile of the height above ground, NaN where unknown.
        sizes_px: (n,) pixels.
        scores: (n,) NaN where unknown.
        boxes: (n, 4) half-open pixel boxes.
        corners: (n, 8) oriented boxes, x and y of four corners in pixels; NaN where there are very many.
        sides_m: (n, 2) length and width of the oriented boxes; NaN where there is no ground size.
        orientations_deg: (n,) long axis clockwise from up, 0 to 180; NaN where there is none.
        shapes: (n,) outlines in pixel coordinates, or centroids where there are very many.
        dropped_at_step: per row, the line of steps.jsonl whose result no longer held it; None for counted objects.
        reasons: per row, why it was dropped.
    """

    ids: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    areas_m2: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    heights_m: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    sizes_px: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    scores: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    boxes: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 4), dtype=np.int64))
    corners: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 8)))
    sides_m: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 2)))
    orientations_deg: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    shapes: Geometries = field(default_factory=lambda: np.zeros(0, dtype=object))
    dropped_at_step: list[int | None] = field(default_factory=list)
    reasons: list[str | None] = field(default_factory=list)

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.ids)


def counted_objects(answer: Mask | Regions, heights: Field | None = None) -> ObjectTable:
    """The answer's objects in the answer's order; of a mask, its components.

    Args:
        answer: what stands behind an answer.
        heights: (rows, columns) heights above ground in metres, None where none are known.
    """
    regions = as_regions(answer)
    outlined = len(regions) <= MOST_OUTLINES
    chosen = [regions.indices[regions.which == k] for k in range(len(regions.sources))]
    parts = [_rows(*pair, outlined, heights) for pair in zip(regions.sources, chosen, strict=True)]
    table = _joined(parts)
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
    dropped = dropped_objects(answer, outcome.ledger)
    outlined = sum(len(group.indices) for group in dropped) <= MOST_OUTLINES
    sources = {id(group.source): group.source for group in dropped}
    groups = [[group for group in dropped if group.source is source] for source in sources.values()]
    heights = heights_above_ground(outcome.site)
    return _joined([_dropped_rows(own, first_step, outlined, heights) for own in groups])


def heights_above_ground(site: Site) -> Field | None:
    """(rows, columns) heights above ground in metres; None where no rasters were given from which they follow."""
    try:
        return None if site.heights is None else site.heights.above_ground.heights
    except Refused:
        return None


def as_regions(thing: Mask | Regions) -> Regions:
    """Regions as they are; a mask as its objects, those without a valid pixel left out."""
    return thing if isinstance(thing, Regions) else all_components(thing, 8)


def _dropped_rows(groups: Sequence[Dropped], first_step: int, outlined: bool, heights: Field | None) -> ObjectTable:
    """Rows of one source, whose outlines are drawn in one pass over the image."""
    rows = _rows(groups[0].source, np.concatenate([group.indices for group in groups]), outlined, heights)
    steps = [None if group.call is None else first_step + group.call for group in groups for _ in group.indices]
    return replace(rows, dropped_at_step=steps, reasons=[group.reason for group in groups for _ in group.indices])


def _rows(source: Source, indices: NDArray[np.int64], outlined: bool, heights: Field | None) -> ObjectTable:
    count = len(indices)
    ids = source.source_ids
    shapes = outlines(source, indices) if outlined else shapely.points(source.centroids_yx[indices][:, ::-1] + 0.5)
    corners, sides_m = _oriented(source, indices) if outlined else (np.full((count, k), np.nan) for k in (8, 2))
    return ObjectTable(
        [ids[i] for i in indices],
        [_class_of(source)] * count,
        _areas_m2(source)[indices],
        np.full(count, np.nan) if heights is None else statistic_of_objects(heights, source.runs.of(indices)),
        source.sizes_px[indices],
        source.scores[indices],
        source.boxes[indices],
        corners,
        sides_m,
        _orientations_deg(source, indices),
        np.asarray(shapes, dtype=object).reshape(count),
        [None] * count,
        [None] * count,
    )


def _class_of(source: Source) -> str:
    if isinstance(source, Patches):
        return source.class_name
    return " or ".join(sorted(source.mask.classes)) or source.mask.name


def _grid_of(source: Source) -> Grid:
    return source.grid if isinstance(source, Patches) else source.mask.grid


def _oriented(source: Source, indices: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(n, 8) corners in pixels and (n, 2) sides in metres of oriented boxes."""
    grid = _grid_of(source)
    corners = rectangles(source, indices, grid)
    sides_m = sides(corners, grid) if grid.ground is not None else np.full((len(indices), 2), np.nan)
    return corners.reshape(-1, 8), sides_m


def _orientations_deg(source: Source, indices: NDArray[np.int64]) -> NDArray[np.float64]:
    long_m, short_m, degrees = axes_of(source.runs.of(indices), _grid_of(source)).T
    return np.asarray(np.where(has_direction(long_m, short_m), degrees, np.nan))


def _areas_m2(source: Source) -> NDArray[np.float64]:
    areal = source.areal if isinstance(source, Patches) else source.mask.areal
    if areal and _grid_of(source).ground is not None:
        try:
            return np.asarray(source.areas_m2, dtype=float)
        except Refused:
            pass
    return np.full(len(source.sizes_px), np.nan)


def _joined(parts: Sequence[ObjectTable]) -> ObjectTable:
    parts = [part for part in parts if len(part)]
    if not parts:
        return ObjectTable()
    return ObjectTable(
        [i for part in parts for i in part.ids],
        [c for part in parts for c in part.classes],
        np.concatenate([part.areas_m2 for part in parts]),
        np.concatenate([part.heights_m for part in parts]),
        np.concatenate([part.sizes_px for part in parts]),
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.boxes for part in parts]),
        np.concatenate([part.corners for part in parts]),
        np.concatenate([part.sides_m for part in parts]),
        np.concatenate([part.orientations_deg for part in parts]),
        np.concatenate([part.shapes for part in parts]),
        [s for part in parts for s in part.dropped_at_step],
        [r for part in parts for r in part.reasons],
    )


def _taken(table: ObjectTable, order: NDArray[np.int64]) -> ObjectTable:
    return ObjectTable(
        [table.ids[i] for i in order],
        [table.classes[i] for i in order],
        table.areas_m2[order],
        table.heights_m[order],
        table.sizes_px[order],
        table.scores[order],
        table.boxes[order],
        table.corners[order],
        table.sides_m[order],
        table.orientations_deg[order],
        table.shapes[order],
        [table.dropped_at_step[i] for i in order],
        [table.reasons[i] for i in order],
    )


def outlines(source: Source, indices: NDArray[np.int64]) -> Geometries:
    """(n,) outlines in pixel coordinates: the source's own, or those of the objects' pixels."""
    if isinstance(source, Patches):
        return np.array([source.features[i].outline for i in indices], dtype=object)
    return _pixel_outlines(source, indices)


def _pixel_outlines(source: LabelImage, indices: NDArray[np.int64]) -> Geometries:
    """Multipolygons along the pixels' sides.

    Pixels that meet at a corner only are parts of one multipolygon: a single ring through the corner would be invalid.
    """
    from rasterio.features import shapes  # only runs that keep their objects pay for it

    if len(indices) == 0:
        return np.zeros(0, dtype=object)
    wanted = source.runs.of(indices)
    (x0, y0), (x1, y1) = wanted.boxes[:, :2].min(axis=0), wanted.boxes[:, 2:].max(axis=0)
    window = wanted.labels(slice(y0, y1), slice(x0, x1))
    rings: list[Any] = []
    polygon_of_ring: list[int] = []
    region_of_polygon: list[int] = []
    for geometry, value in shapes(window, mask=window > 0, connectivity=4, transform=Affine.translation(x0, y0)):
        rings += geometry["coordinates"]  # the shell, then its holes
        polygon_of_ring += [len(region_of_polygon)] * len(geometry["coordinates"])
        region_of_polygon.append(int(value) - 1)
    corners = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    closed = shapely.linearrings(np.concatenate([np.asarray(ring) for ring in rings]), indices=corners)
    polygons = shapely.polygons(closed, indices=polygon_of_ring)
    order = np.argsort(region_of_polygon, kind="stable")
    return np.asarray(shapely.multipolygons(polygons[order], indices=np.array(region_of_polygon)[order]), dtype=object)


def in_crs(shapes: Geometries, grid: Grid) -> Geometries:
    """Pixel coordinates to those of the image's CRS; where it has none they stay as they are, y down."""
    if grid.crs is None or len(shapes) == 0:
        return shapes
    a, b, c, d, e, f = tuple(grid.affine)[:6]

    def transform(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([a * xy[:, 0] + b * xy[:, 1] + c, d * xy[:, 0] + e * xy[:, 1] + f])

    return np.asarray(shapely.transform(shapes, transform), dtype=object)


def too_many(*tables: ObjectTable) -> str | None:
    """A sentence where a table holds centroids in place of outlines."""
    most = max(map(len, tables), default=0)
    if most <= MOST_OUTLINES:
        return None
    return f"objects.gpkg holds centroids and boxes: {most:,} objects are too many for outlines."


def write_objects(path: Path, counted: ObjectTable, considered: ObjectTable, grid: Grid) -> None:
    """Write the layers `counted` and `considered` of a GeoPackage.

    Args:
        path: file to write.
        counted: the answer's objects.
        considered: objects that were looked at and dropped.
        grid: the image's grid: the file is in its CRS, or in pixel coordinates where it has none.

    Raises:
        InputError: the file cannot be written.
    """
    _write_layer(path, "counted", counted, grid, append=False)
    _write_layer(path, "considered", considered, grid, append=True)


def write_vector(path: Path, regions: Regions) -> None:
    """Write objects alone, as the layer `objects` of a GeoPackage; columns as in `counted`.

    Raises:
        InputError: the file cannot be written.
    """
    _write_layer(path, "objects", counted_objects(regions), regions.grid, append=False)


def _write_layer(path: Path, layer: str, table: ObjectTable, grid: Grid, *, append: bool) -> None:
    import pyogrio.errors
    import pyogrio.raw  # 0.3 s to load

    columns = table_columns(table)
    if layer == "considered":
        columns |= {
            "dropped_at_step": _with_gaps(table.dropped_at_step, np.int64),
            "reason": _with_gaps(table.reasons, object),
        }
    shapes, geometry_type = _uniform(in_crs(table.shapes, grid))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="'crs' was not provided")
            pyogrio.raw.write(
                str(path),
                np.asarray(shapely.to_wkb(shapes), dtype=object),
                [values for values, _ in columns.values()],
                np.array(list(columns), dtype=object),
                field_mask=[missing for _, missing in columns.values()],
                layer=layer,
                driver="GPKG",
                geometry_type=geometry_type,
                crs=None if grid.crs is None else grid.crs.to_wkt(),
                append=append,
            )
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError, OSError) as error:
        raise InputError(f"{path} cannot be written. Next: check the folder and its free space.") from error


Column = tuple[NDArray[Any], NDArray[np.bool_] | None]


def table_columns(table: ObjectTable) -> dict[str, Column]:
    """The columns of `counted` with a mask of what is null."""
    return {
        "id": (np.array(table.ids, dtype=object), None),
        "class": (np.array(table.classes, dtype=object), None),
        "area_m2": _measured(table.areas_m2),
        "height_m": _measured(table.heights_m),
        "score": _measured(table.scores),
        "box": (np.array([str(box) for box in table.boxes.tolist()], dtype=object), None),
        "area_px": (table.sizes_px, None),
        "length_m": _measured(table.sides_m[:, 0]),
        "width_m": _measured(table.sides_m[:, 1]),
        "orientation_deg": _measured(table.orientations_deg),
        "oriented_box": (
            np.array([str(corners) for corners in np.round(table.corners, 3).tolist()], dtype=object),
            np.asarray(np.isnan(table.corners).any(axis=1)),
        ),
    }


def _measured(values: NDArray[np.float64]) -> Column:
    return np.nan_to_num(values), np.isnan(values)


def _with_gaps(values: Sequence[Any], kind: Any) -> Column:
    missing = np.array([value is None for value in values], dtype=bool)
    filler: Any = "" if kind is object else 0
    return np.array([filler if value is None else value for value in values], dtype=kind), missing


def _uniform(shapes: Geometries) -> tuple[Geometries, str]:
    """One geometry type for a layer, two-dimensional: multipolygons or points, "Unknown" where kinds mix."""
    if len(shapes) == 0:
        return shapes, "Unknown"
    shapes = np.asarray(shapely.force_2d(shapes), dtype=object)
    dimensions = set(shapely.get_dimensions(shapes).tolist())
    if dimensions == {0} and (shapely.get_type_id(shapes) == 0).all():
        return shapes, "Point"
    if dimensions != {2} or (shapely.get_type_id(shapes) == 7).any() or shapely.is_empty(shapes).any():
        return shapes, "Unknown"
    parts, owner = shapely.get_parts(shapes, return_index=True)
    return np.asarray(shapely.multipolygons(parts, indices=owner), dtype=object), "MultiPolygon"
