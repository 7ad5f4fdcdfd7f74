"""Where files say that they lie: control points, RPCs, CRSs that are missing, local or beyond reading."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rasterio
from affine import Affine
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, TiffTags
from PIL.TiffImagePlugin import ImageFileDirectory_v2
from rasterio.control import GroundControlPoint

from swath.errors import InputError
from swath.raster.geokeys import declares_crs
from swath.raster.georef import GCP_RMS_LIMIT_PX, fit_affine
from swath.raster.reader import Raster, open_raster

TRUTH = Affine(0.001, 0.0002, 10, 0.0001, -0.0012, 50)
PIXELS = [(0, 0), (80, 0), (0, 60), (80, 60), (40, 30), (10, 50)]


def with_points(path: Path, points: Sequence[tuple[float, float, float, float]], crs: str = "EPSG:4326") -> Raster:
    """An image of 60 x 80 pixels located by (column, row, x, y) alone."""
    gcps = [GroundControlPoint(row=row, col=col, x=x, y=y) for col, row, x, y in points]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        profile = {"driver": "GTiff", "count": 1, "height": 60, "width": 80, "dtype": "uint8"}
        with rasterio.open(path, "w", gcps=gcps, crs=crs, **profile) as dataset:
            dataset.write(np.ones((1, 60, 80), dtype=np.uint8))
    return open_raster(path)


def on_grid(jitter_px: float = 0.0, grid: Affine = TRUTH) -> list[tuple[float, float, float, float]]:
    signs = [1, -1, -1, 1, 1, -1]
    moved = [(col + sign * jitter_px, row) for (col, row), sign in zip(PIXELS, signs, strict=True)]
    return [(*pixel, *(grid @ place)) for pixel, place in zip(PIXELS, moved, strict=True)]


def test_points_that_lie_on_a_grid_give_it(tmp_path: Path) -> None:
    raster = with_points(tmp_path / "a.tif", on_grid())
    assert tuple(raster.grid.affine)[:6] == pytest.approx(tuple(TRUTH)[:6])
    assert raster.grid.crs_name == "EPSG:4326"
    x, y = raster.grid.require_ground().size_xy_m
    assert (x, y) == pytest.approx((np.hypot(71.6, 11.1), np.hypot(14.3, 133.5)), rel=0.01)
    assert "The ground size is approximate: it comes from an affine grid fitted to 6 ground control points" in str(
        raster.warnings
    )


def test_points_that_hardly_fit_give_a_size_and_their_misfit(tmp_path: Path) -> None:
    raster = with_points(tmp_path / "a.tif", on_grid(jitter_px=1.5))
    assert raster.grid.ground is not None
    assert "(rms 1.5 px)" in raster.warnings[0]


def test_points_that_do_not_fit_give_none_and_the_reason(tmp_path: Path) -> None:
    raster = with_points(tmp_path / "a.tif", on_grid(jitter_px=9))
    assert raster.grid.ground is None
    wanted = "an affine grid fitted to 6 ground control points (rms 8.5 px) is off by more than 3 px"
    assert raster.grid.why_no_ground == wanted
    assert GCP_RMS_LIMIT_PX == 3


@pytest.mark.parametrize("points", [on_grid()[:2], [(i, i, 10 + i, 50 - i) for i in range(5)]])
def test_points_that_span_no_area(tmp_path: Path, points: list[Any]) -> None:
    raster = with_points(tmp_path / "a.tif", points)
    assert raster.grid.why_no_ground == f"the {len(points)} ground control points do not span an area"


def test_three_points_cannot_check_each_other(tmp_path: Path) -> None:
    raster = with_points(tmp_path / "a.tif", on_grid()[:3])
    assert raster.warnings[0].endswith(", too few to check it.")


def test_points_on_both_sides_of_the_antimeridian(tmp_path: Path) -> None:
    grid = Affine(0.001, 0, 179.96, 0, -0.001, 50)
    here = [(col, row, x if x <= 180 else x - 360, y) for col, row, x, y in on_grid(grid=grid)]
    away = Affine(0.001, 0, 10, 0, -0.001, 50)
    wanted = with_points(tmp_path / "b.tif", on_grid(grid=away)).grid.require_ground().size_xy_m
    assert with_points(tmp_path / "a.tif", here).grid.require_ground().size_xy_m == pytest.approx(wanted)


def test_points_off_the_earth(tmp_path: Path) -> None:
    raster = with_points(tmp_path / "a.tif", on_grid(grid=Affine(1000, 0, 157_168, 0, -1000, 2_818_194)))
    assert raster.grid.why_no_ground == "the image centre lies outside the area where its CRS is defined"


@given(st.lists(st.floats(-5, 5), min_size=6, max_size=6), st.floats(-80, 80))
def test_the_fit_is_the_least_squares_one(noise: list[float], turn: float) -> None:
    truth = Affine.translation(500_000, 5_000_000) @ Affine.rotation(turn) @ Affine.scale(10, -12)
    pixels = np.array(PIXELS, dtype=float)
    world = np.array([truth @ tuple(pixel) for pixel in pixels]) + np.array(noise)[:, None]
    fit = fit_affine(pixels, world)
    assert fit is not None
    affine, rms_px = fit
    residual = world - np.array([affine @ tuple(pixel) for pixel in pixels])
    design = np.column_stack([pixels, np.ones(6)])
    np.testing.assert_allclose(design.T @ residual, 0, atol=1e-4)
    in_pixels = np.array([~affine @ tuple(place) for place in world]) - pixels
    assert rms_px == pytest.approx(np.sqrt((in_pixels**2).sum(axis=1).mean()), abs=1e-6)


VRT = (
    '<VRTDataset rasterXSize="80" rasterYSize="60">{head}<VRTRasterBand dataType="Byte" band="1"><SimpleSource>'
    '<SourceFilename relativeToVRT="1">plain.tif</SourceFilename></SimpleSource></VRTRasterBand></VRTDataset>'
)


@pytest.fixture
def vrt(tmp_path: Path, raster_file: Any, photo: NDArray[np.uint8]) -> Any:
    raster_file("plain.tif", photo[0])

    def write(head: str) -> Raster:
        (tmp_path / "a.vrt").write_text(VRT.format(head=head), encoding="utf-8")
        return open_raster(tmp_path / "a.vrt")

    return write


RPC = "".join(
    f'<MDI key="{key}">{value}</MDI>'
    for key, value in {
        **dict.fromkeys(("LINE_OFF", "SAMP_OFF", "HEIGHT_OFF", "LAT_OFF", "LONG_OFF"), "10"),
        **dict.fromkeys(("LINE_SCALE", "SAMP_SCALE", "HEIGHT_SCALE", "LAT_SCALE", "LONG_SCALE"), "1"),
        **dict.fromkeys(("LINE_NUM_COEFF", "LINE_DEN_COEFF", "SAMP_NUM_COEFF", "SAMP_DEN_COEFF"), " ".join(["1"] * 20)),
    }.items()
)


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("", "the file has neither a CRS nor a geotransform"),
        ("<SRS>EPSG:32633</SRS>", "the file has a CRS but no geotransform"),
        (
            "<GeoTransform>0,1,0,0,0,-1</GeoTransform>",
            "the file has no CRS, so the unit of its geotransform is unknown",
        ),
        (f'<Metadata domain="RPC">{RPC}</Metadata>', "the file is located by RPCs only, which need a height"),
        (
            '<SRS>LOCAL_CS["site",UNIT["metre",1]]</SRS><GeoTransform>0,1,0,0,0,-1</GeoTransform>',
            "the CRS is local and has no link to the ground",
        ),
        (
            '<GCPList><GCP Id="1" Pixel="0" Line="0" X="10" Y="50"/><GCP Id="2" Pixel="9" Line="0" X="11" Y="50"/>'
            '<GCP Id="3" Pixel="0" Line="9" X="10" Y="49"/></GCPList>',
            "the ground control points have no CRS that can be read",
        ),
    ],
)
def test_why_no_size_is_known(vrt: Any, head: str, reason: str) -> None:
    grid = vrt(head).grid
    assert grid.ground is None
    assert grid.why_no_ground == reason


@pytest.mark.parametrize("bigtiff", ["no", "yes"])
@pytest.mark.parametrize("endianness", ["little", "big"])
@pytest.mark.parametrize(("crs", "declared"), [("EPSG:32633", True), ("EPSG:4326", True), (None, False)])
def test_whether_a_tiff_declares_a_crs(
    raster_file: Any, photo: NDArray[np.uint8], bigtiff: str, endianness: str, crs: str | None, declared: bool
) -> None:
    path = raster_file("a.tif", photo, crs=crs, bigtiff=bigtiff, endianness=endianness)
    assert declares_crs(path) == declared


@pytest.mark.parametrize("content", [b"", b"II*\0", b"\x89PNG\r\n", b"II*\0\xff\xff\xff\xff"])
def test_what_is_no_tiff_declares_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.tif").write_bytes(content)
    assert not declares_crs(tmp_path / "a.tif")


def test_a_crs_that_is_beyond_gdal_is_not_called_missing(tmp_path: Path, photo: NDArray[np.uint8]) -> None:
    """A Mercator grid with a scale of 0 and a latitude of natural origin, for which PROJ has no WKT."""
    user_defined, mercator, degree, metre = 32767, 7, 9102, 9001
    in_doubles = [
        (2057, 3_396_190.0),
        (2059, 169.9),
        (3081, -36.0),
        (3080, 129.0),
        (3092, 0.0),
        (3082, 0.0),
        (3083, 0.0),
    ]
    keys = [(1024, 0, 1, 1), (1025, 0, 1, 1), (2048, 0, 1, user_defined), (2050, 0, 1, user_defined)]
    keys += [(2054, 0, 1, degree), (2056, 0, 1, user_defined)]
    keys += [(3072, 0, 1, user_defined), (3074, 0, 1, user_defined), (3075, 0, 1, mercator), (3076, 0, 1, metre)]
    keys += [(key, 34736, 1, i) for i, (key, _) in enumerate(in_doubles)]
    tags = ImageFileDirectory_v2()
    for tag, kind, values in (
        (33550, TiffTags.DOUBLE, (600.0, 600.0, 0.0)),
        (33922, TiffTags.DOUBLE, (0.0, 0.0, 0.0, -15_000.0, -1_800_000.0, 0.0)),
        (34735, TiffTags.SHORT, (1, 1, 0, len(keys), *(number for key in sorted(keys) for number in key))),
        (34736, TiffTags.DOUBLE, tuple(value for _, value in in_doubles)),
    ):
        tags.tagtype[tag] = kind
        tags[tag] = values
    Image.fromarray(photo[0]).save(tmp_path / "a.tif", tiffinfo=tags)
    grid = open_raster(tmp_path / "a.tif").grid
    assert grid.affine.a == 600
    assert (grid.crs, grid.why_no_ground) == (None, "the CRS of the file cannot be read")


def test_a_geotransform_wins_over_points(vrt: Any) -> None:
    points = '<GCPList Projection="EPSG:4326"><GCP Id="1" Pixel="0" Line="0" X="10" Y="50"/></GCPList>'
    grid = vrt(f"<SRS>EPSG:32633</SRS><GeoTransform>500000,10,0,5000000,0,-10</GeoTransform>{points}").grid
    assert grid.require_ground().size_xy_m == (10, 10)


def test_a_world_file_is_not_taken_for_metres(tmp_path: Path, photo: NDArray[np.uint8]) -> None:
    Image.fromarray(photo[0]).save(tmp_path / "a.png")
    (tmp_path / "a.pgw").write_text("0.5\n0\n0\n-0.5\n100\n200\n", encoding="utf-8")
    grid = open_raster(tmp_path / "a.png").grid
    assert grid.affine.a == 0.5
    assert grid.why_no_ground == "the file has no CRS, so the unit of its geotransform is unknown"


def test_print_resolution_and_camera_position_are_not_taken_for_metres(
    tmp_path: Path, photo: NDArray[np.uint8]
) -> None:
    image = Image.fromarray(photo.transpose(1, 2, 0))
    exif = image.getexif()
    exif.get_ifd(0x8825).update({1: "N", 2: (50.0, 0.0, 0.0), 3: "E", 4: (10.0, 0.0, 0.0), 6: 120.0})
    image.save(tmp_path / "a.jpg", exif=exif, dpi=(300, 300))
    Image.fromarray(photo[0]).save(tmp_path / "a.tif", dpi=(300, 300))
    for name in ("a.jpg", "a.tif"):
        grid = open_raster(tmp_path / name).grid
        assert grid.why_no_ground == "the file has neither a CRS nor a geotransform"


def test_an_ascii_grid_by_cell_centres_with_unequal_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.asc"
    header = "ncols 4\nnrows 2\nxllcenter 500001\nyllcenter 201.5\ndx 2\ndy 3\nNODATA_value -9999\n"
    path.write_text(header + "1 2 3 4\n5 -9999 7 8\n", encoding="utf-8")
    raster = open_raster(path)
    assert tuple(raster.grid.affine)[:6] == (2, 0, 500_000, 0, -3, 206)
    assert raster.grid.ground is None
    assert raster.valid().tolist() == [[True] * 4, [True, False, True, True]]
    (tmp_path / "a.prj").write_text(rasterio.CRS.from_epsg(32633).to_wkt(), encoding="utf-8")
    assert open_raster(path).grid.require_ground().pixel_area_m2 == 6


@pytest.mark.parametrize("gsd_m", [0, -1.0, float("nan"), float("inf"), 1e-308, 1e308])
def test_an_impossible_stated_size(raster_file: Any, photo: NDArray[np.uint8], gsd_m: float) -> None:
    with pytest.raises(InputError, match=r"is not possible\. Next: state a number of metres from 1e-06 to 1e\+07\."):
        open_raster(raster_file("a.tif", photo), gsd_m=gsd_m)


def test_a_stated_size_that_clashes_is_a_warning(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    raster = open_raster(raster_file("a.tif", photo), gsd_m=0.5)
    assert raster.grid.require_ground().size_xy_m == pytest.approx((0.5, 0.5))
    assert "although the file's georeferencing says 10 x 10 m" in raster.warnings[0]


def test_degrees_in_a_file_that_says_utm_are_a_warning(raster_file: Any, photo: NDArray[np.uint8]) -> None:
    path = raster_file("a.tif", photo, transform=Affine(1e-4, 0, 15, 0, -1e-4, 50))
    (sentence,) = open_raster(path).warnings
    assert sentence == (
        "By the file's CRS, EPSG:32633, a pixel measures 9.97e-05 x 9.97e-05 m: the CRS may be a wrong one."
    )
