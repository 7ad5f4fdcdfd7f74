"""`--confusion`: areas and shares of classes corrected by reference samples, and everything else refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
from affine import Affine
from click.testing import CliRunner

import swath
from swath.agent.replay import replay
from swath.cli import swath as command
from swath.errors import InputError
from swath.raster.grid import Grid
from swath.raster.write import write_array
from swath.testing.networks import colour_network
from swath.trace.reading import find_run

MATRIX = "map,building,grass,water\nbuilding,80,20,0\ngrass,3,290,7\nwater,0,10,90\n"
REST = "map,water,other\nwater,90,10\nother,7,393\n"


def asked(village: Any, tmp_path: Path, question: str, matrix: str = MATRIX, **options: Any) -> swath.Answer:
    path = tmp_path / "matrix.csv"
    path.write_text(matrix, encoding="utf-8")
    return swath.ask(village.image, question, confusion=path, out=tmp_path / "runs", **village.options | options)


def by_hand(village: Any) -> tuple[float, float]:
    """Share of water and the standard error, from the village's own numbers."""
    water, building = village.canal_m2 * 4 / village.valid_px, village.houses * village.house_m2 * 4 / village.valid_px
    grass = 1 - water - building
    share = water * 0.9 + grass * 7 / 300
    variance = water**2 * 0.9 * 0.1 / 99 + grass**2 * (7 / 300) * (293 / 300) / 299
    return share, math.sqrt(variance)


@pytest.mark.parametrize(
    ("question", "per_share", "unit"),
    [
        ("What percentage of the image is water?", 100.0, "percent"),
        ("What is the total water area in square metres?", 198 * 300 * 0.25, "m2"),
        ("What is the total water area in hectares?", 198 * 300 * 0.25 / 1e4, "ha"),
    ],
)
def test_an_area_is_corrected_and_carries_its_confidence_interval(
    village: Any, tmp_path: Path, question: str, per_share: float, unit: str
) -> None:
    answer = asked(village, tmp_path, question)
    share, error = by_hand(village)
    assert answer.unit == unit
    assert answer.answer == pytest.approx(share * per_share)
    assert answer.interval is not None
    assert answer.interval.covers == ("reference sample",)
    assert answer.interval.low == pytest.approx((share - 1.96 * error) * per_share)
    assert answer.interval.high == pytest.approx((share + 1.96 * error) * per_share)
    said = next(warning for warning in answer.warnings if "matrix.csv" in warning)
    assert said.startswith("The map shows 6.667 % of water; the error matrix of matrix.csv corrects it to 8.102 %")
    assert "500 reference samples, 95 % confidence interval), if they were drawn at random within each class" in said


def test_a_row_for_the_rest_takes_what_no_class_has(village: Any, tmp_path: Path) -> None:
    answer = asked(village, tmp_path, "What percentage of the image is water?", REST)
    water = village.canal_m2 * 4 / village.valid_px
    assert answer.answer == pytest.approx(100 * (water * 0.9 + (1 - water) * 7 / 400))


def test_a_run_keeps_the_matrix_and_replays_without_the_file(village: Any, tmp_path: Path) -> None:
    answer = asked(village, tmp_path, "What percentage of the image is water?")
    (tmp_path / "matrix.csv").unlink()
    run = find_run(str(answer.run), tmp_path)
    assert run.record["errors"]["counts"]["water"] == {"building": 0, "grass": 10, "water": 90}
    assert replay(run).same


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("How many buildings are there?", "count measures something else|components measures something else"),
        ("How many buildings are within 10 m of water?", "measures something else"),
        ("What is the area of grass within 10 m of water?", "measures something else"),
        ("What percentage of grass is within 10 m of water?", "measures something else"),
    ],
)
def test_what_samples_cannot_correct_is_refused(village: Any, tmp_path: Path, question: str, why: str) -> None:
    answer = asked(village, tmp_path, question)
    assert answer.status == "refused"
    assert "An error matrix corrects the area and the share of whole classes" in str(answer.reason)
    assert "leave --confusion out" in str(answer.reason)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ('reply(segment("water"), kind="mask")', "this measures none of them"),
        (
            'reply(share_percent(segment("water"), of=segment("grass")), kind="percent", unit="percent")',
            "corrects shares of the whole image, not of a class",
        ),
    ],
)
def test_programs_that_go_round_the_samples_are_refused(village: Any, tmp_path: Path, program: str, why: str) -> None:
    answer = asked(village, tmp_path, "?", program=program)
    assert answer.status == "refused"
    assert why in str(answer.reason)


@pytest.mark.parametrize(
    ("matrix", "why"),
    [
        ("map,building,water\nbuilding,80,20\nwater,10,90\n", "valid pixels belong to no row"),
        ("map,water,marsh\nwater,90,10\nmarsh,1,99\n", 'The map has no class "marsh"'),
        ("map,building,grass\nbuilding,80,20\ngrass,3,290\nwater,1,9\n", 'has no reference class "water"'),
        ("map,water\nother,3\n", "No row of the error matrix of matrix.csv is a class of the map"),
        ("map,water\nwater,90\nother,3\nrest,4\n", "more than one row for the rest"),
    ],
)
def test_a_matrix_that_does_not_fit_the_map_is_refused(village: Any, tmp_path: Path, matrix: str, why: str) -> None:
    answer = asked(village, tmp_path, "What percentage of the image is water?", matrix)
    assert answer.status == "refused"
    assert why in str(answer.reason)


def test_classes_that_overlap_are_refused(village: Any, tmp_path: Path) -> None:
    box = [[500_000, 5_000_000], [500_050, 5_000_000], [500_050, 4_999_950], [500_000, 4_999_950], [500_000, 5_000_000]]
    layer = {
        "type": "FeatureCollection",
        "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::32631"}},
        "features": [{"type": "Feature", "properties": {}, "geometry": {"type": "Polygon", "coordinates": [box]}}],
    }
    (tmp_path / "park.geojson").write_text(json.dumps(layer), encoding="utf-8")
    matrix = "map,park,water\npark,9,1\nwater,1,9\nother,5,5\n"
    layers = {"park": tmp_path / "park.geojson"}
    answer = asked(village, tmp_path, "What percentage of the image is water?", matrix, layers=layers)
    assert answer.status == "refused"
    assert "pixels belong to several rows of the error matrix" in str(answer.reason)


def test_few_samples_are_said(village: Any, tmp_path: Path) -> None:
    matrix = "map,water,other\nwater,18,2\nother,7,393\n"
    warnings = asked(village, tmp_path, "What percentage of the image is water?", matrix).warnings
    assert any("Fewer than 50 reference samples lie where the map says water" in warning for warning in warnings)


def coloured(tmp_path: Path) -> tuple[Path, Path]:
    """An image of 30 % water and the card of a network that finds it exactly, with an error matrix."""
    pixels = np.zeros((3, 40, 50), np.uint8)
    pixels[:] = np.array([40, 160, 50], np.uint8)[:, None, None]
    pixels[:, :12] = np.array([20, 60, 200], np.uint8)[:, None, None]
    image = tmp_path / "image.tif"
    write_array(image, pixels, Grid(Affine(0.5, 0, 500_000, 0, -0.5, 5_000_000), (40, 50), pyproj.CRS(32631)))
    card = colour_network(tmp_path, {"water": (20, 60, 200), "vegetation": (40, 160, 50)})
    matrix = "\n[numbers.confusion_px]\nwater = [800, 200]\nvegetation = [100, 900]\n"
    card.write_text(card.read_text() + matrix, encoding="utf-8")
    return image, card


def test_a_models_own_matrix_corrects_with_a_loud_warning(tmp_path: Path) -> None:
    image, card = coloured(tmp_path)
    program = 'reply(share_percent(segment("water")), kind="percent", unit="percent")'
    options: dict[str, Any] = {"segmenter": f"onnx:{card}", "confusion": "card", "out": tmp_path / "runs"}
    options["bands"] = {"red": 1, "green": 2, "blue": 3}
    answer = swath.ask(image, "?", program=program, **options)
    truly = 0.3 * 800 / 900 + 0.7 * 200 / 1100
    assert answer.answer == pytest.approx(100 * truly)
    assert answer.interval is not None
    assert (answer.interval.low, answer.interval.high) == pytest.approx((30.0, 100 * truly))
    assert any(warning.startswith("DOUBTFUL: The map shows 30 % of water") for warning in answer.warnings)
    assert any("is no confidence interval" in warning for warning in answer.warnings)
    assert replay(find_run(str(answer.run), tmp_path)).same


def test_a_source_without_a_card_has_no_matrix_of_its_own(village: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"labels has no card that states an error matrix.*--confusion FILE"):
        swath.ask(village.image, "?", confusion="card", out=tmp_path, **village.options)


def test_the_command_takes_a_matrix(village: Any, tmp_path: Path) -> None:
    (tmp_path / "matrix.csv").write_text(REST, encoding="utf-8")
    arguments = ["ask", str(village.image), "What percentage of the image is water?", "--json"]
    arguments += ["--confusion", str(tmp_path / "matrix.csv"), "--out", str(tmp_path / "runs")]
    for name, value in village.options.items():
        arguments += [f"--{name}", str(value)]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["interval"]["covers"] == ["reference sample"]
