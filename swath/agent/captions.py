"""Captions made of measured facts: a program that writes them, and which calls stand behind each of their sentences."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swath.agent.planner import Scene
from swath.segment.vocabulary import concept_of

COUNTABLE = (
    "building", "house", "warehouse", "bridge", "parking", "vehicle", "car", "truck", "ship", "aircraft", "tank",
    "swimming_pool", "lake", "pond", "river", "runway", "playground",
)  # fmt: skip
"""Concepts that are counted by their own name; of others "separate areas of grass" are counted."""

CELLS = (
    "top-left", "top-centre", "top-right", "centre-left", "centre", "centre-right", "bottom-left", "bottom-centre",
    "bottom-right",
)  # fmt: skip

_HELP = """
def shown(value):
    return str(round(value)) if value >= 100 else f"{value:.3g}"


def extent(area):
    return f"{shown(area)} m2" if area < 10000 else f"{shown(area / 10000)} ha"


def joined(words):
    return " and ".join(words) if len(words) < 3 else ", ".join(words[:-1]) + " and " + words[-1]
"""
_GROUND = """
image = f"The image shows {shown(image_area_m2() / 10000)} ha of ground"
image += f" in {image_size_px(axis='width')} by {image_size_px(axis='height')} pixels of {shown(pixel_size_m())} m."
"""
_NO_GROUND = """
image = f"The image has {image_size_px(axis='width')} by {image_size_px(axis='height')} pixels of unknown ground size."
"""
_DATA = """
bands = band_count()
data = f"It has {bands} band{'' if bands == 1 else 's'}, and {shown(valid_percent())} % of its pixels hold dataSOURCE."
"""
_COLOUR = """
true_colour = has_true_colour()
colour = "Its colours cannot be told from its bands."
if true_colour:
    colour = f"Its main colours are {joined(colours_of(whole_image(), min_percent=9.0))}."
"""
_COVER = """
masks = [segment(kind[0]) for kind in kinds]
shares = [share_percent(mask) if has_area(mask) else 0.0 for mask in masks]
ranked = sorted(zip(shares, [kind[0] for kind in kinds]), reverse=True)
covered = [f"{shown(share)} % {name}" for share, name in ranked if share >= 0.05]
cover = f"By area it is {joined(covered[:4])}." if covered else "By area none of its classes makes up any of it."
"""
_COUNTS = """
objects = [components(mask) for mask in masks]
numbers = [count(regions) for regions in objects]
seen = sorted([(number, kind) for number, kind in zip(numbers, kinds) if number], reverse=True)
counted = [f"{number} {kind[1] if number == 1 else kind[2]}" for number, kind in seen]
counts = f"It holds {joined(counted[:5])}." if counted else "It holds nothing of these classes."
"""
_LARGEST = """
named = [k for k in range(len(kinds)) if numbers[k] and kinds[k][3]]
present = named or [k for k in range(len(kinds)) if numbers[k]]
main = sorted([(-numbers[k], k) for k in present])[0][1] if present else 0
biggest = largest(objects[main])
size = ""
if present:
    cell = [cell for cell in cells if count(in_cell(biggest, cell=cell))][0]
    size = f"The largest {kinds[main][1]} lies in the {cell} of the image"
    if has_area(biggest):
        size += f", measures AREA"
    if true_colour:
        size += f", and is mostly {dominant_colour(biggest)}"
    size += "."
"""
_AREA_M2 = "{extent(area_m2(biggest))}"
_AREA_PX = "{area_px(biggest)} pixels"
_LAYOUT = """
words = {"in rows": "in rows", "clustered": "in clusters", "regular": "evenly spaced", "random": "scattered"}
layout = ""
if present:
    number = numbers[main]
    held = [(count(in_cell(objects[main], cell=cell)), cell) for cell in cells]
    most = max([holds for holds, cell in held])
    fullest = [cell for holds, cell in held if holds == most]
    where, apiece = joined(fullest), " each" if len(fullest) > 1 else ""
    layout = f"Most of the {number} {kinds[main][2]}, {most}, lie in the {where}."
    if number == 1:
        layout = f"It is the only {kinds[main][1]}."
    elif number < 8 and most == number:
        layout = f"All {number} {kinds[main][2]} lie in the {where}."
    elif 2 * most <= number:
        layout = f"No part holds more of the {number} {kinds[main][2]} than the {where}, with {most}{apiece}."
    if number >= 8:
        how = words[distribution(objects[main])]
        layout = f"The {number} {kinds[main][2]} are {how}, the most of them, {most}{apiece}, in the {where}."
"""
_REPLY = 'reply(" ".join([sentence for sentence in [{names}] if sentence]), kind="text")\n'
_MARK = "# sentence: "
_REPLIED = re.compile(r"for sentence in \[(.*?)\] if sentence")
_BREAK = re.compile(r"(?<=\.) (?=[A-Z])")


@dataclass(frozen=True)
class Sentence:
    """One sentence of a caption.

    Attributes:
        text: as it stands in the caption.
        calls: positions in the run's steps of the tool calls whose results it is made of, in order.
    """

    text: str
    calls: tuple[int, ...]


_TELLING = ("cover", "counts", "colour", "size", "layout", "image", "data")
"""Sentences, the most telling first."""


def caption_program(scene: Scene, sentences: int | None = None) -> str:
    """A program that describes a scene in three to seven sentences of measured facts.

    Size and resolution, data and colours; where classes are known, also what covers it, what it holds, the largest of
    the most frequent objects with its place, size and colour, and how those objects are laid out.

    Args:
        scene: what is known of the image.
        sentences: the most telling so many, where fewer are wanted.
    """
    source = f"; its classes come from the source {scene.segmenter}" if scene.classes else ""
    blocks = {
        "image": _GROUND if scene.pixel_size_m else _NO_GROUND,
        "data": _DATA.replace("SOURCE", source),
        "colour": _COLOUR,
    }
    facts = ""
    if scene.classes:
        kinds = ", ".join(repr(_kind(name)) for name in scene.classes)
        facts = f"kinds = [{kinds}]\ncells = {list(CELLS)!r}\n"
        size = _LARGEST.replace("AREA", _AREA_M2 if scene.pixel_size_m else _AREA_PX)
        blocks |= {"cover": _COVER, "counts": _COUNTS, "size": size, "layout": _LAYOUT}
    marked = "".join(f"\n{_MARK}{name}{block}" for name, block in blocks.items())
    telling = [name for name in _TELLING if name in blocks][:sentences]
    names = ", ".join(name for name in blocks if name in telling)
    return f"{facts}{_HELP}{marked}\n{_REPLY.format(names=names)}"


def caption(text: str, program: str, steps: Sequence[Mapping[str, Any]]) -> tuple[Sentence, ...]:
    """The sentences of a caption, each with the calls that stand behind it.

    Args:
        text: the answer of a caption program.
        program: that program.
        steps: the lines of the run's `steps.jsonl`.
    """
    blocks = _blocks(program)
    replied = _REPLIED.search(program)
    names = replied[1].split(", ") if replied else list(blocks)
    calls = {name: _calls(name, blocks, steps) for name in names}
    return tuple(Sentence(said, calls[name]) for said, name in zip(_BREAK.split(text), names, strict=False))


def _kind(name: str) -> tuple[str, str, str, bool]:
    """A class with what one and several of its objects are called, and whether these are its own words."""
    concept = concept_of(name)
    if concept is None or concept in COUNTABLE:
        return name, name, plural(name), True
    return name, f"separate area of {name}", f"separate areas of {name}", False


def plural(name: str) -> str:
    """What several objects of a class are called."""
    if re.search(r"[^su]s$|aircraft$", name):  # legends may have plurals
        return name
    if re.search(r"(s|x|ch|sh)$", name):
        return f"{name}es"
    return f"{name[:-1]}ies" if re.search(r"[^aeiou]y$", name) else f"{name}s"


@dataclass(frozen=True)
class _Block:
    """Lines of a program that make one sentence: the first, one past the last, names that they set and use."""

    first: int
    end: int
    sets: frozenset[str]
    uses: frozenset[str]


def _blocks(program: str) -> dict[str, _Block]:
    """The blocks of a caption program by name, in order."""
    lines = program.split("\n")
    starts = [number for number, line in enumerate(lines, 1) if line.startswith(_MARK)]
    ends = [*starts[1:], next(number for number, line in enumerate(lines, 1) if line.startswith("reply("))]
    found = {}
    for first, end in zip(starts, ends, strict=True):
        tree = ast.parse("\n".join(lines[first - 1 : end - 1]))
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        sets = frozenset(node.id for node in names if isinstance(node.ctx, ast.Store))
        uses = frozenset(node.id for node in names if isinstance(node.ctx, ast.Load))
        found[lines[first - 1].removeprefix(_MARK)] = _Block(first, end, sets, uses)
    return found


def _calls(name: str, blocks: Mapping[str, _Block], steps: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """Calls made in a block, and in the earlier blocks whose results it uses."""
    wanted, needed = [], set(blocks[name].uses)
    for block in reversed(list(blocks.values())[: list(blocks).index(name) + 1]):
        if block is blocks[name] or block.sets & needed:
            wanted.append(block)
            needed |= block.uses
    inside = [line for block in wanted for line in range(block.first, block.end)]
    return tuple(k for k, step in enumerate(steps) if step.get("line") in inside)
