"""Colour tables and category names of class rasters."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import rasterio.shutil
from rasterio._err import CPLE_BaseError
from rasterio.errors import RasterioError
from rasterio.io import MemoryFile

Colour = tuple[int, int, int, int]

MIN_MAX, NAME, MIN = "5", "2", "3"
"""GDAL's numbers for what a column of a raster attribute table holds."""

_NAME_COLUMN = re.compile(r"class|name|label|categor|legend|descr|type", re.IGNORECASE)
_VALUE_COLUMN = re.compile(r"value|code|id", re.IGNORECASE)


def read_palette(dataset: Any, index: int = 1) -> dict[int, Colour] | None:
    """Value to (red, green, blue, alpha), None without a colour table."""
    try:
        return {int(value): tuple(colour) for value, colour in dataset.colormap(index).items()}
    except (ValueError, RasterioError, CPLE_BaseError):
        return None


def read_categories(dataset: Any) -> dict[int, str]:
    """Value to class name of the first band, from category names or an attribute table; empty where there are none."""
    # rasterio reads neither, but GDAL's own VRT writer spells out both, whatever the format.
    try:
        with MemoryFile(ext=".vrt") as memory:
            rasterio.shutil.copy(dataset, memory.name, driver="VRT")
            root = ElementTree.fromstring(memory.read())  # noqa: S314 - written by GDAL a moment ago
    except (RasterioError, CPLE_BaseError, ElementTree.ParseError):
        return {}
    band = root.find("VRTRasterBand")
    if band is None:
        return {}
    names = [(node.text or "").strip() for node in band.findall("CategoryNames/Category")]
    table = band.find("GDALRasterAttributeTable")
    found = dict(enumerate(names)) or ({} if table is None else _from_table(table))
    return {value: name for value, name in found.items() if name}


def _from_table(table: ElementTree.Element) -> dict[int, str]:
    columns = [
        tuple((field.findtext(tag) or "").strip() for tag in ("Name", "Type", "Usage"))
        for field in table.findall("FieldDefn")
    ]
    texts = [i for i, (_, kind, _) in enumerate(columns) if kind == "2"]
    numbers = [i for i in range(len(columns)) if i not in texts]
    name_at = _first(
        [i for i in texts if columns[i][2] == NAME],
        [i for i in texts if _NAME_COLUMN.search(columns[i][0])],
    )
    value_at = _first(
        [i for i in numbers if columns[i][2] in (MIN_MAX, MIN)],
        [i for i in numbers if _VALUE_COLUMN.fullmatch(columns[i][0])],
    )
    if name_at is None:
        return {}
    start, width = float(table.get("Row0Min", 0)), float(table.get("BinSize", 1))
    found = {}
    for number, row in enumerate(table.findall("Row")):
        cells = [(cell.text or "").strip() for cell in row.findall("F")]
        value = start + number * width if value_at is None else float(cells[value_at])
        if value == int(value):
            found[int(value)] = cells[name_at]
    return found


def _first(*choices: list[int]) -> int | None:
    return next((choice[0] for choice in choices if choice), None)
