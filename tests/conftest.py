"""Fixtures that every room's tests share."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine
from dask_cluster import Cluster, dask_cluster
from hypothesis import HealthCheck, settings

from swath.raster.grid import Grid
from swath.raster.write import write_array

# No test is timed: how long an example takes depends on what else the machine does.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# What one test finds is not remembered for another: a folder below a file cannot be made.
os.environ["SWATH_CACHE"] = str(Path(__file__) / "none")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real imagery beside the repository; tests that need it say so when it is not there."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the folder ../shared/data with real imagery is not beside this checkout")
    return folder


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A Dask scheduler and two workers."""
    pytest.importorskip("distributed", reason="needs the extra cluster")
    with dask_cluster(tmp_path) as started:
        yield started


@pytest.fixture(scope="session")
def shared_questions() -> Path:
    """The public sample of questions beside the repository."""
    folder = SHARED / "questions"
    if not folder.is_dir():
        pytest.skip("the folder ../shared/questions is not beside this checkout")
    return folder


@dataclass(frozen=True)
class Village:
    """A class raster that is its own image: 200 x 300 pixels of 0.5 m in UTM, its legend, and what is true of it.

    Twelve houses of 10 x 16 pixels (40 m2) stand in rows; three of them lie 4 m (8 pixels, centre to centre) east of a
    canal 20 pixels wide; the rest is grass. The last two rows are void.
    """

    image: Path
    legend: Path
    options: dict[str, Any]
    houses: int = 12
    house_m2: float = 40.0
    near_canal: int = 3
    canal_m2: float = 198 * 20 * 0.25
    valid_px: int = 198 * 300


@pytest.fixture(scope="session")
def village(tmp_path_factory: pytest.TempPathFactory) -> Village:
    """A painted scene whose areas, counts and distances are known in closed form."""
    folder = tmp_path_factory.mktemp("village")
    classes = np.full((200, 300), 3, dtype=np.uint8)
    classes[:, 20:40] = 2
    for row in (20, 80, 140):
        for col in (47, 110, 180, 250):
            classes[row : row + 10, col : col + 16] = 1
    classes[198:] = 0
    image, legend = folder / "village.tif", folder / "legend.json"
    grid = Grid(Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000), classes.shape, pyproj.CRS(32631))
    write_array(image, classes, grid)
    legend.write_text(json.dumps({"1": "building", "2": "water", "3": "grass"}), encoding="utf-8")
    return Village(image, legend, {"labels": image, "legend": legend})
