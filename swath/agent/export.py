"""The objects of a run as GeoJSON or CSV: those that it kept, else those of a replay."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import hypot
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely

from swath.agent.geojson import placed_shapes, write_geojson
from swath.agent.object_files import LIST_COLUMNS, table_columns
from swath.agent.objects import ObjectTable, counted_objects
from swath.agent.outlines import Geometries, in_crs
from swath.agent.outputs import check_output
from swath.agent.replay import PATHS, objects_again, placed
from swath.errors import InputError
from swath.trace.reading import OBJECTS_FILE, Run
from swath.trace.wording import cell_words

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Exports:
    """Files that objects are to be written to, None for those that nobody asked for.

    Attributes:
        geojson: EPSG:4326, or pixel coordinates where the image has no CRS.
        csv: a row for each object, with its centroid in the same coordinates.
    """

    geojson: Path | None = None
    csv: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Those that were asked for."""
        return tuple(path for path in (self.geojson, self.csv) if path is not None)

    def check(self, inputs: Iterable[Path | None]) -> None:
        """Check that writing them destroys nothing that was read.

        Raises:
            InputError: one of them is an input or the other, or its folder is not there.
        """
        read = list(inputs)
        for path in self.files:
            check_output(path, read)
        if len({path.absolute() for path in self.files}) < len(self.files):
            raise InputError(f"{self.files[0]} cannot be both GeoJSON and CSV. Next: name two files.")


def export(run: Run, exports: Exports) -> str:
    """Write the objects that an answer counted, by a replay where the run did not keep them.

    Args:
        run: the run.
        exports: files to write.

    Returns:
        A sentence for each file: how many were written, where to and in which coordinates.

    Raises:
        InputError: there are no objects behind the answer, they cannot be measured again, or a file cannot be written,
            or it is one of the run's own or one that the run was measured from.
    """
    exports.check(files_of(run))
    grid = run.record["image"]["grid"]
    if grid is None or run.answer.get("objects") is None:
        raise InputError(f"No objects stand behind the answer of run {run.id} ({run.status}), so none can be exported.")
    crs = None if grid["crs"] is None else pyproj.CRS.from_wkt(grid["crs"])
    kept = run.folder / OBJECTS_FILE
    properties, shapes = kept_objects(kept) if kept.is_file() else _replayed_objects(run)
    pixel_size = 1.0 if crs is None else hypot(grid["affine"][0], grid["affine"][3])
    said = []
    if exports.geojson is not None:
        where = write_geojson(exports.geojson, properties, shapes, crs, pixel_size)
        said.append(f"{len(shapes):,} objects written to {exports.geojson} in {where}.")
    if exports.csv is not None:
        where = _write_csv(exports.csv, properties, shapes, crs)
        said.append(f"{len(shapes):,} objects written to {exports.csv}, centroids in {where}.")
    return "\n".join(said)


def _write_csv(path: Path, properties: Rows, shapes: Geometries, crs: pyproj.CRS | None) -> str:
    """A row for each object; lists of numbers as JSON, what is not known empty.

    Returns:
        The name of the coordinates of the centroids.

    Raises:
        InputError: the file cannot be written.
    """
    points, where = placed_shapes(np.asarray(shapely.centroid(shapes), dtype=object), crs, 1.0)
    names = [*table_columns(ObjectTable()), *(("x", "y") if crs is None else ("longitude", "latitude"))]
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            for own, xy in zip(properties, shapely.get_coordinates(points).tolist(), strict=True):
                cells = [json.dumps(own[name]) if name in LIST_COLUMNS else own[name] for name in names[:-2]]
                writer.writerow(["" if cell in (None, "null") else cell_words(cell) for cell in [*cells, *xy]])
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise InputError(f"{path} cannot be written: {why}. Next: name another file with --csv.") from None
    return where


def files_of(run: Run) -> Iterator[Path]:
    """Files that hold the run, or that it was measured from."""
    yield from run.folder.rglob("*")
    image, inputs = run.record["image"], run.record["inputs"]
    layers = inputs.get("layers") or {}
    for path in (image["resolved"], image["path"], *map(inputs.get, PATHS), *layers.values()):
        if path is not None:
            yield placed(run, str(path))


def kept_objects(path: Path) -> tuple[Rows, Geometries]:
    """The columns and shapes of the counted objects that a run kept.

    Raises:
        InputError: the file cannot be read.
    """
    import pyogrio.errors
    import pyogrio.raw

    try:
        meta, _, geometry, columns = pyogrio.raw.read(str(path), layer="counted")
    except pyogrio.errors.DataSourceError:
        raise InputError(f"{path} cannot be read. Next: delete it, so that the objects are measured again.") from None
    names = [str(name) for name in meta["fields"]]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*(column.tolist() for column in columns), strict=True)]
    return [_properties(row) for row in rows], np.asarray(shapely.from_wkb(geometry), dtype=object)


def _properties(row: Mapping[str, Any]) -> dict[str, Any]:
    missing = {name: None for name, value in row.items() if isinstance(value, float) and np.isnan(value)}
    lists = {name: json.loads(row[name]) for name in LIST_COLUMNS if row.get(name)}
    return {**row, **missing, **lists}


def _replayed_objects(run: Run) -> tuple[Rows, Geometries]:
    objects, site = objects_again(run)
    table = counted_objects(objects, site)
    return _table_properties(table), in_crs(table.shapes, site.raster.grid)


def _table_properties(table: ObjectTable) -> Rows:
    columns = {
        name: [None if gap else value for value, gap in zip(values.tolist(), gaps, strict=True)]
        for name, (values, missing) in table_columns(table).items()
        for gaps in [[False] * len(table) if missing is None else missing.tolist()]
    }
    return [_properties(dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]
