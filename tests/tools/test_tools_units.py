"""Units against hand constants; hostile names are refused without being computed."""

from __future__ import annotations

import pytest
from measured_sites import call, planar, site_on

from swath.errors import ToolError

SITE = site_on(planar("square"), {})
SI = {
    "m2": 1.0, "ha": 1e4, "km2": 1e6, "acre": 4046.8564224, "sqft": 0.3048**2, "sqyd": 0.9144**2, "sqmi": 1609.344**2,
    "cm2": 1e-4, "sqin": 0.0254**2, "ft2": 0.3048**2, "sq ft": 0.3048**2, "square feet": 0.3048**2, "m^2": 1.0,
    "hectares": 1e4, "acres": 4046.8564224, "square_mile": 1609.344**2, "square kilometres": 1e6, "m**2": 1.0,
}  # fmt: skip
LENGTHS = {"m": 1.0, "km": 1e3, "cm": 0.01, "mm": 1e-3, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344, "in": 0.0254,
           "feet": 0.3048, "miles": 1609.344, "nautical_mile": 1852.0}  # fmt: skip
POWERS = {"W": 1.0, "kW": 1e3, "MW": 1e6, "GW": 1e9, "kilowatt": 1e3}
DENSITIES = {"per km2": 1e-6, "per ha": 1e-4, "per acre": 1 / 4046.8564224, "per sqmi": 1 / 1609.344**2}


@pytest.mark.parametrize("table", [SI, LENGTHS, POWERS, DENSITIES], ids=["areas", "lengths", "powers", "densities"])
def test_units_by_hand(table: dict[str, float]) -> None:
    for origin, size in table.items():
        for wanted, other in table.items():
            found = call(SITE, "convert", 7.5, from_unit=origin, to_unit=wanted)
            assert found == pytest.approx(7.5 * size / other, rel=1e-12), (origin, wanted)


def test_differences_may_be_negative() -> None:
    assert call(SITE, "convert", -3, from_unit="ha", to_unit="m2") == pytest.approx(-30_000)


@pytest.mark.parametrize(("origin", "wanted"), [("m2", "m"), ("kW", "ha"), ("m", "per km2")])
def test_unlike_dimensions(origin: str, wanted: str) -> None:
    with pytest.raises(ToolError, match=f"^convert: '{origin}' cannot be converted to '{wanted}': they do not measure"):
        call(SITE, "convert", 1, from_unit=origin, to_unit=wanted)


HOSTILE = ["m**999999999", "9**9**9", "m*(10**1000000)", "__import__('os')", "m.__class__", "", " ", "m" * 10_000,
           "furlonk", "m2; m", "m^99", "per per m", "\x00"]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_not_the_name_of_a_unit_is_refused(name: str) -> None:
    for units in ({"from_unit": name, "to_unit": "m2"}, {"from_unit": "m2", "to_unit": name}):
        with pytest.raises(
            ToolError, match="is not a unit; units are names such as 'm2', 'ha', 'sqft', 'km'.$"
        ) as told:
            call(SITE, "convert", 1, **units)
        assert len(str(told.value)) < 200
