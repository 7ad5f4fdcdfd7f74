"""The last lines of programs of the second grammar: words, boxes, masks, lists, captions."""

from __future__ import annotations

from typing import Any

from swath.agent.captions import CELLS, caption_program
from swath.agent.offline import question as q
from swath.agent.offline import reply
from swath.agent.offline.seen import question as sq
from swath.agent.offline.seen.program import SeenWriter, pixel
from swath.agent.offline.unsettled import Unsettled
from swath.agent.planner import Scene

_COMPASS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
_IN_FEET = {"ft": "m", "m": "m"}


def written(question: q.Question, scene: Scene) -> tuple[str, tuple[str, ...]]:
    """The program of a question, and notes on the unit of its answer."""
    answer: Any = question.answer
    lists = isinstance(answer, sq.Heights | sq.Profile)
    if isinstance(answer, sq.Named | sq.Boxes | sq.Masks | sq.OneOfTwo | sq.Caption) and question.unit is not None:
        raise Unsettled("It asks for a unit, but for no number.")
    if isinstance(answer, sq.Caption):
        return caption_program(scene, answer.sentences), ()
    if not (lists or isinstance(answer, sq.Named | sq.Boxes | sq.Masks | sq.OneOfTwo)):
        return reply.written(question, ground_known=scene.pixel_size_m is not None, writer_of=SeenWriter)
    writer = SeenWriter()
    if lists:
        last = _listed(writer, answer, question.unit or "m")
    elif isinstance(answer, sq.Boxes):
        regions = writer.regions(answer.of)
        tool = "oriented_boxes_px" if answer.oriented else "boxes_px"
        last = f'reply({tool}({regions}), kind="boxes", objects={regions})'
    elif isinstance(answer, sq.Masks):
        masks = [writer.extent(thing) for thing in answer.of]
        shown = masks[0] if len(masks) == 1 else f"[{', '.join(masks)}]"
        last = f'reply({shown}, kind="mask")'
    elif isinstance(answer, sq.OneOfTwo):
        last = _one_of_two(writer, answer)
    else:
        last = _named(writer, answer)
    return "\n".join([*writer.lines, last]) + "\n", ()


def _listed(writer: SeenWriter, answer: sq.Heights | sq.Profile, unit: str) -> str:
    if unit not in _IN_FEET:
        raise Unsettled(f'Heights are not measured in "{unit}". Next: ask for metres or feet.')
    if isinstance(answer, sq.Profile):
        (column, row), (to_column, to_row) = pixel(answer.start), pixel(answer.end)
        line = f"from_row_px={row}, from_column_px={column}, to_row_px={to_row}, to_column_px={to_column}"
        values, objects = f"profile_m({line})", "whole_image()"
    else:
        regions = writer.regions(answer.of)
        objects = writer.let("by_height", f"sort_by_height({regions})") if answer.ordered else regions
        values = f"region_heights_m({objects})"
    if unit != "m":
        values = f'[convert(height, from_unit="m", to_unit="{unit}") for height in {values}]'
    writer.lines.append(f"heights = {values}")
    return f'reply(heights, kind="ranking", unit="{unit}", objects={objects})'


def _named(writer: SeenWriter, answer: sq.Named) -> str:
    if answer.what == "facing":
        where = "" if answer.of is None else writer.extent(answer.of)
        writer.lines += [f"compass = {list(_COMPASS)!r}", f"facing = aspect_deg({where})"]
        return 'reply(compass[int((facing + 22.5) // 45) % 8], kind="category", objects=whole_image())'
    if answer.what == "cell" and answer.of is not None:
        regions = writer.regions(answer.of)
        writer.lines += [f"cells = {list(CELLS)!r}"]
        writer.lines += [f"found = [cell for cell in cells if count(in_cell({regions}, cell=cell)) > 0]"]
        return f'reply(found[0] if found else "nowhere", kind="category", objects={regions})'
    word = writer.word(answer.what, answer.of)
    objects = "whole_image()" if answer.of is None else writer.extent(answer.of)
    return f'reply({word}, kind="category", objects={objects})'


_PAIRS = {
    "area": ("area_px({})", "largest", "smallest"),
    "height": ("region_heights_m({})[0]", "tallest", "lowest"),
    "length": ("length_m({})", "longest", "longest"),
}
"""Of what two things differ by: the number of each, the first, the last."""


def _one_of_two(writer: SeenWriter, answer: sq.OneOfTwo) -> str:
    """On which of eight sides the one lies; neither where both are alike. Of more or fewer than two nothing is said."""
    regions = writer.regions(answer.of)
    if answer.by == "height":
        regions = writer.let("of_known_height", f"with_height({regions})")
    number, most, least = _PAIRS[answer.by]
    found = writer.let("found", f"{most if answer.most else least}({regions})")
    other = writer.let("other", f"only(exclude({regions}, {found}))")
    writer.lines += [
        f"sizes = [{number.format(found)}, {number.format(other)}]",
        f"here, there = points_px({found})[0], points_px({other})[0]",
        "across, down = here[0] - there[0], here[1] - there[1]",
        'sides = ["right" if across > 0 else "left", "bottom" if down > 0 else "top"]',
        "slant = min(abs(across), abs(down)) > 0.414 * max(abs(across), abs(down))",
        'answer = f"{sides[1]}-{sides[0]}" if slant else sides[0] if abs(across) >= abs(down) else sides[1]',
    ]
    return f'reply(answer if sizes[0] != sizes[1] else "neither", kind="category", objects={found})'
