"""What is written must not destroy what is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from swath.agent.outputs import check_output
from swath.agent.segmenting import write_class
from swath.errors import InputError


def test_an_input_under_any_name_is_no_output(tmp_path: Path) -> None:
    image, other = tmp_path / "image.tif", tmp_path / "other.tif"
    image.write_text("pixels")
    other.symlink_to(image)
    (tmp_path / "hard.tif").hardlink_to(image)
    for name in (image, other, tmp_path / "hard.tif", tmp_path / "." / "image.tif"):
        with pytest.raises(InputError, match=r"is one of the files that are read\. Next: name another file to write"):
            check_output(name, [None, tmp_path / "absent.json", image])
    check_output(tmp_path / "new.tif", [None, tmp_path / "absent.json", image])


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: there is no folder .*maps\. Next: make it\."):
        check_output(tmp_path / "maps" / "m.tif", [])


def test_a_name_that_the_system_does_not_take_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: file name too long\. Next: name another file"):
        check_output(tmp_path / ("m" * 300), [])


def test_a_mask_overwrites_neither_image_nor_labels_nor_legend_nor_layers(village: Any, tmp_path: Path) -> None:
    before = village.image.read_bytes(), village.legend.read_bytes()
    options = {**village.options, "layers": {"roads": tmp_path / "roads.geojson"}}
    (tmp_path / "roads.geojson").write_text("{}")
    (tmp_path / "linked.tif").symlink_to(tmp_path / "roads.geojson")
    for output in (village.image, tmp_path / "linked.tif"):
        with pytest.raises(InputError, match="is one of the files that are read"):
            write_class(village.image, "water", output, None, **options)
    with pytest.raises(
        InputError, match=r"A mask is written as a GeoTIFF, which .*m\.png is not by its name\. Next: en"
    ):
        write_class(village.image, "water", tmp_path / "m.png", None, **village.options)
    (tmp_path / "objects.gpkg").symlink_to(village.legend)
    with pytest.raises(InputError, match="is one of the files that are read"):
        write_class(village.image, "water", tmp_path / "m.tif", tmp_path / "objects.gpkg", **village.options)
    with pytest.raises(InputError, match=r"--vector writes a GeoPackage, which .*m\.shp is not by its name"):
        write_class(village.image, "water", tmp_path / "m.tif", tmp_path / "m.shp", **village.options)
    assert (village.image.read_bytes(), village.legend.read_bytes()) == before
    assert not (tmp_path / "m.tif").exists()
