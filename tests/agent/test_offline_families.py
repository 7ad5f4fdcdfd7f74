"""Families of wordings as people in the field use them: risks explained, zones, subjects first, panels, water access.

Each is held against a value computed without the tools.
"""

from __future__ import annotations

import pytest
from painted_town import Town, build_town
from test_offline_meanings import held, plan

from swath.errors import Refused


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return build_town(tmp_path_factory.mktemp("town"))


FLOOD = "N(RNEAR(R(B), W, 40))"
FIRE = "N(RNEAR(R(B), V, 8))"


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("If the river floods everything within 40 m, how many buildings are affected?", FLOOD),
        ("How many houses are at risk if the water floods everything within 40 m?", FLOOD),
        ("Suppose flooding reaches 40 m from the ponds. How many buildings would be affected?", FLOOD),
        ("Define flood risk as within 40 m of water. How many buildings are at flood risk?", FLOOD),
        ("Where flood risk means being within 40 m of water, how many buildings are at flood risk?", FLOOD),
        ("Flood exposure: number of buildings within 40 m of water bodies", FLOOD),
        ("How many buildings would be flooded if the water spreads up to 40 m?", FLOOD),
        ("What share of the buildings larger than 100 m2 would be at flood risk if the water spreads 40 m?",
         "100 * N(RNEAR(R(B, gt=0.01), W, 40)) / N(R(B, gt=0.01))"),
        ("Total roof area in m2 at flood risk, where flood risk means within 40 m of water", "A(NEAR(B, W, 40))"),
        ("Since fire spreads from vegetation within 8 m, how many buildings are at risk?", FIRE),
        ("Because fire can jump 8 m from trees, how many houses are at risk of fire?", FIRE),
        ("If fire risk means being within 8 m of vegetation, how many buildings are at fire risk?", FIRE),
        ("Given that everything within 8 m of vegetation is at risk of fire, how many buildings are at risk?", FIRE),
        ("How many buildings have vegetation within 8 m and are therefore at fire risk?", FIRE),
        ("Considering a fire risk zone of 8 m around vegetation, how many buildings are at risk?", FIRE),
    ],
)  # fmt: skip
def test_a_risk_is_what_was_said_to_be_meant_by_it(question, reference, town):
    held(question, reference, town)


@pytest.mark.parametrize(
    "question",
    [
        "How many buildings are at risk?",
        "How many buildings are at risk within 20 m?",
        "Flood risk: how many buildings are there?",
        "If fire spreads 20 m from vegetation, how many buildings are at flood risk?",
        "If the river floods everything within 30 m, how many buildings are there?",
        "If everything floods, how many buildings are affected?",
    ],
)
def test_a_risk_without_a_distance_or_with_that_of_another_is_refused(question):
    with pytest.raises(Refused):
        plan(question)


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("How much vegetation lies in a zone of 20 m around the roads, in m2?", "A(NEAR(V, D, 20))"),
        ("Square metres of trees in a 15 m wide strip along the water", "A(NEAR(V, W, 15))"),
        ("Within a strip of 20 m around the water, how many buildings are there?", "N(RNEAR(R(B), W, 20))"),
        ("What share of a 20 m zone around the roads is vegetation?",
         "PCT(V, of=NEAR(np.ones_like(D), D, 20))"),
        ("Vegetation: how much of it is within 20 m of water, in m2?", "A(NEAR(V, W, 20))"),
        ("Vegetation: how much is there in ha?", "A(V, 'ha')"),
        ("Talking of buildings, how many are over 100 square metres?", "N(R(B, gt=0.01))"),
        ("Looking at the buildings, how many are within 20 m of a road?", "N(RNEAR(R(B), D, 20))"),
        ("Concerning vegetation: is it in one piece?", "YN(N(R(V)) == 1)"),
        ("Vegetation within 20 m of water as a percentage of all vegetation", "PCT(NEAR(V, W, 20), of=V)"),
        ("Houses within 20 m of a road as a percentage of all houses", "100 * N(RNEAR(R(B), D, 20)) / N(R(B))"),
        ("Vegetation cover as a percentage, please", "PCT(V)"),
        ("Total area in m2 of vegetation patches of 0.01 to 2 ha within 30 m of water and more than 10 m from a road",
         "A(FAR(NEAR(M(R(V, btw=(0.01, 2))), W, 30), D, 10))"),
        ("How many vegetation patches between 0.01 and 2 ha lie within 30 m of water?",
         "N(RNEAR(R(V, btw=(0.01, 2)), W, 30))"),
        ("Find buildings within 40 m of water. What is the average area of those in m2?",
         "np.mean(S(RNEAR(R(B), W, 40)))"),
        ("Find buildings larger than 50 m2 and give me the average area in m2 of those within 20 m of a road",
         "np.mean(S(RNEAR(R(B, gt=0.005), D, 20)))"),
        ("Is the vegetation, ignoring patches under 0.02 ha, one connected patch?", "YN(N(R(V, ge=0.02)) == 1)"),
        ("Are there any buildings that are neither within 10 m of a road nor within 40 m of water?",
         "YN(N(RFAR(RFAR(R(B), D, 10), W, 40)))"),
        ("Farmland no further than 50 m from water, as a percentage of all farmland", "PCT(NEAR(F, W, 50), of=F)"),
        ("How many fields have access to water (within 50 m)?", "N(RNEAR(R(F), W, 50))"),
        ("What area of farmland in m2 has water access within 50 m?", "A(NEAR(F, W, 50))"),
        ("Find agricultural land larger than 0.1 ha and calculate what percentage of it can reach water within 50 m",
         "PCT(NEAR(M(R(F, gt=0.1)), W, 50), of=M(R(F, gt=0.1)))"),
    ],
)  # fmt: skip
def test_a_wording_of_the_field_is_measured_as_meant(question, reference, town):
    held(question, reference, town)


@pytest.mark.parametrize(
    ("question", "watts", "efficiency"),
    [
        ("How much power would the solar panels produce at 20% efficiency and 1000 W/m2?", 1000, 0.2),
        ("How much power would the panels produce with 18 percent efficient panels under 800 W per square metre?",
         800, 0.18),
        ("With 18%-efficient modules and 1,000 W/m² of sun, how many kilowatts could the solar panels deliver?",
         1000, 0.18),
        ("Solar panels: peak power in kW, efficiency 18 %, irradiance 900 W/m2", 900, 0.18),
        ("What would the solar installations produce in kilowatts with 1000 W per square metre and 15 % efficiency?",
         1000, 0.15),
        ("Taking 1 kW per square metre and 20 percent efficiency, what could the panels deliver?", 1000, 0.2),
        ("Calculate the potential power generation (in kW) of all solar panels, assuming an irradiance of 950 W/m2 and "
         "22% efficiency.", 950, 0.22),
    ],
)  # fmt: skip
def test_constants_of_panels_are_read_in_any_order(question, watts, efficiency, town):
    held(question, f"A(P) * {watts} * {efficiency} / 1000", town)


@pytest.mark.parametrize(
    "question",
    [
        "If all building roofs were covered with solar panels, how much power (in kW) could they generate?",
        "How much power could be generated if all houses were fitted with solar panels?",
        "If the buildings had solar panels, how many kW could the panels produce?",
    ],
)
def test_roofs_thought_of_as_panels_are_those_roofs(question, town):
    held(question, "A(B) * 1000 * 0.2 / 1000", town)


def test_power_of_something_else_than_what_is_panelled_is_refused():
    with pytest.raises(Refused, match="not clear what is to be covered"):
        plan("If all buildings were covered with solar panels, how much power could the roads generate?")
