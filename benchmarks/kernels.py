"""Region and proximity kernels against scikit-image and SciPy on a large image; prints a Markdown table.

python benchmarks/kernels.py [--side 10000] [--objects 50000] [--repeat 3]

Every row is a process of its own, which loads its libraries and the image before the clock starts; memory is the peak
of the whole process, interpreter, libraries and image included. Both sides give the same numbers, which are compared.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BoolImage = NDArray[np.bool_]
Table = dict[str, NDArray[Any]]

PIXEL_M, LIMIT_M = 0.5, 25.0
SIDES = ("swath", "libraries")


@contextmanager
def clock() -> Iterator[Callable[[], float]]:
    """Seconds since it began."""
    started = time.perf_counter()
    yield lambda: time.perf_counter() - started


def paint(folder: Path, side: int, objects: int) -> None:
    """Rectangles in the cells of a lattice, one pixel in 5 covered; beside them lakes, one for 250 rectangles."""
    rng = np.random.default_rng(0)
    step = int(side / np.sqrt(objects))
    roofs, lakes = np.zeros((side, side), dtype=bool), np.zeros((side, side), dtype=bool)
    for row in range(0, side - step + 1, step):
        for col in range(0, side - step + 1, step):
            height, width = rng.integers(4, step - 8, 2)
            y, x = row + rng.integers(1, step - height - 2), col + rng.integers(1, step - width - 2)
            roofs[y : y + height, x : x + width] = True
            if rng.random() < 1 / 250:
                lakes[row : row + 3 * step, col : col + 2 * step] = True
    np.save(folder / "roofs.npy", roofs & ~lakes)
    np.save(folder / "lakes.npy", lakes)


def loaded(folder: Path, *names: str) -> list[BoolImage]:
    """The painted masks."""
    return [np.load(folder / f"{name}.npy") for name in names]


def swath_regions(folder: Path) -> tuple[float, Table]:
    """Connected components as runs."""
    from swath.tools.labelling import component_runs

    (roofs,) = loaded(folder, "roofs")
    with clock() as seconds:
        found = component_runs(roofs, 8)
        table = {"sizes": found.sizes_px, "boxes": found.boxes, "centroids": found.centroids_yx}
        return seconds(), table


def skimage_regions(folder: Path) -> tuple[float, Table]:
    """Connected components by `label` and `regionprops`."""
    from skimage.measure import label, regionprops

    (roofs,) = loaded(folder, "roofs")
    with clock() as seconds:
        found = regionprops(label(roofs, connectivity=2))
        table = {
            "sizes": np.array([region.num_pixels for region in found]),
            "boxes": np.array([region.bbox for region in found])[:, [1, 0, 3, 2]],
            "centroids": np.array([region.centroid for region in found]),
        }
        return seconds(), table


def _ground(shape: tuple[int, int], row_m: float) -> Any:
    from affine import Affine

    from swath.raster.ground import Ground

    return Ground((PIXEL_M, 0.0), (0.0, row_m), "planar", Affine.identity(), shape)


def swath_proximity(folder: Path, row_m: float = PIXEL_M) -> tuple[float, Table]:
    """Roof pixels within a distance of the lakes."""
    from swath.tools.distances import distances_to

    if row_m != PIXEL_M:
        import edt  # noqa: F401

    roofs, lakes = loaded(folder, "roofs", "lakes")
    with clock() as seconds:
        near = distances_to(lakes, _ground(lakes.shape, row_m)).near(roofs, LIMIT_M)
        return seconds(), {"near": np.array([np.count_nonzero(near)])}


def scipy_proximity(folder: Path, row_m: float = PIXEL_M) -> tuple[float, Table]:
    """The same by SciPy's transform."""
    from scipy.ndimage import distance_transform_edt

    roofs, lakes = loaded(folder, "roofs", "lakes")
    with clock() as seconds:
        near = roofs & (distance_transform_edt(~lakes, sampling=(row_m, PIXEL_M)) <= LIMIT_M * (1 + 1e-9))
        return seconds(), {"near": np.array([np.count_nonzero(near)])}


def swath_question(folder: Path) -> tuple[float, Table]:
    """The tools as a program calls them: buildings above 20 m2 within 25 m of water, and the area of those pixels."""
    import pyproj
    from affine import Affine

    from swath.raster.grid import Grid
    from swath.raster.reader import Raster
    from swath.testing.segment import PaintedBackend
    from swath.tools.registry import tools
    from swath.tools.site import Site

    roofs, lakes = loaded(folder, "roofs", "lakes")
    grid = Grid(Affine(PIXEL_M, 0, 500_000, 0, -PIXEL_M, 5_000_000), roofs.shape, pyproj.CRS.from_epsg(32633))
    raster = Raster(path=folder, driver="", grid=grid, bands=(), warnings=(), name="")
    site = Site(raster, PaintedBackend(roofs.shape, {"building": roofs, "water": lakes}), np.ones(roofs.shape, bool))

    def call(name: str, *args: Any, **kwargs: Any) -> Any:
        return tools()[name].call(site, args, kwargs)

    with clock() as seconds:
        water = call("segment", "water")
        large = call("components", call("segment", "building"), larger_than_m2=20)
        near = call("near", large, water, max_distance_m=LIMIT_M)
        area = call("area_m2", call("within", call("mask_of", large), water, max_distance_m=LIMIT_M))
        return seconds(), {"count": np.array([len(near)]), "area": np.array([area])}


def libraries_question(folder: Path) -> tuple[float, Table]:
    """The same from scikit-image and SciPy, as one would write it by hand."""
    from scipy.ndimage import distance_transform_edt, minimum
    from skimage.measure import label, regionprops

    roofs, lakes = loaded(folder, "roofs", "lakes")
    with clock() as seconds:
        labels = label(roofs, connectivity=2)
        large = np.array([region.label for region in regionprops(labels) if region.num_pixels * PIXEL_M**2 > 20])
        distance = distance_transform_edt(~lakes, sampling=PIXEL_M)
        count = np.count_nonzero(minimum(distance, labels, large) <= LIMIT_M * (1 + 1e-9))
        keep = np.zeros(labels.max() + 1, dtype=bool)
        keep[large] = True
        area = np.count_nonzero(keep[labels] & (distance <= LIMIT_M * (1 + 1e-9))) * PIXEL_M**2
        return seconds(), {"count": np.array([count]), "area": np.array([area])}


KERNELS: dict[str, dict[str, Callable[[Path], tuple[float, Table]]]] = {
    "regions: areas, boxes, centroids": {"swath": swath_regions, "libraries": skimage_regions},
    "pixels within 25 m, square pixels": {"swath": swath_proximity, "libraries": scipy_proximity},
    "pixels within 25 m, pixels 5 to 3": {
        "swath": lambda folder: swath_proximity(folder, 0.3),
        "libraries": lambda folder: scipy_proximity(folder, 0.3),
    },
    "large buildings near water and the area near it": {"swath": swath_question, "libraries": libraries_question},
}


def measure_here(what: str, side: str, folder: Path) -> None:
    """Run one kernel in this process; print seconds, peak memory in GB, and where its table is."""
    seconds, table = KERNELS[what][side](folder)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    order = np.lexsort(table["boxes"].T) if "boxes" in table else slice(None)
    np.savez(folder / f"{side}.npz", **{name: column[order] for name, column in table.items()})
    sys.stdout.write(json.dumps({"seconds": seconds, "peak_gb": peak}))


def measured(what: str, side: str, folder: Path, repeat: int) -> tuple[float, float]:
    """Median seconds and largest peak of some processes."""
    command = [sys.executable, __file__, "--here", what, side, str(folder)]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(repeat)]
    return statistics.median(run["seconds"] for run in runs), max(run["peak_gb"] for run in runs)


def same(folder: Path) -> bool:
    """Whether both sides found the same numbers."""
    with np.load(folder / "swath.npz") as ours, np.load(folder / "libraries.npz") as theirs:
        return all(np.allclose(ours[name], theirs[name], rtol=1e-12, atol=1e-9) for name in ours.files)


def compared(what: str, folder: Path, repeat: int) -> str:
    """One row of the table."""
    (seconds, peak), (their_seconds, their_peak) = (measured(what, side, folder, repeat) for side in SIDES)
    return (
        f"| {what} | {seconds:.2f} s | {their_seconds:.2f} s | {their_seconds / seconds:.1f} "
        f"| {peak:.2f} GB | {their_peak:.2f} GB | {peak / their_peak:.2f} | {'yes' if same(folder) else 'NO'} |"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", type=int, default=10_000)
    parser.add_argument("--objects", type=int, default=50_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--here", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here and options.here[0] == "paint":
        paint(Path(options.here[1]), options.side, options.objects)
    elif options.here:
        measure_here(options.here[0], options.here[1], Path(options.here[2]))
    else:
        with tempfile.TemporaryDirectory() as name:
            size = ["--side", str(options.side), "--objects", str(options.objects)]
            # In a process of its own: children start with the memory peak of the process that starts them.
            subprocess.run([sys.executable, __file__, *size, "--here", "paint", name], check=True)
            print(f"{options.side} x {options.side} pixels, {options.objects} objects, median of {options.repeat}\n")
            print("| kernel | swath | libraries | times faster | swath | libraries | share of memory | same |")
            print("|---|---|---|---|---|---|---|---|")
            for what in KERNELS:
                print(compared(what, Path(name), options.repeat), flush=True)


if __name__ == "__main__":
    main()
