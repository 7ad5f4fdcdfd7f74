"""What `import swath` gives, and what it costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import swath

HEAVY = ["torch", "onnxruntime", "langgraph", "rasterio", "skimage", "scipy", "cv2", "pandas", "xarray", "pint"]


def test_all_is_sorted_and_true() -> None:
    assert list(swath.__all__) == sorted(swath.__all__)
    for name in swath.__all__:
        assert getattr(swath, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'swath' has no attribute 'nonsense'"):
        _ = swath.nonsense


@pytest.mark.parametrize("statement", ["import swath", "import swath.cli"])
def test_import_loads_nothing_heavy(statement: str) -> None:
    code = f"{statement}\nimport sys\nprint([name for name in {HEAVY} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"


def test_asking_loads_no_torch_and_no_table_library() -> None:
    names = ("torch", "onnxruntime", "pandas", "xarray", "pint", "skimage", "jsonschema")
    code = f"import swath, sys\nswath.ask\nprint([name for name in {names} if name in sys.modules])"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert printed.stdout.strip() == "[]"
