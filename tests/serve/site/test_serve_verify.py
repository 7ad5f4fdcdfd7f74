"""A verification session in a real browser: edit, reject, close the tab, come back, export; two people compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image
from running_site import Running, Served

from swath.eval.annotate.make import Wanted, annotate
from swath.serve import start
from swath.serve.folder import open_folder
from swath.serve.server import Settings

SHIPS = "10 10 60 10 60 30 10 30 ship 0\n120 140 150 140 150 150 120 150 ship 0\n"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("port")
    for name in ("images", "labels"):
        (folder / name).mkdir()
    for number in range(2):
        Image.fromarray(np.full((200, 200, 3), 60, np.uint8)).save(folder / "images" / f"P{number}.png")
        (folder / "labels" / f"P{number}.txt").write_text(SHIPS)
    annotate(Wanted(folder / "labels", folder / "images", test_share=1.0), folder / "set")
    running = Running(Settings(open_folder(folder)), start.address("127.0.0.1", 0, (), None))
    url = f"http://127.0.0.1:{running.port}"
    with httpx.Client(base_url=url, timeout=120) as client:
        yield Served(url, folder, client)
    running.stop()


def begun(page: Any, person: str) -> None:
    page.wait_for_selector("#folder option", state="attached")
    page.fill("#person", person)
    page.click("#begin button")
    page.wait_for_selector("#items li[data-item]")


def shows(page: Any, where: str, text: str) -> None:
    page.locator(where, has_text=text).wait_for()


def kept(served: Served, person: str) -> list[dict[str, Any]]:
    file = served.folder / "set" / "verification" / f"{person}.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_edit_reject_close_come_back_export(port: Served, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{port.url}/verify")
    begun(page, "Ada")
    first = page.locator("#items li").nth(0)
    assert page.locator("polygon.meant").count() == 1
    first.press("e")
    page.keyboard.press("Control+a")
    page.keyboard.type("the ship in the upper left corner")
    page.keyboard.press("Enter")
    page.wait_for_selector("#items li.edit")
    page.keyboard.press("r")
    page.wait_for_selector("#items li.remove")
    page.keyboard.press("a")
    shows(page, "#progress", "3 of")
    page.keyboard.press("e")
    page.keyboard.type(" never sent")
    context = page.context
    page.close()

    page = context.new_page()
    page.goto(f"{port.url}/verify")
    page.wait_for_selector("#items li.edit")
    assert page.input_value("#person") == "Ada"
    assert page.locator("#items li").nth(0).locator(".words").inner_text().startswith("the ship in the upper left")
    assert page.locator("#items .fields input").first.input_value().endswith("never sent")
    assert [own["action"] for own in kept(port, "Ada")] == ["edit", "remove", "accept"]
    assert all(own["seconds"] > 0 for own in kept(port, "Ada"))
    page.click("#export")
    shows(page, "#said", "set/verified/Ada")
    name = kept(port, "Ada")[0]["item"].rpartition(":")[0]
    whole = json.loads((port.folder / "set" / "verified" / "Ada" / "Annotations_val" / f"{name}.json").read_text())
    assert "the ship in the upper left corner" in [own["referring_sentence"] for own in whole["objects"]]


def test_two_people_are_compared(port: Served, open_page: Callable[..., Any]) -> None:
    items = port.client.get(
        "/api/v1/verification/patch", params={"folder": "set", "person": "x", "name": "P1_0000"}
    ).json()["items"]
    for person, actions in (
        ("Grace", ["accept", "accept", "remove", "remove"]),
        ("Joan", ["accept", "remove", "remove", "remove"]),
    ):
        decisions = [
            {"item": item["id"], "action": action, "text": item["text"], "answer": item["answer"], "seconds": 1}
            for item, action in zip(items, actions, strict=False)
        ]
        sent = {"folder": "set", "person": person, "decisions": decisions}
        assert port.client.post("/api/v1/verification/decisions", json=sent).status_code == 201
    page = open_page(f"{port.url}/verify")
    begun(page, "Grace")
    page.select_option("#other", "Joan")
    # agreed 3 of 4, chance (2 x 1 + 2 x 3) / 16 = 0.5, kappa 0.5
    shows(page, "#agreement", "3 of 4 alike, kappa 0.5")


def test_a_lost_server_loses_no_decision(port: Served, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{port.url}/verify")
    begun(page, "Mary")
    page.route("**/decisions", lambda route: route.abort())
    page.locator("#items li").nth(0).press("a")
    page.wait_for_selector("#lost:not([hidden])")
    assert kept(port, "Mary") == []
    page.unroute("**/decisions")
    shows(page, "#progress", "1 of")
    assert [own["action"] for own in kept(port, "Mary")] == ["accept"]
    page.faults.clear()  # the browser's own word on the request that was broken off


@pytest.mark.parametrize("width", [400, 1600])
def test_the_page_reads_well(
    port: Served, open_page: Callable[..., Any], faults_found: Callable[[Any], list[str]], width: int
) -> None:
    page = open_page(f"{port.url}/verify", viewport={"width": width, "height": 900}, bypass_csp=True)
    begun(page, "Ida")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert faults_found(page) == []


def test_on_a_phone_the_picture_leaves_the_field_in_sight(port: Served, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{port.url}/verify", viewport={"width": 390, "height": 700})
    begun(page, "Hedy")
    page.locator("#items li").nth(1).press("e")
    on_top = """() => {
      const own = document.activeElement, box = own.getBoundingClientRect();
      return own.tagName + (document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2) === own);
    }"""
    assert page.evaluate(on_top) == "INPUTtrue"
    page.keyboard.press("Escape")
    heights = [page.locator(f"#{name}").bounding_box()["height"] for name in ("next", "previous", "export")]
    assert max(heights) == min(heights)  # none of them on two lines


def test_the_labels_of_the_fields_are_in_line(port: Served, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{port.url}/verify", viewport={"width": 1600, "height": 900})
    boxes = [page.locator(field).bounding_box() for field in ("#folder", "#person")]
    assert boxes[0]["y"] == pytest.approx(boxes[1]["y"], abs=1)
    assert boxes[0]["height"] == pytest.approx(boxes[1]["height"], abs=1)


def test_requests_that_are_none_are_one_sentence(port: Served) -> None:
    for path, params in (
        ("/state", {"folder": "../..", "person": "x"}),
        ("/state", {"folder": "images", "person": "x"}),
        ("/state", {"folder": "set"}),
        ("/patch", {"folder": "set", "person": "x", "name": "../../x"}),
        ("/picture", {"path": "labels/P0.txt"}),
        ("/picture", {"path": "../x.png"}),
        ("/agreement", {"folder": "set", "a": "../x", "b": "y"}),
    ):
        answer = port.client.get(f"/api/v1/verification{path}", params=params)
        assert answer.status_code == 400
        assert "Next:" in answer.json()["error"]
    for body in ({"folder": "set"}, {"folder": "set", "person": "x", "decisions": [1]}):
        assert port.client.post("/api/v1/verification/decisions", json=body).status_code == 400
