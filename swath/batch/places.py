"""Where the rows of a survey lie: the outlines of the zones, or of the images themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyproj
import shapely

from swath.batch.rows import Row
from swath.batch.table import Places
from swath.batch.zones import zones_of
from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.reader import open_raster
from swath.segment.coverage import image_frame

LONLAT = pyproj.CRS(4326)


def places_of(rows: Sequence[Row], zones: Path | None, id_field: str | None) -> Places:
    """A multipolygon for each row, None where it has no place.

    Zones are as their file draws them, in its CRS. Images are their borders, in their common CRS or else in longitude
    and latitude; one without a CRS has no place.

    Args:
        rows: the rows.
        zones: the file of zones, None where the rows are images.
        id_field: column that names the zones.
    """
    if zones is not None:
        areas = zones_of(zones, id_field)
        drawn = dict(zip(areas.ids, areas.file.geometries, strict=True))
        return Places(_column([drawn[str(row.zone)] for row in rows]), areas.file.crs)
    grids = [_grid(row.image) for row in rows]
    systems = [grid.crs for grid in grids if grid is not None and grid.crs is not None]
    common = systems[0] if systems and all(crs == systems[0] for crs in systems) else LONLAT
    return Places(_column([_border(grid, common) for grid in grids]), common if systems else None)


def _grid(image: str) -> Grid | None:
    try:
        return open_raster(image).grid
    except InputError:
        return None


def _border(grid: Grid | None, crs: pyproj.CRS) -> shapely.Geometry | None:
    if grid is None or grid.crs is None:
        return None
    if grid.crs == crs:
        rows, cols = grid.shape
        return shapely.Polygon([grid.affine @ corner for corner in ((0, 0), (cols, 0), (cols, rows), (0, rows))])
    return image_frame(grid, crs)


def _column(shapes: Sequence[shapely.Geometry | None]) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    column = np.empty(len(shapes), dtype=object)
    column[:] = [shapely.MultiPolygon([shape]) if isinstance(shape, shapely.Polygon) else shape for shape in shapes]
    return column
