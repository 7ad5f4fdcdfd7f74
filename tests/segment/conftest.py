"""Small rasters and vector files made by code, for the tests of segmentation."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import rasterio
import shapely
from affine import Affine
from segment_places import NORTH_UP, UTM

from swath.raster.grid import Grid
from swath.raster.reader import Raster, open_raster
from swath.raster.write import write_array


@pytest.fixture
def write_raster(tmp_path: Path) -> Callable[..., Path]:
    """Write an array as a raster: name, array (y, x) or (band, y, x), crs, affine, nodata, colormap."""

    def write(
        name: str,
        array: Any,
        crs: pyproj.CRS | None = UTM,
        affine: Affine = NORTH_UP,
        nodata: float | None = None,
        colormap: Mapping[int, tuple[int, int, int]] | None = None,
    ) -> Path:
        array = np.asarray(array)
        path = tmp_path / name
        shape = array.shape[-2:]
        write_array(path, array, Grid(affine if crs else Affine.identity(), shape, crs), nodata=nodata)
        if colormap:
            with rasterio.open(path, "r+") as dataset:
                dataset.write_colormap(1, dict(colormap))
        return path

    return write


@pytest.fixture
def image(write_raster: Callable[..., Path]) -> Raster:
    """An image of 40 rows and 50 columns of 10 m in UTM."""
    return open_raster(write_raster("image.tif", np.ones((40, 50), dtype=np.uint8)))


@pytest.fixture
def plain_image(write_raster: Callable[..., Path]) -> Raster:
    """An image of 40 rows and 50 columns that names no CRS."""
    return open_raster(write_raster("plain.tif", np.ones((40, 50), dtype=np.uint8), crs=None))


@pytest.fixture
def write_legend(tmp_path: Path) -> Callable[..., Path]:
    """Write a legend, from an object or from raw text or bytes."""

    def write(content: Any, name: str = "legend.json") -> Path:
        path = tmp_path / name
        data = content if isinstance(content, bytes) else (content if isinstance(content, str) else json.dumps(content))
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


@pytest.fixture
def write_geojson(tmp_path: Path) -> Callable[..., Path]:
    """Write geometries with their properties as GeoJSON: name, [(geometry or None, properties)], crs member."""

    def write(
        name: str, features: Sequence[tuple[Any, Mapping[str, Any]]], crs: str | None = "urn:ogc:def:crs:EPSG::32645"
    ) -> Path:
        held: dict[str, Any] = {"type": "FeatureCollection"}
        if crs != "absent":
            held["crs"] = None if crs is None else {"type": "name", "properties": {"name": crs}}
        held["features"] = [
            {
                "type": "Feature",
                "properties": dict(properties),
                "geometry": None if geometry is None else shapely.geometry.mapping(geometry),
            }
            for geometry, properties in features
        ]
        path = tmp_path / name
        path.write_text(json.dumps(held), encoding="utf-8")
        return path

    return write


@pytest.fixture
def on_ground() -> Callable[..., Any]:
    """Geometries in pixel coordinates of the `image` fixture, as UTM coordinates."""

    def to_utm(geometry: Any) -> Any:
        return shapely.transform(geometry, lambda xy: np.column_stack(NORTH_UP @ (xy[:, 0], xy[:, 1])))

    return to_utm
