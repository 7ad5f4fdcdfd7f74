"""What swath sees in a raster, for `swath info`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rasterio.windows import Window

from swath.raster.local_files import stamp
from swath.raster.reader import Raster
from swath.raster.remote import shown
from swath.raster.source import opened
from swath.raster.valid import Rules, declared, measurable, try_pixels, windows

COUNT_ALL_PX = 400_000_000
"""Images of more pixels are counted on samples: 4e8 take some seconds, a declared 1e12 would take days."""

SAMPLE_WINDOWS, SAMPLE_SIDE_PX = 16, 256
"""Samples of a larger image: 16 x 16 windows of 256 x 256 pixels."""


def info(raster: Raster) -> dict[str, Any]:
    """A JSON-ready description of a raster.

    `valid_fraction` is the share that the file itself declares valid; `measured_fraction` the share that swath
    measures: without NaN, infinity and pixels of alpha 0.

    Raises:
        InputError: the pixels cannot be read.
    """
    with opened(raster.name) as dataset:
        structure = _structure(dataset, raster)
        valid, measured, estimated = _fractions(dataset, raster.rules)
    return {
        "path": shown(raster.path),
        "driver": raster.driver,
        "shape": list(raster.shape),
        "bands": len(raster.bands),
        "dtypes": [band.dtype for band in raster.bands],
        "complex": raster.complex,
        **_place(raster),
        "nodata": [_number(band.nodata, band.dtype) for band in raster.bands],
        "valid_fraction": valid,
        "measured_fraction": measured,
        "valid_fraction_estimated": estimated,
        "band_roles": {band.role: band.index for band in raster.bands if band.role},
        "band_descriptions": [band.description for band in raster.bands],
        "colorinterp": [band.colorinterp for band in raster.bands],
        "scales": [_number(band.scale) for band in raster.bands],
        "offsets": [_number(band.offset) for band in raster.bands],
        "palette": None if raster.palette() is None else len(raster.palette() or {}),
        "categories": {str(value): name for value, name in raster.categories().items()},
        **structure,
        "warnings": [*raster.warnings, *_warnings(valid, measured, estimated)],
    }


def _place(raster: Raster) -> dict[str, Any]:
    grid, ground = raster.grid, raster.grid.ground
    size = None if ground is None else dict(zip("xy", ground.size_xy_m, strict=True))
    corners = [grid.affine @ corner for corner in ((0, 0), (grid.shape[1], 0), (0, grid.shape[0]), grid.shape[::-1])]
    xs, ys = zip(*corners, strict=True)
    return {
        "crs": grid.crs_name,
        "crs_description": None if grid.crs is None else grid.crs.name,
        "affine": [_number(value) for value in grid.affine[:6]],
        "bounds": [_number(value) for value in (min(xs), min(ys), max(xs), max(ys))],
        "north": grid.north,
        "pixel_size_m": size,
        "pixel_size_reason": grid.why_no_ground,
        "pixel_size_method": None if ground is None else ground.method,
        "pixel_size_varies": ground is not None and not ground.uniform,
        "pixel_area_m2": None if ground is None else ground.pixel_area_m2,
    }


def _structure(dataset: Any, raster: Raster) -> dict[str, Any]:
    compression = dataset.compression
    return {
        "file_bytes": stamp([raster.path])[0][0],
        "compression": None if compression is None else str(compression.name),
        "block_shape": list(dataset.block_shapes[0]),
        "tiled": bool(dataset.block_shapes[0][1] < dataset.width),
        "overviews": list(dataset.overviews(1)),
        "subdatasets": list(dataset.subdatasets),
        "units": list(dataset.units),
    }


def _fractions(dataset: Any, rules: Rules) -> tuple[float, float, bool]:
    """Declared and measured share of the pixels, and whether they are estimates."""
    estimated = dataset.width * dataset.height > COUNT_ALL_PX
    if not estimated:
        try_pixels(dataset)
    valid = measured = pixels = 0
    for window in _samples(dataset) if estimated else windows(dataset):
        valid += int(np.count_nonzero(declared(dataset, window)))
        measured += int(np.count_nonzero(measurable(dataset, rules, window)))
        pixels += window.height * window.width
    return valid / pixels, measured / pixels, estimated


def _samples(dataset: Any) -> list[Window]:
    starts = [
        np.unique(np.linspace(0, max(0, size - SAMPLE_SIDE_PX), SAMPLE_WINDOWS).astype(int))
        for size in (dataset.height, dataset.width)
    ]
    sizes = [min(SAMPLE_SIDE_PX, size) for size in (dataset.width, dataset.height)]
    return [Window(int(col), int(row), *sizes) for row in starts[0] for col in starts[1]]


def _warnings(valid: float, measured: float, estimated: bool) -> list[str]:
    notes = []
    if estimated:
        notes.append(f"The valid share was estimated on {SAMPLE_WINDOWS**2} samples of a very large image.")
    if measured < valid:
        notes.append(
            f"{(valid - measured) * 100:.3g} % of the pixels are declared valid but are NaN, infinite or transparent; "
            "they are not measured."
        )
    if valid == 0:
        notes.append("No pixel is valid.")
    return notes


def _number(value: float | None, dtype: str = "") -> float | int | str | None:
    """A number as JSON knows it: NaN and infinities as words, whole numbers of integer bands as integers."""
    if value is None:
        return None
    if not math.isfinite(value):
        return str(float(value))
    return int(value) if dtype.startswith(("int", "uint")) and value == int(value) else float(value)
