"""Objects as files: the two layers of a run's GeoPackage, a layer alone, rows of a table."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.agent.objects import ObjectTable, counted_objects
from swath.agent.outlines import in_crs, uniform
from swath.agent.qgis_styles import write_objects_style
from swath.errors import InputError
from swath.raster.grid import Grid
from swath.tools.handles import Regions
from swath.tools.site import Site

LIST_COLUMNS = ("box", "oriented_box")
"""Columns that hold lists of numbers, as JSON."""

Column = tuple[NDArray[Any], NDArray[np.bool_] | None]


def write_objects(path: Path, counted: ObjectTable, considered: ObjectTable, grid: Grid) -> None:
    """Write the layers `counted` and `considered` of a GeoPackage, and their style.

    Args:
        path: file to write.
        counted: the answer's objects.
        considered: objects that were looked at and dropped.
        grid: the image's grid: the file is in its CRS, or in pixel coordinates where it has none.

    Raises:
        InputError: the file cannot be written.
    """
    geometry_type = _write_layer(path, "counted", counted, grid, append=False)
    write_objects_style(path, geometry_type)
    _write_layer(path, "considered", considered, grid, append=True)


def write_vector(path: Path, regions: Regions, site: Site) -> None:
    """Write objects alone, as the layer `objects` of a GeoPackage; columns as in `counted`.

    Args:
        path: file to write.
        regions: the objects.
        site: what they were found on.

    Raises:
        InputError: the file cannot be written.
    """
    _write_layer(path, "objects", counted_objects(regions, site), regions.grid, append=False)


def _write_layer(path: Path, layer: str, table: ObjectTable, grid: Grid, *, append: bool) -> str:
    """Write a layer; the type of its geometries."""
    import pyogrio.errors
    import pyogrio.raw  # 0.3 s to load

    columns = table_columns(table)
    if layer == "considered":
        columns |= {
            "dropped_at_step": _with_gaps(table.dropped_at_step, np.int64),
            "reason": _with_gaps(table.reasons, object),
        }
    shapes, geometry_type = uniform(in_crs(table.shapes, grid))
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
    return geometry_type


def table_columns(table: ObjectTable) -> dict[str, Column]:
    """The columns of `counted` with a mask of what is null."""
    return {
        "id": (table.ids, None),
        "class": (table.classes, None),
        "area_m2": _measured(table.areas_m2),
        "height_m": _measured(table.heights_m),
        "colour": _with_gaps(table.colours, object),
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


def _with_gaps(values: NDArray[np.object_], kind: Any) -> Column:
    missing = np.array([value is None for value in values], dtype=bool)
    filler: Any = "" if kind is object else 0
    return np.array([filler if value is None else value for value in values], dtype=kind), missing
