"""Label maps find their images by name, or are missed by name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from swath.errors import InputError
from swath.eval.cases import Case
from swath.eval.labels_dir import with_labels


def case(name: str, image: str = "scene.jpg", **extras: str) -> Case:
    return Case(name, Path("images") / image, "How many?", 1, "count", extras=extras)


def touched(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def test_a_map_is_found_by_image_by_the_datasets_name_and_by_id(tmp_path: Path) -> None:
    maps = touched(tmp_path, "scene.png", "deep/shipped.TIF", "Q3.tiff", "Q1.json")
    asked = [case("Q1"), case("Q2", "0a1b.png", image_name="shipped.jpg"), case("Q3", "0a1b.png")]
    assert [found.exact for found in with_labels(asked, maps)] == [
        {"labels": maps / "scene.png"}, {"labels": maps / "deep" / "shipped.TIF"}, {"labels": maps / "Q3.tiff"},
    ]  # fmt: skip


def test_nothing_but_the_exact_classes_changes(tmp_path: Path) -> None:
    asked = case("Q1", source="naip")
    assert replace(with_labels([asked], touched(tmp_path, "Q1.png"))[0], exact={}) == asked


def test_the_folders_legend_is_used_unless_another_is_given(tmp_path: Path) -> None:
    maps = touched(tmp_path, "Q1.png", "legend.json")
    assert with_labels([case("Q1")], maps)[0].exact["legend"] == maps / "legend.json"
    assert with_labels([case("Q1")], maps, Path("other.json"))[0].exact["legend"] == Path("other.json")


def test_the_first_cases_without_a_map_are_named(tmp_path: Path) -> None:
    maps = touched(tmp_path, "Q0.png")
    with pytest.raises(InputError) as caught:
        with_labels([case(f"Q{number}", f"tile{number}.png") for number in range(8)], maps)
    assert str(caught.value) == (
        f"7 of 8 cases have no label map in {maps}: Q1 (tile1 or Q1), Q2 (tile2 or Q2), Q3 (tile3 or Q3), "
        "Q4 (tile4 or Q4), Q5 (tile5 or Q5) and 2 more. "
        "Next: name each map like its image or its case, ending in .png, .tif, .tiff, .geojson, .gpkg."
    )


def test_two_maps_of_one_name_are_an_error(tmp_path: Path) -> None:
    maps = touched(tmp_path, "a/scene.png", "b/scene.tif")
    with pytest.raises(InputError, match=r"Case Q1 could have its label map in .*a/scene\.png and in .*b/scene\.tif"):
        with_labels([case("Q1")], maps)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone is no folder of label maps\. Next: give the folder"):
        with_labels([], tmp_path / "gone")
