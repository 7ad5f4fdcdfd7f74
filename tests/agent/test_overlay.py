"""The picture of a run: what was counted is marked where it is, and any image, text or grid can be drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyproj
import pytest
import shapely
from affine import Affine
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from run_scenes import NORTH_UP, UTM, Scene, painted, write_image

from swath.agent.overlay import lettering, marks, picture
from swath.agent.overlay.furniture import length_words, north_turn_degrees, round_down, scale_bar
from swath.agent.overlay.lettering import Lettering, lettered, plain
from swath.agent.overlay.marks import View, class_colours, line_widths
from swath.raster.grid import Grid

SHAPE = (40, 60)
COUNT = 'h = components(segment("building"), larger_than_px=10)\nreply(count(h), kind="count", objects=h)\n'
HOUSES = painted(SHAPE, (10, 10, 20, 20), (40, 5, 50, 15), (30, 30, 32, 32))
WATER = painted(SHAPE, (0, 0, 5, 40))


def grey(path: Path, shape: tuple[int, int] = SHAPE, **options: Any) -> Path:
    """A grey image, so that every colour in the picture is a mark."""
    image = write_image(path, shape, **options)
    import rasterio

    with rasterio.open(image, "r+") as dataset:
        dataset.write(np.full((3, *shape), 120, dtype=np.uint8))
    return image


def drawn(folder: Path) -> np.ndarray[Any, Any]:
    return np.asarray(Image.open(folder / "overlay.png").convert("RGB")).astype(int)


def near_colour(pixels: np.ndarray[Any, Any], colour: tuple[int, int, int], slack: int = 40) -> np.ndarray[Any, Any]:
    return np.abs(pixels - np.array(colour)).max(axis=-1) <= slack


def inner_picture(sheet: np.ndarray[Any, Any], shape: tuple[int, int]) -> tuple[np.ndarray[Any, Any], int]:
    """The part of the sheet that shows the image, and picture pixels per image pixel."""
    factor = max(1, picture.ENLARGED_TO_PX // max(shape))
    framed = np.flatnonzero(near_colour(sheet[:, sheet.shape[1] // 2], picture.FRAME, 2))
    margin = (sheet.shape[1] - max(shape[1] * factor, picture.NARROWEST_PX)) // 2
    top = framed[0] + 1
    return sheet[top : top + shape[0] * factor, margin : margin + shape[1] * factor], factor


def test_counted_objects_are_outlined_and_tinted_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(tmp_path, monkeypatch, grey(tmp_path / "town.tif"), {"building": HOUSES, "water": WATER})
    folder, answer = scene.ask(COUNT)
    assert answer.answer == 2
    shown, factor = inner_picture(drawn(folder), SHAPE)
    assert factor == 20
    orange = near_colour(shown, marks.COUNTED)
    for x0, y0, x1, y1 in ((10, 10, 20, 20), (40, 5, 50, 15)):
        for row, col in ((y0, (x0 + x1) / 2), (y1, (x0 + x1) / 2), ((y0 + y1) / 2, x0), ((y0 + y1) / 2, x1)):
            around = orange[int(row * 20) - 3 : int(row * 20) + 3, int(col * 20) - 3 : int(col * 20) + 3]
            assert around.any(), (row, col)
        centre = shown[(y0 + y1) * 10, (x0 + x1) * 10]
        assert centre[0] > centre[2] + 20  # tinted orange, the grey still there
    # Far from every object the image is as it was; the object that was dropped is outlined in another colour.
    assert (shown[600:, :500] == 120).all()
    assert not orange[580:660, 580:660].any()
    assert (shown[580:660, 580:660] > 150).any()


def test_what_the_objects_were_near_is_tinted_in_another_colour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(tmp_path, monkeypatch, grey(tmp_path / "town.tif"), {"building": HOUSES, "water": WATER})
    program = (
        'h = near(components(segment("building")), segment("water"), max_distance_m=15)\n'
        'reply(count(h), kind="count", objects=h)\n'
    )
    folder, _ = scene.ask(program)
    shown, _ = inner_picture(drawn(folder), SHAPE)
    r, g, b = shown[400, 50]
    assert b > g > r  # water blue


def test_a_mask_is_tinted_and_the_rest_of_its_class_in_the_class_s_colour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paintings = {"forest": painted(SHAPE, (8, 0, 60, 40)), "water": WATER}
    scene = Scene(tmp_path, monkeypatch, grey(tmp_path / "town.tif"), paintings)
    program = (
        'f = within(segment("forest"), segment("water"), max_distance_m=20)\n'
        'reply(area_m2(f), kind="quantity", unit="m2", objects=f)\n'
    )
    folder, _ = scene.ask(program)
    shown, _ = inner_picture(drawn(folder), SHAPE)
    near, far = shown[400, 10 * 20], shown[400, 40 * 20]
    assert near[0] > near[2]
    assert far[1] > far[0]


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (1, 400), (400, 1), (700, 1300), (2500, 40)])
def test_images_of_any_size_make_a_picture_that_one_can_look_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, int]
) -> None:
    everything = np.ones(shape, dtype=bool)
    scene = Scene(tmp_path, monkeypatch, grey(tmp_path / "town.tif", shape), {"building": everything})
    folder, _ = scene.ask('h = components(segment("building"))\nreply(count(h), kind="count", objects=h)\n')
    rows, cols, _ = drawn(folder).shape
    assert picture.NARROWEST_PX <= cols <= picture.LONGEST_SIDE_PX + 120
    assert rows <= picture.LONGEST_SIDE_PX + 700
    factor = max(1, picture.ENLARGED_TO_PX // max(shape))
    assert rows > min(shape[0] * factor, picture.LONGEST_SIDE_PX * shape[0] // max(shape))


@pytest.mark.parametrize(
    "question",
    [
        "",
        "?" * 5000,
        "words " * 2000,
        "Wie groß ist die Fläche in m²? — ½ × €",
        "有多少建筑物大于一百平方米？",
        "كم عدد المباني القريبة من الماء؟",
        "Сколько зданий рядом с водой?",
        "\x1b[31mred\x00\u202eabc\ud800",
        "🏠🏠🏠",
        "कितनी इमारतें हैं?",
    ],
)
def test_any_question_can_be_lettered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str) -> None:
    scene = Scene(tmp_path, monkeypatch, grey(tmp_path / "town.tif"), {"building": HOUSES})
    folder, _ = scene.ask(COUNT, question=question)
    assert drawn(folder).shape[0] < 1400


def test_a_refused_run_that_kept_its_evidence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(tmp_path, monkeypatch, grey(tmp_path / "town.tif"), {"building": HOUSES, "water": WATER})
    folder, answer = scene.ask(
        'n = difference(segment("water"), segment("water"))\nreply(distance_m(n, n), kind="quantity", unit="m")\n'
    )
    assert answer.status == "refused"
    shown, _ = inner_picture(drawn(folder), SHAPE)
    r, g, b = shown[400, 50]
    assert b > g > r  # what was looked at is shown although nothing was counted


def test_letters_without_a_glyph_are_no_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lettering, "_font_files", lambda: ())
    lettering._best.cache_clear()
    assert lettered("Fläche: 5 m² – naïve Łódź ß", 20)[0] == "Flache: 5 m2 - naive Lodz ss"
    assert lettered("有多少建筑物", 20)[0].startswith("(no typeface here")
    assert lettered("3 km² 水 within reach", 20)[0] == "3 km2 ? within reach"
    lettering._best.cache_clear()


def test_a_system_typeface_that_cannot_be_read_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.ttf").write_bytes(b"not a font")
    monkeypatch.setattr(lettering, "_font_files", lambda: (tmp_path / "broken.ttf",))
    lettering._best.cache_clear()
    assert lettered("naïve", 20)[0] == "naive"
    lettering._best.cache_clear()


@given(st.text(max_size=300), st.integers(40, 800), st.integers(1, 4))
def test_wrapped_lines_fit(text: str, width: int, most: int) -> None:
    letters = Lettering(text, 18)
    lines = letters.wrapped(width, most)
    assert 1 <= len(lines) <= most
    widest_letter = max((letters.width(letter) for letter in letters.text), default=0)
    assert all(letters.width(line) <= max(width, 2 * widest_letter) + 1 for line in lines)


def test_text_of_one_line_without_orders_for_terminals_and_writing_direction() -> None:
    assert plain("a\nb\t c\x1b[1m\u202ed\u2066") == "a b c [1m d"


@pytest.mark.parametrize(
    ("value", "round_value"),
    [(1.0, 1), (1.99, 1), (2, 2), (4.9, 2), (5, 5), (9.99, 5), (10, 10), (730, 500), (0.03, 0.02)],
)
def test_scale_bars_have_round_lengths(value: float, round_value: float) -> None:
    assert round_down(value) == pytest.approx(round_value)


def test_a_scale_bar_measures_the_picture() -> None:
    bar = scale_bar(Grid(NORTH_UP, (400, 600), UTM), 2.0, 250.0)  # 1 m per picture pixel
    assert (bar.length_px, bar.label) == (200.0, "200 m")
    bar = scale_bar(Grid(NORTH_UP @ Affine.scale(15), (400, 600), UTM), 0.5, 250.0)
    assert (bar.length_px, bar.label) == (pytest.approx(10_000 / 60), "10 km")
    bar = scale_bar(Grid(Affine.identity(), (4, 6)), 20.0, 100.0)
    assert (bar.length_px, bar.label) == (100.0, "5 pixels")
    bar = scale_bar(Grid(Affine.identity(), (4, 6)), 300.0, 100.0)
    assert (bar.length_px, bar.label) == (300.0, "1 pixel")
    assert [length_words(metres) for metres in (5000.0, 2.0, 0.5, 0.002)] == ["5 km", "2 m", "50 cm", "2 mm"]


@pytest.mark.parametrize("turn", [30.0, -120.0, 90.0, 175.0])
def test_the_arrow_points_north(turn: float) -> None:
    # Turning the grid anticlockwise on the ground turns north clockwise in the picture.
    affine = Affine.translation(500_000, 5_000_000) @ Affine.rotation(turn) @ Affine.scale(2, -2)
    found = north_turn_degrees(Grid(affine, (100, 100), UTM))
    assert found == pytest.approx(turn, abs=0.5)


def test_the_arrow_of_a_mirrored_or_north_up_grid() -> None:
    south_up = Affine(2, 0, 500_000, 0, 2, 5_000_000)
    assert abs(north_turn_degrees(Grid(south_up, (100, 100), UTM)) or 0) == pytest.approx(180, abs=1)
    assert north_turn_degrees(Grid(NORTH_UP, (100, 100), UTM)) is None
    assert north_turn_degrees(Grid(NORTH_UP, (100, 100))) is None
    assert north_turn_degrees(Grid(Affine.identity(), (100, 100), pyproj.CRS(4326))) is None


def test_an_arrow_is_drawn_only_where_north_is_not_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dark = []
    for name, affine in (("up", NORTH_UP), ("turned", NORTH_UP @ Affine.rotation(40))):
        scene = Scene(tmp_path / name, monkeypatch, grey(tmp_path / f"{name}.tif", affine=affine), {"building": HOUSES})
        folder, _ = scene.ask(COUNT)
        sheet = drawn(folder)
        corner = sheet[-140:-40, -130:]
        dark.append(int((corner.max(axis=-1) < 60).sum()))
    assert dark[1] > dark[0] + 40


def test_colours_of_classes_are_familiar_and_differ() -> None:
    assert class_colours(("water", "road"))["water"] == marks.OF_CLASS["water"]
    colours = class_colours(("road", "water", "forest", "sand", "rock"))
    assert len(set(colours.values())) == 5
    assert marks.COUNTED not in colours.values()
    assert len(class_colours([f"class {number}" for number in range(30)])) == 30


def test_outlines_are_as_wide_as_leaves_the_inside_visible() -> None:
    lake, road = (
        shapely.LinearRing(shapely.box(0, 0, 200, 200).exterior),
        shapely.LinearRing(shapely.box(0, 0, 900, 9).exterior),
    )
    lines = np.array([lake, road, shapely.LineString([(0, 0), (9, 9)])], dtype=object)
    assert line_widths(lines, (1.0, 1.0)).tolist() == [3, 1, 2]
    assert line_widths(lines, (0.05, 0.05)).tolist() == [1, 1, 2]
    assert line_widths(lines[:0], (1.0, 1.0)).tolist() == []


def test_tints_shrink_with_the_picture() -> None:
    view = View(np.zeros((10, 10, 3), dtype=np.uint8), (0.1, 0.1))
    pixels = np.zeros((100, 100), dtype=bool)
    pixels[:, :5] = True  # half of the first column of picture pixels
    view.fill(pixels, (200, 100, 50), 1.0)
    assert view.image[:, 0].tolist() == [[100, 50, 25]] * 10
    assert not view.image[:, 1:].any()
