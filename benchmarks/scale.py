"""Large label rasters against what one would write by hand; prints a Markdown table.

python benchmarks/scale.py [--sides 10000 30000] [--repeat 3] [--ways swath opencv skimage vector read shares]

The task: label one class, the area of every region, how many lie within 50 m of another class. Every row is a process
of its own that loads its libraries before the clock starts and reads the file after it; memory is the peak of the whole
process. Seconds of the wall clock mean little on a shared machine, so that seconds of the processor stand beside them.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

PIXEL_M, LIMIT_M, CELL_PX = 0.5, 50.0, 45
LEGEND = {"1": "grass", "2": "forest", "3": "building", "4": "water"}
BUILDING, WATER = 3, 4
Result = dict[str, float]


def paint(path: Path, side: int) -> None:
    """Ground in two classes, a rectangle in every cell of 45 pixels, a lake for 1,000 of them; DEFLATE 6, 512 tiles."""
    import cv2
    import rasterio
    from affine import Affine
    from rasterio.windows import Window

    rng = np.random.default_rng(0)
    profile = {"driver": "GTiff", "count": 1, "height": side, "width": side, "dtype": "uint8", "crs": "EPSG:32633"}
    layout = {"tiled": True, "blockxsize": 512, "blockysize": 512, "compress": "deflate", "zlevel": 6}
    place = Affine(PIXEL_M, 0, 500_000, 0, -PIXEL_M, 5_000_000)
    step = 45 * CELL_PX
    with rasterio.open(path, "w", **profile, **layout, transform=place, bigtiff="if_safer") as dataset:
        for top in range(0, side, step):
            rows = min(step, side - top)
            ground = rng.integers(1, 3, (rows // 64 + 1, side // 64 + 1)).astype(np.uint8)
            labels = cv2.resize(ground, (side, rows), interpolation=cv2.INTER_NEAREST)
            for row in range(0, rows - CELL_PX + 1, CELL_PX):
                for col in range(0, side - CELL_PX + 1, CELL_PX):
                    height, width = rng.integers(4, CELL_PX - 8, 2)
                    y, x = row + rng.integers(1, CELL_PX - height - 2), col + rng.integers(1, CELL_PX - width - 2)
                    labels[y : y + height, x : x + width] = BUILDING
                    if rng.random() < 1 / 1000:
                        labels[row : row + 3 * CELL_PX, col : col + 2 * CELL_PX] = WATER
            dataset.write(labels, 1, window=Window(0, top, side, rows))


def swath_way(path: Path) -> Callable[[], Result]:
    """The tools as a program calls them, on the site that `swath ask` opens."""
    from swath.agent.desk import Request
    from swath.segment.labels import LabelsBackend
    from swath.segment.protocol import SegmentOptions
    from swath.tools.registry import tools
    from swath.tools.site import Site

    legend = path.with_suffix(".json")
    legend.write_text(json.dumps(LEGEND))
    tools()

    def measure() -> Result:
        raster = Request(path, "").opened_image()
        backend = LabelsBackend(raster, SegmentOptions(labels=path, legend=legend))
        known = backend.known()
        site = Site(raster, backend, raster.valid() if known is None else raster.valid() & known)

        def call(name: str, *args: Any, **kwargs: Any) -> Any:
            return tools()[name].call(site, args, kwargs)

        buildings = call("components", call("segment", "building"))
        near = call("near", buildings, call("segment", "water"), max_distance_m=LIMIT_M)
        return {"regions": len(buildings), "m2": sum(call("region_areas_m2", buildings)), "near": len(near)}

    return measure


def shares_way(path: Path) -> Callable[[], Result]:
    """The share of every class, by the tools."""
    from swath.agent.desk import Request
    from swath.segment.labels import LabelsBackend
    from swath.segment.protocol import SegmentOptions
    from swath.tools.registry import tools
    from swath.tools.site import Site

    legend = path.with_suffix(".json")
    legend.write_text(json.dumps(LEGEND))
    tools()

    def measure() -> Result:
        raster = Request(path, "").opened_image()
        backend = LabelsBackend(raster, SegmentOptions(labels=path, legend=legend))
        known = backend.known()
        site = Site(raster, backend, raster.valid() if known is None else raster.valid() & known)
        masks = {name: tools()["segment"].call(site, (name,), {}) for name in LEGEND.values()}
        return {name: tools()["share_percent"].call(site, (mask,), {}) for name, mask in masks.items()}

    return measure


def opencv_way(path: Path) -> Callable[[], Result]:
    """The whole image by OpenCV and NumPy."""
    import cv2
    import rasterio

    def measure() -> Result:
        with rasterio.open(path) as dataset:
            labels = dataset.read(1)
        count, objects, stats, _ = cv2.connectedComponentsWithStats((labels == BUILDING).view(np.uint8), connectivity=8)
        steps = cv2.distanceTransform((labels != WATER).view(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
        near = np.zeros(count, dtype=bool)
        near[objects[steps <= np.float32(LIMIT_M / PIXEL_M)]] = True
        areas = stats[1:, cv2.CC_STAT_AREA] * PIXEL_M**2
        return {"regions": count - 1, "m2": float(areas.sum()), "near": int(near[1:].sum())}

    return measure


def skimage_way(path: Path) -> Callable[[], Result]:
    """The whole image by scikit-image and SciPy."""
    import rasterio
    from scipy.ndimage import distance_transform_edt, minimum
    from skimage.measure import label, regionprops

    def measure() -> Result:
        with rasterio.open(path) as dataset:
            labels = dataset.read(1)
        objects = label(labels == BUILDING, connectivity=2)
        areas = np.array([region.num_pixels for region in regionprops(objects)]) * PIXEL_M**2
        distance = distance_transform_edt(labels != WATER, sampling=PIXEL_M)
        lowest = minimum(distance, objects, np.arange(1, len(areas) + 1))
        near = np.count_nonzero(lowest <= LIMIT_M * (1 + 1e-9))
        return {"regions": len(areas), "m2": float(areas.sum()), "near": int(near)}

    return measure


def vector_way(path: Path) -> Callable[[], Result]:
    """Polygons by rasterio and geopandas; near is edge to edge here, so that its count may differ by a few."""
    import geopandas
    import rasterio
    from rasterio.features import shapes
    from shapely.geometry import shape

    def measure() -> Result:
        with rasterio.open(path) as dataset:
            labels, place, crs = dataset.read(1), dataset.transform, dataset.crs
        found = {
            value: geopandas.GeoDataFrame(
                geometry=[
                    shape(outline)
                    for outline, _ in shapes(labels, mask=labels == value, connectivity=8, transform=place)
                ],
                crs=crs,
            )
            for value in (BUILDING, WATER)
        }
        near = found[BUILDING].sjoin(found[WATER], predicate="dwithin", distance=LIMIT_M - PIXEL_M).index.nunique()
        return {"regions": len(found[BUILDING]), "m2": float(found[BUILDING].area.sum()), "near": near}

    return measure


def read_way(path: Path) -> Callable[[], Result]:
    """Reading the raster once, 512 rows at a time: what any answer takes."""
    import rasterio
    from rasterio.windows import Window

    def measure() -> Result:
        with rasterio.Env(GDAL_CACHEMAX=2**26), rasterio.open(path) as dataset:
            for top in range(0, dataset.height, 512):
                rows = min(512, dataset.height - top)
                dataset.read(1, window=Window(0, top, dataset.width, rows))
        return {}

    return measure


WAYS: dict[str, Callable[[Path], Callable[[], Result]]] = {
    "swath": swath_way,
    "opencv": opencv_way,
    "skimage": skimage_way,
    "vector": vector_way,
    "read": read_way,
    "shares": shares_way,
}


def measure_here(way: str, path: Path) -> None:
    """Run one way in this process; print what it took."""
    measure = WAYS[way](path)
    wall, cpu = time.perf_counter(), time.process_time()
    result = measure()
    took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    sys.stdout.write(json.dumps({**took, "peak_gb": peak, "result": result}))


def row(way: str, path: Path, side: int, repeat: int) -> str:
    """One row of the table: medians of seconds, the largest peak, the answer."""
    command = [sys.executable, __file__, "--here", way, str(path)]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(repeat)]
    wall, cpu = (statistics.median(run[name] for run in runs) for name in ("wall", "cpu"))
    said = ", ".join(f"{name} {value:,.6g}" for name, value in runs[0]["result"].items())
    return f"| {side:,} | {way} | {cpu:.2f} | {wall:.2f} | {max(run['peak_gb'] for run in runs):.2f} | {said} |"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sides", type=int, nargs="+", default=[10_000, 30_000])
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="Where the rasters are kept; a temporary one unless given.")
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here and options.here[0] == "paint":
        paint(Path(options.here[1]), options.sides[0])
        return
    if options.here:
        measure_here(options.here[0], Path(options.here[1]))
        return
    libraries = ("numpy", "opencv-python-headless", "rasterio", "scikit-image", "scipy")
    print(
        f"{platform.processor() or platform.machine()}, " + ", ".join(f"{name} {version(name)}" for name in libraries)
    )
    print("\n| side | way | seconds of the processor | of the wall | peak GB | answer |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        for side in options.sides:
            path = (options.folder or Path(temporary)) / f"labels-{side}.tif"
            if not path.exists():
                # In a process of its own: children start with the memory peak of the process that starts them.
                subprocess.run(
                    [sys.executable, __file__, "--sides", str(side), "--here", "paint", str(path)], check=True
                )
            for way in options.ways:
                print(row(way, path, side, options.repeat), flush=True)


if __name__ == "__main__":
    main()
