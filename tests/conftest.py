"""Fixtures that every room's tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real imagery beside the repository; tests that need it say so when it is not there."""
    folder = SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the folder ../shared/data with real imagery is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def shared_questions() -> Path:
    """The public sample of questions beside the repository."""
    folder = SHARED / "questions"
    if not folder.is_dir():
        pytest.skip("the folder ../shared/questions is not beside this checkout")
    return folder
