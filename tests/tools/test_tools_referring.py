"""Picking one object: class words, size within a class, that there is only one, ranking without a ground size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shapely
from affine import Affine
from measured_sites import SHAPE, blobs, call, planar, site_on

from swath.errors import Refused, UnknownClass
from swath.raster.grid import Grid
from swath.segment.grounded.detector import usual_folder
from swath.tools.site import Site

UNKNOWN = Grid(Affine.identity(), SHAPE, None)
TANKS = [shapely.box(x, 10, x + side, 10 + side) for x, side in ((2, 3), (10, 4), (20, 5), (32, 9), (50, 12))]


def areas(site: Site, regions: Any) -> list[float]:
    return [(x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in call(site, "boxes_px", regions)]


@pytest.mark.parametrize(
    "phrase", ["storage tank", "Storage Tanks", "the storage tanks", "all silos", "a storage-tank"]
)
def test_ground_gives_the_objects_of_the_class_that_a_phrase_names(phrase: str) -> None:
    site = site_on(UNKNOWN, {"storage tank": TANKS, "ship": []})
    assert areas(site, call(site, "ground", phrase)) == [9, 16, 25, 81, 144]


def test_ground_of_a_free_phrase_says_what_would_help() -> None:
    site = site_on(UNKNOWN, {"storage tank": TANKS})
    with pytest.raises(UnknownClass) as caught:
        call(site, "ground", "the red lorry by the gate")
    assert '"red lorry by the gate" names no class of the source (painted), which knows storage tank' in str(
        caught.value
    )
    assert str(caught.value).endswith(
        f"needs the files of OWLv2 or Grounding DINO in {usual_folder()}, see docs/models.md."
    )


@pytest.mark.parametrize("grid", [UNKNOWN, planar("not square")])
def test_large_and_small_part_at_the_geometric_mean_of_the_extremes(grid: Grid) -> None:
    site = site_on(grid, {"tank": TANKS})
    tanks = call(site, "ground", "tank")
    # sqrt(9 * 144) = 36
    assert areas(site, call(site, "of_size", tanks, size="small")) == [9, 16, 25]
    assert areas(site, call(site, "of_size", tanks, size="large")) == [81, 144]
    some = call(site, "filter_regions", tanks, max_px=81)
    assert areas(site, call(site, "of_size", some, size="large", among=tanks)) == [81]
    assert areas(site, call(site, "of_size", some, size="small")) == [9, 16, 25]  # sqrt(9 * 81) = 27
    alike = call(site, "filter_regions", tanks, min_px=100)
    assert areas(site, call(site, "of_size", alike, size="large")) == []
    assert areas(site, call(site, "of_size", alike, size="large", among=tanks)) == [144]


def test_sizes_of_outlines_are_exact_without_a_ground_size() -> None:
    outlines = [shapely.box(10.1, 10, 12.9, 14), shapely.box(20.2, 10, 23.3, 14)]  # 11.2 and 12.4 px, 12 pixels each
    site = site_on(UNKNOWN, {"car": outlines})
    cars = call(site, "ground", "car")
    assert cars.column("sizes_px").tolist() == [12, 12]
    assert call(site, "boxes_px", call(site, "largest", cars)) == [[20.2, 10, 23.3, 14]]


def test_only_is_the_one_or_a_refusal() -> None:
    site = site_on(UNKNOWN, {"tank": TANKS})
    tanks = call(site, "ground", "tank")
    assert areas(site, call(site, "only", call(site, "smallest", tanks))) == [9]
    with pytest.raises(
        Refused, match="There are 5 tank, not one, so that it is not clear which is meant. Next: say which"
    ):
        call(site, "only", tanks)
    with pytest.raises(Refused, match="There is no large smallest tank in the image"):
        call(site, "only", call(site, "of_size", call(site, "smallest", tanks), size="large"))


def test_nearest_and_farthest_rank_without_a_ground_size_as_with_square_pixels() -> None:
    paintings = {"tree": blobs(seed=3), "water": blobs(seed=4, share=0.05)}
    known, unknown = site_on(planar("square"), paintings), site_on(UNKNOWN, paintings)
    for tool in ("nearest", "farthest"):
        found = [
            call(site, "boxes_px", call(site, tool, call(site, "ground", "tree"), call(site, "segment", "water"), n=9))
            for site in (known, unknown)
        ]
        assert found[0] == found[1]
    with pytest.raises(Refused):
        call(unknown, "distances_m", call(unknown, "ground", "tree"), call(unknown, "segment", "water"))
    with pytest.raises(Refused):
        call(unknown, "distance_m", call(unknown, "ground", "tree"), call(unknown, "segment", "water"))
    assert len(np.unique(found[0], axis=0)) == 9
