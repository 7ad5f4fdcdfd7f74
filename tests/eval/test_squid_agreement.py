"""SQuID's agreement statistics: by hand, and by an independent route on random annotations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from swath.errors import InputError
from swath.eval.squid.agreement import Agreement, agree

BY_HAND = """item,annotator,answer,type
houses,a,10,count
houses,b,12,count
houses,c,9,count
houses,d,20,count
houses,e,10,count
none,a,0,count
none,b,0,count
none,c,1,count
forest,a,30,percentage
forest,b,33,percentage
forest,c,34,percentage
forest,d,40,percentage
joined,a,connected,fragmentation
joined,b,Fragmented,fragmentation
joined,c,connected ,fragmentation
split,a,connected,fragmentation
split,b,fragmented,fragmentation
lake,a,yes,binary_presence
lake,b,1,binary_presence
lake,c,No,binary_presence
"""


def written(tmp_path: Path, text: str, name: str = "said.csv") -> Path:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


@pytest.fixture
def by_hand(tmp_path: Path) -> Agreement:
    return agree(written(tmp_path, BY_HAND))


def test_numbers_have_a_median_and_deviations_from_it(by_hand: Agreement) -> None:
    houses, none, forest = by_hand.items[:3]
    # Deviations of houses from 10: 0, 2, 1, 10, 0; of forest from 33.5: 3.5, 0.5, 0.5, 6.5.
    assert (houses.consensus, houses.mad, houses.madc, houses.agreeing) == (10, 1, 0.1, 0.4)
    assert (forest.consensus, forest.mad, forest.agreeing) == (33.5, 2, 0)
    assert forest.madc == pytest.approx(2 / 33.5)
    assert (none.consensus, none.mad, none.madc) == (0, 0, None)


def test_names_have_a_majority_or_a_tie(by_hand: Agreement) -> None:
    joined, split, lake = by_hand.items[3:]
    assert (joined.consensus, joined.agreeing, joined.mad) == ("connected", 2 / 3, None)
    assert (split.consensus, split.agreeing) == (None, None)
    assert (lake.kind, lake.consensus, lake.annotators) == ("yes/no", "yes", 3)


def test_types_have_the_means_of_their_items(by_hand: Agreement) -> None:
    types = {found.type: found for found in by_hand.types}
    counts = types["count"]
    assert (counts.items, counts.annotations, counts.mean_mad, counts.mean_madc) == (2, 8, 0.5, 0.1)
    assert counts.without_madc == 1
    assert (types["fragmentation"].ties, types["fragmentation"].mean_agreeing) == (1, 2 / 3)
    assert types["fragmentation"].mean_mad is None


def test_the_table_and_the_json_say_the_same(by_hand: Agreement) -> None:
    head, rows = by_hand.table()
    assert head == ("type", "answers", "items", "annotations", "mean MAD", "mean MADc", "agreeing", "ties")
    assert rows[0] == ("count", "number", "2", "8", "0.5", "0.1", "0.533", "0")
    assert rows[2] == ("fragmentation", "name", "2", "5", "-", "-", "0.667", "1")
    said = json.loads(json.dumps(by_hand.to_json()))
    assert said["types"][0]["mean_madc"] == 0.1 and said["items"][0]["item"] == "houses"


def test_random_annotations_agree_with_numpy(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    answers = random.poisson(random.integers(1, 60, size=(40, 1)), size=(40, 10)).astype(float)
    lines = [
        json.dumps({"item": item, "annotator": f"p{person}", "answer": answers[item, person]})
        for item in range(40)
        for person in random.permutation(10)
    ]
    found = agree(written(tmp_path, "\n".join(lines), "said.jsonl"))
    middle = np.median(answers, axis=1)
    mad = np.median(np.abs(answers - middle[:, None]), axis=1)
    assert [item.consensus for item in found.items] == middle.tolist()
    assert [item.mad for item in found.items] == mad.tolist()
    (total,) = found.types
    assert total.type == "all" and total.mean_mad == pytest.approx(mad.mean())
    assert total.mean_madc == pytest.approx((mad[middle > 0] / middle[middle > 0]).mean())


def test_bare_ones_and_zeros_are_numbers_unless_something_says_otherwise(tmp_path: Path) -> None:
    said = "item,annotator,answer{}\nx,a,1{}\nx,b,0{}\nx,c,1{}\n"
    untyped = agree(written(tmp_path, said.format("", "", "", "")))
    typed = agree(written(tmp_path, said.format(",type", *[",binary_threshold"] * 3)))
    assert (untyped.items[0].kind, untyped.items[0].consensus) == ("number", 1)
    assert (typed.items[0].kind, typed.items[0].consensus) == ("yes/no", "yes")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("item,annotator,answer\nx,a,3\nx,a,4\n", "line 3: key \"annotator\" is 'a', who has answered 'x' before"),
        ("item,annotator,answer\nx,a,3\nx,b,many\n", "line 3: key \"answer\" is 'many', where others answer"),
        ("item,annotator,answer\nx,a,3\nx,b\n", 'line 3: key "answer" is missing'),
        ("item,annotator\nx,a\n", 'line 2: key "answer" is missing'),
        (
            "item,annotator,answer,type\nx,a,3,count\nx,b,4,size\n",
            "line 3: key \"type\" differs within the item 'x': count and size",
        ),
        ("item,annotator,answer\n", "holds no annotations. Next: give one line per answer: item, annotator, answer."),
    ],
)
def test_what_cannot_be_used_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        agree(written(tmp_path, text))
    assert said in str(caught.value)


def test_other_files_are_no_annotations(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"said\.xlsx is neither CSV nor JSON lines\. Next: give a file that ends in"):
        agree(tmp_path / "said.xlsx")
