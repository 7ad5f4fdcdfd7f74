"""What the server's processes do: answer questions, look into files, make tiles.

Every function takes and gives what can be pickled, works in the served folder, and names files relative to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
import zipfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import shapely
from affine import Affine

from swath.agent.export import Exports, export, kept_objects
from swath.agent.outlines import in_crs
from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.reader import open_raster
from swath.raster.source import opened
from swath.raster.tile import Tiler
from swath.segment.vector_file import header
from swath.serve.folder import VECTORS
from swath.serve.processes import Say
from swath.trace.events import Event
from swath.trace.reading import OBJECTS_FILE, load_run
from swath.trace.strict_json import json_ready
from swath.trace.wording import call_words, harmless, result_words

PIXELS, LONLAT = "pixels", "lonlat"
"""Coordinates of drawn areas and of objects: columns and rows, or degrees on WGS 84."""

FILES = ("labels", "legend", "before", "after", "aoi", "dsm", "dtm", "ndsm", "dem")
"""Options of a question that name a file."""
HEAD_BYTES = 4096
LONGEST_WORDS = 300
MOST_OBJECTS = 5000
"""More objects than this are in the run's own page and files only."""
SHOWN = ("id", "class", "area_m2", "area_px", "height_m", "colour", "score", "length_m", "width_m", "box")
"""Columns of the table beside the map."""
MOST_PIXELS = 2**32
UNPACKED_FREELY_BYTES = 2**28
MOST_PACKED = 500
"""An upload that unpacks to over 256 MB may hold 500 times less; imagery compresses by some tens."""


def get_ready(say: Say) -> None:
    """Load what questions need, so that the first one need not wait for it."""
    import swath.agent.ask
    import swath.agent.session  # noqa: F401 - for what importing it loads


def answer(say: Say, image: str, question: str, thread: str | None, **options: Any) -> dict[str, Any]:
    """Answer a question, or run a program in its place; the answer as JSON, its run named by id.

    Args:
        say: told of every step.
        image: the raster.
        question: in words.
        thread: thread that the question belongs to; None for an edited program, which stands alone.
        options: as for `swath.ask`, and `area` and `uploads` as for `area_file`.
    """
    from swath.agent.ask import ask
    from swath.agent.session import Session

    def listen(event: Event) -> None:
        if event.kind != "tiles":  # a page keeps all steps; an image may have thousands of tiles
            say(step_of(event))

    area, uploads = options.pop("area", None), options.pop("uploads")
    if area is not None:
        options["aoi"] = area_file(image, Path(uploads), **area)
    if thread is None:
        found = ask(image, question, listen=listen, **options)
    else:
        with Session(image, thread=thread, **options) as session:
            found = session.ask(question, listen=listen)
    ready: dict[str, Any] = json_ready(found.to_json())
    return {**ready, "run": Path(found.run).name if found.run else None}


def step_of(event: Event) -> dict[str, Any]:
    """An event as JSON, in words that fit on a line."""
    detail = event.detail
    step = {"kind": event.kind, "name": event.name, "seconds": round(event.seconds, 4)}
    if event.kind == "tool":
        words = call_words({"kind": "tool", "name": event.name, "arguments": detail.get("arguments")})
        step |= {"words": words[:LONGEST_WORDS], "gave": result_words(detail.get("result"))[:LONGEST_WORDS]}
    if detail.get("error"):
        step["error"] = harmless(str(detail["error"]))[:LONGEST_WORDS]
    return step


def area_file(image: str, uploads: Path, polygon: list[list[float]], coordinates: str) -> Path:
    """A drawn area as a vector file in the image's coordinates.

    Args:
        image: the raster that it was drawn on.
        uploads: folder to write it to.
        polygon: corners, three or more.
        coordinates: `PIXELS` or `LONLAT`.

    Raises:
        InputError: it encloses nothing.
    """
    import pyogrio.raw

    grid = open_raster(image).grid
    shape = shapely.make_valid(shapely.Polygon(polygon))
    if shape.area == 0:
        raise InputError("The area that was drawn encloses nothing. Next: draw it anew.")
    crs = pyproj.CRS(4326) if coordinates == LONLAT else grid.crs
    shapes = np.array([shape], dtype=object)
    placed = shapes if coordinates == LONLAT else in_crs(shapes, grid)
    digest = hashlib.sha256(json.dumps([image, polygon, coordinates]).encode()).hexdigest()
    uploads.mkdir(exist_ok=True)
    path = uploads / f"area-{digest[:12]}.gpkg"
    if not path.exists():
        partial = uploads / f".area-{os.getpid()}.gpkg"
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="'crs' was not provided")
            pyogrio.raw.write(
                str(partial), shapely.to_wkb(placed), [], np.array([], dtype=object), layer="area", driver="GPKG",
                geometry_type="Unknown", crs=None if crs is None else crs.to_wkt(),
            )  # fmt: skip
        partial.replace(path)
    return path


def describe(say: Say, image: str, bands: Mapping[str, int]) -> dict[str, Any]:
    """What the page needs to know of an image.

    Raises:
        InputError: it cannot be opened, or is made of files outside the served folder.
    """
    tiler = _tiler(image, _state(image), tuple(sorted(bands.items())))
    raster, ground = tiler.raster, tiler.raster.grid.ground
    return {
        "path": image,
        "shape": list(raster.shape),
        "levels": tiler.levels,
        "crs": raster.grid.crs_name,
        "pixel_size_m": None if ground is None else list(ground.size_xy_m),
        "bands": [{"number": band.index, "role": band.role, "name": band.description} for band in raster.bands],
        "stretch": tiler.stretch.method,
        "bounds": _lonlat_bounds(raster.grid),
        "warnings": list(raster.warnings),
        "version": _state(image),
    }


def _lonlat_bounds(grid: Grid) -> list[float] | None:
    """West, south, east, north; None where the image has no place on a map."""
    if grid.crs is None:
        return None
    rows, cols = grid.shape
    way = pyproj.Transformer.from_crs(grid.crs, 4326, always_xy=True)
    outline = shapely.segmentize(shapely.box(0, 0, cols, rows), max(rows, cols) / 16)
    placed = in_crs(np.array([outline], dtype=object), grid)
    lon, lat = way.transform(*shapely.get_coordinates(placed).T)
    bounds = [float(np.min(lon)), float(np.min(lat)), float(np.max(lon)), float(np.max(lat))]
    return bounds if np.isfinite(bounds).all() else None


def tile(say: Say, image: str, bands: Mapping[str, int], level: int, x: int, y: int, coordinates: str) -> bytes:
    """A tile as PNG; see `Tiler`."""
    tiler = _tiler(image, _state(image), tuple(sorted(bands.items())))
    return tiler.tile(level, x, y) if coordinates == PIXELS else tiler.mercator_tile(level, x, y)


def _state(image: str) -> str:
    """Changes whenever the file does."""
    found = Path(image).stat()
    return f"{found.st_mtime_ns:x}-{found.st_size:x}"


@lru_cache(maxsize=4)
def _tiler(image: str, state: str, bands: tuple[tuple[str, int], ...]) -> Tiler:
    sources_inside(image)
    return Tiler(open_raster(image, bands=dict(bands) or None))


def sources_inside(name: str) -> None:
    """Check that a raster is made of files of the served folder only, which is the working folder.

    Raises:
        InputError: it cannot be opened, or names files elsewhere.
    """
    with opened(name) as dataset:
        files = [Path(file) for file in dataset.files]
    root = Path.cwd().resolve()
    if any(not file.resolve().is_relative_to(root) for file in files):
        raise InputError(f"{name} is made of files outside the served folder. Next: copy them into it.")


def check_inputs(say: Say, image: str, options: Mapping[str, Any]) -> None:
    """Check that the files of a question name no files outside the served folder.

    Raises:
        InputError: one of them does, or cannot be opened.
    """
    named = [options[name] for name in FILES if name in options]
    for name in (image, *named, *options.get("layers", {}).values()):
        with Path(name).open("rb") as file:
            head = file.read(HEAD_BYTES)
        if b"<OGRVRTDataSource" in head:
            raise InputError(f"{name} only names other files. Next: give these files themselves.")
        if b"<VRTDataset" in head or Path(name).suffix.lower() not in VECTORS:
            sources_inside(name)


def check_upload(say: Say, path: str, kind: str) -> None:
    """Check that an uploaded file is what it seems, within limits.

    Raises:
        InputError: it cannot be opened, or unpacks to far more than it holds.
    """
    if kind == "json":
        _parsed(Path(path))
        return
    if kind == "gpkg":
        header(Path(path))
        return
    with opened(path) as dataset:
        pixels = dataset.width * dataset.height
        samples = sum(np.dtype(band).itemsize for band in dataset.dtypes)
    packed = Path(path).stat().st_size
    if pixels > MOST_PIXELS or (pixels * samples > UNPACKED_FREELY_BYTES and pixels * samples > packed * MOST_PACKED):
        raise InputError(
            f"The upload declares {pixels:,} pixels in {packed:,} bytes, which no real image does. "
            "Next: upload the image itself, or put it into the served folder."
        )


def _parsed(path: Path) -> None:
    try:
        json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise InputError("The upload is not JSON. Next: check the file.") from None


def objects(say: Say, run: str, coordinates: str) -> dict[str, Any]:
    """The counted objects of a run as columns and outlines, up to `MOST_OBJECTS` of them.

    Raises:
        InputError: the run cannot be read.
    """
    found = load_run(Path(run))
    path = found.folder / OBJECTS_FILE
    if not path.is_file():
        return {"columns": {}, "shapes": [], "total": 0}
    rows, shapes = kept_objects(path)
    total, rows, shapes = len(rows), rows[:MOST_OBJECTS], shapes[:MOST_OBJECTS]
    placed = _placed(shapes, found.record["image"]["grid"], coordinates)
    return {
        "columns": {name: [row.get(name) for row in rows] for name in SHOWN},
        "shapes": [shapely.geometry.mapping(shape) for shape in placed],
        "total": total,
    }


def _placed(shapes: Any, grid: Mapping[str, Any], coordinates: str) -> Any:
    crs = None if grid["crs"] is None else pyproj.CRS.from_wkt(grid["crs"])
    if crs is None:
        return shapes
    if coordinates == LONLAT:
        way = pyproj.Transformer.from_crs(crs, 4326, always_xy=True)
        return shapely.transform(shapes, lambda xy: np.column_stack(way.transform(xy[:, 0], xy[:, 1])))
    back = ~Affine(*grid["affine"])
    return shapely.transform(shapes, lambda xy: np.round(np.column_stack(back @ (xy[:, 0], xy[:, 1])), 2))


def write_geojson(say: Say, run: str, to: str) -> None:
    """Write the counted objects of a run as GeoJSON."""
    export(load_run(Path(run)), Exports(geojson=Path(to)))


def write_csv(say: Say, run: str, to: str) -> None:
    """Write the counted objects of a run as a table."""
    export(load_run(Path(run)), Exports(csv=Path(to)))


def write_zip(say: Say, run: str, to: str) -> None:
    """Write all files of a run into one archive."""
    folder = load_run(Path(run)).folder
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink():
                archive.write(path, Path(folder.name) / path.relative_to(folder))
