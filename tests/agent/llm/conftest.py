"""No test of the language-model planner reads this machine's configuration, cache or keys."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("user")
    for name in ("SWATH_MODEL", "SWATH_BASE_URL", "SWATH_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SWATH_CONFIG", str(folder / "config.toml"))
    monkeypatch.setenv("SWATH_CACHE", str(folder / "cache"))
    return folder
