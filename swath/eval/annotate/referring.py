"""Referring sentences of the offline writer: each must be the description of exactly one object."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swath.eval.annotate.attributes import Attributes
from swath.eval.annotate.measuring import Measuring
from swath.eval.annotate.patches import Patch, PatchObject
from swath.eval.annotate.statements import Statement, wordings

MOST = 5
"""Referring sentences of one patch."""

CLEARLY_NEARER = 1.3
"""How many times as far the next object must be, for the nearest one to be so called."""

CELLS = {"top-middle": "top-centre", "middle-left": "centre-left", "center": "centre", "middle-right": "centre-right",
         "bottom-middle": "bottom-centre"}  # fmt: skip
"""Cells that VRSBench names otherwise than our tools."""

REPLY = '\nreply(boxes_px(it), kind="boxes", objects=it)\n'


@dataclass(frozen=True)
class Description:
    """A way to describe an object.

    Attributes:
        form: name of its wordings.
        program: gives the objects that it describes.
        words: what the wordings need beside the class.
    """

    form: str
    program: str
    words: dict[str, str]


def refer(patch: Patch, said: Sequence[Attributes], measuring: Measuring, rng: random.Random) -> list[Statement]:
    """Sentences about some objects of a patch, each measured to describe that object and no other.

    Args:
        patch: the patch.
        said: attributes of its objects.
        measuring: runs programs on it.
        rng: chooses objects, forms and wordings.
    """
    wanted = [own for own, about in zip(patch.objects, said, strict=True) if not about.excluded]
    rng.shuffle(wanted)
    found: list[Statement] = []
    for own in wanted:
        statement = _of_one(own, patch, said[own.id], measuring, rng)
        if statement is not None:
            found.append(statement)
        if len(found) == MOST:
            break
    return sorted(found, key=lambda statement: statement.objects)


def _of_one(
    own: PatchObject, patch: Patch, about: Attributes, measuring: Measuring, rng: random.Random
) -> Statement | None:
    ways = list(descriptions(own, patch, about))
    rng.shuffle(ways)
    for way in ways:
        if measuring.run(way.program).objects != (str(own.id),):
            continue
        text = rng.choice(wordings()["referring"][way.form]).format(**way.words)
        return Statement("referring", text, way.form, way.program, objects=(own.id,))
    return None


def descriptions(own: PatchObject, patch: Patch, about: Attributes) -> Iterator[Description]:
    """Every way in which an object could be told from the others; not all of them will do."""
    name = own.class_name
    words = {"c": name}
    of_class = f"ground({name!r})"
    if about.is_unique:
        yield Description("only", f"it = only({of_class}){REPLY}", words)
    if about.rel_position:
        side = about.rel_position.removesuffix("-most")
        yield Description(about.rel_position, f'it = extreme({of_class}, side="{side}"){REPLY}', words)
    if about.rel_size:
        yield Description(about.rel_size, f"it = {about.rel_size}({of_class}){REPLY}", words)
    if about.position:
        cell = CELLS.get(about.position, about.position)
        yield Description("cell", f'it = only(in_cell({of_class}, cell="{cell}")){REPLY}', {**words, "cell": cell})
    if about.colour is not None and not about.is_unique:
        program = f'it = only(of_colour({of_class}, colour="{about.colour}")){REPLY}'
        yield Description("colour", program, {**words, "colour": about.colour})
    if not about.is_unique:
        yield Description("centre", f"it = nearest_to_centre({of_class}){REPLY}", words)
    for other in _only_ones(patch):
        if other != name and not about.is_unique and _clearly_nearest(own, other, patch):
            program = f"it = nearest({of_class}, only(ground({other!r}))){REPLY}"
            yield Description("near", program, {**words, "d": other})


def _only_ones(patch: Patch) -> list[str]:
    names = [own.class_name for own in patch.objects]
    return sorted(name for name in set(names) if names.count(name) == 1)


def _clearly_nearest(own: PatchObject, other: str, patch: Patch) -> bool:
    target = next(found.outline for found in patch.objects if found.class_name == other)
    distances = [found.outline.distance(target) for found in patch.objects if found.class_name == own.class_name]
    mine = own.outline.distance(target)
    return bool(sorted(distances)[1] >= CLEARLY_NEARER * max(mine, 1.0) and mine == min(distances))
