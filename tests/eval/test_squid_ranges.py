"""The ranges of SQuID: shipped examples, the card's rules, and one test for each contradiction of the card."""

from __future__ import annotations

import math

import pytest

from swath.eval.squid.ranges import count_range, derived_ranges, rules_in_order
from swath.eval.squid.wording import TYPES, buffer_m, stated_gsd_m, unit_of

# id, question, answer, type and range as the public viewer shows them.
SHIPPED = [
    ("What is the total vegetation area (in hectares) within 200m of barren land? (GSD: 0.5m)",
     105.55, "proximity_area", "ha", (103.18, 107.92)),
    ("What percentage of the image is urban area within 500m of vegetation? (GSD: 0.5m)",
     34.35, "proximity_percentage", "percent", (32.1, 36.6)),
    ("Find vegetation patches larger than 2 hectares, then calculate how much of their area (in hectares) falls within "
     "200m of water bodies (GSD: 0.5m)", 63.93, "complex_vegetation_water_access", "ha", (62.49, 65.37)),
    ("How many separate agricultural land patches between 0.125 and 10 hectares are there? (GSD: 0.3m)",
     2, "connectivity", "count", (1, 3)),
    ("What percentage of the image is covered by the largest vegetation region (among regions larger than 0.125 "
     "hectares)? (GSD: 0.5m)", 75.81, "size", "percent", (74.08, 77.55)),
    ("How many separate urban area regions are there? When counting, ignore patches smaller than 0.1 hectares. "
     "(GSD: 0.5m)", 4, "count", "count", (3, 5)),
    ("How many buildings (larger than 0.01 hectares) are within 500m of agricultural land? (GSD: 0.3m)",
     4, "building_proximity", "count", (3, 5)),
    ("Find barren land patches larger than 1 hectares, then calculate how much of their area (in hectares) falls "
     "within 200m of forest area (GSD: 0.3m)", 1.49, "complex_multi_condition", "ha", (1.46, 1.52)),
]  # fmt: skip


@pytest.mark.parametrize(("question", "answer", "kind", "unit", "shipped"), SHIPPED, ids=lambda value: str(value)[:12])
def test_the_shipped_ranges_follow_from_the_rules_that_we_use(
    question: str, answer: float, kind: str, unit: str, shipped: tuple[float, float]
) -> None:
    assert unit_of(question, kind) == unit
    ranges = derived_ranges(question, unit, answer)
    # Shipped ends are rounded to two decimals after the unrounded answer.
    assert ranges[rules_in_order(ranges)[0]] == pytest.approx(shipped, abs=0.011)


def test_contradiction_1_the_card_announces_24_types_and_lists_23() -> None:
    assert len(TYPES) == 24
    assert [name for name, kind in TYPES.items() if not kind.on_card] == ["complex_vegetation_water_access"]
    assert [sum(kind.tier == tier for kind in TYPES.values()) for tier in "123"] == [8, 9, 7]


@pytest.mark.parametrize(("count", "code", "example"), [(5, (4, 6), (4, 7)), (100, (81, 119), (81, 120))])
def test_contradiction_2_counts_follow_the_cards_code_not_its_examples(
    count: int, code: tuple[int, int], example: tuple[int, int]
) -> None:
    assert count_range(count) == code != example


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 19, 20, 53, 99, 101, 1000])
def test_counts_are_rounded_outward_in_whole_hundredths(count: int) -> None:
    margin = max(100, 19 * count)
    assert count_range(count) == ((100 * count - margin) // 100, -((-100 * count - margin) // 100))


def test_contradiction_3_the_card_inverts_a_hectare_range_and_sane_mends_it() -> None:
    question = SHIPPED[0][0]
    ranges = derived_ranges(question, "ha", 105.55)
    assert ranges["card"] == (pytest.approx(103.30), 100)
    assert ranges["sane"] == (pytest.approx(103.175, abs=1e-3), pytest.approx(107.925, abs=1e-3))
    assert rules_in_order(ranges) == ("sane", "card")


def test_the_card_takes_points_for_hectares_even_where_it_inverts_nothing() -> None:
    ranges = derived_ranges("the forest area (in hectares) within 200m of water", "ha", 1.49)
    assert ranges["card"] == (0, pytest.approx(3.74))
    assert rules_in_order(ranges)[0] == "sane"


def test_a_shipped_range_comes_first_unless_it_is_inverted() -> None:
    derived = derived_ranges("What percentage is forest?", "percent", 40)
    assert rules_in_order({"shipped": (38, 42)} | derived) == ("shipped", "card")
    assert rules_in_order({"shipped": (42, 38)} | derived) == ("card", "shipped")


@pytest.mark.parametrize(("unit", "high"), [("count", 0), ("percent", 0.005), ("ha", 0.005)])
def test_zeros_have_no_card_range_and_get_what_rounds_to_them(unit: str, high: float) -> None:
    assert derived_ranges("How much is within 20m of water?", unit, 0) == {"sane": (0, high)}


def test_percentages_are_cut_to_what_can_be() -> None:
    assert derived_ranges("percentage", "percent", 99.5)["card"] == (97.76, 100)
    assert derived_ranges("percentage", "percent", 1)["card"] == (0, 2.74)
    assert derived_ranges("percentage within 20 m of water", "percent", 99)["card"] == (96.75, 100)


@pytest.mark.parametrize("unit", ["ha", "kW", None])
def test_what_the_card_has_no_rule_for_is_fitted(unit: str | None) -> None:
    low, high = derived_ranges("What is the total forest area?", unit, 80.0)["squid-fit"]
    assert math.isclose(low, 78.2) and math.isclose(high, 81.8)


@pytest.mark.parametrize(
    ("question", "kind", "unit"),
    [
        ("What percentage of the image is covered by the largest region larger than 1 hectares?", "size", "percent"),
        ("Average forest size (in hectares)?", "complex_average", "ha"),
        ("What is the total forest area?", "total_area", "ha"),
        ("What is the total forest area in m2?", "total_area", "m2"),
        ("How much power (in MW) could they give?", "power_calculation", "MW"),
        ("How much power could they give?", "power_calculation", "kW"),
        ("How many buildings are larger than 0.1 hectares?", "never_seen", "count"),
        ("Describe the coast.", "never_seen", None),
    ],
)
def test_the_question_names_the_unit_before_its_type(question: str, kind: str, unit: str | None) -> None:
    assert unit_of(question, kind) == unit


def test_sizes_and_buffers_are_read_off_the_question() -> None:
    assert stated_gsd_m("Is there water? (GSD: 0.5m)") == 0.5
    assert stated_gsd_m("Is there water? (gsd: 1 m)") == 1
    assert stated_gsd_m("Is there water?") is None
    assert buffer_m("barren land within 200m of water") == 200
    assert buffer_m("barren land within 12.5 m of water") == 12.5
    assert buffer_m("water within the park") is None
