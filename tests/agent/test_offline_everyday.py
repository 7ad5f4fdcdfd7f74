"""Constructions of everyday questions: shares of what is left, what is beside, thirds, neighbours, scenes that are set.

Each is held against a value computed without the tools.
"""

from __future__ import annotations

import pytest
from painted_town import SCENE, Town, build_town
from test_offline_meanings import held, plan

from swath.agent.offline import OfflinePlanner
from swath.errors import Refused


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return build_town(tmp_path_factory.mktemp("town"))


BIGGEST = "M(LARGEST(R(W)))"
NORTH = "(np.indices(W.shape)[0] < 120)"
LEFT = "(np.indices(W.shape)[1] < 160)"


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        # shares of another whole
        ("The largest water body makes up what percentage of the total water area?", f"PCT({BIGGEST}, of=W)"),
        ("What percentage of the water does the largest lake hold?", f"PCT({BIGGEST}, of=W)"),
        ("What percentage of the vegetation does the largest patch account for?", "PCT(M(LARGEST(R(V))), of=V)"),
        ("Does the largest lake make up more than half of the water area?", f"YN(PCT({BIGGEST}, of=W) > 50)"),
        ("Excluding water, what percentage of the image is vegetation?", "PCT(V, of=~W)"),
        ("If we ignore water, what percentage of the remaining area is building?", "PCT(B, of=~W)"),
        ("Not counting the water, how much of the scene is road, in percent?", "PCT(D, of=~W)"),
        ("largest patch index of vegetation", "PCT(M(LARGEST(R(V))))"),
        ("Road coverage %", "PCT(D)"),
        ("water cover as % of scene", "PCT(W)"),
        ("impervious share (roads and buildings)", "PCT(D | B)"),
        # thirds
        ("What share of the northern third is water?", f"PCT(W, of={NORTH})"),
        ("How much of the left third is vegetation, in percent?", f"PCT(V, of={LEFT})"),
        # limits on both sides, in turn
        ("How many buildings are more than 10 m but less than 50 m from water?", "N(RNEARX(RFAR(R(B), W, 10), W, 50))"),
        ("How many buildings are further than 10 m but within 50 m of water?", "N(RNEAR(RFAR(R(B), W, 10), W, 50))"),
        ("buildings of more than 50 but less than 150 m2: how many?",
         "sum(50 < size < 150 for size in S(R(B)))"),
        ("How many buildings are larger than twice the average building?",
         "sum(size > 2 * np.mean(S(R(B))) for size in S(R(B)))"),
        ("What is the number of buildings touching or within 5 m of vegetation?",
         "N(RNEAR(R(B), V, 5))"),
        ("Count building polygons with area >= 50 m2 and distance to vegetation <= 10 m.",
         "N(RNEAR(R(B, ge=0.005), V, 10))"),
        ("How many buildings would be affected by a 20 m setback from the water?", "N(RNEAR(R(B), W, 20))"),
        ("How many buildings fall in the 40 m flood zone around water?", "N(RNEAR(R(B), W, 40))"),
        ("total area of all but the largest building, m2", "A(B) - LARGEST(R(B))[0].size"),
        ("total area of buildings except the largest in m2", "A(B) - LARGEST(R(B))[0].size"),
        # neighbours
        ("average distance between a building and its nearest neighbour building", "np.mean(NEXT(R(B)))"),
        ("What is the median distance from each building to the nearest other building?", "np.median(NEXT(R(B)))"),
        ("what is the shortest distance between any two buildings?", "np.min(NEXT(R(B)))"),
        ("average spacing between water bodies larger than 100 m2", "np.mean(NEXT(R(W, gt=0.01)))"),
        # yes or no
        ("Is the nearest road within 50 m of the largest building?", "YN(DIST(D, M(LARGEST(R(B)))) <= 50)"),
        ("Is the nearest water more than 20 m from the largest building?", "YN(DIST(W, M(LARGEST(R(B)))) > 20)"),
        ("Is the water more than 20 m from the largest building?", "YN(DIST(W, M(LARGEST(R(B)))) > 20)"),
        ("Is at least one building larger than 200 m2?", "YN(N(R(B, gt=0.02)) > 0)"),
        ("What is the share of the largest building in the total building area?", "PCT(M(LARGEST(R(B))), of=B)"),
        ("How many buildings per water body?", "N(R(B)) / N(R(W))"),
        ("What's the total length of the water edge in m?", "PERIM(W)"),
        ("In how many separate pieces does water occur?", "N(R(W))"),
        ("Name the class with the smallest area.", "'other'"),
        ("Is the nearest building to the water less than 10 m away?", "YN(DIST(B, W) < 10)"),
        ("Are there buildings in every quadrant?",
         "YN(0 not in [int((B & PART(q)).sum()) for q in ('nw', 'ne', 'sw', 'se')])"),
        ("Are there solar panels in all four quadrants?",
         "YN(0 not in [int((P & PART(q)).sum()) for q in ('nw', 'ne', 'sw', 'se')])"),
        ("Is barren land the dominant class?", "YN(DOMINANT() == 'barren land')"),
        ("Is water the most common class?", "YN(DOMINANT() == 'water')"),
        ("Does the vegetation consist of more than one patch?", "YN(N(R(V)) > 1)"),
        ("Is there more than twice as much vegetation as water?", "YN(A(V) > 2 * A(W))"),
        ("Into how many patches is the vegetation fragmented?", "N(R(V))"),
        # one of several
        ("does the image have more water or more vegetation?", "'water' if W.sum() > V.sum() else 'vegetation'"),
        ("which quadrant has the largest building area: NW, NE, SW or SE?",
         "{'nw': 'north-west', 'ne': 'north-east', 'sw': 'south-west', 'se': 'south-east'}"
         "[max(('nw', 'ne', 'sw', 'se'), key=lambda q: (B & PART(q)).sum())]"),
        ("In which half is there more vegetation: the upper or the lower half?",
         "'top' if (V & PART('n')).sum() > (V & PART('s')).sum() else 'bottom'"),
        ("Where are more buildings, in the east or the west?",
         "'east' if N(RIN(R(B), PART('e'))) > N(RIN(R(B), PART('w'))) else 'west'"),
        # ratios, power
        ("bldg area : road area ratio?", "A(B) / A(D)"),
        ("vegetation area divided by number of buildings, in m2", "A(V) / N(R(B))"),
        ("How many kilowatts could be installed if half of the total roof area were covered with panels?",
         "A(B) / 2 * 0.2"),
        # scenes that are set, and what points back to them
        ("Looking for a ditching area. Which half holds more water, left or right?",
         "'left' if (W & PART('w')).sum() > (W & PART('e')).sum() else 'right'"),
        ("We want every building to be within 20 m of green space. How many buildings are further than 20 m from "
         "vegetation?", "N(RFAR(R(B), V, 20))"),
        ("My client wants a home between 50 and 150 m2. How many houses of that size are there?",
         "sum(50 <= size <= 150 for size in S(R(B)))"),
        ("Client has one very large building on site. What is the area of the largest building, in square feet?",
         "LARGEST(R(B))[0].size / 0.09290304"),
        ("waterfront properties: how many buildings within 20 m of water", "N(RNEAR(R(B), W, 20))"),
        ("Whats the size of my biggest green patch in m2? (biggest vegetation patch)", "LARGEST(R(V))[0].size"),
        ("How many buildings directly front a road, i.e. are within 10 m of one?", "N(RNEAR(R(B), D, 10))"),
        ("select buildings larger than 100 m2 -> sum of their area in m2?", "sum(S(R(B, gt=0.01)))"),
        # other languages
        ("Quelle est la distance moyenne entre les bâtiments et l'eau ?", "np.mean(RD(R(B), W))"),
        ("La surface des routes est-elle supérieure à celle de l'eau ?", "YN(D.sum() > W.sum())"),
        ("¿Qué tamaño tiene el edificio más grande en m2?", "LARGEST(R(B))[0].size"),
        ("¿Cuántos edificios tocan la vegetación?", "N(RTOUCH(R(B), V))"),
        ("植被面积与建筑面积之比是多少？", "A(V) / A(B)"),
        ("裸地占多少？", "PCT(L)"),
        ("建筑物到水体的平均距离是多少米？", "np.mean(RD(R(B), W))"),
    ],
)  # fmt: skip
def test_an_everyday_wording_is_measured_as_meant(question, reference, town):
    held(question, reference, town)


QUADRANT = (
    "[name for name, part in {'north-west': 'nw', 'north-east': 'ne', 'south-west': 'sw', 'south-east': 'se'}.items()"
    " if RIN(LARGEST(R({0})), PART(part))][0]"
)


@pytest.mark.parametrize("letter", ["B", "W", "V"])
def test_one_object_is_in_the_quadrant_of_its_middle(letter, town):
    name = {"B": "building", "W": "lake", "V": "vegetation patch"}[letter]
    for question in (f"In which quadrant is the largest {name}?", f"Which quadrant has the largest {name}?"):
        held(question, QUADRANT.replace("{0}", letter), town)


@pytest.mark.parametrize(
    ("question", "reference"),
    [
        ("percent of the vegetation that is in the north half", "PCT(V & PART('n'), of=V)"),
        ("percent of the vegetation that lies in the northern half", "PCT(V & PART('n'), of=V)"),
        ("percent of vegetation in the north half", "PCT(V & PART('n'), of=PART('n'))"),
        ("Find vegetation patches larger than 100 m2, then tell me what percent of their area is within 30 m of a road",
         "PCT(NEAR(M(R(V, gt=0.01)), D, 30), of=M(R(V, gt=0.01)))"),
    ],
)  # fmt: skip
def test_the_whole_of_a_share_is_what_was_named(question, reference, town):
    held(question, reference, town)


@pytest.mark.parametrize("word", ["wooden", "glass", "stable", "marble", "lend", "patched"])
def test_a_word_that_is_spelt_right_is_no_typo(word):
    with pytest.raises(Refused, match=f'Not understood: "{word}"'):
        plan(f"How many {word} buildings are there?")


@pytest.mark.parametrize(
    "question",
    [
        "Abandoned: how many buildings?",
        "Abandoned houses: how many buildings are larger than 100 m2?",
        "The red ones matter. How many buildings are there?",
        "Trees are buildings too. How many buildings are there?",
        "waterfront properties: how many buildings are larger than 100 m2",
        "Buildings near the road: how many houses are larger than 100 m2?",
        "Small cabins are everywhere. How many buildings are there?",
        "The lots measure 200 m2. How many buildings are larger than 100 m2?",
        "How many buildings of that size are there?",
        "What percentage of the remaining area is building?",
        "What percentage of the image is vegetation, ignoring water?",
        "Excluding water, what percentage of the image is water?",
        "Excluding water, how many buildings are there?",
        "How far apart are the buildings?",
        "How many buildings are in the north in the south?",
        "which half has more buildings in the north?",
        "What percentage of the image is uncovered by vegetation?",
        "Are there buildings in both halves?",
    ],
)
def test_what_could_be_meant_in_two_ways_is_refused(question):
    with pytest.raises(Refused):
        plan(question)


@pytest.mark.parametrize(
    ("question", "reading"),
    [
        ("Is the largest building within 30 m of water?", "whether the largest building is within 30 m of water"),
        ("Is there a building over 90 m2?", "whether there is at least one building larger than 90 m2"),
        ("Is there no water at all?", "whether there is no water"),
        ("Are the vegetation patches of at least 5 ha connected?",
         "whether the vegetation regions at least 5 ha are one connected region"),
        ("Is there twice as much water as road?", "whether the area of water is at least 2 times the area of road"),
        ("area of the second largest pond", "area of the second largest water region"),
        ("Excluding water, what percentage of the image is road?", "share of everything but water that is road"),
        ("By how many percentage points does road exceed water?",
         "in percentage points, share of the image that is road less the share of the image that is water"),
    ],
)  # fmt: skip
def test_a_reading_is_a_sentence(question, reading):
    assert OfflinePlanner().plan(question, SCENE, None).reading == reading
