"""Every failure that the page names has a test, and the page names it."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "llm.md"


def test_each_failure_of_the_page_has_its_test() -> None:
    section = PAGE.read_text(encoding="utf-8").partition("## How each failure ends")[2].partition("\n## ")[0]
    rows = [line for line in section.split("\n") if line.startswith("| ")][1:]
    assert len(rows) >= 14
    written = {
        name
        for path in Path(__file__).parent.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    for row in rows:
        named = re.findall(r"`(test_\w+)`", row)
        assert named and set(named) <= written, row
