"""Which rasters a survey is about: paths, patterns, folders, addresses, STAC items and lists."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path

from swath.batch.stac import is_items, rasters_of
from swath.errors import InputError
from swath.raster.remote import is_remote, known_as

RASTERS = frozenset({".tif", ".tiff", ".vrt", ".jp2", ".png", ".jpg", ".jpeg", ".asc", ".img", ".bmp", ".webp"})
"""Endings by which the files of a folder are taken for rasters; a file that is named is taken whatever its ending."""


def images_of(words: Sequence[str | Path]) -> tuple[Path, ...]:
    """The rasters that some words name, in order, each once.

    A word is a file, a folder (its rasters by name, without subfolders), a pattern such as `tiles/*.tif` or
    `**/ortho.tif`, the address of a GeoTIFF, a STAC item (see `swath.batch.stac`), or a list: a `.txt` file, or `@`
    before any file, with one path, folder, pattern, address or item per line. Blank
    lines and lines that start with `#` are passed over; paths in a list start from the current folder, as `ls` writes
    them.

    Args:
        words: as typed.

    Raises:
        InputError: a pattern, a folder or a list names nothing, or a list cannot be read.
    """
    found: dict[Path, None] = {}
    for word in words:
        try:
            found |= dict.fromkeys(_named(str(word), lists=True))
        except OSError as error:
            raise InputError(
                f'"{str(word)[:80]}" is no usable path ({error.strerror}). Next: check the path.'
            ) from None
    if not found:
        raise InputError("No image is named. Next: give paths, folders, patterns or a list of rasters.")
    return tuple(found)


def _named(word: str, *, lists: bool) -> Iterator[Path]:
    path = Path(word.removeprefix("@"))
    if not word.startswith("@") and is_items(word):
        yield from rasters_of(word)
    elif is_remote(word):
        yield known_as(word)
    elif lists and not Path(word).is_dir() and (word.startswith("@") or path.suffix.lower() == ".txt"):
        for line in _lines(path):
            yield from _named(line, lists=False)
    elif path.is_dir():
        yield from _in_folder(path)
    elif glob.has_magic(word) and not Path(word).exists():
        matches = sorted(glob.glob(word, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        if not matches:
            raise InputError(f'No file matches "{word}". Next: check the pattern.')
        yield from map(Path, matches)
    else:
        yield Path(word)


def _in_folder(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in RASTERS and path.is_file())
    if not found:
        raise InputError(
            f"The folder {folder} holds no raster ({', '.join(sorted(RASTERS))}). Next: name the files themselves."
        )
    return found


def _lines(path: Path) -> list[str]:
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for, a device read for ever
            raise InputError(f"The list {path} is no regular file. Next: write one path per line to a file.")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"The list {path} cannot be read ({type(error).__name__}). Next: give a text file with one path per line."
        ) from None
    lines = [line.strip() for line in text.splitlines()]
    named = [line for line in lines if line and not line.startswith("#")]
    if not named:
        raise InputError(f"The list {path} names no image. Next: write one path per line.")
    return named
