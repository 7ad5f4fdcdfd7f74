"""docs/runs.md shows a run as it is, and names every field there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import swath
from swath.trace.reading import find_run
from swath.trace.schema import schema
from swath.trace.show import show

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "runs.md"
VARYING = re.compile(r" *(<1|\d+|\d+\.\d) m?s$|\d{8}-\d{6}-[0-9a-f]{4}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.MULTILINE)


def test_every_field_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in ("run", "step"):
        missing = [field for field in schema(name)["properties"] if f"`{field}`" not in text]  # type: ignore[arg-type]
        assert not missing


def test_the_shown_run_is_what_swath_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "olinda.tif").symlink_to(ROOT / "swath" / "data" / "olinda_l7.tif")
    question = "How many separate water bodies larger than 2 hectares are there?"
    bands = {"blue": 1, "green": 2, "red": 3, "nir": 4, "swir1": 5, "swir2": 6}
    answer = swath.ask("olinda.tif", question, bands=bands)
    found = re.search(r"^```text\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    shown = show(find_run(str(answer.run)), width=80, colour=False)
    assert steady(shown) == steady(found[1])


def steady(text: str) -> str:
    """A shown run without what differs from run to run; a column is as wide as its longest time."""
    return re.sub(" +", " ", VARYING.sub("*", text)).strip()
