"""Pages and MCP clients choose a segmenter by name, never a file or an address that the server would read or call."""

from __future__ import annotations

from pathlib import Path

import pytest

from swath.errors import InputError
from swath.serve.folder import Folder
from swath.serve.mcp.roots import Roots
from swath.serve.options import checked_options

NAMED = ["onnx:/etc/passwd", "remote:http://169.254.169.254/", "sam:weights.pth", "ensemble:both.toml"]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path, tmp_path / "runs", tmp_path / "uploads")


@pytest.mark.parametrize("name", NAMED)
def test_no_file_and_no_address(folder: Folder, name: str) -> None:
    with pytest.raises(InputError, match=r"^A page names a segmenter without a file or an address. Next: use swath"):
        checked_options({"segmenter": name}, folder)
    with pytest.raises(InputError, match=r"^A client names a segmenter without a file or an address. Next: use swath"):
        Roots((folder.root,)).options({"segmenter": name})


def test_names_alone_are_taken(folder: Folder) -> None:
    assert checked_options({"segmenter": "landcover"}, folder) == {"segmenter": "landcover"}
    assert Roots((folder.root,)).options({"segmenter": "landcover"})["segmenter"] == "landcover"
