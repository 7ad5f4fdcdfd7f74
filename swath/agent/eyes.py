"""The tool `look`: a vision model judges what cannot be measured; whatever it says is marked as judged.

It is no registered tool: a program may call it only where a person asked for it and a vision model is there. A replay
says again what was said then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from swath.errors import InputError, ToolError
from swath.raster.reader import Raster
from swath.tools.registry import Tool, make_tool, tool
from swath.tools.site import Site
from swath.trace.reading import Run

NAME = "look"
LONGEST_QUESTION = 300

Box = list[float] | None
Eyes = Callable[[Raster, str, Box], str]
"""A raster, a question, and a box of it, to a short reply."""


def looking(eyes: Eyes) -> Mapping[str, Tool]:
    """The tool by its name.

    Args:
        eyes: who looks.
    """

    @tool(measures=True)
    def look(site: Site, question: str, *, box: Box = None) -> str:
        """What a model says that looks at the image: of colour, kind or use, never of what can be counted or measured.

        Args:
            site: the image.
            question: short and plain.
            box: [x_min, y_min, x_max, y_max] in pixels, half-open; the whole image by default.

        Raises:
            ToolError: the question is too long, or the box holds no pixel.
        """
        if len(question) > LONGEST_QUESTION:
            raise ToolError(f"look: a question has at most {LONGEST_QUESTION} letters, not {len(question)}.")
        window(box, site.raster.shape)
        said = eyes(site.raster, question, box)
        site.warn(f'Judged by a model that looked, not measured: "{question}" "{said}".')
        return said

    return {NAME: make_tool(look)}


def window(box: Sequence[float] | None, shape: tuple[int, int]) -> tuple[slice, slice]:
    """The rows and columns of a box, clipped to the image.

    Args:
        box: (x_min, y_min, x_max, y_max) in pixels, None for all.
        shape: (rows, columns) of the image.

    Raises:
        ToolError: it is no box, or holds no pixel.
    """
    if box is None:
        return slice(0, shape[0]), slice(0, shape[1])
    if len(box) != 4:
        raise ToolError(f"look: a box is [x_min, y_min, x_max, y_max], not {len(box)} numbers.")
    left, right = (min(max(round(x), 0), shape[1]) for x in box[::2])
    top, bottom = (min(max(round(y), 0), shape[0]) for y in box[1::2])
    if left >= right or top >= bottom:
        raise ToolError("look: the box holds no pixel of the image.")
    return slice(top, bottom), slice(left, right)


def remembered(run: Run) -> Mapping[str, Tool]:
    """The tool with what a run's model said then; nothing where none was asked."""
    steps = [step for step in run.steps if step["name"] == NAME and not step["error"]]
    said = {(step["arguments"]["question"], _key(step["arguments"].get("box"))): step["result"] for step in steps}

    def eyes(raster: Raster, question: str, box: Box) -> str:
        found = said.get((question, _key(box)))
        if found is None:
            raise InputError(f'Run {run.id} never looked for "{question}" there. Next: ask the question again.')
        return str(found)

    return looking(eyes) if steps else {}


def _key(box: Sequence[float] | None) -> tuple[float, ...] | None:
    return None if box is None else tuple(float(value) for value in box)
