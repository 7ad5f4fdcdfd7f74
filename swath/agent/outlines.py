"""Outlines of objects: the source's own, or along the sides of their pixels; what is drawn is what was counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from affine import Affine
from numpy.typing import NDArray

from swath.agent.reasons import Source
from swath.raster.grid import Grid
from swath.tools.handles import LabelImage
from swath.tools.patches import Patches

Geometries = NDArray[np.object_]

STRIP_PX = 2**24
"""Pixels whose objects are outlined in one go."""


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
    (x0, y0), (x1, y1) = wanted.boxes[:, :2].min(axis=0).tolist(), wanted.boxes[:, 2:].max(axis=0).tolist()
    step = max(STRIP_PX // (x1 - x0), 1)
    rings: list[Any] = []
    polygon_of_ring: list[int] = []
    region_of_polygon: list[int] = []
    for top in range(y0, y1, step):
        window = wanted.labels(slice(top, min(top + step, y1)), slice(x0, x1))
        for geometry, value in shapes(window, mask=window > 0, connectivity=4, transform=Affine.translation(x0, top)):
            rings += geometry["coordinates"]  # the shell, then its holes
            polygon_of_ring += [len(region_of_polygon)] * len(geometry["coordinates"])
            region_of_polygon.append(int(value) - 1)
    corners = np.repeat(np.arange(len(rings)), [len(ring) for ring in rings])
    closed = shapely.linearrings(np.concatenate([np.asarray(ring) for ring in rings]), indices=corners)
    polygons = shapely.polygons(closed, indices=polygon_of_ring)
    order = np.argsort(region_of_polygon, kind="stable")
    whole = np.asarray(shapely.multipolygons(polygons[order], indices=np.array(region_of_polygon)[order]), dtype=object)
    seams = (wanted.boxes[:, 1] - y0) // step != (wanted.boxes[:, 3] - 1 - y0) // step
    whole[seams] = [_stitched(pieces) for pieces in whole[seams]]
    return whole


def _stitched(pieces: Any) -> Any:
    """One multipolygon of pieces that seams between strips of rows have cut."""
    joined = shapely.simplify(shapely.union_all(shapely.get_parts(pieces)), 0.0)
    return shapely.multipolygons(shapely.get_parts(joined))


def in_crs(shapes: Geometries, grid: Grid) -> Geometries:
    """Pixel coordinates to those of the image's CRS; where it has none they stay as they are, y down."""
    if grid.crs is None or len(shapes) == 0:
        return shapes
    a, b, c, d, e, f = tuple(grid.affine)[:6]

    def transform(xy: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([a * xy[:, 0] + b * xy[:, 1] + c, d * xy[:, 0] + e * xy[:, 1] + f])

    return np.asarray(shapely.transform(shapes, transform), dtype=object)


def uniform(shapes: Geometries) -> tuple[Geometries, str]:
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
