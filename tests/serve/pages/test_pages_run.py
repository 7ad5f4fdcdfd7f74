"""The page of a run in a real browser: what it says, and what happens when it is used."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pages_scene import AREAS_M2, COUNT, DRAFT, HOUSES, LARGE, NEAR, QUESTION, Town, town

from swath.cli import swath as command
from swath.errors import InputError
from swath.serve.pages.run import run_page

Opener = Callable[..., Any]
FOCUSED = """() => {
  const at = document.activeElement;
  return at.id || at.dataset.role || at.dataset.side || at.classList[0];
}"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return town(tmp_path_factory.mktemp("pages"))


@pytest.fixture(scope="module")
def run(place: Town) -> Path:
    """Two of five houses are counted; one draft was rejected."""
    return place.ask(COUNT, DRAFT)


@pytest.fixture(scope="module")
def page_file(run: Path, place: Town) -> Path:
    file = place.folder / "run.html"
    file.write_text(run_page(run), encoding="utf-8")
    return file


@pytest.fixture
def page(page_file: Path, open_page: Opener) -> Any:
    opened = open_page(page_file.as_uri())
    opened.wait_for_selector(".grid-body .grid-row")
    return opened


def shown_ids(page: Any) -> list[str]:
    """Ids in the table, from top to bottom."""
    rows = page.query_selector_all(".grid-body .grid-row")
    return [row.query_selector(".grid-cell").inner_text() for row in rows]


def reasons(page: Any) -> list[str]:
    return [cell.inner_text() for cell in page.query_selector_all(".grid-body .grid-cell:last-child")]


def on_screen(page: Any, x: float, y: float) -> tuple[float, float]:
    """Where a pixel of the image is on the screen, by the frame's size: all of the image is shown, in the middle."""
    page.locator("#viewer .viewer-frame").scroll_into_view_if_needed()
    return placed(page, x, y)


def placed(page: Any, x: float, y: float) -> tuple[float, float]:
    """The same without moving the page, so that the pointer stays on what it is on."""
    frame = page.locator("#viewer .viewer-frame").bounding_box()
    scale = min(frame["width"] / 160, frame["height"] / 120)
    left = frame["x"] + (frame["width"] - 160 * scale) / 2
    top = frame["y"] + (frame["height"] - 120 * scale) / 2
    return left + x * scale, top + y * scale


def middle(house: int) -> tuple[float, float]:
    x0, y0, x1, y1 = HOUSES[house]
    return (x0 + x1) / 2, (y0 + y1) / 2


def colours_at(page: Any, canvas: str, x: float, y: float) -> list[int]:
    """Red, green, blue, alpha of the most opaque pixel of a canvas within four pixels of a place of the screen."""
    found: list[int] = page.evaluate(
        """([name, x, y]) => {
          const canvas = document.querySelector(name), box = canvas.getBoundingClientRect();
          const [left, top] = [Math.round(x - box.left) - 4, Math.round(y - box.top) - 4];
          const near = canvas.getContext("2d").getImageData(left, top, 9, 9).data;
          const rank = (i) => near[i + 3] + near[i] / 256;
          let best = 0;
          for (let i = 0; i < near.length; i += 4) if (rank(i) > rank(best)) best = i;
          return Array.from(near.slice(best, best + 4));
        }""",
        [canvas, x, y],
    )
    return found


def settled(page: Any) -> None:
    """Until what was asked for is painted."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_page_opens_offline_and_says_answer_interval_and_what_was_measured(page: Any, page_file: Path) -> None:
    assert page.inner_text("h1").strip() == str(NEAR)
    assert page.inner_text(".question") == QUESTION
    assert page.inner_text(".sentence") == "large buildings near water"
    assert re.fullmatch(r"\d+ to \d+, considering .*proximity.*", page.inner_text(".interval"))
    assert [url for url in page.requests if not url.startswith("data:")] == [page_file.as_uri()]


def test_policy_lets_nothing_in_that_is_not_of_the_page(page_file: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy and "http" not in policy
    assert not re.findall(r"""\s(?:src|href)=["'](?!#|data:)""", text)


def test_every_object_is_in_the_table_with_why_it_was_kept_or_dropped(page: Any) -> None:
    assert page.inner_text("#object-count") == "5 of 5"
    # 1 and 4 begin at column 30, 21 m from column 9; 2 at 60, 51 m; 5 at 110, 101 m; 3 has 20 m2.
    assert dict(zip(shown_ids(page), reasons(page), strict=True)) == {
        "1": "counted",
        "4": "counted",
        "2": "near: distance 51 m to water is not at most 25 m",
        "5": "near: distance 101 m to water is not at most 25 m",
        "3": "components: area 20 m2 is not larger than 50 m2",
    }


def test_sorting_goes_both_ways_and_is_said_to_screen_readers(page: Any) -> None:
    ids = [str(1 + AREAS_M2.index(area)) for area in sorted(AREAS_M2)]
    page.click('[data-name="area_m2"] button')
    assert shown_ids(page) == ids
    assert page.get_attribute('[data-name="area_m2"]', "aria-sort") == "ascending"
    page.click('[data-name="area_m2"] button')
    assert shown_ids(page) == ids[::-1]
    assert page.get_attribute('[data-name="area_m2"]', "aria-sort") == "descending"


@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        ({"#object-text": "distance water"}, {"2", "5"}),
        ({"#object-text": "NOT LARGER"}, {"3"}),
        ({"#object-text": "castle"}, set()),
        ({"#area-from": "100", "#area-to": "400"}, {"1", "2"}),
        ({"#area-from": "801"}, {"4"}),
    ],
)
def test_filter_keeps_what_was_asked_for(page: Any, fields: dict[str, str], ids: set[str]) -> None:
    for field, value in fields.items():
        page.fill(field, value)
    assert set(shown_ids(page)) == ids
    assert page.inner_text("#object-count") == f"{len(ids)} of 5"


def test_filter_by_kind_leaves_only_its_outlines_on_the_picture(page: Any) -> None:
    # On the upper edges: house 2 was dropped (white), house 4 counted (orange).
    dropped, counted = on_screen(page, 70, 10), on_screen(page, 45, 60)
    red, green, blue, _ = colours_at(page, ".viewer-marks", *dropped)
    assert red == green == blue > 120  # a line of less than a pixel, on a dark edge
    assert colours_at(page, ".viewer-marks", *counted)[:3] == [255, 165, 0]
    page.select_option("#object-kind", "counted")
    settled(page)
    assert set(shown_ids(page)) == {"1", "4"}
    assert colours_at(page, ".viewer-marks", *dropped)[3] == 0
    assert colours_at(page, ".viewer-marks", *counted)[:3] == [255, 165, 0]


def test_a_click_on_the_picture_chooses_the_row(page: Any) -> None:
    page.mouse.click(*on_screen(page, *middle(1)))
    assert page.locator(".grid-row.chosen .grid-cell").first.inner_text() == "2"
    assert page.inner_text(".viewer-said") == "2: building, 400 m²; near: distance 51 m to water is not at most 25 m"
    page.mouse.click(*on_screen(page, 90, 50))  # grass
    assert page.locator(".grid-row.chosen").count() == 0
    assert page.inner_text(".viewer-said") == ""


def test_a_row_highlights_its_object_on_the_picture(page: Any) -> None:
    edge = on_screen(page, 120, 60)  # upper edge of house 5
    page.locator(".grid-row", has_text="101 m").click()
    page.mouse.move(0, 0)
    settled(page)
    edge = on_screen(page, 120, 60)
    assert colours_at(page, ".viewer-pointed", *edge)[:3] == [255, 45, 149]
    assert colours_at(page, ".viewer-pointed", *on_screen(page, 45, 60))[3] == 0
    assert page.inner_text(".viewer-said").startswith("5: building, 800 m²")


def test_pointing_highlights_both_ways_without_choosing(page: Any) -> None:
    page.mouse.move(*on_screen(page, *middle(4)))
    settled(page)
    assert page.locator(".grid-row.hovered .grid-cell").first.inner_text() == "5"
    page.locator(".grid-row", has_text="101 m").hover()
    settled(page)
    assert page.locator(".grid-row.chosen").count() == 0
    assert colours_at(page, ".viewer-pointed", *placed(page, 120, 60))[3] > 0


def test_opacity_and_swipe_change_the_mask(page: Any) -> None:
    layer = page.locator("#viewer .viewer-layer").first
    assert layer.evaluate("(image) => image.style.opacity") == "0.55"
    page.locator('[data-role="opacity"]').fill("20")
    settled(page)
    assert layer.evaluate("(image) => image.style.opacity") == "0.2"
    page.locator('[data-role="swipe"]').fill("50")
    settled(page)
    # The mask ends in the middle of the picture, column 80 of 160.
    assert layer.evaluate("(image) => image.style.clipPath") == "inset(0px 80px 0px 0px)"
    assert page.locator("#viewer .viewer-line").is_visible()


def test_two_steps_are_held_against_each_other_by_dragging_the_line(page: Any) -> None:
    names = page.locator('[data-side="right"] option').all_inner_texts()
    assert [name.split(": ", 1)[-1] for name in names] == [
        "image alone",
        "building",
        "building larger than 50 m2",
        "water",
        "building larger than 50 m2 within 25 m of water",
    ]
    page.select_option('[data-side="right"]', "1")
    line = page.locator("#viewer .viewer-line")
    start = line.bounding_box()
    goal = on_screen(page, 40, 60)
    page.mouse.move(start["x"] + 1, start["y"] + 30)
    page.mouse.down()
    page.mouse.move(goal[0], goal[1], steps=4)
    page.mouse.up()
    settled(page)
    left, right = (
        page.locator("#viewer .viewer-layer").nth(k).evaluate("(image) => image.style.clipPath") for k in (0, 1)
    )
    cuts = [float(re.findall(r"([\d.]+)px", clip)[k]) for clip, k in ((left, 1), (right, 3))]
    assert cuts[0] == pytest.approx(160 - 40, abs=1) and cuts[1] == pytest.approx(40, abs=1)


def test_mask_of_a_step_is_shown_from_the_list_of_steps(page: Any) -> None:
    shown = page.locator("#viewer .viewer-layer").first.get_attribute("src")
    row = page.locator(".steps tr", has_text='segment("water")')
    row.locator("button", has_text="show").click()
    assert page.locator("#viewer .viewer-layer").first.get_attribute("src") != shown
    assert page.locator('[data-side="left"] option:checked').inner_text().endswith(": water")
    assert "on" in row.get_attribute("class").split()


def test_each_line_of_the_program_leads_to_its_calls_and_back(page: Any) -> None:
    steps = {row.get_attribute("id"): row.inner_text() for row in page.query_selector_all(".steps tbody tr")}
    for line, tools in ((1, ["segment", "components"]), (2, ["segment", "near"]), (3, ["count", "reply"])):
        links = page.query_selector_all(f"#line-{line} .calls a")
        called = [steps[link.get_attribute("href")[1:]] for link in links]
        assert [tool in text for tool, text in zip(tools, called, strict=True)] == [True, True]
    page.click("#line-2 .calls a:last-child")
    assert "near(" in page.inner_text(".steps tr.on")
    assert page.locator(".source li.on").get_attribute("id") == "line-2"
    assert page.locator(".timeline rect.on").count() == 1


def test_rejected_draft_shows_its_hints_and_what_changed(page: Any) -> None:
    text = page.inner_text("#drafts")
    assert "Draft 1: " in text and "bigger_than_m2" in page.inner_text("#drafts .hints")
    assert page.inner_text("#drafts .removed").strip() == f"- {DRAFT.splitlines()[0]}"
    assert page.inner_text("#drafts .added").strip() == f"+ {COUNT.splitlines()[0]}"


def test_page_is_worked_by_the_keyboard_alone(page: Any) -> None:
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(FOCUSED))
    assert {"viewer-frame", "left", "right", "opacity", "swipe", "outlines", "object-text", "object-kind",
            "area-from", "area-to", "object-table"} <= reached  # fmt: skip
    page.focus("#object-table")
    page.keyboard.press("ArrowDown")
    assert page.locator(".grid-row.chosen .grid-cell").first.inner_text() == "1"
    page.keyboard.press("End")
    active = page.get_attribute("#object-table", "aria-activedescendant")
    assert page.locator(f"#{active} .grid-cell").first.inner_text() == "3"
    page.keyboard.press("Enter")
    settled(page)
    assert "zoomed" in page.get_attribute("#viewer .viewer-frame", "class")
    page.focus("#viewer .viewer-frame")
    page.keyboard.press("0")
    settled(page)
    assert "zoomed" not in page.get_attribute("#viewer .viewer-frame", "class")
    for _ in range(5):
        page.keyboard.press(",")
    assert page.input_value('[data-role="swipe"]') == "75"
    page.focus('[data-role="swipe"]')
    page.keyboard.press("ArrowLeft")
    assert page.input_value('[data-role="swipe"]') == "74"


def test_zoom_keeps_the_place_under_the_pointer(page: Any) -> None:
    x, y = on_screen(page, *middle(1))
    page.focus("#viewer .viewer-frame")
    page.mouse.move(x, y)
    page.mouse.wheel(0, -240)
    settled(page)
    page.mouse.click(x, y)
    assert page.locator(".grid-row.chosen .grid-cell").first.inner_text() == "2"


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_any_width_and_has_no_serious_fault_of_access(
    page_file: Path, open_page: Opener, faults_found: Callable[[Any], list[str]], width: int, scheme: str
) -> None:
    page = open_page(page_file.as_uri(), viewport={"width": width, "height": 800}, color_scheme=scheme)
    page.wait_for_selector(".grid-body .grid-row")
    assert page.evaluate("() => document.documentElement.scrollWidth") == width
    assert not faults_found(page)
    paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_a_phone_reads_the_answer_before_the_picture(page_file: Path, open_page: Opener) -> None:
    page = open_page(page_file.as_uri(), viewport={"width": 400, "height": 800}, has_touch=True, is_mobile=True)
    page.wait_for_selector(".grid-body .grid-row")
    answer, picture = (page.locator(name).bounding_box() for name in ("h1", "#viewer"))
    assert answer["y"] + answer["height"] < picture["y"]
    page.touchscreen.tap(*on_screen(page, *middle(3)))
    assert page.locator(".grid-row.chosen .grid-cell").first.inner_text() == "4"


def test_command_that_replays_the_run_works_as_it_stands(page: Any) -> None:
    words = shlex.split(page.inner_text(".command code"))
    done = CliRunner().invoke(command, words[1:], catch_exceptions=False)
    assert words[0] == "swath" and done.output.startswith(f"same: {NEAR}")


def test_light_run_gets_its_masks_and_objects_by_a_replay(place: Town, open_page: Opener) -> None:
    run = place.ask(COUNT, keep="light")
    assert not (run / "objects.gpkg").exists()
    file = place.folder / "light.html"
    file.write_text(run_page(run), encoding="utf-8")
    page = open_page(file.as_uri())
    page.wait_for_selector(".grid-body .grid-row")
    assert len(shown_ids(page)) == len(HOUSES) and reasons(page).count("counted") == NEAR
    assert page.locator('[data-side="left"] option').count() == 5


def test_an_image_that_changed_is_not_shown(tmp_path: Path, open_page: Opener) -> None:
    place = town(tmp_path)
    run = place.ask(COUNT)
    place.image.write_bytes(town(tmp_path / "..", "other.tif").image.read_bytes()[:-1] + b"\0")
    file = tmp_path / "run.html"
    file.write_text(run_page(run), encoding="utf-8")
    page = open_page(file.as_uri())
    page.wait_for_selector(".grid-body .grid-row")
    assert "is not the image that was measured" in page.inner_text(".warnings")
    assert page.locator(".viewer-image").count() == 0
    assert len(shown_ids(page)) == len(HOUSES)  # what the run kept is still there


def test_refused_run_says_why_and_has_no_empty_parts(place: Town, open_page: Opener) -> None:
    run = place.ask('reply(area_m2(segment("castle")), kind="quantity", unit="m2")')
    file = place.folder / "refused.html"
    file.write_text(run_page(run), encoding="utf-8")
    page = open_page(file.as_uri())
    assert page.inner_text("h1").strip() == "Refused"
    assert "castle" in page.inner_text(".sentence")
    assert page.inner_text("#objects .note") == "No objects stand behind this answer."


def test_command_line_writes_the_page(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command, ["trace", "show", run.name, "--out", str(run.parent), "--html"])
    assert (done.exit_code, done.output) == (0, f"page: {run.name}.html\n")
    assert f'<h1 class="value" dir="auto">{NEAR}</h1>' in Path(f"{run.name}.html").read_text(encoding="utf-8")
    there = CliRunner().invoke(command, ["trace", "show", str(run), "--html", "a.html"])
    assert there.output == "page: a.html\n" and Path("a.html").is_file()


def test_command_line_does_not_write_over_the_run(run: Path) -> None:
    done = CliRunner().invoke(command, ["trace", "show", str(run), "--html", str(run / "run.json")])
    assert isinstance(done.exception, InputError)
    assert "is one of the files that are read. Next: name another file to write." in str(done.exception)


def test_numbers_of_the_scene_are_those_of_its_drawing() -> None:
    areas = [(x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in HOUSES]
    assert tuple(areas) == AREAS_M2 and sum(area > 50 for area in areas) == LARGE
    assert sum(area > 50 and x0 - 9 <= 25 for area, (x0, *_) in zip(areas, HOUSES, strict=True)) == NEAR
