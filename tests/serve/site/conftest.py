"""A server on a folder of painted scenes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from affine import Affine
from click.testing import CliRunner
from running_site import Running, Served, large

from swath.cli import swath
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.serve import start
from swath.serve.folder import open_folder
from swath.serve.server import Settings

OLINDA = Path(__file__).resolve().parents[3] / "swath" / "data" / "olinda_l7.tif"
MAX_UPLOAD = 2 * 2**20


@pytest.fixture(scope="session")
def painted(tmp_path_factory: pytest.TempPathFactory, village: Any) -> Path:
    """A folder to serve: the village, the demo's scene, an image without CRS, one in a folder."""
    folder = tmp_path_factory.mktemp("served")
    shutil.copy(village.image, folder / "village.tif")
    shutil.copy(village.legend, folder / "legend.json")
    shutil.copy(OLINDA, folder / "olinda.tif")
    plain = np.arange(600 * 700, dtype=np.uint32).reshape(600, 700) % 251
    write_array(folder / "plain.tif", plain.astype(np.uint8), Grid(Affine.identity(), plain.shape))
    large(folder / "large.tif")
    (folder / "more").mkdir()
    shutil.copy(village.image, folder / "more" / "again.tif")
    return folder


@pytest.fixture(scope="session")
def served(painted: Path) -> Iterator[Served]:
    """A server on this machine's own address."""
    running = Running(
        Settings(open_folder(painted), max_upload_bytes=MAX_UPLOAD), start.address("127.0.0.1", 0, (), None)
    )
    url = f"http://127.0.0.1:{running.port}"
    with httpx.Client(base_url=url, timeout=120) as client:
        yield Served(url, painted, client)
    running.stop()


@pytest.fixture(scope="session")
def batches(painted: Path) -> list[str]:
    """Two benchmark runs in the served folder: by the second truth, two of three answers are wrong."""
    houses = {"image": "village.tif", "unit": "count", "tolerance": {"abs": 0}, "type": "count"}
    for name, truth in (("batch-a", 12), ("batch-b", 13)):
        rows = [{**houses, "id": str(number), "question": question, "answer": truth} for number, question in
                enumerate(("How many buildings are there?", "How many houses are there?"))]  # fmt: skip
        data = painted / f"{name}-data"
        data.mkdir()
        for file in ("village.tif", "legend.json"):
            shutil.copy(painted / file, data)
        (data / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        given = ["bench", "run", "questions", "--data", str(data), "--planner", "offline", "--out", str(painted / name)]
        result = CliRunner().invoke(swath, given, catch_exceptions=False)
        assert result.exit_code == 0, result.output
    return ["batch-a", "batch-b"]


@pytest.fixture(scope="session")
def hostile_image(painted: Path) -> str:
    """An image whose name is markup."""
    name = "<img src=x onerror=alert(4)>.tif"
    shutil.copy(painted / "village.tif", painted / name)
    return name
