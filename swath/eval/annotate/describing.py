"""Captions of the offline writer: three to seven sentences, each of measured values."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from swath.agent.captions import plural
from swath.eval.annotate.measuring import Measuring
from swath.eval.annotate.patches import Patch
from swath.eval.annotate.statements import CELLS, Statement, joined, many, shown, wordings

LEAST, MOST = 3, 7
"""Sentences of a caption."""

MOST_CLASSES = 5
LEAST_LAID_OUT = 8
"""Objects that are needed to say how they are laid out."""


def cell_of(thing: str) -> str:
    """A program for the cell in which the centroid of one thing lies."""
    return (
        f"it = {thing}\ncells = [cell for cell in {list(CELLS)!r} if count(in_cell(it, cell=cell))]\n"
        'reply(cells[0], kind="category", objects=it)\n'
    )


def colour_of(thing: str) -> str:
    """A program for the colour of a thing."""
    return f'it = {thing}\nreply(dominant_colour(it), kind="category", objects=it)\n'


def count_of(name: str) -> str:
    """A program for the number of a class."""
    return f'it = ground({name!r})\nreply(count(it), kind="count", objects=it)\n'


def side_of(thing: str, side: str) -> str:
    """A program for the length or width of a thing in metres."""
    return f'it = {thing}\nreply({side}_m(it), kind="quantity", unit="m", objects=it)\n'


def pick(patch: Patch, name: str) -> tuple[str, str]:
    """A program's expression for one outstanding object of a class, and the word for it."""
    alone = sum(own.class_name == name for own in patch.objects) == 1
    return (f"only(ground({name!r}))", "only") if alone else (f"largest(ground({name!r}))", "largest")


@dataclass(frozen=True)
class _Writer:
    patch: Patch
    measuring: Measuring
    rng: random.Random

    def said(self, form: str, programs: list[str], **words: Any) -> Statement:
        text = str(self.rng.choice(wordings()["caption"][form])).format(**words)
        return Statement("caption", text[:1].upper() + text[1:], form, "\n".join(programs), status="confirmed")

    def value(self, program: str) -> Any:
        return self.measuring.run(program).value


def describe(patch: Patch, measuring: Measuring, rng: random.Random) -> list[Statement]:
    """A caption of a patch.

    Args:
        patch: the patch.
        measuring: runs programs on it.
        rng: chooses wordings, and which of many sentences to keep.
    """
    writer = _Writer(patch, measuring, rng)
    first, *others = [statement for statement in _sentences(writer) if statement is not None]
    optional = others[LEAST - 1 :]
    while len(optional) > MOST - LEAST:
        optional.pop(rng.randrange(len(optional)))
    return [first, *others[: LEAST - 1], *optional]


def _sentences(writer: _Writer) -> Iterator[Statement | None]:
    yield _overview(writer)
    names = [name for name, _ in Counter(own.class_name for own in writer.patch.objects).most_common(MOST_CLASSES)]
    programs = [count_of(name) for name in names]
    counts = joined([many(name, int(writer.value(program))) for name, program in zip(names, programs, strict=True)])
    yield writer.said("counts", programs, counts=counts)
    for name in names:
        thing, rank = pick(writer.patch, name)
        cell = cell_of(thing)
        yield writer.said("place", [cell], c=name, rank=rank, cell=writer.value(cell))
        colour = writer.value(colour_of(thing))
        if colour is not None:
            yield writer.said("colour", [colour_of(thing)], c=name, rank=rank, colour=colour)
        yield _extent(writer, thing) if rank == "only" else None
        yield _layout(writer, name)


def _overview(writer: _Writer) -> Statement:
    width, height = writer.patch.size
    programs = [f'reply(image_size_px(axis="{axis}"), kind="quantity", unit="px")\n' for axis in ("width", "height")]
    gsd_m = writer.patch.gsd_m
    if gsd_m is None:
        return writer.said("overview", programs, width=width, height=height, unit="pixels", pixel="")
    size = 'reply(pixel_size_m(), kind="quantity", unit="m")\n'
    pixel_m = float(writer.value(size))
    metres = {"width": shown(width * pixel_m), "height": shown(height * pixel_m)}
    pixel = f", with pixels of {shown(pixel_m)} m"
    return writer.said("overview", [*programs, size], unit="m", pixel=pixel, **metres)


def _extent(writer: _Writer, thing: str) -> Statement | None:
    programs = [side_of(thing, side) for side in ("length", "width")]
    length, width = (writer.value(program) for program in programs)
    if length is None or width is None:
        return None
    return writer.said("extent", programs, length=shown(length), width=shown(width))


def _layout(writer: _Writer, name: str) -> Statement | None:
    if sum(own.class_name == name for own in writer.patch.objects) < LEAST_LAID_OUT:
        return None
    program = f'it = ground({name!r})\nreply(distribution(it), kind="category", objects=it)\n'
    how = writer.value(program)
    if how is None:
        return None
    return writer.said("layout", [program], cs=plural(name), how=wordings()["caption"]["layouts"][how])
