"""Imports point down; the rooms and their floors are those of design/layout.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "swath"
FLOORS = ["cli", "serve", "eval", "batch", "agent", "prompts", "tools", "segment", "raster", "trace", "types", "errors"]
OUTSIDE = {"testing", "__init__", "__main__"}
VAGUE = {"util", "utils", "helper", "helpers", "common", "misc"}
MODULES = sorted(PACKAGE.rglob("*.py"))
LONGEST_MODULE, LONGEST_FUNCTION = 600, 60


def room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(tree: ast.AST, path: Path) -> set[str]:
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write imports absolutely"
            names += [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
    parts = [name.split(".") for name in names]
    return {part[1] for part in parts if part[0] == "swath" and len(part) > 1} & (set(FLOORS) | OUTSIDE)


def is_upward(importer: str, imported: str) -> bool:
    if importer in OUTSIDE:
        return False
    if imported in OUTSIDE:
        return imported == "testing"
    return FLOORS.index(imported) < FLOORS.index(importer)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down_inside_functions_too(path: Path) -> None:
    imported = imported_rooms(ast.parse(path.read_text(encoding="utf-8")), path)
    upward = {name for name in imported if is_upward(room(path), name)}
    assert not upward, f"{path.relative_to(ROOT)} imports {sorted(upward)} from a floor above its own"


def test_the_test_sees_an_upward_import() -> None:
    tree = ast.parse("def late():\n    from swath.agent.ask import ask\n")
    assert imported_rooms(tree, PACKAGE / "raster" / "x.py") == {"agent"}
    assert is_upward("raster", "agent")
    assert not is_upward("agent", "raster")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_and_functions_are_read_in_one_sitting(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST_MODULE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = body[-1].end_lineno - body[0].lineno + 1 if body else 0  # type: ignore[operator]
            assert length <= LONGEST_FUNCTION, f"{path.name}: {node.name} has {length} lines"


def test_every_room_has_a_name_of_its_own() -> None:
    names = {path.stem for path in MODULES} | {path.parent.name for path in MODULES}
    assert not names & VAGUE
    assert {room(path) for path in MODULES} <= set(FLOORS) | OUTSIDE


def test_no_argument_is_checked_with_assert() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert) and room(path) != "testing"
    ]
    assert not found
