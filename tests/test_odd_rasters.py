"""`swath info` on 110 odd rasters: what expected.json says, or one clear sentence, never a wrong size."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from swath.cli import swath
from swath.errors import SwathError

SIZE_TOLERANCE, VALID_TOLERANCE = 0.005, 0.002


def faults_of(file: Path, want: dict[str, Any]) -> list[str]:
    result = CliRunner().invoke(swath, ["info", str(file), "--json"], standalone_mode=False)
    if result.exception is not None:
        refused = isinstance(result.exception, SwathError) and result.exception.exit_status == 2
        unreadable = not want.get("opens", True) or want.get("reads") is not True
        return [] if refused and unreadable else [f"{type(result.exception).__name__}: {result.exception}"]
    got = json.loads(result.output)
    return [*size_faults(got["pixel_size_m"], want), *valid_faults(got["valid_fraction"], want)]


def size_faults(got: dict[str, float] | None, want: dict[str, Any]) -> list[str]:
    expected = want.get("gsd_m")
    if expected is None:
        return [f"a size of {got} where none can be known"] if got and not want.get("gsd_from") else []
    if got is None:
        return [f"no size where {expected} is right"]
    pairs = zip((got["x"], got["y"]), expected, strict=True)
    return [f"{mine} m for {theirs} m" for mine, theirs in pairs if abs(mine - theirs) > SIZE_TOLERANCE * theirs]


def valid_faults(got: float, want: dict[str, Any]) -> list[str]:
    declared = [want[key] for key in ("valid_fraction", "band1_valid_fraction") if want.get(key) is not None]
    close = any(abs(got - value) <= VALID_TOLERANCE for value in declared)
    return [] if close or not declared else [f"{got} valid for {declared}"]


def test_every_odd_raster_is_read_right_or_refused(shared_data: Path) -> None:
    folder = shared_data / "odd_geotiffs"
    files = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["files"]
    found = {name: faults_of(folder / name, want) for name, want in files.items()}
    assert len(found) >= 110
    assert {name: faults for name, faults in found.items() if faults} == {}


def test_the_comparison_can_fail() -> None:
    assert size_faults({"x": 1.0, "y": 1.0}, {"gsd_m": [2.0, 1.0]})
    assert size_faults({"x": 1.0, "y": 1.0}, {"gsd_m": None})
    assert valid_faults(0.5, {"valid_fraction": 1.0})
