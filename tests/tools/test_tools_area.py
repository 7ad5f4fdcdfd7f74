"""Areas, shares, outlines, densities and power, with the doubts that bracket them."""

from __future__ import annotations

import numpy as np
import pyproj
import pytest
from affine import Affine
from measured_sites import ROUND_GRIDS, SHAPE, UTM, blobs, call, disc, geographic, mercator, planar, site_on
from shapely.geometry import box

from swath.errors import Refused, ToolError
from swath.raster.grid import Grid
from swath.tools.site import Nudge, Site

WOOD = blobs(seed=4)
UNKNOWN = Grid(planar("square").affine, SHAPE, None)


def wood_site(grid: Grid, valid: np.ndarray | None = None) -> Site:
    return site_on(grid, {"wood": WOOD, "pond": disc(SHAPE, 30, 40, 12.4), "sand": WOOD & False}, valid)


@pytest.mark.parametrize(
    ("name", "pixel_m2"),
    [("square", 0.25), ("not square", 0.4), ("south-up", 0.25), ("rotated", 0.25), ("sheared", 0.32)],
)
def test_an_area_is_pixels_times_the_determinant(name: str, pixel_m2: float) -> None:
    site = wood_site(planar(name))
    assert call(site, "area_m2", call(site, "segment", "wood")) == pytest.approx(WOOD.sum() * pixel_m2)
    assert call(site, "image_area_m2") == pytest.approx(4800 * pixel_m2)


@pytest.mark.parametrize(
    ("epsg", "factor"), [(3857, 1.0), (32633, 1.0), (2263, (1200 / 3937) ** 2), (2229, (1200 / 3937) ** 2)]
)
def test_a_projected_unit_is_not_a_metre(epsg: int, factor: float) -> None:
    crs = pyproj.CRS.from_epsg(epsg)
    lon, lat = (
        0.5 * (crs.area_of_use.west + crs.area_of_use.east),
        0.5 * (crs.area_of_use.south + crs.area_of_use.north),
    )
    x, y = pyproj.Transformer.from_crs(4326, epsg, always_xy=True).transform(lon, lat if epsg != 3857 else 0.0)
    site = wood_site(Grid(Affine(2, 0, x, 0, -2, y), SHAPE, crs))
    area = call(site, "area_m2", call(site, "segment", "wood"))
    assert area == pytest.approx(WOOD.sum() * 4 * factor, rel=7e-3 if epsg == 3857 else 2e-3)


def test_web_mercator_at_60_degrees_measures_a_quarter() -> None:
    site = wood_site(mercator(metres=1.0))
    lon, lat = pyproj.Transformer.from_crs(3857, 4326, always_xy=True).transform(1_000_040, 8_399_970)
    geod, d = pyproj.Geod(ellps="WGS84"), 1e-5
    across = geod.inv(lon - d, lat, lon + d, lat)[2] / np.radians(2 * d) / 6378137
    down = geod.inv(lon, lat - d, lon, lat + d)[2] / (np.radians(2 * d) / np.cos(np.radians(lat))) / 6378137
    assert across * down == pytest.approx(0.25, abs=0.01)
    assert call(site, "area_m2", call(site, "segment", "wood")) == pytest.approx(WOOD.sum() * across * down, rel=1e-6)


def test_only_valid_pixels_count() -> None:
    valid = blobs(seed=8, share=0.7)
    site = wood_site(planar("square"), valid)
    wood = call(site, "segment", "wood")
    assert call(site, "area_px", wood) == (WOOD & valid).sum()
    assert call(site, "share_percent", wood) == pytest.approx(100 * (WOOD & valid).sum() / valid.sum())
    assert call(site, "area_px", call(site, "complement", wood)) == (~WOOD & valid).sum()
    assert call(site, "image_area_m2") == pytest.approx(valid.sum() * 0.25)
    assert call(site, "valid_percent") == pytest.approx(100 * valid.mean())


def test_a_share_needs_no_ground_size() -> None:
    site = wood_site(UNKNOWN)
    wood, pond = call(site, "segment", "wood"), call(site, "segment", "pond")
    assert call(site, "share_percent", wood) == pytest.approx(100 * WOOD.mean())
    both = (wood.pixels & pond.pixels).sum()
    assert call(site, "share_percent", wood, of=pond) == pytest.approx(100 * both / pond.size_px)
    assert call(site, "share_percent", call(site, "components", wood, min_px=20)) < call(site, "share_percent", wood)


@pytest.mark.parametrize("name", sorted(ROUND_GRIDS))
def test_a_share_is_one_of_ground_where_pixels_differ(name: str) -> None:
    grid = ROUND_GRIDS[name]() if name != "geographic" else geographic(lat=85.0, degrees=0.08)
    site = wood_site(grid)
    weights = np.broadcast_to(grid.require_ground().area_m2(slice(0, 60)), SHAPE)
    top = call(site, "image_part", part="top")
    assert call(site, "share_percent", top) == pytest.approx(100 * weights[:30].sum() / weights.sum(), rel=1e-9)
    assert abs(call(site, "share_percent", top) - 50) > 0.1
    part = call(site, "share_percent", call(site, "segment", "wood"), of=top)
    assert part == pytest.approx(100 * (weights * WOOD)[:30].sum() / weights[:30].sum(), rel=1e-9)


def test_a_share_of_nothing_has_no_value() -> None:
    site = wood_site(planar("square"))
    wood, sand = call(site, "segment", "wood"), call(site, "segment", "sand")
    assert call(site, "share_percent", sand) == 0.0
    with pytest.raises(Refused, match="^There is no sand in the image, so that a share of it has no value.$"):
        call(site, "share_percent", wood, of=sand)
    nowhere = wood_site(planar("square"), WOOD & False)
    with pytest.raises(Refused, match="^There is no valid pixel in the image"):
        call(nowhere, "share_percent", call(nowhere, "segment", "wood"))


def test_a_perimeter_is_that_of_a_circle_to_the_known_bias() -> None:
    site = site_on(planar("square", (500, 500)), {"pond": disc((500, 500), 250.2, 249.7, 200.3)})
    length = call(site, "perimeter_m", call(site, "segment", "pond"))
    assert 1.0 < length / (2 * np.pi * 200.3 * 0.5) < 1.0824
    assert length / (2 * np.pi * 200.3 * 0.5) == pytest.approx(1.0549, abs=2e-3)  # 8 (sqrt 2 - 1) / pi
    assert any("marching squares at half level" in sentence for sentence in site.warnings)


@pytest.mark.parametrize(
    ("name", "longest"),
    [("square", 1.0824), ("not square", 1.1433), ("south-up", 1.0824), ("rotated", 1.0824), ("sheared", 1.1299)],
)
def test_the_interval_of_a_perimeter_holds_straight_edges_of_any_direction(name: str, longest: float) -> None:
    """Half planes, whose true edge in the image is a straight line between its ends on the ground."""
    grid = planar(name, (400, 400))
    rows, cols = np.indices((400, 400))
    overstated = []
    for angle in np.radians(np.arange(0, 180, 5) + 0.7):
        # Endpoints on a circle of 180 pixels around the centre; only a disc of the image is valid.
        across = (rows - 199.7) * np.cos(angle) - (cols - 200.1) * np.sin(angle)
        valid = disc((400, 400), 199.7, 200.1, 180)
        ends = np.array([[np.cos(angle), np.sin(angle)], [-np.cos(angle), -np.sin(angle)]]) * 180
        step = (ends[0] - ends[1]) @ np.array([[grid.affine.a, grid.affine.d], [grid.affine.b, grid.affine.e]])
        site = site_on(grid, {"pond": across > 0}, valid)
        pond = call(site, "segment", "pond")
        low, middle = (call(site.nudged(Nudge(outline=way)), "perimeter_m", pond) for way in (-1, 0))
        assert low < np.hypot(*step) * 1.01
        overstated.append(middle / np.hypot(*step))
    assert min(overstated) > 0.98
    assert max(overstated) == pytest.approx(longest, rel=0.04)


def test_the_interval_of_a_perimeter_holds_the_true_one_of_a_rectangle() -> None:
    pixels = np.zeros(SHAPE, dtype=bool)
    pixels[10:20, 10:20] = pixels[30:34, 50:70] = True
    for of in ("segment", "components"):
        site = site_on(planar("square"), {"pond": pixels})
        low, high = (
            call(
                site.nudged(Nudge(outline=way)),
                "perimeter_m",
                call(site, "segment", "pond")
                if of == "segment"
                else call(site, "components", call(site, "segment", "pond")),
            )
            for way in (-1, 1)
        )
        assert low < 0.5 * (40 + 48) < high < 1.2 * 0.5 * (40 + 48)


def test_densities() -> None:
    site = wood_site(planar("square"))
    woods = call(site, "components", call(site, "segment", "wood"))
    assert call(site, "density_per_km2", woods) == pytest.approx(len(woods) / (4800 * 0.25e-6))
    pond = call(site, "segment", "pond")
    assert call(site, "density_per_km2", woods, of=pond) == pytest.approx(len(woods) / (pond.size_px * 0.25e-6))
    none = call(site, "components", call(site, "segment", "sand"))
    assert call(site, "density_per_km2", none) == 0
    with pytest.raises(Refused, match="^There is no sand in the image to relate a density to.$"):
        call(site, "density_per_km2", woods, of=call(site, "segment", "sand"))


def test_fragmentation() -> None:
    site = wood_site(planar("square"))
    woods = call(site, "components", call(site, "segment", "wood"))
    assert call(site, "fragmentation", woods) == "fragmented"
    assert call(site, "fragmentation", call(site, "largest", woods)) == "connected"
    assert call(site, "fragmentation", call(site, "components", call(site, "segment", "sand"))) == "absent"


def test_solar_power_is_area_times_irradiance_times_efficiency() -> None:
    site = site_on(planar("square"), {"panel": [box(10, 10, 30, 20)]})
    panels = call(site, "segment", "panel")
    assert call(site, "solar_power_kw", panels) == pytest.approx(50 * 1000 * 0.2 / 1000)
    assert "Solar power assumes 1000 W/m2 and an efficiency of 0.2." in site.warnings
    assert call(site, "solar_power_kw", panels, irradiance_w_per_m2=800, efficiency=0.18) == pytest.approx(7.2)
    with pytest.raises(ToolError, match="^efficiency is a share between 0 and 1, not 18.$"):
        call(site, "solar_power_kw", panels, efficiency=18)


def test_a_ratio_of_nothing_has_no_value() -> None:
    site = wood_site(planar("square"))
    assert call(site, "ratio", 3, 4.0) == 0.75
    with pytest.raises(Refused, match="^There is nothing to compare with: the second quantity is 0"):
        call(site, "ratio", 3, 0)


@pytest.mark.parametrize("name", ["square", "not square", "sheared", "geographic", "mercator"])
def test_half_a_pixel_of_outline_brackets_areas_shares_and_counts(name: str) -> None:
    grid = ROUND_GRIDS[name]() if name in ROUND_GRIDS else planar(name)
    site = wood_site(grid)
    wood = call(site, "segment", "wood")
    bound = 30.5 * grid.require_ground().pixel_area_m2

    def measured(boundary: int) -> tuple[float, ...]:
        doubted = site.nudged(Nudge(boundary=boundary, classes=frozenset({"wood"})))
        woods = call(doubted, "components", wood)
        values = (
            call(doubted, "area_m2", wood),
            call(doubted, "area_m2", woods),
            call(doubted, "share_percent", wood),
            call(doubted, "area_statistic_m2", woods, statistic="median"),
            call(doubted, "count", call(doubted, "components", wood, larger_than_m2=bound)),
        )
        assert "boundary" in doubted.doubts
        assert doubted.measured_classes == {frozenset({"wood"})}
        return values

    low, middle, high = (np.array(measured(way)) for way in (-1, 0, 1))
    assert (low[:4] < middle[:4]).all()
    assert (middle[:4] < high[:4]).all()
    assert low[4] <= middle[4] <= high[4]
    # Clipped at 0 per region, so that regions lose at most what the mask loses.
    moved = site.half_pixel_m * wood.outline_m
    assert middle[0] - low[0] == pytest.approx(min(moved, middle[0]), rel=1e-6)
    assert high[1] - middle[1] == pytest.approx(moved, rel=1e-6)


def test_another_class_s_doubt_moves_nothing() -> None:
    site = wood_site(planar("square"))
    doubted = site.nudged(Nudge(boundary=1, classes=frozenset({"pond"})))
    wood = call(site, "segment", "wood")
    assert call(doubted, "area_m2", wood) == call(site, "area_m2", wood)


def test_the_thresholds_of_a_scored_class_bracket_its_area() -> None:
    score = np.linspace(0, 1, 4800, dtype=np.float32).reshape(SHAPE)
    site = site_on(planar("square"), {"wood": score})
    areas = [
        call(site.nudged(Nudge(threshold=way)), "area_px", call(site.nudged(Nudge(threshold=way)), "segment", "wood"))
        for way in (-1, 0, 1)
    ]
    assert areas == [int((score >= t).sum()) for t in (0.6, 0.5, 0.4)]
    doubted = site.nudged(Nudge())
    call(doubted, "segment", "wood")
    assert "segmentation" in doubted.doubts


def test_utm_pixels_of_half_a_metre_measure_half_a_metre_at_the_zone_s_edge() -> None:
    x, y = pyproj.Transformer.from_crs(4326, 32633, always_xy=True).transform(12.05, 50.0)
    site = wood_site(Grid(Affine(0.5, 0, x, 0, -0.5, y), SHAPE, UTM))
    assert call(site, "pixel_size_m") == 0.5
    assert call(site, "area_m2", call(site, "segment", "wood")) == WOOD.sum() * 0.25
