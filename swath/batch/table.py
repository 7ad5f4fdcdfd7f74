"""The table of a survey: CSV, GeoPackage or (Geo)Parquet, written whole or not at all."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray

from swath.batch.rows import Row
from swath.errors import InputError
from swath.raster.remote import shown
from swath.trace.strict_json import json_text
from swath.trace.wording import cell_words

COLUMNS = (
    *("image", "status", "answer", "unit", "kind", "low", "high", "covers", "text", "reason", "warnings", "run"),
    "seconds",
)
NUMBERS = frozenset({"low", "high", "seconds", "covered_percent"})
LAYER = "survey"


@dataclass(frozen=True, eq=False)
class Places:
    """Where the rows lie.

    Attributes:
        shapes: (n,) a multipolygon for each row, None where it has no place.
        crs: their CRS; None for pixel coordinates.
    """

    shapes: NDArray[np.object_] = field(repr=False)
    crs: pyproj.CRS | None


@dataclass(frozen=True, eq=False)
class Table:
    """Rows with the place of each.

    Attributes:
        rows: in the order of the inputs.
        zone_column: name of the column of zone ids, None without zones.
        places: asked for only by formats that hold geometries.
    """

    rows: Sequence[Row]
    zone_column: str | None
    places: Callable[[], Places] = field(repr=False)

    def columns(self) -> dict[str, list[Any]]:
        """Column name to one value a row; the answers are all numbers, or all texts."""
        own = [name for name in COLUMNS if name != "image"]
        columns: dict[str, list[Any]] = {"image": [shown(row.image) for row in self.rows]}
        if self.zone_column is not None:
            columns[self.zone_column] = [row.zone for row in self.rows]
            own.append("covered_percent")
        columns |= {name: [_cell(name, getattr(row, name)) for row in self.rows] for name in own}
        columns["answer"] = _answers([row.answer for row in self.rows])
        return columns


def zone_column(id_field: str | None) -> str:
    """Name of the column of zone ids: that of the field, unless a column of the table's own has it."""
    name = id_field or "zone"
    taken = {*COLUMNS, "covered_percent", "geometry", "geom", "fid"}
    return f"zone_{name}" if name.lower() in taken else name


def check_format(path: Path) -> None:
    """Refuse what could not be written in the end before anything is measured.

    Raises:
        InputError: no known format, a library is missing, or there is no such folder.
    """
    if path.suffix.lower() not in _WRITERS:
        raise InputError(f"{path.name} is no table that can be written. Next: let it end in {', '.join(_WRITERS)}.")
    if path.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise InputError(
            "Parquet needs pyarrow, which is not installed. Next: pip install 'swath[parquet]', or write .gpkg or .csv."
        )
    if not path.parent.is_dir():
        raise InputError(f"There is no folder {path.parent} to write {path.name} to. Next: make it first.")


def write_table(path: Path, table: Table) -> None:
    """Write a table; the file that was there before is replaced only once the new one is whole.

    Args:
        path: its ending says the format.
        table: what to write.

    Raises:
        InputError: it cannot be written.
    """
    partial = path.with_name(f".{path.stem}.partial{path.suffix}")
    try:
        partial.unlink(missing_ok=True)
        _WRITERS[path.suffix.lower()](partial, table)
        partial.replace(path)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(
            f"{path} cannot be written: {why}. Next: make room or name another file, and run again with --resume."
        ) from None
    finally:
        partial.unlink(missing_ok=True)


def _cell(name: str, value: Any) -> Any:
    """A value as one cell: sentences follow each other, names are parted by commas."""
    if isinstance(value, tuple):
        return (" " if name == "warnings" else ", ").join(value)
    return value


def _answers(values: Sequence[Any]) -> list[Any]:
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        whole = all(float(value).is_integer() and isinstance(value, int) for value in known)
        return [None if value is None else value if whole else float(value) for value in values]
    return [value if value is None or isinstance(value, str) else json_text(value) for value in values]


def _write_csv(path: Path, table: Table) -> None:
    columns = table.columns()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(map(cell_words, row) for row in zip(*columns.values(), strict=True))


def _array(name: str, values: Sequence[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A column with a mask of what is missing."""
    missing = np.array([value is None for value in values], dtype=bool)
    known = [value for value in values if value is not None]
    if name in NUMBERS or (known and all(isinstance(value, float) for value in known)):
        return np.array([0.0 if value is None else value for value in values], dtype=np.float64), missing
    if known and all(isinstance(value, int) for value in known):
        return np.array([0 if value is None else value for value in values], dtype=np.int64), missing
    return np.array(values, dtype=object), missing


def _write_gpkg(path: Path, table: Table) -> None:
    import pyogrio.errors
    import pyogrio.raw

    columns = {name: _array(name, values) for name, values in table.columns().items()}
    places = table.places()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="'crs' was not provided")
            pyogrio.raw.write(
                str(path),
                np.array(shapely.to_wkb(places.shapes), dtype=object),
                [values for values, _ in columns.values()],
                np.array(list(columns), dtype=object),
                field_mask=[missing for _, missing in columns.values()],
                layer=LAYER,
                driver="GPKG",
                geometry_type="MultiPolygon",
                crs=None if places.crs is None else places.crs.to_wkt(),
            )
    except (pyogrio.errors.DataSourceError, pyogrio.errors.DataLayerError) as error:
        raise OSError(str(error)) from error


def _write_parquet(path: Path, table: Table) -> None:
    import pyarrow
    import pyarrow.parquet

    places = table.places()
    columns = {
        name: pyarrow.array(values, mask=missing)
        for name, (values, missing) in ((name, _array(name, values)) for name, values in table.columns().items())
    }
    columns["geometry"] = pyarrow.array(list(shapely.to_wkb(places.shapes)), pyarrow.binary())
    geo = {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {
            "geometry": {
                "encoding": "WKB",
                "geometry_types": ["MultiPolygon"],
                "crs": None if places.crs is None else places.crs.to_json_dict(),
            }
        },
    }
    written = pyarrow.table(columns).replace_schema_metadata({"geo": json.dumps(geo)})
    pyarrow.parquet.write_table(written, path)


_WRITERS: dict[str, Callable[[Path, Table], None]] = {
    ".csv": _write_csv,
    ".gpkg": _write_gpkg,
    ".parquet": _write_parquet,
}
