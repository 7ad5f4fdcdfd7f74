"""Small painted places and zones over them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import shapely
from affine import Affine

from swath.raster.grid import Grid
from swath.raster.write import write_array

CRS = pyproj.CRS(32631)


@pytest.fixture
def street(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Write a class raster of 40 x 100 pixels of 1 m with some houses of 4 x 4 pixels: name, number of houses."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "legend.json").write_text(json.dumps({"1": "building", "2": "water", "3": "grass"}), encoding="utf-8")

    def write(name: str, houses: int, *, shape: tuple[int, int] = (40, 100), east_m: float = 0) -> Path:
        classes = np.full(shape, 3, dtype=np.uint8)
        classes[-5:] = 2
        for k in range(houses):
            classes[4:8, 4 + 8 * k : 8 + 8 * k] = 1
        write_array(tmp_path / name, classes, Grid(Affine(1, 0, 500_000 + east_m, 0, -1, 5_000_000), shape, CRS))
        return Path(name)

    return write


@pytest.fixture
def write_zones(tmp_path: Path) -> Callable[..., Path]:
    """Write polygons, given in pixels of the street, as zones: file name, id to polygon, EPSG code, column of ids."""

    def write(name: str, zones: Mapping[Any, Any], code: int = 32631, column: str = "name") -> Path:
        transform = pyproj.Transformer.from_crs(CRS, code, always_xy=True).transform

        def placed(xy: Any) -> Any:
            return np.column_stack(transform(500_000 + xy[:, 0], 5_000_000 - xy[:, 1]))

        features = [
            {
                "type": "Feature",
                "properties": {column: zone},
                "geometry": None if shape is None else shapely.geometry.mapping(shapely.transform(shape, placed)),
            }
            for zone, shape in zones.items()
        ]
        crs = {"type": "name", "properties": {"name": f"urn:ogc:def:crs:EPSG::{code}"}}
        text = json.dumps({"type": "FeatureCollection", "crs": crs, "features": features})
        (tmp_path / name).write_text(text, encoding="utf-8")
        return Path(name)

    return write
