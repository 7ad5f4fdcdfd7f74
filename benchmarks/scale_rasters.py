"""Label rasters of any size for the benchmarks of scale, with what is known of them by how they are painted.

Rectangles ("building"), one at most in every cell, on ground of two classes ("grass", "forest"), and lakes ("water") of
135 x 90 pixels, one for ten blocks of 450 x 450. DEFLATE 6, tiles of 512 x 512 pixels, pixels of 0.5 m.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PIXEL_M, CELL_PX, BLOCK_PX, LAKE_PX = 0.5, 45, 450, (135, 90)
LEGEND = {"1": "grass", "2": "forest", "3": "building", "4": "water"}
GRASS, FOREST, BUILDING, WATER = 1, 2, 3, 4
Boxes = NDArray[np.int64]


@dataclass(frozen=True)
class Rectangles:
    """What was painted, in pixels: (n, 4) first row, first column, rows, columns.

    Attributes:
        buildings: before lakes were painted over them.
        lakes: they never meet.
    """

    buildings: Boxes
    lakes: Boxes


def paint(path: Path, side: int, cell: int = CELL_PX, *, ragged: bool = False) -> Rectangles:
    """Paint a raster.

    Args:
        path: where.
        side: rows and columns.
        cell: side of the cells that hold one building each; 9 is the least.
        ragged: ground with the outlines of clouds instead of squares of 64 pixels.
    """
    import rasterio
    from affine import Affine
    from rasterio.windows import Window

    rng = np.random.default_rng(side + cell)
    profile = {"driver": "GTiff", "count": 1, "height": side, "width": side, "dtype": "uint8", "crs": "EPSG:32633"}
    layout = {"tiled": True, "blockxsize": 512, "blockysize": 512, "compress": "deflate", "zlevel": 6}
    place = Affine(PIXEL_M, 0, 500_000, 0, -PIXEL_M, 5_000_000)
    buildings, lakes = [], []
    with rasterio.open(path, "w", **profile, **layout, transform=place, bigtiff="if_safer") as dataset:
        for top in range(0, side, BLOCK_PX):
            rows, moved = min(BLOCK_PX, side - top), np.array([top, 0, 0, 0])
            labels = (_ragged if ragged else _squares)(rng, rows, side)
            own, inside = _buildings(rng, rows, side, cell)
            labels[inside] = BUILDING
            wet = _lakes(rng, rows, side)
            for row, col, height, width in wet:
                labels[row : row + height, col : col + width] = WATER
            dataset.write(labels, 1, window=Window(0, top, side, rows))
            buildings.append(own + moved)
            lakes.append(wet + moved)
    return Rectangles(np.concatenate(buildings), np.concatenate(lakes))


def _squares(rng: np.random.Generator, rows: int, cols: int) -> NDArray[np.uint8]:
    ground = rng.integers(GRASS, FOREST + 1, (rows // 64 + 1, cols // 64 + 1)).astype(np.uint8)
    return np.repeat(np.repeat(ground, 64, axis=0)[:rows], 64, axis=1)[:, :cols].copy()


def _ragged(rng: np.random.Generator, rows: int, cols: int) -> NDArray[np.uint8]:
    import cv2

    field = sum(
        cv2.resize(rng.random((rows // step + 2, cols // step + 2), dtype=np.float32), (cols, rows)) * step**0.7
        for step in (64, 16, 4)
    )
    return np.where(field > np.median(field), FOREST, GRASS).astype(np.uint8)


def _buildings(rng: np.random.Generator, rows: int, cols: int, cell: int) -> tuple[Boxes, NDArray[np.bool_]]:
    """A rectangle in every whole cell of a strip, and (rows, columns) bool: their pixels."""
    down, across = rows // cell, cols // cell
    height, width = rng.integers(max(2, cell // 11), cell - cell // 5, (2, down, across))
    y, x = (rng.integers(0, cell - size - 1) for size in (height, width))  # one row and column stay free
    step = np.arange(cell)
    in_rows = (step >= y[..., None]) & (step < (y + height)[..., None])
    in_cols = (step >= x[..., None]) & (step < (x + width)[..., None])
    pixels = in_rows.transpose(0, 2, 1)[:, :, :, None] & in_cols[:, None]
    inside = np.zeros((rows, cols), dtype=bool)
    inside[: down * cell, : across * cell] = pixels.reshape(down * cell, across * cell)
    row, col = np.indices((down, across)) * cell
    return np.stack([row + y, col + x, height, width], axis=-1).reshape(-1, 4), inside


def _lakes(rng: np.random.Generator, rows: int, cols: int) -> Boxes:
    """A lake in every tenth block that is whole."""
    height, width = LAKE_PX
    blocks = np.flatnonzero(rng.random(cols // BLOCK_PX) < 0.1) if rows == BLOCK_PX else np.zeros(0, dtype=np.int64)
    row = rng.integers(0, BLOCK_PX - height, len(blocks))
    col = blocks * BLOCK_PX + rng.integers(0, BLOCK_PX - width, len(blocks))
    return np.column_stack([row, col, np.full_like(row, height), np.full_like(row, width)])


def distances_px(boxes: Boxes, to: Boxes) -> NDArray[np.float64]:
    """(n,) pixels from rectangles to the nearest of others, between the centres of their nearest pixels."""
    nearest = np.full(len(boxes), np.inf)
    for row, col, height, width in to.tolist():
        down = np.maximum(np.maximum(row - (boxes[:, 0] + boxes[:, 2] - 1), boxes[:, 0] - (row + height - 1)), 0)
        across = np.maximum(np.maximum(col - (boxes[:, 1] + boxes[:, 3] - 1), boxes[:, 1] - (col + width - 1)), 0)
        np.minimum(nearest, np.hypot(down, across), out=nearest)
    return nearest


def expected(path: Path, painted: Rectangles, limit_m: float, large_m2: float) -> dict[str, float]:
    """The answers to five questions, by the geometry of the rectangles and plain NumPy on strips of 450 rows.

    Args:
        path: the raster.
        painted: what was painted on it.
        limit_m: "near" the water.
        large_m2: what makes a building large.
    """
    row, col, height, width = painted.buildings.T
    area_px = height * width
    for lake_row, lake_col, lake_height, lake_width in painted.lakes.tolist():
        down = np.minimum(row + height, lake_row + lake_height) - np.maximum(row, lake_row)
        across = np.minimum(col + width, lake_col + lake_width) - np.maximum(col, lake_col)
        area_px = area_px - np.maximum(down, 0) * np.maximum(across, 0)
    seen = area_px > 0  # the others lie under a lake
    reach = limit_m / PIXEL_M
    # What is left of a building under a lake touches that lake.
    near = distances_px(painted.buildings, painted.lakes) <= reach
    pixels = near_forest = forest = 0
    for top, labels in _strips(path):
        pixels += labels.size
        woods = labels == FOREST
        forest += int(np.count_nonzero(woods))
        near_forest += int(np.count_nonzero(woods & _around(painted.lakes, top, labels.shape, reach)))
    return {
        "buildings": int(seen.sum()),
        "forest_percent": 100 * forest / pixels,
        "buildings_near_water": int((seen & near).sum()),
        "large_m2": float(area_px[area_px * PIXEL_M**2 > large_m2].sum() * PIXEL_M**2),
        "forest_near_water_ha": near_forest * PIXEL_M**2 / 10_000,
    }


def _strips(path: Path) -> Iterator[tuple[int, NDArray[Any]]]:
    import rasterio
    from rasterio.windows import Window

    with rasterio.open(path) as dataset:
        for top in range(0, dataset.height, BLOCK_PX):
            rows = min(BLOCK_PX, dataset.height - top)
            yield top, dataset.read(1, window=Window(0, top, dataset.width, rows))


def _around(lakes: Boxes, top: int, shape: tuple[int, ...], reach: float) -> NDArray[np.bool_]:
    """(rows, columns) bool of a strip: the pixels within some pixels of a rectangle."""
    near, far = np.zeros(shape, dtype=bool), int(reach) + 1
    for row, col, height, width in lakes.tolist():
        first, last = max(row - far - top, 0), min(row + height + far - top, shape[0])
        left, right = max(col - far, 0), min(col + width + far, shape[1])
        if first < last:
            y, x = np.arange(first, last)[:, None] + top, np.arange(left, right)[None]
            down = np.maximum(np.maximum(row - y, y - (row + height - 1)), 0)
            across = np.maximum(np.maximum(col - x, x - (col + width - 1)), 0)
            near[first:last, left:right] |= np.hypot(down, across) <= reach
    return near
