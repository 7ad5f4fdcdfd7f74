"""Reading vector files: geometries, attributes and CRS as the file gives them, or one clear sentence."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely
from numpy.typing import NDArray
from pyproj.exceptions import CRSError

from swath.errors import InputError
from swath.segment.feature_boxes import with_boxes
from swath.segment.vector_opening import BEGINNINGS, opening

SUFFIXES = frozenset(BEGINNINGS)
GEOJSON = frozenset({".geojson", ".json"})
WHOLE_FILE = 100_000
"""Files of more features are read through the image's bounding box: a country's footprints for one town."""

Bounds = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class VectorFile:
    """What a vector file holds.

    Attributes:
        path: the file.
        crs: None where it names none.
        fids: (n,) the file's own feature numbers.
        geometries: (n,) shapely geometries, None where a feature has none or an unreadable one.
        columns: column name to its (n,) values.
        filtered: whether only features near the image were read.
        boxed: how many features have no geometry but a box.
    """

    path: Path
    crs: pyproj.CRS | None
    fids: NDArray[np.int64] = field(repr=False)
    geometries: NDArray[np.object_] = field(repr=False)
    columns: Mapping[str, NDArray[Any]] = field(repr=False)
    filtered: bool = False
    boxed: int = 0


def is_vector(path: Path) -> bool:
    """Whether a file is taken for a vector file: by its ending."""
    return path.suffix.lower() in SUFFIXES


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def header(path: Path) -> tuple[str, int, pyproj.CRS | None]:
    """Name of the one layer of a vector file, its number of features (-1 where unknown), its CRS.

    Raises:
        InputError: it cannot be read, or holds none or several layers with geometries.
    """
    import pyogrio  # here, because it takes 0.3 s and most runs need no vector file

    try:
        with opening(path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layers = [str(name) for name, kind in pyogrio.list_layers(path) if kind is not None]
            if len(layers) != 1:
                held = f"{len(layers)} layers ({', '.join(layers)})" if layers else "no layer with geometries"
                raise InputError(f"{path.name} holds {held}. Next: save the layer that is meant as a file of its own.")
            info = pyogrio.read_info(path, layer=layers[0], force_feature_count=True)
    except _failures() as why:
        raise _unreadable(path, why) from None
    return layers[0], int(info["features"]), _crs(path, info["crs"])


def bounds_of(path: Path, layer: str) -> Bounds | None:
    """Bounds of all features in the file's CRS, None where there are none."""
    import pyogrio

    try:
        with opening(path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = pyogrio.read_info(path, layer=layer, force_total_bounds=True)["total_bounds"]
    except _failures() as why:
        raise _unreadable(path, why) from None
    if found is None or not np.isfinite(found).all():
        return None
    x_min, y_min, x_max, y_max = map(float, found)
    return x_min, y_min, x_max, y_max


def read(path: Path, layer: str, crs: pyproj.CRS | None, bounds: Bounds | None) -> VectorFile:
    """Read features, all of them or those near some bounds.

    Args:
        path: the file.
        layer: name of its layer.
        crs: as `header` gave it.
        bounds: (x_min, y_min, x_max, y_max) in the file's CRS, None for everything.

    Raises:
        InputError: it cannot be read.
    """
    meta, fids, geometries, values = _raw(path, layer, bbox=bounds, return_fids=True)
    shapes = shapely.from_wkb(geometries, on_invalid="ignore") if geometries is not None else np.array([], object)
    boxed = 0
    if path.suffix.lower() in GEOJSON:
        if bounds is not None and not len(shapes):
            return read(path, layer, crs, None)  # features without geometries are never near anything
        shapes, boxed = with_boxes(path, shapes)
    columns = dict(zip(map(str, meta["fields"]), values, strict=True))
    return VectorFile(path, crs, np.asarray(fids), shapely.force_2d(shapes), columns, bounds is not None, boxed)


def column_of(path: Path, layer: str, name: str) -> NDArray[Any]:
    """All values of one column, without geometries."""
    values: NDArray[Any] = _raw(path, layer, columns=[name], read_geometry=False)[3][0]
    return values


def _raw(path: Path, layer: str, **options: Any) -> Any:
    from pyogrio.raw import read as read_raw

    try:
        with opening(path), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read_raw(path, layer=layer, force_2d=True, **options)
    except UnicodeDecodeError:
        raise InputError(f"{path.name} holds text that is not UTF-8. Next: save it as UTF-8.") from None
    except _failures() as why:
        raise _unreadable(path, why) from None


def _failures() -> tuple[type[Exception], ...]:
    from pyogrio.errors import DataLayerError, DataSourceError, FeatureError, FieldError, GeometryError

    return (DataLayerError, DataSourceError, FeatureError, FieldError, GeometryError, UnicodeDecodeError, OSError)


def _unreadable(path: Path, why: Exception) -> InputError:
    first = " ".join(str(why).split("\n")[0].split(";")[0].split()).rstrip(".")
    return InputError(
        f"{path.name} cannot be read as a vector file ({first}). Next: save it again as GeoJSON or GeoPackage."
    )


def _crs(path: Path, text: str | None) -> pyproj.CRS | None:
    if not text:
        return None
    try:
        crs = pyproj.CRS.from_user_input(text)
    except CRSError:
        raise InputError(f"The CRS of {path.name} cannot be understood. Next: save it with a known CRS.") from None
    # GeoPackage writes "undefined Cartesian" for a file without CRS
    return None if crs.is_engineering else crs


def geojson_names_pixels(path: Path) -> bool | None:
    """Whether a GeoJSON file states that its coordinates have no CRS: `"crs": null`.

    Returns:
        True where it does, False where it names a CRS, None where it says nothing (RFC 7946: longitude, latitude).
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or "crs" not in found:
        return None
    return found["crs"] is None
