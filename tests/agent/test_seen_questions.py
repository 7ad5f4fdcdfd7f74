"""Questions about heights and referring expressions, asked through the whole path of a town whose truths are known."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import rasterio
from numpy.typing import NDArray
from seen_town import BOXES, GRID, SHAPE, Town, build_town

import swath
from swath.raster.write import write_array
from swath.types import Answer

FOLDER = Path(__file__).parent


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return build_town(tmp_path_factory.mktemp("seen"))


def ask(town: Town, question: str, folder: Path) -> Answer:
    return swath.ask(town.image, question, planner="offline", out=folder, keep="light", **town.options)


def slopes(ground: NDArray[np.float32]) -> NDArray[np.float64]:
    """Horn's slope in degrees of cells of 1 m that have eight neighbours."""
    z = ground.astype(np.float64)
    a, b, c, d, f, g, h, i = (
        z[1 + dy : SHAPE[0] - 1 + dy, 1 + dx : SHAPE[1] - 1 + dx]
        for dy, dx in ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
    )
    east, north = ((c + 2 * f + i) - (a + 2 * d + g)) / 8, ((g + 2 * h + i) - (a + 2 * b + c)) / 8
    return np.asarray(np.degrees(np.arctan(np.hypot(east, north))))


def riley(ground: NDArray[np.float32], where: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Riley's ruggedness of some cells, none of them at the edge."""
    z = ground.astype(np.float64)
    found = [
        math.sqrt(sum((z[row + dy, col + dx] - z[row, col]) ** 2 for dy in (-1, 0, 1) for dx in (-1, 0, 1)))
        for row, col in zip(*np.nonzero(where), strict=True)
    ]
    return np.array(found)


def truth(expression: str, town: Town) -> Any:
    grass = ~town.of(*(box.name for box in BOXES))
    words = {
        "Z": town.ground.astype(float), "H": town.above.astype(float), "S": slopes(town.ground), "of": town.of,
        "mean": np.mean, "np_count": np.count_nonzero,
        "pct": np.percentile, "tan": np.tan, "radians": np.radians, "grass": grass,
        "west": np.arange(SHAPE[1])[None, :] < SHAPE[1] // 2, "tri": lambda where: riley(town.ground, where),
    }  # fmt: skip
    return eval(expression, words)


@pytest.mark.parametrize("row", rows("seen_heights.jsonl"), ids=lambda row: row["question"])
def test_a_question_about_heights_has_its_true_answer(row: dict[str, Any], town: Town, tmp_path: Path) -> None:
    lonlat = pyproj.Transformer.from_crs(32631, 4326, always_xy=True).transform(500_100.5, 4_999_899.5)
    question = row["question"].replace("LON", f"{lonlat[0]:.7f}").replace("LAT", f"{lonlat[1]:.7f}")
    answer = ask(town, question, tmp_path)
    assert answer.status == "answered", answer.reason
    wanted = truth(row["truth"], town)
    if answer.kind == "mask":
        assert answer.run is not None
        with rasterio.open(Path(answer.run) / "answer.tif") as file:
            assert (file.read(1) > 0).tolist() == wanted.tolist()
        return
    if isinstance(wanted, str | bool):
        assert answer.answer == {True: "yes", False: "no"}.get(wanted, wanted)
        return
    assert answer.unit == row["unit"] or (row["unit"] == "count" and answer.kind == "count")
    assert answer.answer == pytest.approx(np.asarray(wanted).tolist(), rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("row", rows("seen_phrases.jsonl"), ids=lambda row: row["phrase"])
def test_a_phrase_finds_what_it_means_or_is_refused(row: dict[str, Any], town: Town, tmp_path: Path) -> None:
    answer = ask(town, row["phrase"], tmp_path)
    if row["truth"] is None:
        assert answer.status == "refused", answer.answer
        return
    assert (answer.status, answer.kind, answer.unit) == ("answered", "boxes", "px"), answer.reason
    boxes = {box.name: [box.x0, box.y0, box.x1, box.y1] for box in BOXES}
    assert sorted(map(list, answer.answer)) == sorted(boxes[name] for name in row["truth"])


HOLE = np.s_[8:24, 8:80]
"""A gap over b1 and parts of b2 and the grass around them."""


@pytest.fixture(scope="module")
def holed(town: Town, tmp_path_factory: pytest.TempPathFactory) -> Town:
    """The town, its surface and its ground with a hole."""
    folder, options = tmp_path_factory.mktemp("holed"), dict(town.options)
    for surface, heights in (("dsm", town.ground + town.above), ("dtm", town.ground)):
        cut = heights.copy()
        cut[HOLE] = np.nan
        write_array(folder / f"{surface}.tif", cut, GRID)
        options[surface] = folder / f"{surface}.tif"
    return replace(town, options=options)


def known_slopes(town: Town) -> NDArray[np.float64]:
    """Slopes of the town with its hole: NaN at its edge, in the hole and around it."""
    cut, found = town.ground.copy(), np.full(SHAPE, np.nan)
    cut[HOLE] = np.nan
    found[1:-1, 1:-1] = slopes(cut)
    found[HOLE] = np.nan  # the middle of a window is no part of Horn's differences
    return found


@pytest.mark.parametrize(
    ("question", "keep", "field"),
    [
        ("What percentage of the image is lower than 2 m?", lambda z: z < 2, "height"),
        ("What percentage of the image is not taller than 10 m?", lambda z: z <= 10, "height"),
        ("What share of the area is taller than 10 m?", lambda z: z > 10, "height"),
        ("What percentage of the image is steeper than 20 degrees?", lambda z: z > 20, "slope"),
        ("What percentage of the image is not steeper than 20 degrees?", lambda z: z <= 20, "slope"),
    ],
)
def test_a_share_by_height_or_slope_is_of_what_is_known(
    question: str, keep: Callable[[Any], Any], field: str, holed: Town, tmp_path: Path
) -> None:
    values = holed.above.astype(float)
    values[HOLE] = np.nan
    values = values if field == "height" else known_slopes(holed)
    cells = values[np.isfinite(values)]
    answer = ask(holed, question, tmp_path)
    assert answer.answer == pytest.approx(100 * np.count_nonzero(keep(cells)) / len(cells), rel=1e-9)
    missing = 100 * (1 - len(cells) / values.size)
    assert f"the image: {missing:.2g} % of the pixels have no known {field}; the others count." in answer.warnings


def test_a_share_of_a_number_is_of_the_objects_of_known_height(holed: Town, tmp_path: Path) -> None:
    answer = ask(holed, "What percentage of the buildings is taller than 10 m?", tmp_path)
    assert answer.answer == pytest.approx(100 * 4 / 7)  # b1 lies in the hole
    assert "1 of 8 building have no known height and were left out." in answer.warnings


@pytest.mark.parametrize(
    ("question", "keep", "unknown"),
    [
        ("What share of the buildings stands higher than 110 m in elevation?", lambda z: z > 110, "elevation"),
        ("What percentage of the buildings is on slopes of at most 6 degrees?", lambda z: z > 0, "slope"),
        (
            "What percentage of the buildings would be flooded at a water level of 110 m?",
            lambda z: z < 110,
            "elevation",
        ),
    ],
)
def test_a_share_of_a_number_is_of_the_objects_that_lie_where_something_is_known(
    question: str, keep: Callable[[float], bool], unknown: str, holed: Town, tmp_path: Path
) -> None:
    known = [box for box in BOXES if box.value == 2 and box.name != "b1"]  # b1 lies in the hole
    wet = "flooded" in question
    levels = [100 + 0.1 * (box.x0 if wet else (box.x0 + box.x1 - 1) / 2) for box in known]
    answer = ask(holed, question, tmp_path)
    assert answer.answer == pytest.approx(100 * sum(map(keep, levels)) / len(levels)), answer.reason
    assert f"1 of 8 building have no known {unknown} and were left out." in answer.warnings


@pytest.mark.parametrize("name", ["crane", "radio mast", "bridge"])
def test_a_class_that_is_not_known_is_named(name: str, town: Town, tmp_path: Path) -> None:
    said = str(ask(town, f"How tall is the tallest {name}?", tmp_path).reason)
    assert said.startswith(f'"{name}" is not a class that the source of classes knows on this image; it knows grass, ')


def test_of_more_than_two_none_is_the_taller_one(town: Town, tmp_path: Path) -> None:
    answer = ask(town, "Which building is taller?", tmp_path)
    assert str(answer.reason).startswith("There are 7 building except tallest building, not one, ")


def test_two_of_one_height_are_neither_taller(town: Town, tmp_path: Path) -> None:
    grid_heights = town.ground + np.where(town.of("h1", "h2"), 8, town.above)
    write_array(tmp_path / "level.tif", grid_heights.astype(np.float32), GRID)
    level = replace(town, options=town.options | {"dsm": tmp_path / "level.tif"})
    assert ask(level, "Which of the two hangars is taller?", tmp_path).answer == "neither"


def test_a_statistic_that_is_not_named_is_said(town: Town, tmp_path: Path) -> None:
    answer = ask(town, "How tall are the buildings?", tmp_path)
    assert answer.reading == "median height above ground of building, each counting once"
    assert "The question names no statistic: it is the median of their heights." in answer.warnings


@pytest.mark.parametrize(("said", "count"), [("in one sentence", 1), ("in one or two sentences", 2), ("briefly", 3)])
def test_a_caption_has_as_many_sentences_as_were_asked_for(said: str, count: int, town: Town, tmp_path: Path) -> None:
    text = str(ask(town, f"Describe this picture {said}", tmp_path).answer)
    assert text.count(". ") + 1 == count
    assert "By area it is " in text


def test_an_image_in_colour(town: Town, tmp_path: Path) -> None:
    assert ask(town, "Is the image in colour?", tmp_path).answer == "yes"
    unknown = replace(town, options={**town.options, "bands": {"nir": 1}})
    assert ask(unknown, "Is the image in colour?", tmp_path).answer == "no"


def test_an_area_by_height_says_what_is_unknown(holed: Town, tmp_path: Path) -> None:
    above = holed.above.copy()
    above[HOLE] = 0
    answer = ask(holed, "How much of the image is more than 10 m above ground, in square metres?", tmp_path)
    assert answer.answer == pytest.approx(np.count_nonzero(above > 10))
    assert "the image: 2.4 % of the pixels have no known height and are left out." in answer.warnings


def test_a_percentage_in_square_metres_is_refused_as_such(town: Town, tmp_path: Path) -> None:
    answer = ask(town, "What percentage of the image is taller than 20 m, in square metres?", tmp_path)
    assert answer.reason == 'It asks for a share in "m2". Next: ask "what area", or for no unit.'


def test_a_denial_before_two_conditions_is_not_guessed(town: Town, tmp_path: Path) -> None:
    question = "What percentage of the image is not steeper than 20 degrees and taller than 3 m?"
    assert ask(town, question, tmp_path).status == "refused"
