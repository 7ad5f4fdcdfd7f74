"""Keeps the masks of a run as GeoTIFFs, and what the segmenter answered so exactly that a replay measures the same."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from swath.agent.execution import Ledger
from swath.agent.qgis_styles import INSIDE, write_mask_style
from swath.raster.fields import TiledField
from swath.raster.grid import Grid
from swath.raster.held import Tiles
from swath.raster.pixel_sets import number_of, whole_of, window_of_set
from swath.raster.tiled import PixelSet, TiledPixels, part_of
from swath.raster.write import write_array, write_mask
from swath.segment.protocol import Feature, Segmentation
from swath.tools.blocks import strips_of
from swath.tools.clip import Clip
from swath.tools.handles import Mask, Regions
from swath.tools.site import Site
from swath.trace.strict_json import json_text

FOLDER = "masks"
MOST_MASKS = 100
"""Masks of handles that are kept: a loop over a thousand regions would write a thousand files."""

LONGEST_SLUG = 48


def slug(name: str) -> str:
    """A name as part of a file name: lower-case ASCII letters, digits and hyphens only."""
    ascii_only = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_only.lower())[:LONGEST_SLUG].strip("-") or "mask"


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass
class MaskFolder:
    """The folder masks/ of a run that is being written.

    Attributes:
        folder: the run's folder.
        grid: the image's grid.
    """

    folder: Path
    grid: Grid
    _kept: dict[bytes, dict[str, str]] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)

    def keep_mask(self, pixels: PixelSet, stem: str) -> dict[str, str]:
        """Write a mask unless the same pixels are there already; its file and sha256 either way."""
        key = _digest(pixels)
        if key not in self._kept:
            path = self._path(stem, ".tif")
            write_mask(path, pixels, self.grid)
            write_mask_style(path, {1: path.stem}, {1: INSIDE})
            self._kept[key] = self._entry(path)
        return self._kept[key]

    def keep_ids(self, ids: NDArray[np.int32], stem: str) -> dict[str, str]:
        """Write instance ids."""
        path = self._path(stem, ".tif")
        write_array(path, ids.astype(np.int32, copy=False), self.grid)
        return self._entry(path)

    def keep_features(self, features: tuple[Feature, ...], stem: str) -> dict[str, str]:
        """Write features, one per line; well-known binary holds their coordinates to the last bit."""
        path = self._path(stem, ".jsonl")
        with path.open("w", encoding="utf-8") as file:
            for feature in features:
                row = {"id": feature.id, "score": feature.score, "wkb": shapely.to_wkb(feature.outline, hex=True)}
                file.write(json_text(row) + "\n")
        return self._entry(path)

    def _path(self, stem: str, suffix: str) -> Path:
        (self.folder / FOLDER).mkdir(exist_ok=True)
        name, number = f"{stem}{suffix}", 1
        while name in self._names:
            number += 1
            name = f"{stem}-{number}{suffix}"
        self._names.add(name)
        return self.folder / FOLDER / name

    def _entry(self, path: Path) -> dict[str, str]:
        return {"file": f"{FOLDER}/{path.name}", "sha256": sha256_of(path)}


def _digest(pixels: PixelSet) -> bytes:
    """Tells sets of pixels of one image apart."""
    digest = hashlib.blake2b(digest_size=16)
    for rows in strips_of(pixels):
        part = part_of(pixels, rows, slice(0, pixels.shape[1]))
        digest.update(bytes([part]) if isinstance(part, bool) else np.packbits(part).data)
    return digest.digest()


def keep_masks(folder: Path, site: Site, ledger: Ledger | None) -> dict[str, Any]:
    """Write every mask of a run and every segmentation behind it.

    Args:
        folder: the run's folder.
        site: what was measured.
        ledger: the calls, whose masks and regions are kept; None where no program ran to its end.

    Returns:
        The fields masks, masks_left_out, valid, clip and segmentations of run.json.

    Raises:
        InputError: a file cannot be written.
    """
    into = MaskFolder(folder, site.raster.grid)
    handles = [] if ledger is None else ledger.handles
    masks: dict[str, dict[str, Any]] = {}
    for number, handle in enumerate(handles[:MOST_MASKS], start=1):
        pixels = pixels_of(handle)
        entry = into.keep_mask(pixels, f"{number:03d}-{slug(handle.name)}")
        known = {**entry, "name": handle.name, "handles": [], "pixels": number_of(pixels)}
        masks.setdefault(entry["file"], known)["handles"].append(number)
    return {
        "masks": list(masks.values()),
        "masks_left_out": max(len(handles) - MOST_MASKS, 0),
        "valid": into.keep_mask(site.valid, "valid"),
        "clip": None if site.clip is None else _keep_clip(into, site.clip),
        "segmentations": {name: _keep_segmentation(into, name, found) for name, found in site.segmentations.items()},
    }


def _keep_clip(into: MaskFolder, clip: Clip) -> dict[str, Any]:
    return {"name": clip.name, "beyond": into.keep_mask(clip.beyond, "beyond"), "notes": clip.notes}


def pixels_of(handle: Mask | Regions) -> PixelSet:
    """(rows, columns) the pixels of a mask or of all regions of a set."""
    if isinstance(handle, Mask):
        return handle.pixels
    # A copy, so that the mask is not held for as long as the handle is: 100 MB each on a large image.
    return replace(handle).mask.pixels


def _keep_segmentation(into: MaskFolder, class_name: str, found: Segmentation) -> dict[str, Any]:
    stem = f"segment-{slug(class_name)}"
    strict = lax = None
    if found.score is not None and found.thresholds is not None:
        strict = into.keep_mask(found.score >= found.thresholds[0], f"{stem}-strict")
        lax = into.keep_mask(found.score >= found.thresholds[2], f"{stem}-lax")
    return {
        "mask": into.keep_mask(found.mask, stem),
        "strict": strict,
        "lax": lax,
        "instance_ids": None if found.instance_ids is None else into.keep_ids(found.instance_ids, f"{stem}-ids"),
        "features": None if found.features is None else into.keep_features(found.features, f"{stem}-features"),
        "thresholds": found.thresholds,
        "areal": found.areal,
        "method": found.method,
        "warnings": found.warnings,
    }


STRICT, USED, LAX = 3.0, 2.0, 1.0
"""Stand-in scores of a recorded segmentation: only which pixels pass each of the three thresholds matters."""


def read_segmentation(kept: Mapping[str, Any], read_set: Any, read_pixels: Any, read_lines: Any) -> Segmentation:
    """A segmentation as it was kept.

    Args:
        kept: its entry in run.json.
        read_set: from an entry with a file and its sha256 to the set of pixels in that file.
        read_pixels: from such an entry to the (rows, columns) values of that file.
        read_lines: from such an entry to the lines of that file.
    """
    score: NDArray[np.float32] | TiledField | None = None
    thresholds = None
    if kept["strict"] is not None and kept["lax"] is not None:
        score = _stand_in(read_set(kept["strict"]), read_set(kept["lax"]))
        thresholds = (STRICT, USED, LAX)
    return Segmentation(
        mask=read_set(kept["mask"]),
        score=score,
        thresholds=thresholds,
        instance_ids=None if kept["instance_ids"] is None else read_pixels(kept["instance_ids"]).astype(np.int32),
        features=None if kept["features"] is None else tuple(_feature(line) for line in read_lines(kept["features"])),
        areal=bool(kept["areal"]),
        method=str(kept["method"]),
        warnings=tuple(kept["warnings"]),
    )


def _stand_in(strict: PixelSet, lax: PixelSet) -> NDArray[np.float32] | TiledField:
    """Scores that pass the thresholds where those of then did."""

    def score(rows: slice, cols: slice) -> NDArray[np.float32]:
        passing = [window_of_set(pixels, rows, cols) for pixels in (strict, lax)]
        return np.select(passing, [np.float32(STRICT), np.float32(LAX)], np.float32(0))

    if isinstance(strict, TiledPixels):
        return TiledField(strict.shape, Tiles(0, strict.tiles), score)
    return score(*whole_of(strict))


def _feature(line: str) -> Feature:
    row = json.loads(line)
    return Feature(row["id"], shapely.from_wkb(row["wkb"]), row["score"])
