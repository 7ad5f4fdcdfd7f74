"""Composes overlay.png: the answer as title, the image with what was counted, scale bar and legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from swath.agent.execution import Outcome
from swath.agent.objects import ObjectTable
from swath.agent.overlay import marks
from swath.agent.overlay.furniture import ScaleBar, north_turn_degrees, scale_bar
from swath.agent.overlay.lettering import Lettering, plain
from swath.agent.overlay.marks import ByteImage, Colour, View
from swath.raster.reader import Raster
from swath.raster.stretch import display
from swath.tools.handles import Mask
from swath.tools.site import Site
from swath.types import Answer

LONGEST_SIDE_PX = 1600
ENLARGED_TO_PX = 1200
"""Small images are enlarged by a whole factor, pixels staying squares, up to at most this longest side."""

NARROWEST_PX = 760
"""Room that title and legend need, however narrow the image is."""

LARGE_SHARE = 0.15
"""Counted objects that cover more of the picture are tinted lightly, so that one still sees what they are."""

MOST_DROPPED_DRAWN = 20_000
"""Above this many dropped objects their outlines would be all that one sees."""

INK: Colour = (24, 26, 31)
GREY: Colour = (96, 102, 112)
FAINT: Colour = (140, 146, 156)
PAPER: Colour = (255, 255, 255)
FRAME: Colour = (205, 209, 215)


@dataclass(frozen=True)
class LegendEntry:
    """One line of the legend.

    Attributes:
        colour: of the mark.
        words: what it marks.
        outlined: whether objects are outlined, else areas tinted.
    """

    colour: Colour
    words: str
    outlined: bool


@dataclass(frozen=True)
class Evidence:
    """What is drawn on the image.

    Attributes:
        counted: the answer's objects.
        considered: objects that were looked at and dropped.
        outcome: the program that ran; None where none did.
        site: what was measured; None where it never came to that.
    """

    counted: ObjectTable
    considered: ObjectTable
    outcome: Outcome | None
    site: Site | None


def draw_overlay(path: Path, answer: Answer, raster: Raster, evidence: Evidence) -> None:
    """Write the picture of a run.

    Args:
        path: PNG file to write.
        answer: what is told.
        raster: the image.
        evidence: what is drawn on it.

    Raises:
        InputError: the image cannot be read.
    """
    view = _view(raster)
    legend = _draw_marks(view, evidence)
    canvas = _composed(view, raster, answer, legend)
    canvas.save(path, optimize=False, compress_level=3)


def _view(raster: Raster) -> View:
    """The stretched image at the picture's size."""
    image, _ = display(raster, LONGEST_SIDE_PX)
    factor = max(1, ENLARGED_TO_PX // max(image.shape[:2]))
    image = np.ascontiguousarray(image.repeat(factor, axis=0).repeat(factor, axis=1))
    rows, cols = raster.shape
    return View(image, (image.shape[1] / cols, image.shape[0] / rows))


def _draw_marks(view: View, evidence: Evidence) -> list[LegendEntry]:
    legend = _draw_counted_area(view, evidence) + _draw_context(view, evidence)
    dropped = evidence.considered
    if len(dropped):
        if len(dropped) <= MOST_DROPPED_DRAWN:
            view.outline(dropped.shapes, marks.DROPPED, 1, opacity=0.55)
        legend.append(LegendEntry(marks.DROPPED, f"looked at, not counted: {len(dropped):,}", outlined=True))
    counted = evidence.counted
    if len(counted):
        view.outline(counted.shapes, marks.COUNTED, marks.WIDEST)
    return legend


def _draw_counted_area(view: View, evidence: Evidence) -> list[LegendEntry]:
    """The tint of what was counted, drawn under all outlines."""
    thing = None if evidence.outcome is None else evidence.outcome.reply.objects
    if thing is None:
        return []
    share = float(evidence.counted.sizes_px.sum()) / (thing.grid.shape[0] * thing.grid.shape[1])
    opacity = 0.2 if share > LARGE_SHARE else 0.3
    if isinstance(thing, Mask):
        view.fill(thing.pixels, marks.COUNTED, opacity)
        parts = f"{len(evidence.counted):,} part{'s' if len(evidence.counted) != 1 else ''}"
        return [LegendEntry(marks.COUNTED, f"{thing.name}: {parts}", outlined=True)]
    view.fill_shapes(evidence.counted.shapes, marks.COUNTED, opacity)
    return [LegendEntry(marks.COUNTED, f"{thing.name}: {len(thing):,}", outlined=True)]


def _draw_context(view: View, evidence: Evidence) -> list[LegendEntry]:
    """Tints of the other classes that the program looked at, and of the rest of the answer's own."""
    site, outcome = evidence.site, evidence.outcome
    if site is None:
        return []
    thing = None if outcome is None else outcome.reply.objects
    counted = thing.pixels if isinstance(thing, Mask) else None
    own = frozenset() if thing is None else thing.classes
    colours = marks.class_colours(tuple(site.segmentations))
    legend = []
    for name, found in site.segmentations.items():
        pixels = found.mask & site.valid
        if name in own:
            if counted is None:
                continue
            pixels = pixels & ~counted
        if pixels.any():
            view.fill(pixels, colours[name], 0.3 if name in own else 0.45)
            legend.append(LegendEntry(colours[name], f"other {name}" if name in own else name, outlined=False))
    return legend


def _composed(view: View, raster: Raster, answer: Answer, legend: Sequence[LegendEntry]) -> Image.Image:
    width = view.image.shape[1]
    sheet = _Sheet(max(width, NARROWEST_PX))
    sheet.title(answer)
    sheet.image(view.image)
    turn = north_turn_degrees(raster.grid)
    sheet.footer(legend, scale_bar(raster.grid, view.scale[0], min(width, sheet.inner) * 0.22), turn)
    sheet.small_print(_small_print(answer, raster))
    return sheet.finished()


def _small_print(answer: Answer, raster: Raster) -> str:
    facts = [raster.path.name, raster.grid.crs_name or "no CRS"]
    facts += [f"classes: {answer.segmenter}"] if answer.segmenter else []
    return "  ·  ".join([*facts, "measured by swath"])


class _Sheet:
    """A sheet of paper that grows downwards."""

    def __init__(self, inner: int) -> None:
        self.inner = inner
        self.unit = max(0.8, min(inner / 1000, 1.6))
        self.margin = self._px(30)
        self._strips: list[Image.Image] = [self._strip(self.margin)]

    def _px(self, length: float) -> int:
        return round(length * self.unit)

    def _strip(self, height: int) -> Image.Image:
        return Image.new("RGB", (self.inner + 2 * self.margin, height), PAPER)

    def _text(self, text: str, size: float, colour: Colour, most_lines: int) -> None:
        lettering = Lettering(text, self._px(size))
        lines = lettering.wrapped(self.inner, most_lines)
        step = round(self._px(size) * 1.3)
        strip = self._strip(step * len(lines) + self._px(4))
        for number, line in enumerate(lines):
            lettering.write(strip, (self.margin, number * step), line, colour)
        self._strips.append(strip)

    def title(self, answer: Answer) -> None:
        """The answer, large: the value leads, what was measured follows; the question below."""
        text = plain(answer.text)
        if answer.status == "answered":
            value, colon, reading = text.partition(": ")
            self._text(value, 40, INK, 2)
            if colon:
                self._text(reading, 23, INK, 3)
        else:
            self._text(answer.status.capitalize(), 34, INK, 1)
            self._text(text, 21, INK, 5)
        if plain(answer.question) not in text:
            self._text(answer.question, 18, GREY, 3)
        self._strips.append(self._strip(self._px(12)))

    def image(self, image: ByteImage) -> None:
        """The picture itself, in a thin frame."""
        height, width = image.shape[:2]
        strip = self._strip(height + 2)
        ImageDraw.Draw(strip).rectangle((self.margin - 1, 0, self.margin + width, height + 1), outline=FRAME)
        strip.paste(Image.fromarray(image), (self.margin, 1))
        self._strips.append(strip)

    def footer(self, legend: Sequence[LegendEntry], bar: ScaleBar, north_turn: float | None) -> None:
        """Legend on the left, scale bar and north arrow on the right."""
        line, top = self._px(30), self._px(16)
        right = self._furniture(bar, north_turn)
        rows = self._legend_rows(legend, self.inner - right.width - self._px(30))
        strip = self._strip(top + max(line * len(rows), right.height))
        for number, row in enumerate(rows):
            x = self.margin
            for entry, words in row:
                self._legend_entry(strip, (x, top + number * line), entry, words)
                x += self._legend_width(words)
        strip.paste(right, (self.margin + self.inner - right.width, top))
        self._strips.append(strip)

    def _legend_width(self, words: str) -> int:
        return round(Lettering(words, self._px(17)).width(words)) + self._px(18 + 9 + 36)

    def _legend_rows(self, legend: Sequence[LegendEntry], room: int) -> list[list[tuple[LegendEntry, str]]]:
        """Entries side by side while they fit."""
        rows: list[list[tuple[LegendEntry, str]]] = []
        used = 0
        for entry in legend:
            words = Lettering(entry.words, self._px(17)).wrapped(room - self._px(40), 1)[0]
            width = self._legend_width(words)
            if not rows or used + width > room + self._px(36):
                rows.append([])
                used = 0
            rows[-1].append((entry, words))
            used += width
        return rows

    def _legend_entry(self, strip: Image.Image, at: tuple[int, int], entry: LegendEntry, words: str) -> None:
        """A swatch and its words."""
        (x, y), size = at, self._px(18)
        pen = ImageDraw.Draw(strip)
        edges = [marks.CASING, entry.colour, entry.colour] if entry.outlined else [entry.colour]
        for inset, colour in enumerate(edges):
            pen.rectangle((x + inset, y + inset, x + size - inset, y + size - inset), fill=colour)
        if entry.outlined:
            tint = tuple(round(255 - (255 - c) * 0.36) for c in entry.colour)
            inset = len(edges)
            pen.rectangle((x + inset, y + inset, x + size - inset, y + size - inset), fill=tint)
        Lettering(words, self._px(17)).write(strip, (x + size + self._px(9), y - self._px(2)), words, INK)

    def _furniture(self, bar: ScaleBar, north_turn: float | None) -> Image.Image:
        lettering = Lettering(bar.label, self._px(16))
        arrow = 0 if north_turn is None else self._px(58)
        length, label = max(round(bar.length_px), 2), round(lettering.width(bar.label))
        width = max(length, label) + 2 + arrow
        tile = Image.new("RGB", (width, self._px(44)), PAPER)
        right, y, tick = width - arrow - 2, self._px(32), self._px(7)
        left = right - length
        corners = [(left, y - tick), (left, y), (right, y), (right, y - tick)]
        ImageDraw.Draw(tile).line(corners, fill=INK, width=self._px(2))
        start = min(max((left + right - label) // 2, 0), width - arrow - label)
        lettering.write(tile, (start, self._px(3)), bar.label, INK)
        if north_turn is not None:
            self._arrow(tile, (width - self._px(24), self._px(24)), north_turn)
        return tile

    def _arrow(self, tile: Image.Image, centre: tuple[int, int], turn: float) -> None:
        """A compass needle with its N, turned clockwise from up."""
        angle, reach, half = radians(turn), self._px(17), self._px(6)
        ahead, aside = (sin(angle), -cos(angle)), (cos(angle), sin(angle))

        def spot(along: float, across: float) -> tuple[float, float]:
            return (
                centre[0] + along * ahead[0] + across * aside[0],
                centre[1] + along * ahead[1] + across * aside[1],
            )

        needle = [spot(reach * 0.55, 0), spot(-reach, half), spot(-reach * 0.6, 0), spot(-reach, -half)]
        ImageDraw.Draw(tile).polygon(needle, fill=INK)
        lettering = Lettering("N", self._px(14))
        x, y = spot(reach * 0.55 + self._px(9), 0)
        lettering.write(tile, (round(x - lettering.width("N") / 2), round(y - self._px(9))), "N", INK)

    def small_print(self, text: str) -> None:
        """File, CRS and source of classes."""
        self._strips.append(self._strip(self._px(8)))
        self._text(text, 14, FAINT, 1)

    def finished(self) -> Image.Image:
        """All strips on one sheet."""
        self._strips.append(self._strip(self.margin // 2))
        heights = [strip.height for strip in self._strips]
        sheet = Image.new("RGB", (self._strips[0].width, sum(heights)), PAPER)
        for strip, top in zip(self._strips, np.cumsum([0, *heights[:-1]]).tolist(), strict=True):
            sheet.paste(strip, (0, top))
        return sheet
