"""Memory and seconds of the embedded network on large images; prints a Markdown table.

python benchmarks/eyes.py --images ../shared/data/landcover_dubai/images [--sides 2048 10000] [--workers 1 2]

Paints a mosaic of the images in a folder, repeated, at a stated 0.3 m a pixel, and runs `swath segment` on it in a
process of its own. Memory is that process's peak as the kernel counts it: pages of temporary files that happen to lie
in memory are counted too, although the kernel may take them back. Two workers are two such processes at once.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PIXEL_M = 0.3


def paint(path: Path, side: int, images: Path) -> None:
    """The images of a folder, side by side, tiled and compressed as JPEG."""
    import numpy as np
    import rasterio
    from affine import Affine
    from PIL import Image
    from rasterio.windows import Window

    pieces = [np.asarray(Image.open(file).convert("RGB")) for file in sorted(images.glob("*.jpg"))]
    strip = min(min(piece.shape[0] for piece in pieces), 512)
    profile = {"driver": "GTiff", "count": 3, "height": side, "width": side, "dtype": "uint8", "crs": "EPSG:32640"}
    layout = {"tiled": True, "blockxsize": 512, "blockysize": 512, "compress": "jpeg", "photometric": "ycbcr"}
    place = Affine(PIXEL_M, 0, 300_000, 0, -PIXEL_M, 2_800_000)
    with rasterio.open(path, "w", **profile, **layout, transform=place, bigtiff="if_safer") as dataset:
        for i, top in enumerate(range(0, side, strip)):
            turned = pieces[i % len(pieces) :] + pieces[: i % len(pieces)]
            rows = np.concatenate([piece[:strip] for piece in turned], axis=1)
            rows = np.tile(rows, (1, side // rows.shape[1] + 1, 1))[: side - top, :side]
            dataset.write(rows.transpose(2, 0, 1), window=Window(0, top, side, rows.shape[0]))


def start(image: Path, class_name: str, out: Path) -> subprocess.Popen[bytes]:
    """`swath segment` in a process of its own."""
    words = ["segment", str(image), class_name, "--segmenter", "landcover", "-o", str(out)]
    return subprocess.Popen([sys.executable, "-m", "swath", *words], stdout=subprocess.DEVNULL)


def measured(image: Path, class_name: str, workers: int, folder: Path) -> tuple[float, list[resource.struct_rusage]]:
    """Seconds of the wall clock until all workers have ended, and what each of them used."""
    begun = time.perf_counter()
    running = [start(image, class_name, folder / f"{i}.tif") for i in range(workers)]
    used = []
    for process in running:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"swath segment ended with status {process.returncode}")
        used.append(usage)
    return time.perf_counter() - begun, used


def main() -> None:
    """Paint, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--sides", type=int, nargs="+", default=[2048, 10_000])
    parser.add_argument("--classes", nargs="+", default=["vegetation", "building"])
    parser.add_argument("--workers", type=int, nargs="+", default=[1])
    given = parser.parse_args()
    print("| side, px | class | workers | peak of one, GB | processor s / megapixel | wall s / megapixel |")
    print("|---|---|---|---|---|---|")
    for side in given.sides:
        with tempfile.TemporaryDirectory() as folder:
            image = Path(folder) / "mosaic.tif"
            paint(image, side, given.images)
            for class_name in given.classes:
                for workers in given.workers:
                    seconds, used = measured(image, class_name, workers, Path(folder))
                    pixels = workers * side * side / 1e6
                    processor = sum(usage.ru_utime + usage.ru_stime for usage in used) / pixels
                    peak = max(usage.ru_maxrss for usage in used) * 1024 / 1e9
                    row = f"{side:,} | {class_name} | {workers} | {peak:.2f} | {processor:.2f}"
                    print(f"| {row} | {seconds / pixels:.2f} |", flush=True)


if __name__ == "__main__":
    main()
