"""The question page in a real browser: open, ask, watch, look, draw, ask on, edit, compare, download, keyboard."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from running_site import SLOW, Running, Served, large

from swath.serve import start
from swath.serve.folder import open_folder
from swath.serve.server import Settings

COUNT = "How many buildings are there?"
PATIENCE_MS = 180_000
"""Machines that test are busy; nothing here takes a second on one that is not."""
READY = ".turn[data-ready='true']"
HOUSE_PX = (55, 25)
"""A column and a row inside the first house of the village."""

Open = Callable[..., Any]
Faults = Callable[[Any], list[str]]


@pytest.fixture
def page(open_page: Open, served: Served) -> Any:
    """The page with the village open and its labels named."""
    opened = open_page(f"{served.url}/#image=village.tif")
    return prepared(opened)


def prepared(opened: Any, labels: str = "village.tif") -> Any:
    opened.set_default_timeout(PATIENCE_MS)
    opened.wait_for_selector("#tools:not([hidden])")
    opened.get_by_text("Files and settings").click()
    opened.get_by_label("Labels", exact=True).fill(labels)
    opened.get_by_label("Legend").fill("legend.json")
    opened.get_by_text("Files and settings").click()
    return opened


def ask(page: Any, question: str) -> Any:
    """Ask, and wait for the card of the answer with all that belongs to it."""
    before = page.locator(READY).count()
    page.get_by_label("Question", exact=True).fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_function(f'before => document.querySelectorAll("{READY}").length > before', arg=before)
    return page.locator(".turn").first


def on_screen(page: Any, col: float, row: float) -> tuple[float, float]:
    """Where a pixel of the village lies in the window while all of it is shown."""
    box = page.locator("#map").bounding_box()
    scale = 2 ** float(page.locator("#map").get_attribute("data-zoom"))
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    return middle[0] + (col - 150) * scale, middle[1] + (row - 100) * scale


def test_an_image_is_chosen_a_question_asked_and_its_objects_looked_at(open_page: Open, served: Served) -> None:
    page = open_page(served.url)
    page.set_default_timeout(PATIENCE_MS)
    page.get_by_role("button", name="Choose an image").first.click()
    page.get_by_role("dialog").get_by_role("button", name="village.tif").click()
    prepared(page)
    page.wait_for_selector("#map img.leaflet-tile-loaded")
    turn = ask(page, COUNT)
    assert turn.locator(".value").inner_text() == "12"
    assert "number of building" in turn.locator(".sentence").inner_text()
    assert [step.get_attribute("data-step") for step in turn.locator("li[data-step]").all()] == [
        "read", "plan", "check", "run", "verify", "answer",
    ]  # fmt: skip
    assert turn.locator("li.tool code").first.text_content() == 'segment("building")'
    turn.get_by_text("Objects: 12").click()
    rows = turn.locator(".grid-body .grid-row")
    rows.nth(3).click()
    chosen = rows.nth(3).locator(".grid-cell").first.inner_text()
    assert page.locator("#map-said").inner_text().startswith(f"{chosen}: building")
    page.mouse.click(*on_screen(page, *HOUSE_PX))
    picked = turn.locator(".grid-row.chosen .grid-cell").first.inner_text()
    assert picked != chosen
    assert page.locator("#map-said").inner_text().startswith(f"{picked}: building")


def test_steps_are_shown_while_they_happen_and_a_question_is_stopped(open_page: Open, served: Served) -> None:
    page = prepared(open_page(f"{served.url}/#image=large.tif"), "large.tif")
    ask(page, COUNT)
    page.get_by_text("Program", exact=True).click()
    page.locator(".program").fill(SLOW)
    page.get_by_role("button", name="Run the edited program").click()
    turn = page.locator(".turn[data-state='working']").first
    turn.locator("li.tool").first.wait_for()
    assert turn.locator("li.now").get_attribute("data-step") == "run"
    page.get_by_label("Question", exact=True).fill(COUNT)
    page.keyboard.press("Enter")
    behind = page.locator(".turn").first
    page.locator(".turn[data-state='waiting']").wait_for()
    behind.get_by_role("button", name="Stop").click()
    behind.get_by_role("button", name="Ask again").click()
    assert page.get_by_label("Question", exact=True).input_value() == COUNT
    turn = page.locator(".turn[data-state='working']").first
    turn.get_by_role("button", name="Stop").click()
    stopped = page.locator(".turn[data-state='cancelled']", has_text="Edited program")
    stopped.wait_for()
    assert "The question was given up." in stopped.inner_text()
    assert stopped.get_by_role("button", name="Ask again").count() == 0  # it was no question


def test_a_drawn_box_a_polygon_and_the_view_limit_the_question(page: Any) -> None:
    page.get_by_role("button", name="Box", exact=True).click()
    page.mouse.click(*on_screen(page, 2, 2))
    page.mouse.click(*on_screen(page, 100, 198))
    assert page.locator("#about-area").inner_text() == "about the drawn area (4 corners)"
    boxed = ask(page, COUNT)
    assert boxed.locator(".value").inner_text() == "3"
    assert boxed.locator(".where").inner_text() == "inside the drawn area"
    drawn(page, outlines=3, areas=1)
    page.get_by_role("button", name="Polygon").click()
    for corner in ((2, 2), (298, 2), (298, 60), (2, 60)):
        page.mouse.click(*on_screen(page, *corner))
    page.keyboard.press("Enter")
    assert ask(page, COUNT).locator(".value").inner_text() == "4"
    page.get_by_role("button", name="This view").click()
    assert ask(page, COUNT).locator(".value").inner_text() == "12"
    page.get_by_role("button", name="No area").click()
    assert page.locator("#about-area").is_hidden()
    whole = ask(page, COUNT)
    assert whole.locator(".where").count() == 0
    drawn(page, outlines=12, areas=0)
    first = page.locator(".turn").last
    first.get_by_text("Objects: 3").click()
    first.get_by_role("button", name="Show in the picture").click()
    drawn(page, outlines=3, areas=1)


def drawn(page: Any, outlines: int, areas: int) -> None:
    """Wait until the picture shows so many objects, and so many areas that an answer is about."""
    page.locator(f"#map[data-shapes='{outlines}'][data-asked='{areas}']").wait_for()


def test_an_answer_without_objects_leaves_no_outlines_of_the_last(page: Any) -> None:
    page.get_by_role("button", name="Box", exact=True).click()
    page.mouse.click(*on_screen(page, 2, 2))
    page.mouse.click(*on_screen(page, 100, 198))
    first = ask(page, COUNT)
    drawn(page, outlines=3, areas=1)
    edited(
        page, first, 'reply(area_m2(components(segment("building"), larger_than_m2=1e6)), kind="quantity", unit="m2")'
    )
    assert page.locator(".turn .value").first.inner_text().startswith("0 ")
    drawn(page, outlines=0, areas=1)


def test_a_refusal_says_where_options_are_on_the_page(open_page: Open, served: Served) -> None:
    page = open_page(f"{served.url}/#image=plain.tif")
    page.set_default_timeout(PATIENCE_MS)
    page.wait_for_selector("#tools:not([hidden])")
    refused = ask(page, COUNT)
    assert "--" in refused.locator(".sentence.refused").inner_text()
    said = refused.locator(".result .note").first.inner_text()
    assert said == "Options such as --bands are the fields under Files and settings."


def edited(page: Any, turn: Any, program: str) -> None:
    """Run another program in place of the one of an answer, and wait for what comes of it."""
    before = page.locator(READY).count()
    turn.get_by_text("Program", exact=True).click()
    turn.locator(".program").fill(program)
    turn.get_by_role("button", name="Run the edited program").click()
    page.wait_for_function(f'before => document.querySelectorAll("{READY}").length > before', arg=before)


def test_a_follow_up_goes_on_and_a_new_thread_does_not(page: Any) -> None:
    ask(page, COUNT)
    follow = "How many of those are within 4.1 m of water?"
    assert ask(page, follow).locator(".value").inner_text() == "3"
    page.get_by_role("button", name="New thread").click()
    assert page.locator(".turn").count() == 0
    assert "refused" in ask(page, follow).locator(".sentence").get_attribute("class")


def test_a_thread_is_shown_again_when_the_page_is_loaded_anew(page: Any) -> None:
    ask(page, COUNT)
    page.reload()
    page.wait_for_selector(READY)
    assert page.locator(".turn .value").inner_text() == "12"
    assert page.get_by_label("Labels", exact=True).input_value() == "village.tif"


def test_an_edited_program_is_run_compared_and_downloaded(page: Any, tmp_path: Path) -> None:
    first = ask(page, COUNT)
    program = 'small = components(segment("building"), smaller_than_m2=1)\nreply(count(small) + 7, kind="count")'
    edited(page, first, program)
    turn = page.locator(".turn").first
    assert turn.locator("h2").inner_text() == "Edited program"
    assert COUNT not in turn.locator(".sentence").inner_text()
    whole = ask(page, COUNT)
    whole.get_by_text("Download", exact=True).click()
    with page.expect_download() as download:
        whole.get_by_role("link", name="GeoJSON").click()
    download.value.save_as(tmp_path / "objects.geojson")
    assert len(json.loads((tmp_path / "objects.geojson").read_text())["features"]) == 12
    whole.get_by_role("link", name="Compare with").first.click()
    page.wait_for_url("**/compare?**")
    assert "Two runs" in page.inner_text("header")
    assert page.get_by_role("link", name="All runs").count() == 1
    page.get_by_role("link", name="Ask", exact=True).click()
    page.wait_for_selector("#ask-form")
    page.go_back()
    page.go_back()
    page.wait_for_selector(READY)
    page.locator(".turn").last.get_by_role("link", name="Every step of this run").click()
    page.wait_for_url("**/runs/*")
    assert COUNT in page.inner_text("main")
    page.get_by_role("link", name="All runs").click()
    page.wait_for_selector("#list li")


def test_runs_are_searched_filtered_and_two_of_them_compared(open_page: Open, served: Served) -> None:
    for question in ("How many houses are there?", "What percentage is water?", "Where is the moon?"):
        served.answered(question, thread=question)
    page = open_page(f"{served.url}/runs")
    page.set_default_timeout(PATIENCE_MS)
    page.get_by_label("Search").fill("moon")
    page.wait_for_function("() => document.querySelectorAll('#list li').length === 1")
    assert page.locator("#count").inner_text() == "1 run"
    assert "Where is the moon?" in page.locator("#list li").inner_text()
    page.get_by_label("Search").fill("")
    page.get_by_label("Kind").select_option("percent")
    page.wait_for_function(
        "() => [...document.querySelectorAll('#list .told')].every(told => told.textContent.includes('%'))"
    )
    assert "kind=percent" in page.url
    page.get_by_label("Kind").select_option("")
    page.wait_for_function("() => document.querySelectorAll('#list li').length > 2")
    compare = page.get_by_role("button", name="Compare two")
    assert compare.is_disabled()
    for box in page.get_by_role("checkbox").all()[:2]:
        box.check()
    compare.click()
    page.wait_for_url("**/compare?**")


def test_batches_are_listed_shown_and_put_side_by_side(open_page: Open, served: Served, batches: list[str]) -> None:
    page = open_page(f"{served.url}/batches")
    page.set_default_timeout(PATIENCE_MS)
    listed = page.locator("#list li", has_text=batches[0]).inner_text()
    assert "questions, offline, auto: 2 answers, 2 right" in listed
    page.get_by_role("link", name=batches[0]).click()
    page.wait_for_url("**/batch?**")
    assert "right" in page.inner_text("main")
    page.get_by_role("link", name="All batches").click()
    page.wait_for_selector("#list li")
    for name in batches:
        page.get_by_label(f"Side by side: {name}").check()
    page.get_by_role("button", name="Side by side").click()
    page.wait_for_url("**/batches/compare?**")
    assert "Right only in" in page.inner_text("main")


HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'`${alert(3)}"


def test_hostile_text_stays_text(open_page: Open, served: Served, hostile_image: str) -> None:
    page = prepared(open_page(f"{served.url}/#image=village.tif"))
    turn = ask(page, f"{HOSTILE} How many buildings?")
    assert HOSTILE in turn.locator("h2").inner_text()
    page.get_by_text("Files and settings").click()
    page.get_by_label("Layers").fill("<script>alert(5)</script>=legend.json")
    page.get_by_label("Class of the labels").fill(HOSTILE)
    page.get_by_label("Question", exact=True).fill(f"{HOSTILE}?")
    page.keyboard.press("Enter")
    page.locator(".turn").nth(1).wait_for()
    page.wait_for_selector(".turn:first-child:is([data-state='failed'], [data-state='done'])")
    page.locator("#choose").click()
    page.get_by_role("button", name=hostile_image).click()
    page.locator("#choose", has_text=hostile_image).wait_for()
    page.goto(f"{served.url}/runs")
    page.wait_for_selector("#list li")
    assert HOSTILE in page.inner_text("#list")
    assert page.dialogs == []
    assert page.locator("#list img, #list script, .turn img, .turn script").count() == 0


def test_a_lost_server_is_noticed_and_the_page_goes_on(browser: Any, tmp_path: Path, village: Any) -> None:
    folder = tmp_path / "lost"
    folder.mkdir()
    for name, path in (("village.tif", village.image), ("legend.json", village.legend)):
        (folder / name).write_bytes(path.read_bytes())
    large(folder / "large.tif")
    settings = Settings(open_folder(folder))
    running = Running(settings, start.address("127.0.0.1", 0, (), None))
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    try:
        page.goto(f"http://127.0.0.1:{running.port}/#image=large.tif")
        prepared(page, "large.tif")
        ask(page, COUNT)
        page.locator(".turn").first.get_by_text("Program", exact=True).click()
        page.locator(".program").fill(SLOW)
        page.get_by_role("button", name="Run the edited program").click()
        page.locator(".turn[data-state='working'] li.tool").first.wait_for()
        running.stop()
        page.locator("#lost:not([hidden])").wait_for()
        assert "The server does not answer. This page goes on as soon as it is back." in page.inner_text("#lost")
        page.get_by_label("Question", exact=True).fill("Is it there?")
        page.keyboard.press("Enter")
        page.locator("#ask-error", has_text="The server does not answer.").wait_for()
        running = Running(settings, start.address("127.0.0.1", running.port, (), None))
        page.locator("#lost[hidden]").wait_for(state="attached")
        page.locator(".turn:first-child:not([data-state='working'])").wait_for()
        ask(page, COUNT)
        assert page.locator(".turn .value").first.inner_text() == "1"
    finally:
        context.close()
        running.stop()


def test_everything_can_be_done_with_the_keyboard_alone(open_page: Open, served: Served) -> None:
    page = open_page(served.url)
    page.set_default_timeout(PATIENCE_MS)
    page.wait_for_selector("body[data-ready]")

    def tab_to(words: str, most: int = 60) -> None:
        for _ in range(most):
            page.keyboard.press("Tab")
            label = page.evaluate("(document.activeElement.ariaLabel ?? '') + document.activeElement.textContent")
            if words in label:
                return
        raise AssertionError(f"Tab never came to {words}")

    tab_to("Choose an image")
    page.keyboard.press("Enter")
    page.wait_for_selector("#chooser-list button")
    tab_to("village.tif")
    page.keyboard.press("Enter")
    page.wait_for_selector("#tools:not([hidden])")
    prepared(page)
    page.evaluate("document.activeElement.blur()")
    tab_to("Picture of the image", most=80)
    assert page.evaluate("document.activeElement.id") == "map"
    zoom = float(page.locator("#map").get_attribute("data-zoom"))
    page.keyboard.press("+")
    page.wait_for_function("zoom => Number(document.getElementById('map').dataset.zoom) > zoom", arg=zoom)
    tab_to("This view")
    page.keyboard.press("Enter")
    page.get_by_text("about the drawn area (4 corners)").wait_for()
    tab_to("No area")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('about-area').hidden")
    while page.evaluate("document.activeElement.id") != "question":
        page.keyboard.press("Tab")
    page.keyboard.type(COUNT)
    page.keyboard.press("Enter")
    page.wait_for_selector(READY)
    tab_to("Objects: 12")
    page.keyboard.press("Enter")
    tab_to("Objects that were counted")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".grid-row.chosen .grid-cell").first.inner_text()
    assert page.locator("#map-said").inner_text().startswith(f"{chosen}: building")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
def test_pages_are_accessible_and_fit_their_width(
    open_page: Open,
    served: Served,
    faults_found: Callable[[Any], list[str]],
    width: int,
    scheme: str,
    batches: list[str],
) -> None:
    page = prepared(
        open_page(f"{served.url}/#image=village.tif", viewport={"width": width, "height": 900}, color_scheme=scheme)
    )
    turn = ask(page, COUNT)
    for words in ("Objects: 12", "Program", "Download", "How: "):
        turn.get_by_text(words, exact=words != "How: ").click()
    page.get_by_text("Files and settings").click()
    assert faults_found(page) == []
    assert fits(page)
    page.locator("#choose").click()
    page.wait_for_selector("#chooser-list button")
    assert faults_found(page) == []
    for name in ("runs", "batches"):
        page.goto(f"{served.url}/{name}")
        page.wait_for_selector("#list li")
        assert faults_found(page) == []
        assert fits(page)


def fits(page: Any) -> bool:
    found: bool = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    return found
