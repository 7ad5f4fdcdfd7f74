"""Facts of the image."""

from __future__ import annotations

import numpy as np
import pytest
from measured_sites import SHAPE, UTM, blobs, call, planar, site_on

from swath.errors import Refused
from swath.raster.grid import Grid


def test_facts_of_the_image() -> None:
    valid = blobs(share=0.7)
    site = site_on(planar("not square"), {"water": valid}, valid)
    assert call(site, "image_size_px", axis="width") == 80
    assert call(site, "image_size_px", axis="height") == 60
    assert call(site, "pixel_size_m") == pytest.approx(0.65)
    assert call(site, "band_count") == 1
    assert call(site, "valid_percent") == pytest.approx(100 * valid.mean())
    assert call(site, "image_area_m2") == pytest.approx(valid.sum() * 0.4)


def test_the_size_of_a_pixel_is_stated_or_refused() -> None:
    affine = planar("square").affine
    stated = site_on(Grid(affine, SHAPE, None, stated_gsd_m=0.25), {"water": np.ones(SHAPE, dtype=bool)})
    assert call(stated, "pixel_size_m") == pytest.approx(0.25)
    assert call(stated, "image_area_m2") == pytest.approx(4800 * 0.0625)
    for tool in ("pixel_size_m", "image_area_m2"):
        with pytest.raises(Refused, match="^Metres cannot be measured: the file names no CRS"):
            call(site_on(Grid(affine, SHAPE, None), {}), tool)


def test_a_stated_size_scales_pixels_that_are_not_square_by_their_mean() -> None:
    site = site_on(Grid(planar("not square").affine, SHAPE, UTM, stated_gsd_m=1.3), {})
    assert call(site, "pixel_size_m") == pytest.approx(1.3)
    assert call(site, "image_area_m2") == pytest.approx(4800 * 1.0 * 1.6)
