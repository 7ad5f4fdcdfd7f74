"""Which rasters words name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from swath.batch.images import images_of
from swath.errors import InputError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b.tif", "a.tif", "c.PNG", "notes.md", "a.tif.aux.xml", "deep/er/x.tif", "deep/y.vrt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def named(*words: str | Path) -> list[str]:
    return [str(path) for path in images_of(words)]


def test_paths_stay_as_they_are_even_where_nothing_is(folder: Path) -> None:
    assert named("b.tif", "nowhere.tif", folder / "a.tif") == ["b.tif", "nowhere.tif", str(folder / "a.tif")]
    assert named("NETCDF:cube.nc:height") == ["NETCDF:cube.nc:height"]


def test_an_image_that_is_named_twice_is_surveyed_once(folder: Path) -> None:
    assert named("b.tif", "*.tif", "b.tif") == ["b.tif", "a.tif"]


def test_folders_and_patterns(folder: Path) -> None:
    assert named(".") == ["a.tif", "b.tif", "c.PNG"]
    assert named("deep") == ["deep/y.vrt"]
    assert named("**/*.tif") == ["a.tif", "b.tif", "deep/er/x.tif"]
    assert named(str(folder / "[ab].tif")) == [str(folder / "a.tif"), str(folder / "b.tif")]


def test_a_file_whose_name_is_a_pattern_is_a_file(folder: Path) -> None:
    (folder / "a[1].tif").touch()
    assert named("a[1].tif") == ["a[1].tif"]


def test_lists(folder: Path) -> None:
    (folder / "list.txt").write_text("\ufeff# my images\n\n  b.tif  \ndeep\n?.tif\n@a.tif\n", encoding="utf-8")
    assert named("list.txt") == ["b.tif", "deep/y.vrt", "a.tif", "@a.tif"]
    (folder / "images.lst").write_text("a.tif\r\nlist.txt\r\n", encoding="utf-8")
    assert named("@images.lst") == ["a.tif", "list.txt"]  # a list in a list is a file like any other


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("*.jp2", r'^No file matches "\*\.jp2"\. Next: check the pattern\.$'),
        ("deep/er/none", None),
        (
            "none.txt",
            r"^The list none\.txt cannot be read \(FileNotFoundError\)\. Next: give a text file with one path per",
        ),
        ("@none", r"^The list none cannot be read"),
        ("empty.txt", r"^The list empty\.txt names no image\. Next: write one path per line\.$"),
        ("binary.txt", r"^The list binary\.txt cannot be read \(UnicodeDecodeError\)"),
        ("empty", r"^The folder empty holds no raster \(\.asc, \.bmp.*\)\. Next: name the files themselves\.$"),
    ],
)
def test_what_names_nothing_is_said(folder: Path, word: str, sentence: str | None) -> None:
    (folder / "empty.txt").write_text("# nothing\n", encoding="utf-8")
    (folder / "binary.txt").write_bytes(b"\xff\xfe\x00")
    (folder / "empty").mkdir()
    if sentence is None:
        assert named(word) == [word]
        return
    with pytest.raises(InputError, match=sentence):
        images_of([word])


def test_no_words_at_all() -> None:
    with pytest.raises(
        InputError, match=r"^No image is named\. Next: give paths, folders, patterns or a list of rasters\.$"
    ):
        images_of([])


def test_a_list_that_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    for word in (str(tmp_path / "pipe.txt"), f"@{tmp_path / 'pipe.txt'}", "@/dev/zero"):
        with pytest.raises(InputError, match=r"is no regular file\. Next: write one path per line to a file\."):
            images_of([word])
