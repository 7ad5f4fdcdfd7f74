"""The stratified estimator against the figures that its paper publishes, and against simulated samples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from swath.errors import InputError
from swath.segment.error_matrix import NORMAL_95, ErrorMatrix, matrix_of_card, read_error_matrix, recorded_matrix

PAPER = """map,deforestation,forest gain,stable forest,stable non-forest
deforestation,66,0,5,4
forest gain,0,55,8,12
stable forest,1,0,153,11
stable non-forest,2,1,9,313
"""
"""Olofsson et al. 2014, table 8: counts of the worked example."""
MAPPED_PX = {
    "deforestation": 200_000,
    "forest gain": 150_000,
    "stable forest": 3_200_000,
    "stable non-forest": 6_450_000,
}
HECTARES_A_PIXEL = 0.09
PUBLISHED_HA = {
    "deforestation": (21_158, 6_158),
    "forest gain": (11_686, 3_756),
    "stable forest": (285_770, 15_510),
    "stable non-forest": (581_386, 16_282),
}


def written(folder: Path, text: str) -> Path:
    path = folder / "matrix.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", PUBLISHED_HA)
def test_the_papers_worked_example_comes_out_as_published(tmp_path: Path, name: str) -> None:
    matrix = read_error_matrix(written(tmp_path, PAPER))
    total = sum(MAPPED_PX.values())
    share, error = matrix.share(name, {key: px / total for key, px in MAPPED_PX.items()})
    area_ha, half_ha = PUBLISHED_HA[name]
    assert share * total * HECTARES_A_PIXEL == pytest.approx(area_ha, abs=1)
    assert NORMAL_95 * error * total * HECTARES_A_PIXEL == pytest.approx(half_ha, abs=1)
    assert matrix.samples == 640


def test_shares_are_unbiased_and_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    random = np.random.default_rng(5)
    mapped = {"water": 0.1, "forest": 0.3, "other": 0.6}
    truly = {"water": [0.85, 0.05, 0.10], "forest": [0.02, 0.90, 0.08], "other": [0.03, 0.04, 0.93]}
    draws = {"water": 75, "forest": 150, "other": 300}
    truth = sum(mapped[row] * truly[row][0] for row in mapped)
    found = []
    for _ in range(4000):
        counts = {
            row: dict(zip(mapped, map(int, random.multinomial(draws[row], truly[row])), strict=True)) for row in mapped
        }
        found.append(ErrorMatrix(counts, "a simulation").share("water", mapped))
    shares, errors = np.array(found).T
    assert shares.mean() == pytest.approx(truth, abs=4 * shares.std() / np.sqrt(len(shares)))
    assert errors.mean() == pytest.approx(shares.std(), rel=0.05)
    covered = (np.abs(shares - truth) <= NORMAL_95 * errors).mean()
    assert 0.93 <= covered <= 0.97


def test_rows_may_be_those_of_the_reference(tmp_path: Path) -> None:
    as_map = read_error_matrix(written(tmp_path, "map,water,other\nwater,9,1\nother,2,8\n"))
    turned = read_error_matrix(written(tmp_path, "Reference,Water,Other\nWater,9,2\nOther,1,8\n"))
    assert as_map.counts == turned.counts == {"water": {"water": 9, "other": 1}, "other": {"water": 2, "other": 8}}


def test_it_is_recorded_so_that_it_can_be_made_again(tmp_path: Path) -> None:
    matrix = read_error_matrix(written(tmp_path, PAPER))
    assert recorded_matrix(matrix.describe()) == matrix


def test_a_class_without_samples_is_said_where_it_is_mapped_only() -> None:
    matrix = ErrorMatrix({"water": {"water": 9, "other": 1}, "other": {"water": 0, "other": 1}}, "m.csv")
    assert matrix.share("water", {"water": 1.0, "other": 0.0})[0] == 0.9
    with pytest.raises(InputError, match=r'm.csv has 1 samples where the map says "other", which takes two at least'):
        matrix.share("water", {"water": 0.5, "other": 0.5})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", 'neither "map" nor "reference"'),
        ("class,water\nwater,9\n", 'neither "map" nor "reference"'),
        ("map,water,other\nwater,9\nother,1,2\n", "not every row has 2 counts"),
        ("map,water,other\nwater,9,1.5\nother,1,2\n", '"1.5" is no number of samples'),
        ("map,water,other\nwater,9,-1\nother,1,2\n", '"-1" is no number of samples'),
        ("map,water,other\nwater,9,1e3\nother,1,2\n", '"1e3" is no number of samples'),
        ("map,water,water\nwater,9,1\nother,1,2\n", "different names"),
        ("map,water,\nwater,9,1\nother,1,2\n", "different names"),
        ("map,water,total\nwater,9,9\n", "totals"),
        ('map,"wat\nwater,9,9\n', "no CSV"),
    ],
)
def test_what_is_no_error_matrix_is_one_sentence(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=r"is no error matrix: .*Next: write it as CSV") as caught:
        read_error_matrix(written(tmp_path, text))
    assert why in str(caught.value)


def test_files_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read .*Next: check the path"):
        read_error_matrix(tmp_path / "none.csv")
    (tmp_path / "matrix.csv").write_bytes(b"map,\xff\n")
    with pytest.raises(InputError, match="cannot be read"):
        read_error_matrix(tmp_path / "matrix.csv")
    written(tmp_path, "map,water\n" * 200_000)
    with pytest.raises(InputError, match="larger than any error matrix"):
        read_error_matrix(tmp_path / "matrix.csv")


def test_a_cards_matrix_is_turned_so_that_rows_are_the_map() -> None:
    card = {"numbers": {"confusion_px": {"water": [9, 2], "land": [1, 8]}}}
    matrix = matrix_of_card(card, "mine")
    assert matrix is not None
    assert not matrix.sampled
    assert matrix.counts == {"water": {"water": 9, "land": 1}, "land": {"water": 2, "land": 8}}
    assert matrix_of_card({}, "mine") is None
    with pytest.raises(InputError, match=r"numbers.confusion_px in the card of mine is no error matrix: not every row"):
        matrix_of_card({"numbers": {"confusion_px": {"water": [9], "land": [1, 8]}}}, "mine")
