"""Heights of buildings against a published attribute, slope and its like against GDAL's gdaldem; writes docs/results.

python benchmarks/heights.py [--data ../shared/data] [--out docs/results]

Needs the program `gdaldem` (apt-get install gdal-bin). Surfaces whose CRS is taken as planar (metric distortion under
0.1 %) are compared with it; the others with Horn's formula cell by cell on distances of pyproj's geodesics.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio.raw
import pyproj
import rasterio
from numpy.typing import NDArray

from swath.raster import terrain
from swath.raster.height_raster import HeightRaster
from swath.raster.heights import open_heights
from swath.raster.reader import open_raster
from swath.raster.write import write_array
from swath.segment.protocol import SegmentOptions
from swath.segment.registry import open_backend
from swath.tools.cells import named
from swath.tools.registry import tools
from swath.tools.site import Site

Field = NDArray[np.floating[Any]]
BUILDINGS = "odd_geotiffs/height_fixtures/opengeos_elevation"
STATISTICS = (("mean", 0), ("median", 50), ("percentile", 70), ("percentile", 80), ("percentile", 90),
              ("percentile", 95), ("percentile", 99), ("max", 100))  # fmt: skip
DEMS = (
    "height/ign_lidarhd_50m/dsm.tif", "height/ign_lidarhd_50m/dtm.tif", "height/neon_teak/TEAK_044_lidar_top.tif",
    "height/neon_teak/TEAK_052_lidar_top.tif", "height/neon_teak/TEAK_057_lidar_top.tif",
    "height/neon_teak/TEAK_061_lidar_top.tif", "height/small_dems/convergent_concave.asc",
    "height/small_dems/flume_bench.asc", "height/small_dems/planar_constriction.asc",
    "height/small_dems/planar_slope.asc", "height/small_dems/varied_convex.asc",
    "height/small_dems/srtm_geographic.asc", "odd_geotiffs/height_fixtures/autzen_trim_1m/dsm_m.tif",
    "odd_geotiffs/height_fixtures/autzen_trim_1m/dtm_m.tif", f"{BUILDINGS}/dsm.tif", f"{BUILDINGS}/dtm.tif",
    "odd_geotiffs/height_fixtures/small_dems/dem_10m.asc", "odd_geotiffs/height_fixtures/small_dems/gully_3m.asc",
    "odd_geotiffs/height_fixtures/small_dems/kootenai_1m.asc",
    "odd_geotiffs/height_fixtures/small_dems/pre_runout_10m.asc",
    "odd_geotiffs/GlacioHack__xdem-data/gdal/shifted_reprojected_xoff20.0_yoff20.0.tif",
    "odd_geotiffs/r-spatial__stars/olinda_dem_utm25s.tif",
)  # fmt: skip
OURS = {
    "slope": lambda surface: terrain.slope_deg(*surface.gradient),
    "aspect": lambda surface: terrain.aspect_deg(*surface.gradient),
    "TRI": lambda surface: surface.index("tri"),
    "TPI": lambda surface: surface.index("tpi"),
    "roughness": lambda surface: surface.index("roughness"),
}
OPTIONS = {"TRI": ["-alg", "Riley"]}
GAP = -9999.0
SLOPING_DEG = 1.0
"""Flatter cells have an aspect of rounding errors alone."""


def buildings(folder: Path) -> list[dict[str, Any]]:
    """Each statistic of DSM - DTM over the buildings against their attribute HEIGHT."""
    image = open_raster(folder / "dsm.tif")
    heights = open_heights({"dsm": folder / "dsm.tif", "dtm": folder / "dtm.tif"}, image)
    backend = open_backend("labels", image, SegmentOptions(folder / "buildings.geojson", None, "building", {}, {}))
    site = Site(image, backend, np.array(image.valid()), heights=heights)

    def call(name: str, *args: Any, **kwargs: Any) -> Any:
        return tools()[name].call(site, args, kwargs)

    regions = call("components", call("segment", "building"))
    stated = pyogrio.raw.read(str(folder / "buildings.geojson"), columns=["HEIGHT"])[3][0][regions.indices]
    regions, stated = regions.take(np.isfinite(stated), regions.name), stated[np.isfinite(stated)]
    rows = []
    for statistic, percent in STATISTICS:
        measured = np.array(call("region_heights_m", regions, statistic=statistic, percent=float(percent)))
        if len(measured) != len(stated):
            raise SystemExit("a building has no known height; the rows would not match")
        error = measured - stated
        rows.append({
            "statistic": named(statistic, percent),  # type: ignore[arg-type]
            "n": len(stated),
            "correlation": float(np.corrcoef(measured, stated)[0, 1]),
            "median_ratio": float(np.median(measured / stated)),
            "bias_m": float(error.mean()),
            "mean_absolute_error_m": float(np.abs(error).mean()),
            "rmse_m": float(np.sqrt((error**2).mean())),
            "within_20_percent": float(100 * np.mean(np.abs(error) <= 0.2 * stated)),
        })  # fmt: skip
    return rows


def comparisons(data: Path) -> Iterator[dict[str, Any]]:
    """Every derived field of every surface against the other route."""
    for name in DEMS:
        path = data / name
        with rasterio.open(path) as dataset:
            located, cell = dataset.crs is not None, dataset.res[0]
        image = open_raster(path, gsd_m=None if located else cell)
        heights = open_heights({"dem": path}, image)
        if heights is None:
            raise SystemExit(f"{path} gives no heights")
        surface, ground = heights.surface("dem"), image.grid.require_ground()
        if ground.crs is not None:
            yield {
                "file": name,
                "against": "Horn on geodesics",
                **_apart(OURS["slope"](surface), _geodesic_slope(surface)),
            }
            continue
        unit_m = image.grid.crs.axis_info[0].unit_conversion_factor if image.grid.crs is not None else 1.0
        relief = float(np.nanmax(surface.heights)) - float(np.nanmin(surface.heights))
        found = {"relief_m": relief, "plain_relief_m": _plain_relief(path), **_against_gdaldem(surface, unit_m)}
        yield {"file": name, "against": "gdaldem", **found}


def _apart(ours: Field, theirs: Field, where: NDArray[np.bool_] | None = None) -> dict[str, Any]:
    """How far two fields lie apart where both are known (and `where` says so); directions go round at 360."""
    both = np.isfinite(ours) & np.isfinite(theirs) & (True if where is None else where)
    apart = np.abs(ours - theirs)[both]
    apart = np.minimum(apart, np.abs(360 - apart))
    return {
        "cells": int(both.sum()),
        "known_to_one_only": int(np.count_nonzero(np.isfinite(ours) != np.isfinite(theirs))),
        "largest_difference": float(apart.max(initial=0.0)),
    }


def _against_gdaldem(surface: HeightRaster, unit_m: float) -> dict[str, Any]:
    """Every field against gdaldem, which computes in float32: it is given heights above the lowest cell."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "above_lowest.tif"
        heights = surface.cells.heights.astype(np.float64)
        above = heights - np.floor(np.nanmin(heights))
        gaps = np.where(np.isfinite(above), above, GAP).astype(np.float32)
        write_array(path, gaps, surface.cells.grid, nodata=GAP)
        theirs = {field: _gdaldem(path, field, unit_m) for field in OURS}
    with np.errstate(invalid="ignore"):
        sloping = OURS["slope"](surface) > SLOPING_DEG
    return {
        field: _apart(ours(surface), theirs[field], sloping if field == "aspect" else None)
        for field, ours in OURS.items()
    }


def _gdaldem(path: Path, field: str, unit_m: float) -> Field:
    """A field by gdaldem, NaN where it has none; the scale is that of a horizontal unit in metres."""
    out = path.with_name(f"{field}.tif")
    scale = ["-s", repr(unit_m)] if field == "slope" else []
    subprocess.run(["gdaldem", field, str(path), str(out), "-q", *scale, *OPTIONS.get(field, [])], check=True)
    with rasterio.open(out) as dataset:
        values = dataset.read(1).astype(np.float64)
        values[values == dataset.nodata] = np.nan
    return np.asarray(values)


def _plain_relief(path: Path) -> float:
    """Highest minus lowest cell by rasterio alone."""
    with rasterio.open(path) as dataset:
        values = np.ma.masked_invalid(dataset.read(1, masked=True))
    return float(values.max()) - float(values.min())


def _geodesic_slope(surface: HeightRaster) -> Field:
    """Horn cell by cell, the steps being geodesics between the centres of neighbours."""
    z, grid = surface.cells.heights.astype(np.float64), surface.cells.grid
    geod, to_lonlat = grid.crs.get_geod(), pyproj.Transformer.from_crs(grid.crs, 4326, always_xy=True)
    slope = np.full(z.shape, np.nan)
    for row in range(1, z.shape[0] - 1):
        for col in range(1, z.shape[1] - 1):
            (a, b, c), (d, e, f), (g, h, i) = z[row - 1 : row + 2, col - 1 : col + 2]
            ends = [grid.affine @ (col + 0.5 + x, row + 0.5 + y) for x, y in ((-1, 0), (1, 0), (0, -1), (0, 1))]
            lonlat = [to_lonlat.transform(*end) for end in ends]
            across, down = geod.inv(*lonlat[0], *lonlat[1])[2], geod.inv(*lonlat[2], *lonlat[3])[2]
            east = ((c + 2 * f + i) - (a + 2 * d + g)) / 4 / across + 0 * e
            north = ((g + 2 * h + i) - (a + 2 * b + c)) / 4 / down
            slope[row, col] = np.degrees(np.arctan(np.hypot(east, north)))
    return slope


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    lines = [HEAD.format(gdal=found["gdaldem"], n=found["buildings"][0]["n"])]
    lines += [BUILDINGS_HEAD, "|---|---|---|---|---|---|---|"]
    for row in found["buildings"]:
        keys = ("correlation", "median_ratio", "bias_m", "mean_absolute_error_m", "rmse_m")
        values = [f"{row[key]:.3f}" if key in keys[:2] else f"{row[key]:.2f}" for key in keys]
        lines.append(f"| {row['statistic']} | {' | '.join(values)} | {row['within_20_percent']:.0f} |")
    lines += [MIDDLE, TERRAIN_HEAD, "|---|---|---|---|---|---|---|---|---|"]
    for row in found["terrain"]:
        if row["against"] == "gdaldem":
            apart = [f"{row[field]['largest_difference']:.1g}" for field in OURS]
            apart.append(f"{abs(row['relief_m'] - row['plain_relief_m']):.1g}")
            cells = row["slope"]["cells"]
        else:
            apart, cells = [f"{row['largest_difference']:.1g}", *[""] * 5], row["cells"]
        lines.append(f"| `{row['file']}` | {row['against']} | {cells:,} | {' | '.join(apart)} |")
    return "\n".join([*lines, "", FOOT.format(**found["totals"]), ""])


HEAD = """# Heights and terrain: what was measured against what

Written by `python benchmarks/heights.py` from the public files under `../shared/data`; {gdal}.

## Buildings

{n} of 84 footprints state their HEIGHT (opengeos/data, cells of 2 m); each is measured by `region_heights_m`. Which
statistic the attribute is, and of what date, its source does not say: the 70th percentile agrees best. The default of
`swath`, the 95th, is the top of a roof and lies above it.
"""
MIDDLE = """
## Terrain

Largest difference between `swath` and the other route over all cells that both know; of the aspect over cells steeper
than 1 degree. `gdaldem` computes in float32, so it is given heights above the lowest cell; in a CRS of feet its scale
is 0.3048. Files without a CRS are taken at their cell size, stated as `--gsd`. Relief is held against rasterio alone.
"""
BUILDINGS_HEAD = (
    "| statistic of DSM - DTM | r | median ratio | bias, m | mean absolute error, m | RMSE, m | within 20 %, % |"
)
TERRAIN_HEAD = (
    "| surface | against | cells | slope, degrees | aspect, degrees | TRI, m | TPI, m | roughness, m | relief, m |"
)
FOOT = """Over all: slope at most {slope:.1g} degrees apart, aspect {aspect:.1g} degrees, the others {index:.1g} m;
cells that only one of the two knows: {one_only}."""


def totals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The largest differences of all surfaces."""
    by_gdal = [row for row in rows if row["against"] == "gdaldem"]

    def largest(field: str) -> float:
        return max(row[field]["largest_difference"] for row in by_gdal)

    return {
        "slope": max(largest("slope"), *(row["largest_difference"] for row in rows if row not in by_gdal)),
        "aspect": largest("aspect"),
        "index": max(largest(field) for field in ("TRI", "TPI", "roughness")),
        "one_only": sum(row["slope"]["known_to_one_only"] for row in by_gdal),
    }


def main() -> int:
    """Measure, and write both pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=Path("docs/results"))
    said = parser.parse_args()
    version = subprocess.run(["gdaldem", "--version"], capture_output=True, text=True, check=False).stdout
    rows = list(comparisons(said.data))
    found = {
        "gdaldem": version.partition(",")[0] or "gdaldem of an unknown version",
        "buildings": buildings(said.data / BUILDINGS),
        "terrain": rows,
        "totals": totals(rows),
    }
    (said.out / "heights.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (said.out / "heights.md").write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
