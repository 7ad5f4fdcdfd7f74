import pytest

from swath.segment.vocabulary import canonical, concept_of, fold, matches, synonyms

LEGEND = (
    "building",
    "barren land",
    "road",
    "vegetation",
    "water",
    "solar panel",
    "other",
    "agricultural land",
)


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("Buildings", "building"),
        ("houses", "building"),
        ("rooftops", "building"),
        ("roof", "building"),
        ("water bodies", "water"),
        ("water body", "water"),
        ("bodies of water", "water"),
        ("ponds", "water"),
        ("water surface", "water"),
        ("greenery", "vegetation"),
        ("green area", "vegetation"),
        ("trees", "vegetation"),
        ("forest area", "vegetation"),
        ("streets", "road"),
        ("paved road", "road"),
        ("highways", "road"),
        ("farmland", "agricultural land"),
        ("crops", "agricultural land"),
        ("agriculture", "agricultural land"),
        ("bare soil", "barren land"),
        ("sandy", "barren land"),
        ("PV panels", "solar panel"),
        ("photovoltaics", "solar panel"),
        ("bâtiments", "building"),
        ("forêts", "vegetation"),
        ("edificios", "building"),
        ("水体", "water"),
        ("建筑物", "building"),
    ],
)
def test_people_s_words_reach_the_legend_s_names(word, name):
    assert canonical(word, LEGEND) == name


@pytest.mark.parametrize("word", ["unicorn", "ships", "cars", "railway", "snow", "", "area", "of"])
def test_a_word_that_the_legend_does_not_cover_is_none(word):
    assert canonical(word, LEGEND) is None


def test_a_narrower_name_in_the_legend_wins():
    known = ("water", "river", "tree", "vegetation")
    assert canonical("river", known) == "river"
    assert canonical("lake", known) == "water"
    assert canonical("trees", known) == "tree"
    assert canonical("greenery", known) == "vegetation"


def test_narrower_classes_together_make_up_a_wider_word():
    known = ("lake", "river", "tree", "grass")
    assert matches("water", known) == ("lake", "river")
    assert matches("vegetation", known) == ("tree", "grass")
    assert canonical("water", known) is None


def test_siblings_never_stand_for_one_another():
    assert canonical("lawn", ("forest", "road")) is None
    assert canonical("trees", ("grass", "road")) is None


@pytest.mark.parametrize(
    ("word", "known", "name"),
    [
        ("bare ground", ("land (unpaved area)", "road"), "land (unpaved area)"),
        ("barren land", ("land", "road"), "land"),
        ("trees", ("forest_land", "urban_land"), "forest_land"),
        ("farmland", ("agriculture land", "rangeland"), "agriculture land"),
        ("background", ("clutter/background",), "clutter/background"),
        ("hydrants", ("hydrant",), "hydrant"),
        ("hydrant", ("hydrants",), "hydrants"),
        ("playgrounds", ("playground_2024", "playground"), "playground"),
    ],
)
def test_legends_and_layers_spelt_in_their_own_way(word, known, name):
    assert canonical(word, known) == name


def test_no_word_belongs_to_two_concepts():
    seen: dict[str, str] = {}
    for concept, words in synonyms().items():
        for word in words:
            assert seen.setdefault(fold(word), concept) == concept, word
            assert concept_of(word) == concept, word
