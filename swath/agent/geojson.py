"""Objects as GeoJSON (RFC 7946): longitudes and latitudes, or pixel coordinates where an image has no CRS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray
from pyproj.exceptions import ProjError

from swath.errors import InputError
from swath.raster.geodesy import horizontal
from swath.trace.strict_json import json_text

DECIMALS = 9
"""Decimals of a degree: 0.1 mm on the ground."""

STRAIGHT_PX = 32
"""Edges are cut to this length before they are reprojected, since straight lines of one CRS bend in another."""

Geometries = NDArray[np.object_]


def write_geojson(
    path: Path, properties: Sequence[Mapping[str, Any]], shapes: Geometries, crs: pyproj.CRS | None, pixel_size: float
) -> str:
    """Write objects.

    Args:
        path: file to write.
        properties: of each object.
        shapes: (n,) in the coordinates of `crs`, or in pixels.
        crs: None for pixel coordinates.
        pixel_size: about the size of a pixel in units of `crs`.

    Returns:
        The name of the coordinates that were written, for people.

    Raises:
        InputError: the file cannot be written.
    """
    placed, name = placed_shapes(shapes, crs, pixel_size)
    collection: dict[str, Any] = {"type": "FeatureCollection"}
    if name != "EPSG:4326":
        # GeoJSON says longitude and latitude on WGS 84 unless it says otherwise; null was its word for "unknown".
        collection |= {"crs": None, "coordinates": name}
    collection["features"] = [
        {"type": "Feature", "properties": dict(own), "geometry": shapely.geometry.mapping(shape)}
        for own, shape in zip(properties, placed, strict=True)
    ]
    try:
        path.write_text(json_text(collection) + "\n", encoding="utf-8")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be written: {why}. Next: name another file with --geojson.") from None
    return name


def placed_shapes(shapes: Geometries, crs: pyproj.CRS | None, pixel_size: float) -> tuple[Geometries, str]:
    """Shapes in the coordinates that are written, and the name of these; arguments as for `write_geojson`."""
    if crs is None:
        return shapes, "pixel coordinates, x = column, y = row (down), since the image has no CRS"
    crs = horizontal(crs)
    name = "EPSG:4326"
    try:
        way = pyproj.Transformer.from_crs(crs, 4326, always_xy=True)
    except ProjError:
        # Another planet: its own longitudes and latitudes.
        base = crs.geodetic_crs
        if base is None:
            return shapes, f"the image's own coordinates, {crs.name}"
        way, name = pyproj.Transformer.from_crs(crs, base, always_xy=True), f"longitude and latitude of {base.name}"
    if len(shapes) == 0:
        return shapes, name
    cut = shapely.segmentize(shapely.force_2d(shapes), STRAIGHT_PX * pixel_size)
    turned = shapely.transform(cut, lambda xy: np.round(np.column_stack(way.transform(xy[:, 0], xy[:, 1])), DECIMALS))
    return np.asarray(shapely.orient_polygons(turned), dtype=object), name
