"""Heights on the image's grid: alignment, gaps, units, datums, and every broken input in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine
from height_files import AFFINE, UTM, image, plane, write_heights
from numpy.typing import NDArray

from swath.errors import InputError, Refused
from swath.raster.height_raster import HeightRaster
from swath.raster.heights import Heights, open_heights


def says(kind: type[Exception], *parts: str) -> Any:
    return pytest.raises(kind, match="".join(parts))


FEET = pyproj.CRS.from_epsg(2994)


def opened(folder: Path, **files: Path) -> Heights:
    heights = open_heights(files, image(folder))  # type: ignore[arg-type]
    assert heights is not None
    return heights


def surface(folder: Path, heights: NDArray[Any], **how: Any) -> HeightRaster:
    return opened(folder, dem=write_heights(folder / "dem.tif", heights, **how)).surface("dem")


def test_on_the_image_s_own_grid_heights_are_as_stored(tmp_path: Path) -> None:
    stored = np.random.default_rng(0).normal(300, 20, (20, 30)).astype(np.float32)
    found = surface(tmp_path, stored)
    np.testing.assert_array_equal(found.heights, stored)
    assert found.method == "dem dem.tif on the image's own grid"


def test_no_raster_means_no_heights(tmp_path: Path) -> None:
    assert open_heights({}, image(tmp_path)) is None


@pytest.mark.parametrize("cell", [0.5, 1.0, 3.0, 7.0])
def test_a_plane_of_any_resolution_stays_that_plane(tmp_path: Path, cell: float) -> None:
    affine = AFFINE @ Affine.translation(-10, -10) @ Affine.scale(cell / 2)
    shape = (round(80 / cell), round(100 / cell))
    steep = plane(AFFINE, (20, 30), 0.25, -0.5)
    x0, y0 = affine.c - AFFINE.c, affine.f - AFFINE.f
    found = surface(tmp_path, plane(affine, shape, 0.25, -0.5, 100 + 0.25 * x0 - 0.5 * y0), affine=affine)
    np.testing.assert_allclose(found.heights, steep, atol=1e-6)


def test_another_crs_is_brought_onto_the_image_s_grid(tmp_path: Path) -> None:
    other = pyproj.CRS.from_epsg(32634)
    to_other = pyproj.Transformer.from_crs(UTM, other, always_xy=True)
    x, y = to_other.transform(500_030, 4_999_980)
    affine = Affine(5, 0, x - 100, 0, -5, y + 100)
    found = surface(tmp_path, plane(affine, (40, 40), 0.2, 0.1), affine=affine, crs=other)
    rows, cols = np.indices((20, 30)) + 0.5
    east, north = to_other.transform(*(AFFINE @ (cols, rows)))
    np.testing.assert_allclose(found.heights, 100 + 0.2 * (east - affine.c) + 0.1 * (north - affine.f), atol=2e-4)
    assert found.method == "dem dem.tif (EPSG:32634) onto the image's grid: bilinear, gaps kept"


def test_a_finer_raster_is_averaged_under_each_pixel(tmp_path: Path) -> None:
    fine = np.random.default_rng(1).normal(50, 5, (80, 120))
    found = surface(tmp_path, fine, affine=AFFINE @ Affine.scale(0.25))
    np.testing.assert_allclose(found.heights, fine.reshape(20, 4, 30, 4).mean(axis=(1, 3)))
    assert "mean of 4 x 4 cells, then bilinear" in found.method


def test_gaps_neither_grow_nor_shrink_and_never_bleed(tmp_path: Path) -> None:
    coarse = np.full((10, 15), 40.0, dtype=np.float32)
    coarse[3:5, 4:7] = -9999
    found = surface(tmp_path, coarse, affine=AFFINE @ Affine.scale(2), nodata=-9999)
    gap = np.zeros((20, 30), dtype=bool)
    gap[6:10, 8:14] = True
    np.testing.assert_array_equal(np.isnan(found.heights), gap)
    assert np.all(found.heights[~gap] == 40)


@pytest.mark.parametrize("gap", [-9999.0, -32768.0, -99999.0, 3.4028234663852886e38, np.nan, np.inf])
def test_an_undeclared_gap_is_no_height(tmp_path: Path, gap: float) -> None:
    stored = np.full((20, 30), 12.5, dtype=np.float32)
    stored[2:5, 7] = gap
    found = surface(tmp_path, stored)
    assert np.count_nonzero(np.isnan(found.heights)) == 3
    assert np.nanmin(found.heights) == np.nanmax(found.heights) == 12.5
    said = f"3 cells of dem.tif hold {gap:g} undeclared; they were taken as nodata."
    assert (said in found.cells.notes) == (gap in (-9999, -32768, -99999))


def test_feet_become_metres_wherever_they_are_stated(tmp_path: Path) -> None:
    ten = np.full((20, 30), 10.0, dtype=np.float32)
    compound = pyproj.CRS("EPSG:32633+6360")  # NAVD88 height in US survey feet
    international = surface(tmp_path, ten, unit="ft")
    assert international.heights[0, 0] == pytest.approx(3.048)
    assert international.cells.notes == ()
    assert surface(tmp_path, ten, tags={"VERTICAL_UNITS": "US survey foot"}).heights[0, 0] == pytest.approx(3.0480061)
    by_crs = surface(tmp_path, ten, crs=compound)
    assert by_crs.heights[0, 0] == pytest.approx(3.0480061)
    assert by_crs.vertical.datum == "NAVD88"
    assert "own grid" in by_crs.method


def test_a_silent_unit_is_metres_and_says_so(tmp_path: Path) -> None:
    ten = np.full((20, 30), 10.0, dtype=np.float32)
    assert surface(tmp_path, ten).cells.notes == ("dem.tif states no vertical unit: its heights were taken as metres.",)
    affine = Affine(6, 0, 636_000, 0, -6, 849_000)
    feet = open_heights({"dem": write_heights(tmp_path / "f.tif", ten, affine=affine, crs=FEET)},
                        image(tmp_path, affine=affine, crs=FEET))  # fmt: skip
    assert feet is not None
    assert feet.surface("dem").cells.notes == (
        "f.tif states no vertical unit: its heights were taken as metres.",
        "The CRS of f.tif counts in foot: its heights may be feet too, which would make the answer wrong. "
        "Next: say the unit with --vertical-unit ft (or m).",
    )


def test_a_unit_that_was_said_holds_for_silent_files_alone(tmp_path: Path) -> None:
    ten = np.full((20, 30), 10.0, dtype=np.float32)
    silent, stated = write_heights(tmp_path / "s.tif", ten), write_heights(tmp_path / "f.tif", ten, unit="feet")

    def heights_in(path: Path, unit: str) -> HeightRaster:
        heights = open_heights({"dem": path}, image(tmp_path), unit=unit)
        assert heights is not None
        return heights.surface("dem")

    for unit, metres in (("ft", 3.048), ("US survey foot", 10 * 1200 / 3937), ("m", 10), (" CM ", 0.1)):
        found = heights_in(silent, unit)
        assert found.heights[0, 0] == pytest.approx(metres, rel=1e-7)
        assert found.cells.notes == (f"s.tif states no vertical unit: --vertical-unit says {unit}.",)
        assert found.describe()["unit"] == unit
    for unit in ("ft", "us-ft"):  # 2e-6 apart
        assert heights_in(stated, unit).heights[0, 0] == pytest.approx(3.048, rel=1e-7)
        assert heights_in(stated, unit).cells.notes == ()
    with says(
        InputError,
        r"f\.tif states its heights in feet, but --vertical-unit says m\. Next: leave ",
        r"--vertical-unit out, or correct the file \(gdal_edit\.py -units\) where it is wrong\.",
    ):
        heights_in(stated, "m")
    for path in (silent, stated):
        with says(InputError, r'--vertical-unit takes a unit of height, such as m, ft or us-ft, not "parsec"\.'):
            heights_in(path, "parsec")


def test_scale_and_offset_count(tmp_path: Path) -> None:
    import rasterio

    path = write_heights(tmp_path / "dem.tif", np.full((20, 30), 1234, dtype=np.int16), unit="m")
    with rasterio.open(path, "r+") as dataset:
        dataset.scales, dataset.offsets = [0.1], [-100.0]
    assert opened(tmp_path, dem=path).surface("dem").heights[5, 5] == pytest.approx(23.4)


def pair(folder: Path, dsm: NDArray[Any], dtm: NDArray[Any], **dtm_how: Any) -> Heights:
    return opened(
        folder,
        dsm=write_heights(folder / "dsm.tif", dsm, unit="m", tags={"VERTICAL_DATUM": "NAVD88 height"}),
        dtm=write_heights(folder / "dtm.tif", dtm, **dtm_how),
    )


GROUND = np.full((20, 30), 80.0, dtype=np.float32)


def test_heights_above_ground_are_dsm_minus_dtm_or_the_ndsm(tmp_path: Path) -> None:
    roof = GROUND.copy()
    roof[5:9, 5:9] += 7.5
    found = pair(tmp_path, roof, GROUND, unit="m", tags={"VERTICAL_DATUM": "EPSG:5703 NAVD88"}).above_ground
    np.testing.assert_array_equal(found.heights, roof - GROUND)
    assert (found.source, found.notes) == ("DSM dsm.tif - DTM dtm.tif", ())
    ndsm = opened(tmp_path, ndsm=write_heights(tmp_path / "n.tif", roof - GROUND, unit="m")).above_ground
    np.testing.assert_array_equal(ndsm.heights, roof - GROUND)


def test_a_gap_in_either_surface_is_a_gap(tmp_path: Path) -> None:
    dsm, dtm = GROUND.copy(), GROUND.copy()
    dsm[0, 0], dtm[1, 1] = np.nan, -9999
    heights = pair(tmp_path, dsm, dtm, unit="m", nodata=-9999).above_ground.heights
    assert np.argwhere(np.isnan(heights)).tolist() == [[0, 0], [1, 1]]


def test_other_datums_are_refused(tmp_path: Path) -> None:
    heights = pair(tmp_path, GROUND, GROUND, unit="m", tags={"VERTICAL_DATUM": "EGM2008"})
    with says(
        Refused,
        r"dsm\.tif counts heights from NAVD88, dtm\.tif from EGM2008: their difference is ",
        r"no height above ground\. Next: bring both to one vertical datum\.",
    ):
        _ = heights.above_ground


def test_a_datum_that_one_alone_states_is_said(tmp_path: Path) -> None:
    notes = pair(tmp_path, GROUND, GROUND, unit="m").above_ground.notes
    assert notes == ("dtm.tif states no vertical datum; it was taken to be that of dsm.tif, NAVD88.",)


def test_two_stated_units_are_converted_and_a_silent_one_beside_feet_is_refused(tmp_path: Path) -> None:
    both = pair(tmp_path, GROUND + 3, GROUND / 0.3048, unit="ft", tags={"VERTICAL_DATUM": "NAVD88"})
    np.testing.assert_allclose(both.above_ground.heights, 3, atol=1e-4)
    dsm = write_heights(tmp_path / "a.tif", GROUND / 0.3048, unit="ft")
    dtm = write_heights(tmp_path / "b.tif", GROUND)
    with says(
        Refused,
        r"a\.tif is in ft, b\.tif states no vertical unit: whether both are in one unit is ",
        r"not known\. Next: say it with --vertical-unit\.",
    ):
        _ = opened(tmp_path, dsm=dsm, dtm=dtm).above_ground
    both = open_heights({"dsm": dsm, "dtm": dtm}, image(tmp_path), unit="ft")
    assert both is not None
    np.testing.assert_allclose(both.above_ground.heights, 80 - 80 * 0.3048, rtol=1e-5)


def test_units_that_nobody_states_are_caught_by_their_difference(tmp_path: Path) -> None:
    heights = pair(tmp_path, GROUND / 0.3048, GROUND, tags={"VERTICAL_DATUM": "NAVD88"})
    with pytest.raises(
        Refused, match=r"dsm\.tif is nowhere near dtm\.tif: most of it lies 182 m above it\. Next: check"
    ):
        _ = heights.above_ground
    with says(Refused, r"dsm\.tif is nowhere near the ground: most of it lies 150 m above it"):
        _ = opened(tmp_path, ndsm=write_heights(tmp_path / "dsm.tif", GROUND + 70)).above_ground


def test_a_dsm_below_its_dtm_beyond_noise_is_a_warning_with_its_share(tmp_path: Path) -> None:
    low = GROUND.copy()
    low[:3, :10] -= 2  # 30 of 600 pixels
    low[10, 10] -= 0.4
    same = {"unit": "m", "tags": {"VERTICAL_DATUM": "NAVD88"}}
    notes = pair(tmp_path, low, GROUND, **same).above_ground.notes
    assert notes == ("The DSM lies more than 0.5 m below the DTM at 5 % of the pixels.",)
    paths = {"dsm": tmp_path / "dsm.tif", "dtm": tmp_path / "dtm.tif"}
    rough = open_heights(paths, image(tmp_path), accuracy_m=1.5)  # type: ignore[arg-type]
    assert rough is not None
    assert rough.above_ground.notes == ()


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    alone = opened(tmp_path, dsm=write_heights(tmp_path / "dsm.tif", GROUND))
    with says(
        Refused,
        r"Heights above ground need a first surface and bare earth; --dsm is given\. Next: ",
        r"give --ndsm FILE, or --dsm FILE and --dtm FILE\.",
    ):
        _ = alone.above_ground
    assert alone.surface("auto").surface == "dsm"
    with says(Refused, r"The bare earth \(DTM\) is not given; --dsm is\. Next: give --dtm FILE\."):
        alone.surface("dtm")
    flat = opened(tmp_path, ndsm=write_heights(tmp_path / "n.tif", GROUND - 80))
    with says(Refused, r"Elevations need a surface; --ndsm is\. Next: give --dem FILE or --dtm FILE"):
        flat.surface("auto")


def test_no_height_anywhere_is_refused(tmp_path: Path) -> None:
    empty = np.full((20, 30), -9999, dtype=np.float32)
    with says(
        Refused,
        r"No cell of dem\.tif under the image holds a height: all are nodata\. Next: give ",
        r"another file as --dem\.",
    ):
        _ = surface(tmp_path, empty, nodata=-9999).heights
    left, right = GROUND.copy(), GROUND.copy()
    left[:, :15], right[:, 15:] = np.nan, np.nan
    with says(Refused, r"Nowhere in the image do both dsm\.tif and dtm\.tif hold a height\."):
        _ = pair(tmp_path, left, right, unit="m").above_ground


def test_another_place_is_an_error_that_names_both(tmp_path: Path) -> None:
    away = AFFINE @ Affine.translation(5000, 0)
    with says(
        InputError,
        r"The heights do not overlap the image: dem\.tif covers x 510000 to 510060.*; ",
        r"image\.tif covers x 500000 to 500060.*Next: give heights of the same",
    ):
        surface(tmp_path, GROUND, affine=away)


def test_without_a_crs_only_equal_shapes_belong_together(tmp_path: Path) -> None:
    assert surface(tmp_path, GROUND, crs=None).heights.shape == (20, 30)
    with says(InputError, r"dem\.tif names no CRS, .*Next: give heights of the image's shape, or files"):
        surface(tmp_path, GROUND[:10], crs=None)


def test_what_cannot_be_heights_is_one_sentence(tmp_path: Path) -> None:
    with says(InputError, r"dem\.tif holds 3 bands, but a terrain \(DEM\) is one band of numbers\."):
        surface(tmp_path, np.zeros((3, 20, 30), dtype=np.uint8))
    with says(InputError, r'dem\.tif states its values in "degree", which is no unit of height'):
        surface(tmp_path, GROUND, unit="degree")
    with says(InputError, r"A vertical accuracy of -1 m is not possible\. Next: state metres above 0\."):
        open_heights({"dem": tmp_path / "dem.tif"}, image(tmp_path), accuracy_m=-1)


def test_one_pixel_has_a_height_and_no_slope(tmp_path: Path) -> None:
    path = write_heights(tmp_path / "dem.tif", np.full((1, 1), 42.0, dtype=np.float32))
    heights = open_heights({"dem": path}, image(tmp_path, (1, 1)))
    assert heights is not None
    found = heights.surface("dem")
    assert found.heights.tolist() == [[42.0]]
    assert np.isnan(found.gradient[0]).all()


def test_what_was_given_is_described(tmp_path: Path) -> None:
    import hashlib

    path = write_heights(tmp_path / "dem.tif", GROUND, unit="m", tags={"VERTICAL_DATUM": "EGM96 geoid"})
    said = opened(tmp_path, dem=path).describe()
    assert said["rasters"]["dem"] == {
        "path": str(path),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "unit": "m",
        "datum": "EGM96",
        "method": "dem dem.tif on the image's own grid",
    }
