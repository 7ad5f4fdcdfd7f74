"""Docs cannot rot: fenced examples run, what they print is what they say, and nothing public is left out."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from swath.agent.planners import planner_names
from swath.agent.surface_page import surface_page
from swath.cli import swath
from swath.segment.registry import backend_names

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"\d+\.\d+ ?m?s\b|\d{8}-\d{6}-[0-9a-f]{4}")


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which the pages' commands find the files that they name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "olinda.tif").symlink_to(ROOT / "swath" / "data" / "olinda_l7.tif")
    gained = 'gained = difference(segment("water after"), segment("water before"))\n'
    gained += 'reply(area_m2(gained), kind="quantity", unit="m2", objects=gained)\n'
    (tmp_path / "gained.py").write_text(gained, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run_and_print_what_they_say(page: Path, scene: Path) -> None:
    if page.name == "tools.md":
        return  # one line of each tool, held against the tools by a test of its own
    printed = ""
    namespace: dict[str, object] = {"__name__": page.stem}
    for language, text in blocks(page):
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, str(page), "exec", dont_inherit=True), namespace)
            printed = out.getvalue()
        elif language == "output":
            assert SECONDS.sub("*", printed).strip() == SECONDS.sub("*", text).strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_console_examples_run_and_print_what_they_say(page: Path, scene: Path) -> None:
    """Blocks of kind `console`: lines that start with `$ swath` are run, the lines below are their output."""
    for language, text in blocks(page):
        if language != "console":
            continue
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            words = shlex.split(command)
            if words[0] != "swath":
                continue
            result = CliRunner().invoke(swath, words[1:], prog_name="swath", catch_exceptions=False)
            got = SECONDS.sub("*", result.output).strip()
            wanted = SECONDS.sub("*", expected).strip()
            assert fits(got, wanted), f"{page.name}: {command}\n{got}"


def fits(got: str, wanted: str) -> bool:
    """Whether a text is as written, where "..." stands for anything."""
    pattern = ".*".join(re.escape(part) for part in wanted.split("..."))
    return re.fullmatch(pattern, got, re.DOTALL) is not None


def test_the_tools_page_is_that_of_the_tools() -> None:
    page = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    assert page == surface_page().text, "run `make docs`"


def test_the_command_line_page_is_that_of_the_commands() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "command_line.py")], capture_output=True, text=True, check=True
    )
    assert (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8") == made.stdout, "run `make docs`"


def test_every_command_and_flag_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    missing = []
    commands = dict(swath.commands) | {f"trace {name}": item for name, item in swath.commands["trace"].commands.items()}  # type: ignore[attr-defined]
    for name, command in commands.items():
        if f"swath {name}" not in text:
            missing.append(f"swath {name}")
        for parameter in command.params:
            flags = [flag for flag in parameter.opts if flag.startswith("--")]
            missing += [flag for flag in flags if flag not in text]
    assert not missing


def test_every_registered_name_is_documented() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in (*backend_names(), *planner_names(), "questions"):
        assert f"`{name}`" in text, name
