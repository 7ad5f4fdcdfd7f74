"""Ways to answer about a label raster: by swath, and by what one would write by hand. Each loads its libraries first.

The task: label one class, the area of every region, how many lie within 50 m of another class, pixel centre to pixel
centre, the limit included. Each way is a function of a path that returns the function whose time is taken.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scale_rasters import BUILDING, LEGEND, PIXEL_M, WATER

LIMIT_M, LARGE_M2 = 50.0, 250.0
Result = dict[str, float]
Measure = Callable[[], Result]


def _tools(path: Path) -> Callable[[], Callable[..., Any]]:
    """Loads swath; returns what opens a raster as `swath ask` does and gives its tools."""
    from swath.agent.request import Request
    from swath.segment.labels import LabelsBackend
    from swath.segment.protocol import SegmentOptions
    from swath.tools.registry import tools
    from swath.tools.site import Site

    legend = path.with_suffix(".json")
    legend.write_text(json.dumps(LEGEND))
    tools()

    def opened() -> Callable[..., Any]:
        raster = Request(path, "").opened_image()
        backend = LabelsBackend(raster, SegmentOptions(labels=path, legend=legend))
        known = backend.known()
        site = Site(raster, backend, raster.valid() if known is None else raster.valid() & known)
        return lambda name, *args, **kwargs: tools()[name].call(site, args, kwargs)

    return opened


def swath_way(path: Path) -> Measure:
    """The tools as a program calls them."""
    opened = _tools(path)

    def measure() -> Result:
        call = opened()
        buildings = call("components", call("segment", "building"))
        near = call("near", buildings, call("segment", "water"), max_distance_m=LIMIT_M)
        return {"regions": len(buildings), "m2": sum(call("region_areas_m2", buildings)), "near": len(near)}

    return measure


def shares_way(path: Path) -> Measure:
    """The share of every class, by the tools."""
    opened = _tools(path)

    def measure() -> Result:
        call = opened()
        return {name: call("share_percent", call("segment", name)) for name in LEGEND.values()}

    return measure


def shares_again_way(path: Path) -> Measure:
    """The same where an earlier question has counted the tiles."""
    folder = tempfile.TemporaryDirectory()
    os.environ["SWATH_CACHE"] = folder.name
    opened = _tools(path)
    opened()

    def measure() -> Result:
        with folder:
            call = opened()
            return {name: call("share_percent", call("segment", name)) for name in LEGEND.values()}

    return measure


def five_way(path: Path) -> Measure:
    """What five questions ask for, in one process, as their programs call the tools."""
    opened = _tools(path)

    def measure() -> Result:
        call = opened()
        forest, water = call("segment", "forest"), call("segment", "water")
        buildings = call("components", call("segment", "building"))
        large = call("filter_regions", buildings, larger_than_m2=LARGE_M2)
        woods = call("within", forest, water, max_distance_m=LIMIT_M)
        return {
            "forest_percent": call("share_percent", forest),
            "buildings": call("count", buildings),
            "large_m2": call("area_m2", large),
            "buildings_near_water": call("count", call("near", buildings, water, max_distance_m=LIMIT_M)),
            "forest_near_water_ha": call("area_m2", woods) / 10_000,
        }

    return measure


def opencv_way(path: Path) -> Measure:
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


def skimage_way(path: Path) -> Measure:
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


def vector_way(path: Path) -> Measure:
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


def read_way(path: Path) -> Measure:
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


def read_threads_way(path: Path) -> Measure:
    """The same with GDAL's own threads."""
    read = read_way(path)

    def measure() -> Result:
        import rasterio

        with rasterio.Env(GDAL_NUM_THREADS="ALL_CPUS"):
            return read()

    return measure


WAYS: dict[str, Callable[[Path], Measure]] = {
    "read": read_way,
    "read, GDAL's threads": read_threads_way,
    "shares": shares_way,
    "shares again": shares_again_way,
    "swath": swath_way,
    "five": five_way,
    "opencv": opencv_way,
    "skimage": skimage_way,
    "vector": vector_way,
}
