"""Vector files as classes: one object per feature, each with an outline of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely
from shapely.geometry.base import BaseGeometry

from swath.errors import InputError
from swath.raster.local_files import file_of
from swath.raster.placing import extent, no_overlap
from swath.raster.reader import Raster
from swath.raster.tiled import PixelSet
from swath.segment import vector_file
from swath.segment.burn import burn, burn_in_tiles
from swath.segment.codes import listed
from swath.segment.legend import NamedValues, clean_name, is_void, read_legend
from swath.segment.outlines import in_pixels, near_image
from swath.segment.protocol import Feature, Segmentation
from swath.segment.vector_file import VectorFile

CLASS_COLUMNS = (
    *("class", "class_name", "classname", "label", "category", "type", "kind", "fclass"),
    *("landcover", "land_cover", "landuse", "land_use", "lulc"),
)
"""Names of a class column, any case, in this order; the first that holds anything is used."""

SCORE_COLUMNS = ("score", "confidence", "probability")


@dataclass(frozen=True, eq=False)
class VectorClasses:
    """Classes drawn as features, in an image's pixel coordinates.

    Attributes:
        names: class names, whether or not they occur in the image.
        image: what they lie on.
        features: class name to its features in the image.
        void: outlines of what the file itself calls void.
        source: where the classes were read from, for people.
        warnings: sentences for people.
        record: JSON-ready description.
    """

    names: tuple[str, ...]
    image: Raster = field(repr=False)
    features: Mapping[str, tuple[Feature, ...]] = field(repr=False)
    void: tuple[Feature, ...] = field(repr=False)
    source: str
    warnings: tuple[str, ...]
    record: Mapping[str, Any]

    def known(self) -> PixelSet | None:
        """Where the file says anything: everywhere (what is not drawn is not the class) but in what it calls void."""
        if not self.void:
            return None
        return ~self._burned([feature.outline for feature in self.void], areal=True)

    def _burned(self, outlines: Sequence[BaseGeometry], *, areal: bool) -> PixelSet:
        if self.image.in_tiles:
            return burn_in_tiles(outlines, self.image.shape, self.image.tiles, areal=areal)
        return burn(outlines, self.image.shape, areal=areal)

    def segment(self, name: str) -> Segmentation:
        """The features of one of `names`."""
        features = self.features.get(name, ())
        outlines = [feature.outline for feature in features]
        flat = int(np.count_nonzero(shapely.get_dimensions(outlines) < 2)) if outlines else 0
        notes = self.warnings
        if 0 < flat < len(features):
            notes = (*notes, f"{flat} of the {len(features)} features of {name} are lines or points: it has no area.")
        mask = self._burned(outlines, areal=not flat)
        method = f'"{name}" in {self.source}'
        return Segmentation(mask, features=features, areal=not flat, method=method, warnings=notes)


def read_vector(path: Path, image: Raster, *, single: str | None = None, legend: Path | None = None) -> VectorClasses:
    """Read a vector file onto an image.

    Args:
        path: GeoJSON, GeoPackage, shapefile or FlatGeobuf.
        image: the image that it belongs to.
        single: name of the one class that all features are; None to look for a class column.
        legend: JSON legend that names the values of a class column of numbers.

    Raises:
        InputError: the file or the legend cannot be used as given, or the features lie elsewhere.
    """
    file_of(str(path))
    layer, count, crs = vector_file.header(path)
    bounds = near_image(image.grid, crs) if count > vector_file.WHOLE_FILE and crs and image.grid.crs else None
    file = vector_file.read(path, layer, crs, bounds)
    crs, note = crs_in_force(file, image)
    column = None if single else _class_column(file, layer)
    named = read_legend(legend) if legend else None
    classes, all_names, notes = _classes(file, layer, column, single, named)
    placed = in_pixels(file.geometries, crs, image.grid)
    if placed.empty == len(file.geometries) > 0:  # a damaged file must not become the answer 0
        raise InputError(
            f"None of the {placed.empty} features of {path.name} has a usable geometry. "
            "Next: save it again from where it came from."
        )
    if not len(placed.outlines):
        _require_overlap(file, layer, crs, image)
    notes = [note, *notes, *_defects(path.name, file.boxed, placed.repaired, placed.empty)]
    features: dict[str, list[Feature]] = {}
    ids, scores = _ids(file), _scores(file)
    for outline, i in zip(placed.outlines, placed.index.tolist(), strict=True):
        if classes[i] is not None:
            features.setdefault(classes[i], []).append(Feature(ids[i], outline, scores[i]))
    void = [feature for name, drawn in features.items() if is_void(name) for feature in drawn]
    record: dict[str, Any] = {
        "path": str(path),
        "sha256": vector_file.sha256_of(path),
        "layer": layer,
        "column": column,
    }
    record |= {"classes": list(all_names)} | ({"legend": named.source} if named else {})
    how = f'classes by column "{column}"' if column else "one class"
    return VectorClasses(
        tuple(name for name in all_names if not is_void(name)),
        image,
        {name: tuple(drawn) for name, drawn in features.items()},
        tuple(void),
        f"{path.name}, {how}",
        tuple(sentence for sentence in notes if sentence),
        record,
    )


def crs_in_force(file: VectorFile, image: Raster) -> tuple[pyproj.CRS | None, str]:
    """The CRS of the features, None for pixel coordinates; and a warning or an empty string."""
    name, image_name = file.path.name, image.path.name
    if image.grid.crs is not None:
        if file.crs is None:
            raise InputError(
                f"{name} names no CRS while {image_name} is in {image.grid.crs_name}, so its features cannot be "
                "placed. Next: save it with its CRS."
            )
        return file.crs, ""
    if file.crs is None:
        return None, ""
    stated = vector_file.geojson_names_pixels(file.path) if file.path.suffix.lower() in vector_file.GEOJSON else False
    if stated:
        return None, ""
    if stated is None and _beyond_lonlat(file):
        return None, f"{name} names no CRS and {image_name} neither: its coordinates were taken for columns and rows."
    raise InputError(
        f"{name} is in {file.crs.name} while {image_name} names no CRS, so its features cannot be placed. "
        'Next: georeference the image, or give pixel coordinates (GeoJSON with "crs": null).'
    )


def _beyond_lonlat(file: VectorFile) -> bool:
    x0, y0, x1, y1 = shapely.total_bounds(file.geometries)
    return bool(np.isfinite(x0) and (x0 < -180 or x1 > 180 or y0 < -90 or y1 > 90))


def _class_column(file: VectorFile, layer: str) -> str | None:
    by_name = {name.lower(): name for name in file.columns}
    for candidate in CLASS_COLUMNS:
        if candidate in by_name:
            values = file.columns[by_name[candidate]]
            if file.filtered:
                values = vector_file.column_of(file.path, layer, by_name[candidate])
            if any(text is not None for text in map(_text, values)):
                return by_name[candidate]
    return None


def _text(value: Any) -> str | None:
    """A cell as text; None where it is empty."""
    if value is None or (isinstance(value, (float, np.floating)) and not np.isfinite(value)):
        return None
    if isinstance(value, (float, np.floating)) and value == int(value):
        value = int(value)
    text: str = clean_name(str(value))
    return text or None


def _classes(
    file: VectorFile, layer: str, column: str | None, single: str | None, named: NamedValues | None
) -> tuple[list[str | None], tuple[str, ...], list[str]]:
    """Class of each feature read (None: of no class), every class of the file, and warnings."""
    if column is None:
        if named is not None:
            raise InputError(f"{file.path.name} has no class column for the legend to name. Next: leave --legend out.")
        name = clean_name(single or file.path.stem)
        return [name] * len(file.geometries), (name,), []
    cells = [_text(value) for value in file.columns[column]]
    everywhere = {cell for cell in map(_text, vector_file.column_of(file.path, layer, column)) if cell}
    if not file.filtered:
        everywhere = {cell for cell in cells if cell}
    meaning = _meaning(file.path.name, column, everywhere, named)
    notes = []
    classes = [meaning.get(cell) if cell else None for cell in cells]
    blank = cells.count(None)
    if blank:
        notes.append(f'{blank} features of {file.path.name} have no "{column}" and were left out.')
    unnamed = Counter(cell for cell in cells if cell and cell not in meaning)
    if unnamed:
        shown = listed([value for value, _ in unnamed.most_common()])
        notes.append(
            f"{sum(unnamed.values())} features of {file.path.name} have values that the legend does not name and were "
            f"left out: {shown}."
        )
    return classes, tuple(sorted(set(meaning.values()))), notes


def _meaning(name: str, column: str, values: set[str], named: NamedValues | None) -> dict[str, str]:
    """Cell to class name."""
    numbers = {value for value in values if value.lstrip("+-").isdigit()}
    if named is None:
        if numbers == values:
            raise InputError(
                f'The column "{column}" of {name} holds numbers ({listed(sorted(numbers))}). Next: name them with '
                "--legend FILE, or name a single class with --label-class."
            )
        return {value: value for value in values}
    if not numbers:
        raise InputError(
            f'The column "{column}" of {name} holds names, so {named.source} names nothing. Next: leave --legend out.'
        )
    legend = dict(named.legend.names) | dict.fromkeys(named.legend.void, "void")
    return {value: legend[int(value)] for value in numbers if int(value) in legend}


def _ids(file: VectorFile) -> list[str]:
    """The source's own identifiers: a column "id" that tells all features apart, else the file's feature numbers."""
    for name, values in file.columns.items():
        if name.lower() == "id":
            texts = [None if text is None else str(text) for text in map(_text, values)]
            if None not in texts and len(set(texts)) == len(texts):
                return [str(text) for text in texts]
    return [str(fid) for fid in file.fids.tolist()]


def _scores(file: VectorFile) -> list[float | None]:
    """Confidence of each feature where a column of numbers gives it and the number is between 0 and 1."""
    for name, values in file.columns.items():
        if name.lower() in SCORE_COLUMNS and values.dtype.kind in "fiu":
            return [float(value) if 0 <= value <= 1 else None for value in values.tolist()]
    return [None] * len(file.geometries)


def _defects(name: str, boxed: int, repaired: int, empty: int) -> list[str]:
    notes = []
    if boxed:
        notes.append(f"{boxed} features of {name} have no geometry but a bbox, which was taken for their outline.")
    if repaired:
        notes.append(f"{repaired} invalid outlines of {name} were repaired.")
    if empty:
        notes.append(f"{empty} features of {name} have no usable geometry and were left out.")
    return notes


def _require_overlap(file: VectorFile, layer: str, crs: pyproj.CRS | None, image: Raster) -> None:
    """A file of another place is an error; one of this place with nothing in the image is the answer 0."""
    bounds = vector_file.bounds_of(file.path, layer)
    if file.boxed:
        bounds = tuple(shapely.total_bounds(file.geometries).tolist())
    if bounds is None:
        return
    frame = np.array([shapely.box(*bounds)], dtype=object)
    if len(in_pixels(frame, crs, image.grid).outlines):
        return
    where = "pixel coordinates" if crs is None else crs.name
    covers = f"x {bounds[0]:.9g} to {bounds[2]:.9g}, y {bounds[1]:.9g} to {bounds[3]:.9g} in {where}"
    raise no_overlap(file.path.name, covers, image.path.name, extent(image.grid))
