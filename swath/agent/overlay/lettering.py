"""Text in pictures: wrapped, and in a typeface that has its letters.

Pillow ships one scalable Latin typeface; other scripts take a typeface of the system where one has them.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

Font = ImageFont.FreeTypeFont
MOST_FONT_FILES = 400
"""System typefaces that are looked at for a script that Pillow's own does not have."""

NONCHARACTER = "\uffff"
"""Has no glyph in any typeface, so that its picture is the one of a missing glyph."""

LONGEST = 2000
"""Letters of a text that are looked at; a picture has room for fewer."""

FINER = 3
"""Texts are written this many times larger and then made smaller."""

PLAINER = str.maketrans({
    "²": "2", "³": "3", "½": "1/2", "–": "-", "—": "-", "−": "-", "×": "x", "≤": "<=", "≥": ">=", "→": "->", "µ": "u",
    "‘": "'", "’": "'", "“": '"', "”": '"', "…": "...",
})  # fmt: skip
"""Signs that Pillow's typeface may lack although its letters suffice: not worth another typeface."""

LETTERS = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "ı": "i", "æ": "ae", "œ": "oe", "đ": "d"})
"""Latin letters without a base letter in Unicode."""

ELLIPSIS = "…"


def plain(text: str) -> str:
    """Text on one line without control characters, and without marks that turn the direction of writing around."""
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    joiners = ("\u200c", "\u200d")  # several scripts need them
    kept = (c if c in joiners or unicodedata.category(c) not in hidden else " " for c in text)
    return " ".join("".join(kept).split())


def lettered(text: str, size_px: int) -> tuple[str, Font]:
    """A text and a typeface that has its letters.

    Letters that no typeface at hand has are replaced by their base letter where there is one. A text of which most
    letters would be missing is left out, since boxes tell nobody anything.
    """
    text, own = plain(text[:LONGEST]), _font(None, size_px)
    for simpler in (text, text.translate(PLAINER)):
        if not _missing(own, simpler):
            return simpler, own
    font = _font(_best(frozenset(text)), size_px)
    missing = _missing(font, text)
    if 2 * sum(text.count(letter) for letter in missing) > len(text.replace(" ", "")):
        return "(no typeface here has the letters of this text; run.json holds it)", own
    based = "".join(_base(letter) if letter in missing else letter for letter in text)
    still = _missing(font, based)
    return "".join("?" if letter in still else letter for letter in based), font


class Lettering:
    """A text at one size; written finer and made smaller, which spaces its letters better than hinting does."""

    def __init__(self, text: str, size_px: int) -> None:
        self.text, self._font = lettered(text, size_px * FINER)

    def width(self, line: str) -> float:
        """Width of a line in pixels."""
        return float(self._font.getlength(line)) / FINER

    def wrapped(self, width_px: float, most_lines: int) -> list[str]:
        """The text in lines that fit a width."""
        return wrapped(self.text, self._font, width_px * FINER, most_lines)

    def write(self, onto: Image.Image, at: tuple[int, int], line: str, colour: tuple[int, int, int]) -> None:
        """Write one line; `at` is the left end of its ascenders."""
        left, top, right, bottom = self._font.getbbox(line)
        if right <= left or bottom <= top:
            return
        size = (-(-(int(right) + 4) // FINER) * FINER, -(-(int(bottom) + 4) // FINER) * FINER)
        stencil = Image.new("L", size, 0)
        ImageDraw.Draw(stencil).text((0, 0), line, font=self._font, fill=255)
        onto.paste(colour, at, stencil.reduce(FINER))


def wrapped(text: str, font: Font, width_px: float, most_lines: int) -> list[str]:
    """Lines of a text that fit a width; words that do not are cut, and so is what needs more lines."""
    lines = [""]
    for word in _pieces(text, font, width_px):
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) <= width_px:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) <= most_lines:
        return lines
    last = lines[most_lines - 1]
    while last and font.getlength(last + ELLIPSIS) > width_px:
        last = last[:-1]
    return [*lines[: most_lines - 1], last.rstrip() + ELLIPSIS]


def _pieces(text: str, font: Font, width_px: float) -> Iterator[str]:
    """Words; those wider than a line in parts."""
    for word in text.split():
        start = 0
        while font.getlength(word[start:]) > width_px and len(word) - start > 1:
            end = start + 1
            while font.getlength(word[start : end + 1]) <= width_px:
                end += 1
            yield word[start:end]
            start = end
        yield word[start:]


def _base(letter: str) -> str:
    letter = letter.translate(PLAINER).translate(LETTERS)
    return "".join(c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c)) or letter


@lru_cache(maxsize=64)
def _font(path: Path | None, size_px: int) -> Font:
    if path is not None:
        return ImageFont.truetype(str(path), size_px)
    font = ImageFont.load_default(size_px)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType")
    return font


def _missing(font: Font, text: str) -> set[str]:
    """The letters of a text that a typeface draws as its missing glyph."""
    nothing = _glyph(font, NONCHARACTER)
    return {letter for letter in set(text) if not letter.isspace() and _glyph(font, letter) == nothing}


def _glyph(font: Font, letter: str) -> tuple[tuple[int, int], bytes]:
    mask = font.getmask(letter, mode="L")
    return mask.size, bytes(mask)


@lru_cache(maxsize=64)
def _best(letters: frozenset[str]) -> Path | None:
    """The typeface that lacks the fewest letters; None for Pillow's own."""
    text = "".join(letters)
    fewest, best = len(_missing(_font(None, 16), text)), None
    for path in _font_files():
        if not fewest:
            break
        try:
            lacking = len(_missing(_font(path, 16), text))
        except (OSError, ValueError):
            continue
        if lacking < fewest:
            fewest, best = lacking, path
    return best


@lru_cache(maxsize=1)
def _font_files() -> tuple[Path, ...]:
    """Typeface files of the system, upright and regular ones first."""
    home = Path.home()
    folders = [home / ".fonts", home / ".local/share/fonts", Path("/usr/share/fonts"), Path("/usr/local/share/fonts")]
    if sys.platform == "darwin":
        folders += [home / "Library/Fonts", Path("/Library/Fonts"), Path("/System/Library/Fonts")]
    if sys.platform == "win32":
        folders = [Path(os.environ.get("WINDIR", r"C:\Windows")) / "Fonts"]
    found: list[Path] = []
    for folder in folders:
        if folder.is_dir():
            found += [path for path in folder.rglob("*") if path.suffix.lower() in (".ttf", ".otf", ".ttc")]
    return tuple(sorted(found, key=_plainness)[:MOST_FONT_FILES])


def _plainness(path: Path) -> tuple[int, str]:
    name = path.stem.lower()
    marked = ("bold", "italic", "oblique", "mono", "serif", "condensed", "light", "black", "thin")
    return sum(word in name for word in marked) - ("sans" in name), name
