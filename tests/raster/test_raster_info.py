"""`info`: what a person or a script learns about a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from affine import Affine
from numpy.typing import NDArray

from swath.raster import info as info_module
from swath.raster.info import info
from swath.raster.reader import open_raster

VRT_HUGE = (
    '<VRTDataset rasterXSize="2000000" rasterYSize="1000000"><SRS>EPSG:32633</SRS><GeoTransform>0,1,0,0,0,-1'
    '</GeoTransform><VRTRasterBand dataType="Byte" band="1"><NoDataValue>0</NoDataValue><SimpleSource><SourceFilename '
    'relativeToVRT="1">a.tif</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>'
)


def test_the_facts_of_a_plain_file(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    photo[:, :6] = 0
    path = raster_file("a.tif", photo, photometric="rgb", nodata=0, tiled=True, blockxsize=16, blockysize=32)
    facts = info(open_raster(path))
    assert facts == {
        "path": str(path),
        "driver": "GTiff",
        "shape": [60, 80],
        "bands": 3,
        "dtypes": ["uint8"] * 3,
        "complex": False,
        "crs": "EPSG:32633",
        "crs_description": "WGS 84 / UTM zone 33N",
        "affine": [10, 0, 500_000, 0, -10, 5_000_000],
        "bounds": [500_000, 4_999_400, 500_800, 5_000_000],
        "north": "up",
        "pixel_size_m": {"x": 10, "y": 10},
        "pixel_size_reason": None,
        "pixel_size_method": "planar in EPSG:32633",
        "pixel_size_varies": False,
        "pixel_area_m2": 100,
        "nodata": [0, 0, 0],
        "valid_fraction": 0.9,
        "measured_fraction": 0.9,
        "valid_fraction_estimated": False,
        "band_roles": {"red": 1, "green": 2, "blue": 3},
        "band_descriptions": [None] * 3,
        "colorinterp": ["red", "green", "blue"],
        "scales": [1.0] * 3,
        "offsets": [0.0] * 3,
        "palette": None,
        "categories": {},
        "file_bytes": path.stat().st_size,
        "compression": None,
        "block_shape": [32, 16],
        "tiled": True,
        "overviews": [],
        "subdatasets": [],
        "units": [None] * 3,
        "warnings": [],
    }


@pytest.mark.parametrize(
    ("affine", "crs"),
    [
        (Affine(10, 0, 500_000, 0, -10, 5_000_000), "EPSG:32633"),
        (Affine(float("inf"), 0, 0, 0, -1, 0), None),
        (None, None),
    ],
)
def test_the_facts_are_strict_json(raster_file: Any, affine: Affine | None, crs: str | None) -> None:
    values = np.array([[np.nan, np.inf, 1]], dtype=np.float32)
    facts = info(open_raster(raster_file("a.tif", values, transform=affine, crs=crs, nodata=float("-inf"))))
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["nodata"] == ["-inf"]


def test_no_size_has_a_reason(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    facts = info(open_raster(raster_file("a.tif", photo, crs=None)))
    assert (facts["pixel_size_m"], facts["pixel_area_m2"], facts["crs"]) == (None, None, None)
    assert facts["pixel_size_reason"] == "the file has no CRS, so the unit of its geotransform is unknown"


def test_a_size_that_varies_says_so(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    affine = Affine(0.05, 0, 10, 0, -0.05, 60)
    facts = info(open_raster(raster_file("a.tif", photo, crs="EPSG:4326", transform=affine)))
    assert facts["pixel_size_varies"]
    assert facts["pixel_size_method"] == "geodesic on the ellipsoid of EPSG:4326, pixel by pixel"


def test_no_valid_pixel_is_a_warning(raster_file: Any) -> None:
    facts = info(open_raster(raster_file("a.tif", np.zeros((4, 5), dtype=np.uint8), nodata=0)))
    assert facts["valid_fraction"] == 0
    assert facts["warnings"] == ["No pixel is valid."]


def test_a_huge_declared_raster_is_estimated(tmp_path: Path, raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster_file("a.tif", photo)
    path = tmp_path / "huge.vrt"
    path.write_text(VRT_HUGE, encoding="utf-8")
    facts = info(open_raster(path))
    assert facts["valid_fraction_estimated"]
    assert facts["warnings"] == ["The valid share was estimated on 256 samples of a very large image."]
    assert 0 < facts["valid_fraction"] < 0.01


def test_an_estimate_is_near_the_truth(raster_file: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.ones((400, 300), dtype=np.uint8)
    values[:, :100] = 0
    path = raster_file("a.tif", values, nodata=0)
    monkeypatch.setattr(info_module, "COUNT_ALL_PX", 1000)
    monkeypatch.setattr(info_module, "SAMPLE_SIDE_PX", 5)
    assert info(open_raster(path))["valid_fraction"] == pytest.approx(2 / 3, abs=0.05)
