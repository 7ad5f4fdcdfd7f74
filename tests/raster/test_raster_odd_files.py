"""The odd rasters beside the repository: header fields as in expected.json, the exact valid share, sizes or reasons."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from swath.errors import InputError
from swath.raster.info import info
from swath.raster.reader import open_raster

EXACT = ("driver", "shape", "bands", "dtypes", "colorinterp", "overviews", "scales", "offsets")


def differences(file: Path, want: dict[str, Any]) -> list[str]:
    """What `info` says of a readable file and expected.json does not."""
    got = info(open_raster(file))
    faults = [f"{key} {got[key]} for {want[key]}" for key in EXACT if key in want and got[key] != want[key]]
    for mine, theirs in zip(got["nodata"], want.get("nodata", got["nodata"]), strict=True):
        same = mine == theirs or str(mine) == str(theirs) or (theirs is not None and math.isclose(mine, theirs))
        faults += [] if same else [f"nodata {mine} for {theirs}"]
    if want.get("valid_fraction") is not None and abs(got["valid_fraction"] - want["valid_fraction"]) > 1e-6:
        faults.append(f"valid {got['valid_fraction']} for {want['valid_fraction']}")
    if (got["pixel_size_m"] is None) == (got["pixel_size_reason"] is None):
        faults.append("neither a size nor a reason")
    if (got["pixel_size_m"] is None) != (want["gsd_m"] is None):
        faults.append(f"size {got['pixel_size_m']} for {want['gsd_m']}")
    return faults


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[Path, dict[str, Any]]:
    folder = shared_data / "odd_geotiffs"
    files = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["files"]
    return {folder / name: want for name, want in files.items()}


def test_what_can_be_read_is_read_as_expected(expected: dict[Path, dict[str, Any]]) -> None:
    readable = {file: want for file, want in expected.items() if want.get("reads")}
    assert len(readable) >= 110
    found = {file.name: differences(file, want) for file, want in readable.items()}
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_what_cannot_be_read_is_refused(expected: dict[Path, dict[str, Any]]) -> None:
    broken = [file for file, want in expected.items() if want.get("reads") is False]
    assert broken
    for file in broken:
        with pytest.raises(InputError, match="cannot be read: the file is damaged or truncated. Next: fetch it"):
            info(open_raster(file))
