"""A real browser for the tests of pages; they are skipped where there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
ABSENT = "{} is not installed: pip install 'swath[dev]'"


def chromium() -> str | None:
    """Path of the browser: SWATH_CHROMIUM, else Debian's."""
    path = os.environ.get("SWATH_CHROMIUM", "/usr/bin/chromium")
    return path if Path(path).is_file() else None


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium, one for all tests of a process; each test opens contexts of its own."""
    sync_api = pytest.importorskip("playwright.sync_api", reason=ABSENT.format("playwright"))
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium at /usr/bin/chromium, and SWATH_CHROMIUM names none: no page was opened")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens an address in a context of its own; at the end no page may have thrown an error or asked for anything else.

    `page.requests` lists what was asked for beside the address itself, `page.dialogs` the dialogs that came up.
    """
    contexts: list[Any] = []
    pages: list[Any] = []

    def opened(address: str, **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.requests, page.dialogs, page.faults = [], [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("dialog", lambda dialog: (page.dialogs.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on("console", lambda said: page.faults.append(said.text) if said.type == "error" else None)
        page.goto(address)
        pages.append(page)
        return page

    yield opened
    faults = [fault for page in pages for fault in page.faults]
    for context in contexts:
        context.close()
    assert not faults, faults


@pytest.fixture(scope="session")
def axe_source() -> str:
    """The script of axe-core, for pages to be checked with `axe.run()`."""
    package = pytest.importorskip("axe_core_python", reason=ABSENT.format("axe-core-python"))
    return (Path(package.__file__).parent / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture
def faults_found(axe_source: str) -> Callable[[Any], list[str]]:
    """The serious and critical findings of axe-core on a page, in words."""

    def found(page: Any) -> list[str]:
        page.evaluate(axe_source)  # by the debugger, since the page's own policy rightly lets no script in
        results = page.evaluate("() => axe.run()")
        assert results["passes"], "axe-core checked nothing"
        return [
            f"{finding['id']}: {node['html'][:160]}: {node['failureSummary']}"
            for finding in results["violations"]
            if finding["impact"] in ("serious", "critical")
            for node in finding["nodes"]
        ]

    return found
