"""Colour tables, category names and attribute tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from swath.raster.reader import Raster, open_raster

COLOURS = {0: (0, 0, 0, 255), 1: (0, 0, 255, 255), 2: (200, 10, 10, 255)}


@pytest.fixture
def classes() -> NDArray[np.uint8]:
    return np.array([[0, 1, 2], [2, 1, 0]], dtype=np.uint8)


def with_sidecar(path: Path, band: str) -> Raster:
    text = f'<PAMDataset><PAMRasterBand band="1">{band}</PAMRasterBand></PAMDataset>'
    path.with_name(path.name + ".aux.xml").write_text(text, encoding="utf-8")
    return open_raster(path)


def table(columns: list[tuple[str, int, int]], rows: list[list[object]], attributes: str = "") -> str:
    fields = "".join(
        f'<FieldDefn index="{i}"><Name>{name}</Name><Type>{kind}</Type><Usage>{usage}</Usage></FieldDefn>'
        for i, (name, kind, usage) in enumerate(columns)
    )
    body = "".join(
        f'<Row index="{i}">' + "".join(f"<F>{cell}</F>" for cell in row) + "</Row>" for i, row in enumerate(rows)
    )
    return f"<GDALRasterAttributeTable {attributes}>{fields}{body}</GDALRasterAttributeTable>"


def test_a_colour_table(raster_file: Any, classes: NDArray[np.uint8]) -> None:
    palette = open_raster(raster_file("a.tif", classes, colormap=COLOURS)).palette()
    assert palette is not None
    assert {value: palette[value] for value in COLOURS} == COLOURS


def test_no_colour_table(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster = open_raster(raster_file("a.tif", photo))
    assert raster.palette() is None
    assert raster.categories() == {}


def test_category_names(raster_file: Any, classes: NDArray[np.uint8]) -> None:
    names = "<CategoryNames><Category>void</Category><Category/><Category>road &amp; rail</Category></CategoryNames>"
    assert with_sidecar(raster_file("a.tif", classes), names).categories() == {0: "void", 2: "road & rail"}


def test_an_attribute_table_with_values(raster_file: Any, classes: NDArray[np.uint8]) -> None:
    columns = [("VALUE", 0, 5), ("COUNT", 0, 1), ("NAME", 2, 2)]
    rows: list[list[object]] = [[1, 20, "water"], [2, 30, "forest"], [7, 0, ""]]
    raster = with_sidecar(raster_file("a.tif", classes), table(columns, rows))
    assert raster.categories() == {1: "water", 2: "forest"}


def test_an_attribute_table_whose_rows_are_the_values(raster_file: Any, classes: NDArray[np.uint8]) -> None:
    columns = [("Histogram", 1, 1), ("Land Cover Class", 2, 0)]
    rows: list[list[object]] = [[5, ""], [6, "open water"], [7, "ice"]]
    raster = with_sidecar(raster_file("a.tif", classes), table(columns, rows, 'Row0Min="10" BinSize="2"'))
    assert raster.categories() == {12: "open water", 14: "ice"}


def test_an_attribute_table_without_names(raster_file: Any, classes: NDArray[np.uint8]) -> None:
    raster = with_sidecar(raster_file("a.tif", classes), table([("VALUE", 0, 5)], [[1], [2]]))
    assert raster.categories() == {}


def test_the_real_attribute_table_of_a_land_cover_map(shared_data: Path) -> None:
    names = open_raster(shared_data / "odd_geotiffs" / "r-spatial__stars" / "lc.tif").categories()
    assert names[11] == "Open Water"
    assert names[41] == "Deciduous Forest"
